//! Code copies: of the sub-kernels and of the super kernel itself, made in memory.

use std::borrow::Cow;
use std::collections::HashSet;
use std::path::PathBuf;

use rayon::prelude::*;

use super::compile::CompiledKind;
use super::error::BuildError;
use super::log::{BuildLog, LogStage};
use crate::artifact::{META_SECTION_PREFIX, RUN_CONFIG, SuperKernelSymbols, copy_name};
use crate::elf::{self, Edits, Groups, Localize, Missing};
use crate::error::Error;
use crate::model::{CoreKind, SuperKernel};
use crate::objects::{LinkGroup, ObjectBytes, ObjectError, UsedObject};
use crate::store::digest::ContentDigest;
use crate::store::work_dir::WorkDir;

/// The folder of sub-kernel objects in the work directory.
const FOLDER: &str = "objects";

/// Objects on disk, ready for the linker, as paths relative to the work directory.
#[derive(Debug)]
pub struct LinkInputs {
    /// The super kernel's own objects: entry, code, copies; per core kind.
    pub own: Vec<(CoreKind, Vec<PathBuf>)>,
    /// The sub-kernels' objects with their copies, in op order; per group.
    pub subs: Vec<(LinkGroup, PathBuf)>,
}

impl LinkInputs {
    /// Link order: own cube code, cube ops, own vector code, vector ops, dynamic ops. A kernel with one core kind
    /// has its own code first.
    pub fn in_order(&self) -> Vec<PathBuf> {
        let own = |kind: CoreKind| {
            self.own.iter().filter(move |(owner, _)| *owner == kind).flat_map(|(_, files)| files.iter().cloned())
        };
        let subs =
            |group: LinkGroup| self.subs.iter().filter(move |(owner, _)| *owner == group).map(|(_, file)| file.clone());
        let mut order: Vec<PathBuf> = Vec::new();
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
pub struct Copied<'a> {
    group: LinkGroup,
    pieces: Vec<Piece<'a>>,
    log: Vec<(LogStage, String)>,
}

/// One file for the linker.
#[derive(Debug)]
struct Piece<'a> {
    file: String,
    bytes: Cow<'a, [u8]>,
    /// Known for what was read. A copy made here is like no other: its functions are called like no others.
    digest: Option<ContentDigest>,
}

/// Makes the missing copies of all objects, in parallel.
pub fn copy_subs<'a>(used: &'a [UsedObject<'a>]) -> Result<Vec<Copied<'a>>, ObjectError> {
    used.par_iter().enumerate().map(|(number, object)| copy_sub(number, object)).collect()
}

fn copy_sub<'a>(number: usize, used: &'a UsedObject<'a>) -> Result<Copied<'a>, ObjectError> {
    let file = |copy: u32| format!("{FOLDER}/{}.o", copy_name(&format!("{number:04}"), copy));
    let mut log = Vec::new();
    let unpack = |member: &str, copy| format!("ar p {} {member} > {}", used.path.display(), file(copy));
    match used.object.name {
        "" => log.push((LogStage::Unpack, format!("cp {} {}", used.path.display(), file(0)))),
        member => log.push((LogStage::Unpack, unpack(member, 0))),
    }
    let read = |copy, object: &ObjectBytes<'a>| Piece {
        file: file(copy),
        bytes: Cow::Borrowed(object.bytes),
        digest: Some(object.digest),
    };
    let mut pieces = vec![read(0, &used.object)];
    for (copy, ready) in (1..).zip(&used.ready) {
        let piece = match ready {
            Some(ready) => {
                log.push((LogStage::Unpack, unpack(ready.name, copy)));
                read(copy, ready)
            }
            None => {
                let edits = elf::copy_edits(&used.functions, copy);
                log.push((LogStage::SplitSubObjects, objcopy(&edits, &file(0), &file(copy))));
                let copied = elf::edit(used.object.bytes, &edits);
                let bytes = copied.map_err(|source| ObjectError::Copy { origin: used.origin(), copy, source })?;
                Piece { file: file(copy), bytes, digest: None }
            }
        };
        pieces.push(piece);
    }
    Ok(Copied { group: used.group, pieces, log })
}

/// Writes the objects for the linker; equal contents once.
pub fn write_subs(
    copied: &[Copied<'_>],
    work: &WorkDir,
    log: &mut BuildLog,
) -> Result<Vec<(LinkGroup, PathBuf)>, BuildError> {
    crate::fs::create_directories(&work.file(FOLDER))?;
    let mut written = HashSet::new();
    let mut files = Vec::new();
    for object in copied {
        object.log.iter().for_each(|(stage, line)| log.add(*stage, line));
        for Piece { file, bytes, digest } in &object.pieces {
            if digest.is_none_or(|digest| written.insert(digest)) {
                work.write(file, bytes)?;
                files.push((object.group, PathBuf::from(file)));
            }
        }
    }
    Ok(files)
}

/// The super kernel's own objects for one kind, with copies where there is more than one.
pub fn own_objects(
    compiled: &CompiledKind,
    kernel: &SuperKernel,
    symbols: &SuperKernelSymbols,
    work: &WorkDir,
    log: &mut BuildLog,
) -> Result<Vec<PathBuf>, Error> {
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
        log.add(LogStage::SplitSubObjects, objcopy(&edits, &format!("{stem}.o"), &file));
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
pub fn objcopy(edits: &Edits, from: &str, to: &str) -> String {
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
    let dropped = edits.drop_sections_with_prefix.iter();
    words.extend(dropped.map(|prefix| format!("--wildcard --remove-section='{prefix}*'")));
    words.extend([from.to_owned(), to.to_owned()]);
    words.join(" ")
}
