//! Code copies: of the sub-kernels and of the super kernel itself, made in memory.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;

use super::compile::CompiledKind;
use super::error::BuildError;
use super::log::{BuildLog, LogStage};
use crate::artifact::{META_SECTION_PREFIX, RUN_CONFIG, SHARED_SYMBOLS, SuperKernelSymbols, copy_name};
use crate::elf::{self, Edits, ElfError, Groups, Localize, Missing};
use crate::environment::Intermediates;
use crate::fs::absolute;
use crate::model::{CoreKind, SuperKernel};
use crate::objects::{LinkGroup, ObjectBytes, ObjectError, UsedObject};
use crate::store::digest::ContentDigest;
use crate::store::shelf::Shelf;
use crate::store::work_dir::WorkDir;
use crate::toolchain::{LinkInput, Places, quote, shell_line};

/// The folder of sub-kernel objects in the work directory, if they are kept.
const FOLDER: &str = "objects";

/// Files on disk, ready for the linker, as paths relative to the work directory.
#[derive(Debug)]
pub(crate) struct LinkInputs {
    /// The super kernel's own objects: entry, code, copies; per core kind.
    pub own: Vec<(CoreKind, Vec<PathBuf>)>,
    /// The sub-kernels' objects with their copies, in op order: an archive per group.
    pub subs: Vec<(LinkGroup, PathBuf)>,
}

impl LinkInputs {
    /// Link order: own cube code, cube ops, own vector code, vector ops, dynamic ops. A kernel with one core kind
    /// has its own code first.
    pub(crate) fn in_order(&self) -> Vec<LinkInput> {
        let own = |kind: CoreKind| {
            let files = self.own.iter().filter(move |(owner, _)| *owner == kind).flat_map(|(_, files)| files);
            files.cloned().map(LinkInput::Object)
        };
        let subs = |group: LinkGroup| {
            let archives = self.subs.iter().filter(move |(owner, _)| *owner == group);
            archives.map(|(_, archive)| LinkInput::Archive(archive.clone()))
        };
        let mut order: Vec<LinkInput> = Vec::new();
        if let [(kind, _)] = self.own.as_slice() {
            order.extend(own(*kind));
            LinkGroup::ALL.into_iter().for_each(|group| order.extend(subs(group)));
        } else {
            for kind in CoreKind::BOTH {
                order.extend(own(kind));
                order.extend(subs(LinkGroup::Static(kind)));
            }
            order.extend(subs(LinkGroup::Dynamic));
        }
        order
    }
}

/// One sub-kernel object and its copies, in memory.
#[derive(Debug)]
pub(crate) struct Copied<'a> {
    group: LinkGroup,
    pieces: Vec<Piece<'a>>,
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
    places: &Places,
    made: &MadeCopies,
) -> Result<Vec<Copied<'a>>, ObjectError> {
    let isolation = Isolation::of(used);
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
    Ok(Copied { group: used.group, pieces })
}

/// What keeps sub-kernels apart that define symbols of the same name.
///
/// A linker takes one definition of a name for all objects. Two sub-kernels may bring different helpers of one name
/// (inline functions, templates, weak data, statics of inline functions), so each object keeps visible only the
/// functions that ops call. What the halves of one sub-kernel share gets a name of that sub-kernel; what the super
/// kernel provides stays shared by all.
struct Isolation<'a> {
    /// The functions that ops call, copies included, by the content that defines them.
    called: HashMap<ContentDigest, HashSet<String>>,
    /// By file: what one of its objects defines and another needs, and its new name.
    within: HashMap<&'a Path, Vec<(&'a str, String)>>,
}

impl<'a> Isolation<'a> {
    fn of(used: &'a [UsedObject<'a>]) -> Self {
        let mut called: HashMap<ContentDigest, HashSet<String>> = HashMap::new();
        for object in used {
            let ready = (1..).zip(&object.ready).filter_map(|(copy, ready)| Some((copy, ready.as_ref()?)));
            for (copy, piece) in std::iter::once((0, &object.object)).chain(ready) {
                let names = object.functions.iter().map(|function| copy_name(function, copy));
                called.entry(piece.digest).or_default().extend(names);
            }
        }
        let mut by_file: HashMap<&Path, Vec<&ObjectBytes<'_>>> = HashMap::new();
        for object in used {
            let pieces = by_file.entry(object.path).or_default();
            pieces.extend(std::iter::once(&object.object).chain(object.ready.iter().flatten()));
        }
        let all_called: HashSet<&str> = called.values().flatten().map(String::as_str).collect();
        let within = by_file.into_iter().map(|(path, objects)| (path, shared_within(&objects, &all_called))).collect();
        Self { called, within }
    }

    /// The edits of an object that was read: the first copy, or one that came ready.
    fn edits(&self, object: &ObjectBytes<'_>, path: &Path) -> Edits {
        let renamed = self.renamed(object, path);
        let called = self.called.get(&object.digest).into_iter().flatten().cloned();
        let provided = provided(object).map(str::to_owned);
        let defined = renamed.iter().map(|(name, _)| name).filter(|name| object.exports(name)).cloned();
        Edits {
            localize: Localize::AllDefinedExcept(sorted(called.chain(provided).chain(defined))),
            rename: renamed,
            groups: Groups::Dissolve,
            ..Edits::default()
        }
    }

    /// The edits that make a copy of the isolated object.
    fn copy_edits(&self, used: &UsedObject<'_>, copy: u32) -> Edits {
        let mut edits = elf::copy_edits(&used.functions, copy);
        // What is shared is defined once, by the first copy; this one refers to it.
        let within = self.renamed(&used.object, used.path);
        let defined = within.into_iter().filter(|(name, _)| used.object.exports(name)).map(|(_, new)| new);
        edits.strip = provided(&used.object).map(str::to_owned).chain(defined).collect();
        edits
    }

    fn renamed(&self, object: &ObjectBytes<'_>, path: &Path) -> Vec<(String, String)> {
        let names = self.within.get(path).into_iter().flatten();
        let known =
            names.filter(|(name, _)| object.exports(name) || object.imports().iter().any(|import| import == name));
        known.map(|(name, new)| ((*name).to_owned(), new.clone())).collect()
    }
}

/// What the objects of one file need from each other, apart from the functions that ops call.
fn shared_within<'a>(objects: &[&'a ObjectBytes<'a>], called: &HashSet<&str>) -> Vec<(&'a str, String)> {
    let mut shared: Vec<(&str, String)> = Vec::new();
    for needed in objects.iter().flat_map(|object| object.imports()) {
        let is_called = called.contains(needed.as_str());
        let owner = objects.iter().find(|object| object.exports(needed));
        if let (Some(owner), false) = (owner, is_called || SHARED_SYMBOLS.contains(&needed.as_str())) {
            let digest = owner.digest.to_string();
            shared.push((needed, format!("{needed}__of_{}", &digest[..8])));
        }
    }
    shared.sort();
    shared.dedup();
    shared
}

/// What the object defines of that which the super kernel provides.
fn provided<'a>(object: &'a ObjectBytes<'a>) -> impl Iterator<Item = &'static str> + 'a {
    SHARED_SYMBOLS.into_iter().filter(|name| object.exports(name))
}

fn sorted(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut names: Vec<String> = names.collect();
    names.sort_unstable();
    names
}

/// Writes the objects for the linker, equal contents once: an archive per group, since one file is written and read far
/// faster than hundreds. People who want to see them get each in a file of its own as well.
pub(crate) fn write_subs(
    copied: &[Copied<'_>],
    intermediates: Intermediates,
    work: &WorkDir,
    places: &Places,
    log: &mut BuildLog,
) -> Result<Vec<(LinkGroup, PathBuf)>, BuildError> {
    let mut written = HashSet::new();
    let mut archives = Vec::new();
    match intermediates {
        Intermediates::Remove => {}
        Intermediates::Keep => crate::fs::create_directories(&work.file(FOLDER))?,
    }
    for group in LinkGroup::ALL {
        let mut members: Vec<&Piece<'_>> = Vec::new();
        for piece in copied.iter().filter(|object| object.group == group).flat_map(|object| &object.pieces) {
            if piece.digest.is_none_or(|digest| written.insert(digest)) {
                members.push(piece);
            }
        }
        if members.is_empty() {
            continue;
        }
        for piece in &members {
            piece.log.iter().for_each(|(stage, line)| log.add(*stage, line));
            match intermediates {
                Intermediates::Remove => {}
                Intermediates::Keep => drop(work.write(piece.path(), &piece.bytes)?),
            }
        }
        let archive = archive_name(group);
        let files = members.iter().map(|piece| places.of(&piece.path()));
        // Members are replaced, so that the line may be run again.
        let words = ["llvm-ar", "rcS"].map(OsString::from).into_iter();
        let place = places.of(archive.as_ref()).into_os_string();
        log.add(LogStage::SplitSubObjects, shell_line(words.chain([place]).chain(files.map(PathBuf::into_os_string))));
        let members: Vec<(&str, &[u8])> = members.iter().map(|piece| (piece.file.as_str(), &*piece.bytes)).collect();
        let packed = elf::archive::pack(&members).expect("our own short names fit");
        work.write(archive, &packed)?;
        archives.push((group, PathBuf::from(archive)));
    }
    Ok(archives)
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
    work: &WorkDir,
    places: &Places,
    log: &mut BuildLog,
) -> Result<Vec<PathBuf>, BuildError> {
    let kind = compiled.kind;
    let stem = symbols.entry(kind);
    let Some(entry) = &compiled.entry else {
        return Ok(vec![PathBuf::from(format!("{stem}.o"))]);
    };
    let entry_file = PathBuf::from(format!("{stem}_entry.o"));
    debug_assert!(!entry.is_empty(), "the compile step has checked it");
    let mut files = vec![entry_file];
    for copy in 0..kernel.options.split.get() {
        let edits = own_copy_edits(symbols, kind, copy);
        let file = format!("{stem}_copy{copy}.o");
        let (from, to) = (places.of(format!("{stem}.o").as_ref()), places.of(file.as_ref()));
        log.add(LogStage::SplitSubObjects, objcopy(&edits, &from, &to));
        let bytes = elf::edit(&compiled.object, &edits).map_err(|error| {
            super::compile::bad_output("the compiler", &format!("super kernel `{}`", kernel.name), error.to_string())
        })?;
        work.write(&file, &bytes).map_err(BuildError::from)?;
        files.push(PathBuf::from(file));
    }
    Ok(files)
}

/// Copy `copy` of the super kernel's code. The entry took over the name, and the run configuration with it; what the
/// loader reads about the kernel stays in the first copy.
fn own_copy_edits(symbols: &SuperKernelSymbols, kind: CoreKind, copy: u32) -> Edits {
    let entry = symbols.entry(kind);
    let mut edits = Edits {
        rename: vec![(entry.clone(), symbols.copy(kind, copy))],
        strip: vec![RUN_CONFIG.to_owned()],
        missing: Missing::Ignore,
        ..Edits::default()
    };
    if copy > 0 {
        edits.localize = Localize::AllDefinedExcept(vec![entry]);
        edits.drop_sections_with_prefix = vec![META_SECTION_PREFIX.to_owned()];
        edits.groups = Groups::Dissolve;
    }
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
    words.extend(edits.strip.iter().map(|name| format!("--strip-symbol={name}")));
    for prefix in &edits.drop_sections_with_prefix {
        words.extend(["--wildcard".to_owned(), format!("--remove-section={prefix}*")]);
    }
    words.extend([from, to].map(|path| path.to_string_lossy().into_owned()));
    shell_line(words)
}
