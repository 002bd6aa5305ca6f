//! Code copies: of the sub-kernels and of the super kernel itself, made in memory.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;

use super::compile::CompiledKind;
use super::error::BuildError;
use super::isolation::{Isolation, share, whole_code};
use super::link_inputs::{Member, OwnFile, SubArchive};
use super::log::{BuildLog, LogStage};
use crate::artifact::{META_SECTION_PREFIX, RUN_CONFIG, SuperKernelSymbols, copy_name};
use crate::elf::{self, Definition, Edits, ElfError, Localize, Missing, SharedPart};
use crate::fs::absolute;
use crate::model::{CoreKind, SuperKernel};
use crate::objects::{Fate, LinkGroup, ObjectBytes, ObjectError, Sharing, UsedObject};
use crate::store::digest::ContentDigest;
use crate::store::shelf::Shelf;
use crate::store::work_dir::WorkDir;
use crate::toolchain::{Places, quote, shell_line};

/// The folder of sub-kernel objects in the work directory, if they are kept.
const FOLDER: &str = "objects";

/// One sub-kernel object and its copies, in memory.
#[derive(Debug)]
pub(crate) struct Copied<'a> {
    group: LinkGroup,
    /// What messages call it.
    origin: String,
    pieces: Vec<Piece<'a>>,
}

impl Copied<'_> {
    fn member(&self, copy: usize) -> Member<'_> {
        let origin = match copy {
            0 => self.origin.clone(),
            copy => format!("{} (copy {copy})", self.origin),
        };
        Member { origin, bytes: &self.pieces[copy].bytes }
    }
}

/// One object for the linker.
#[derive(Debug)]
struct Piece<'a> {
    /// Its name in the archive.
    file: String,
    bytes: Bytes<'a>,
    /// Known for what was read. A copy made here is like no other: its functions are called like no others.
    digest: Option<ContentDigest>,
    /// How people would make it.
    log: Vec<(LogStage, String)>,
}

impl Piece<'_> {
    /// Where it is kept.
    fn path(&self) -> PathBuf {
        Path::new(FOLDER).join(&self.file)
    }
}

/// The content of an object for the linker.
#[derive(Debug)]
enum Bytes<'a> {
    /// As it was read.
    Read(&'a [u8]),
    /// Made from what was read.
    Made(MadeBytes),
}

impl Deref for Bytes<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Read(bytes) => bytes,
            Self::Made(bytes) => bytes,
        }
    }
}

/// What has been made of objects by edits, one after the other; `None`: they change nothing. Kernels of one model are
/// made of the same few objects.
#[derive(Debug, Default)]
pub(crate) struct MadeCopies(Shelf<(ContentDigest, Vec<Edits>), Option<MadeBytes>>);

type MadeBytes = Arc<Vec<u8>>;

impl MadeCopies {
    /// What comes out when the last of `steps` is applied to `bytes`, which the others made of `object`.
    fn edited<'a>(
        &self,
        object: &ObjectBytes<'a>,
        steps: Vec<Edits>,
        bytes: &[u8],
    ) -> Result<Option<MadeBytes>, ElfError> {
        let last = steps.last().cloned().unwrap_or_default();
        self.0.get((object.digest, steps), || match elf::edit(bytes, &last)? {
            Cow::Borrowed(_) => Ok(None),
            Cow::Owned(made) => Ok(Some(Arc::new(made))),
        })
    }
}

/// Makes every object its sub-kernel's own and adds the missing copies, in parallel; not those that are made already.
pub(crate) fn copy_subs<'a>(
    used: &'a [UsedObject<'a>],
    sharing: &'a Sharing<'a>,
    places: &Places,
    made: &MadeCopies,
) -> Result<Vec<Copied<'a>>, ObjectError> {
    let isolation = Isolation::of(used, sharing);
    used.par_iter().enumerate().map(|(number, object)| copy_sub(number, object, &isolation, places, made)).collect()
}

fn copy_sub<'a>(
    number: usize,
    used: &'a UsedObject<'a>,
    isolation: &Isolation<'_>,
    places: &Places,
    made: &MadeCopies,
) -> Result<Copied<'a>, ObjectError> {
    let file = |copy: u32| format!("{}.o", copy_name(&format!("{number:04}"), copy));
    let place = |copy: u32| places.of(&Path::new(FOLDER).join(file(copy)));
    let failed = |copy| move |source| ObjectError::Copy { origin: used.origin(), copy, source };
    let read = |copy: u32, object: &ObjectBytes<'a>| {
        let place = place(copy);
        let from = absolute(used.path);
        let unpack = match object.name {
            "" => shell_line([OsStr::new("cp"), from.as_os_str(), place.as_os_str()]),
            member => {
                let extract = shell_line([OsStr::new("ar"), OsStr::new("p"), from.as_os_str(), OsStr::new(member)]);
                format!("{extract} > {}", quote(&place.to_string_lossy()))
            }
        };
        let mut log = vec![(LogStage::Unpack, unpack)];
        let edits = isolation.edits(object, used.path);
        let bytes = match made.edited(object, vec![edits.clone()], object.bytes).map_err(failed(copy))? {
            None => Bytes::Read(object.bytes),
            Some(bytes) => {
                log.push((LogStage::SplitSubObjects, objcopy(&edits, &place, &place)));
                Bytes::Made(bytes)
            }
        };
        Ok(Piece { file: file(copy), bytes, digest: Some(object.digest), log })
    };
    let mut pieces = vec![read(0, &used.object)?];
    for (copy, ready) in (1..).zip(&used.ready) {
        let piece = match ready {
            Some(ready) => read(copy, ready)?,
            None => {
                let edits = isolation.copy_edits(used, copy);
                let line = objcopy(&edits, &place(0), &place(copy));
                let steps = vec![isolation.edits(&used.object, used.path), edits];
                let bytes = made.edited(&used.object, steps, &pieces[0].bytes).map_err(failed(copy))?;
                Piece {
                    file: file(copy),
                    // A copy has other names, so it is never what it was made of.
                    bytes: Bytes::Made(bytes.unwrap_or_else(|| Arc::new(pieces[0].bytes.to_vec()))),
                    digest: None,
                    log: vec![(LogStage::SplitSubObjects, line)],
                }
            }
        };
        pieces.push(piece);
    }
    Ok(Copied { group: used.group, origin: used.origin(), pieces })
}

/// The objects for the linker, equal contents once, in an archive per group, since one file is written and read far
/// faster than hundreds. People who want to see them get each in a file of its own as well.
pub(crate) fn gather_subs<'c>(
    copied: &'c [Copied<'_>],
    wanted: WantedFiles,
    work: &WorkDir,
    places: &Places,
    log: &mut BuildLog,
) -> Result<Vec<SubArchive<'c>>, BuildError> {
    let mut written = HashSet::new();
    let mut archives = Vec::new();
    match wanted {
        WantedFiles::None | WantedFiles::Linked => {}
        WantedFiles::All => crate::fs::create_directories(&work.file(FOLDER))?,
    }
    for group in LinkGroup::ALL {
        let mut members: Vec<(&Copied<'_>, usize)> = Vec::new();
        for object in copied.iter().filter(|object| object.group == group) {
            for (copy, piece) in object.pieces.iter().enumerate() {
                if piece.digest.is_none_or(|digest| written.insert(digest)) {
                    members.push((object, copy));
                }
            }
        }
        if members.is_empty() {
            continue;
        }
        let pieces = || members.iter().map(|(object, copy)| &object.pieces[*copy]);
        for piece in pieces() {
            piece.log.iter().for_each(|(stage, line)| log.add(*stage, line));
            match wanted {
                WantedFiles::None | WantedFiles::Linked => {}
                WantedFiles::All => drop(work.write(piece.path(), &piece.bytes)?),
            }
        }
        let archive = archive_name(group);
        let files = pieces().map(|piece| places.of(&piece.path()));
        // Members are replaced, so that the line may be run again.
        let words = ["llvm-ar", "rcS"].map(OsString::from).into_iter();
        let place = places.of(archive.as_ref()).into_os_string();
        log.add(LogStage::SplitSubObjects, shell_line(words.chain([place]).chain(files.map(PathBuf::into_os_string))));
        match wanted {
            WantedFiles::None => {}
            WantedFiles::Linked | WantedFiles::All => {
                let members: Vec<(&str, &[u8])> = pieces().map(|piece| (piece.file.as_str(), &*piece.bytes)).collect();
                let packed = elf::archive::pack(&members).expect("our own short names fit");
                work.write(archive, &packed)?;
            }
        }
        let members = members.iter().map(|(object, copy)| object.member(*copy)).collect();
        archives.push(SubArchive { group, file: PathBuf::from(archive), members });
    }
    Ok(archives)
}

/// Which files of what is linked somebody needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WantedFiles {
    /// None: everything happens in memory.
    None,
    /// Those that a linker reads.
    Linked,
    /// All that the log names.
    All,
}

fn archive_name(group: LinkGroup) -> &'static str {
    match group {
        LinkGroup::Static(CoreKind::Aic) => "objects_aic.a",
        LinkGroup::Static(CoreKind::Aiv) => "objects_aiv.a",
        LinkGroup::Dynamic => "objects_dynamic.a",
    }
}

/// The super kernel's own objects for one kind, with copies where there is more than one.
pub(crate) fn own_objects(
    compiled: &CompiledKind,
    kernel: &SuperKernel,
    symbols: &SuperKernelSymbols,
    sharing: &Sharing<'_>,
    (wanted, work): (WantedFiles, &WorkDir),
    places: &Places,
    log: &mut BuildLog,
) -> Result<Vec<OwnFile>, BuildError> {
    let kind = compiled.kind;
    let stem = symbols.entry(kind);
    let unusable = |error: ElfError| {
        super::compile::bad_output("the compiler", &format!("super kernel `{}`", kernel.name), error.to_string())
    };
    let sections = elf::sections(&compiled.object).map_err(unusable)?;
    let shared = SharedPart::of(&compiled.object).map_err(unusable)?;
    sharing.check_own(&shared)?;
    let machine = elf::identity(&compiled.object).map_err(unusable)?.machine;
    let code_parts = elf::code_parts(machine, &sections);
    let mut files = Vec::new();
    if let Some(entry) = &compiled.entry {
        debug_assert!(!entry.is_empty(), "the compile step has checked it");
        files.push(OwnFile { file: PathBuf::from(format!("{stem}_entry.o")), bytes: entry.clone() });
    }
    for copy in 0..kernel.options.split.get() {
        let mut edits = own_edits(compiled, symbols, copy, &shared, sharing);
        edits.rename_sections = whole_code(&code_parts);
        let file = match compiled.entry {
            Some(_) => format!("{stem}_copy{copy}.o"),
            None => format!("{stem}.o"),
        };
        let (from, to) = (places.of(format!("{stem}.o").as_ref()), places.of(file.as_ref()));
        log.add(LogStage::SplitSubObjects, objcopy(&edits, &from, &to));
        let bytes = elf::edit(&compiled.object, &edits).map_err(unusable)?.into_owned();
        match wanted {
            WantedFiles::None => {}
            WantedFiles::Linked | WantedFiles::All => drop(work.write(&file, &bytes)?),
        }
        files.push(OwnFile { file: PathBuf::from(file), bytes });
    }
    Ok(files)
}

/// Copy `copy` of the super kernel's code. Where there is an entry, it took over the name, and the run configuration with
/// it; what the loader reads about the kernel stays in the first copy.
fn own_edits(
    compiled: &CompiledKind,
    symbols: &SuperKernelSymbols,
    copy: u32,
    shared: &SharedPart,
    sharing: &Sharing<'_>,
) -> Edits {
    let kind = compiled.kind;
    let entry = symbols.entry(kind);
    let mut edits = Edits {
        localize: Localize::AllDefinedExcept(vec![entry.clone()]),
        missing: Missing::Ignore,
        ..Edits::default()
    };
    if compiled.entry.is_some() {
        edits.rename.push((entry, symbols.copy(kind, copy)));
    }
    if copy > 0 {
        edits.drop_sections_with_prefix = vec![META_SECTION_PREFIX.to_owned()];
    }
    share(&mut edits, shared, sharing, |variable| match variable.definition {
        Definition::Weak | Definition::Unique => Fate::Merged,
        Definition::Only if copy > 0 || compiled.entry.is_some() && variable.name == RUN_CONFIG => Fate::Referred,
        // The super kernel's wins over all others.
        Definition::Only => Fate::Kept,
    });
    edits
}

/// The command that would do the same, for people who want to repeat a build by hand.
pub(crate) fn objcopy(edits: &Edits, from: &Path, to: &Path) -> String {
    let mut words = vec!["llvm-objcopy".to_owned()];
    match &edits.localize {
        Localize::None => {}
        Localize::Names(names) => words.extend(names.iter().map(|name| format!("--localize-symbol={name}"))),
        Localize::AllDefinedExcept(names) => {
            words.extend(names.iter().map(|name| format!("--keep-global-symbol={name}")));
        }
    }
    words.extend(edits.rename.iter().map(|(old, new)| format!("--redefine-sym={old}={new}")));
    words.extend(edits.weaken.iter().map(|name| format!("--weaken-symbol={name}")));
    words.extend(edits.strip.iter().map(|name| format!("--strip-symbol={name}")));
    words.extend(edits.rename_sections.iter().map(|(old, new)| format!("--rename-section={old}={new}")));
    for prefix in edits.drop_sections_with_prefix.iter().chain(&edits.drop_unused_with_prefix) {
        words.extend(["--wildcard".to_owned(), format!("--remove-section={prefix}*")]);
    }
    words.extend([from, to].map(|path| path.to_string_lossy().into_owned()));
    shell_line(words)
}
