//! Reads a finished device file as the runtime's loader does: what the loader would misread is found here.

use std::collections::{BTreeMap, HashSet};

use crate::artifact::{BLOCK_LOCAL_ROOM, Chip, CodeTarget, STACK_BYTES, STACK_RECORD, Setter};
use crate::elf::{self, ElfError, Place, Section, Symbol, SymbolKind, Visibility};
use crate::link::{self, Kept, Mismatch};
use crate::locate::CodeMap;

/// All block-local variables.
const BLOCK_LOCAL: &str = ".bl_uninit";

/// What is wrong with a device file whose kernels are `entries`.
pub(super) fn problems(object: &[u8], entries: &[String]) -> Result<Vec<String>, ElfError> {
    let sections = elf::sections(object)?;
    let symbols = elf::symbols(object)?;
    let mut problems = kernels(&symbols, entries);
    const LINKED: u16 = 2;
    let kind = elf::identity(object)?.kind;
    if kind != LINKED {
        problems.push(format!("the file is not linked: its `e_type` is {kind}"));
    }
    problems.extend(indices(&symbols, &sections));
    let map = CodeMap::read(object)?;
    let kept = link::kept(object)?;
    problems.extend(undefined(&symbols, &kept, map.as_ref()));
    problems.extend(shared(&symbols));
    problems.extend(block_local(&symbols, &sections));
    if matches!(CodeTarget::of(elf::identity(object)?.flags), CodeTarget::Core(Chip::C220, _)) {
        problems.extend(stack_record(object, &sections)?);
    }
    problems.extend(relocations(kept, map.as_ref()));
    Ok(problems)
}

/// Bytes of block-local memory that a file uses.
pub(super) fn block_local_bytes(sections: &[Section<'_>]) -> u64 {
    sections.iter().filter(|section| section.name == BLOCK_LOCAL).map(|section| section.size).sum()
}

/// A kernel is every function that is global and not hidden.
fn kernels(symbols: &[Symbol<'_>], entries: &[String]) -> Vec<String> {
    let is_kernel = |symbol: &&Symbol<'_>| {
        let visible = matches!(symbol.visibility, Visibility::Default | Visibility::Protected);
        symbol.kind == SymbolKind::Function && symbol.binding == elf::Binding::Global && symbol.is_defined() && visible
    };
    let others = symbols.iter().filter(is_kernel).filter(|symbol| !entries.iter().any(|entry| *entry == symbol.name));
    others.map(|symbol| format!("the loader would take function `{}` for a kernel", symbol.name)).collect()
}

/// The loader reads the number of sections as it is, and stops at a variable in a section beyond.
fn indices(symbols: &[Symbol<'_>], sections: &[Section<'_>]) -> Vec<String> {
    let mut problems = Vec::new();
    if sections.len() >= 0xff00 {
        problems.push(format!("the loader cannot count {} sections", sections.len()));
    }
    let outside = symbols.iter().find(|symbol| {
        let is_special = matches!(symbol.place, Place::Absolute | Place::Common | Place::Special(_));
        symbol.kind == SymbolKind::Object && is_special
    });
    problems
        .extend(outside.map(|symbol| format!("variable `{}` is in no section: the loader stops there", symbol.name)));
    problems
}

/// What nobody defines and the loader does not fill in is at address 0.
fn undefined(symbols: &[Symbol<'_>], kept: &[Kept], map: Option<&CodeMap>) -> Vec<String> {
    let needed = symbols.iter().filter(|symbol| symbol.is_imported() && symbol.binding != elf::Binding::Weak);
    let needed = needed.filter(|symbol| Setter::of(&symbol.name) != Setter::Loader);
    needed
        .map(|symbol| {
            let owner = kept.iter().filter(|kept| kept.symbol == symbol.name).find_map(|kept| owner(kept, map));
            let owner = owner.map_or_else(String::new, |owner| format!(", which the code of {owner} needs"));
            format!("no definition of `{}`{owner}", symbol.name)
        })
        .collect()
}

/// What one part of the kernel or the loader sets and others read has one address.
fn shared(symbols: &[Symbol<'_>]) -> Vec<String> {
    let mut places: BTreeMap<&str, HashSet<(Option<usize>, u64)>> = BTreeMap::new();
    for symbol in symbols.iter().filter(|symbol| symbol.is_defined() && Setter::of(&symbol.name) != Setter::Op) {
        let section = match symbol.place {
            Place::Section(section) => Some(section),
            Place::Undefined | Place::Absolute | Place::Common | Place::Special(_) => None,
        };
        places.entry(symbol.name.as_ref()).or_default().insert((section, symbol.value));
    }
    let several = places.into_iter().filter(|(_, places)| places.len() > 1);
    several.map(|(name, places)| format!("shared variable `{name}` has {} addresses", places.len())).collect()
}

fn block_local(symbols: &[Symbol<'_>], sections: &[Section<'_>]) -> Vec<String> {
    let mut problems = Vec::new();
    let size = block_local_bytes(sections);
    if size > BLOCK_LOCAL_ROOM {
        problems.push(format!("block-local variables take {size} bytes of {BLOCK_LOCAL_ROOM}"));
    }
    for (index, section) in sections.iter().enumerate().filter(|(_, section)| section.name == BLOCK_LOCAL) {
        let inside = symbols.iter().filter(|symbol| symbol.place == Place::Section(index));
        let beyond = inside.filter(|symbol| symbol.value.saturating_add(symbol.size) > section.address + section.size);
        problems
            .extend(beyond.map(|symbol| format!("block-local variable `{}` ends outside of its memory", symbol.name)));
    }
    problems
}

/// Words that are not equal, or no size of a stack there is, are ignored: stacks then have 16 KiB, and block-local memory
/// is not where code looks for it.
fn stack_record(object: &[u8], sections: &[Section<'_>]) -> Result<Vec<String>, ElfError> {
    let mut problems = Vec::new();
    for section in sections.iter().filter(|section| section.name == STACK_RECORD) {
        let start = usize::try_from(section.offset).unwrap_or(usize::MAX);
        let bytes = object.get(start..).unwrap_or_default();
        let bytes = &bytes[..bytes.len().min(usize::try_from(section.size).unwrap_or(usize::MAX))];
        let words =
            bytes.chunks_exact(8).map(|word| word.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte)));
        let wrong: Vec<u64> = words.filter(|word| *word != STACK_BYTES).collect();
        if let Some(first) = wrong.first() {
            let count = wrong.len();
            problems.push(format!("{count} functions need a stack of {first:#x} bytes instead of {STACK_BYTES:#x}"));
        }
    }
    Ok(problems)
}

/// Every relocation that the file still has says what is stored: calls reach, offsets fit.
fn relocations(kept: Vec<Kept>, map: Option<&CodeMap>) -> Vec<String> {
    let found = kept.into_iter().filter_map(|kept| Some((kept.state.err()?, kept)));
    found
        .map(|(mismatch, kept)| {
            let problem = match mismatch {
                Mismatch::Unfit(unfit) => unfit.to_string(),
                Mismatch::Stored => "something else is stored there".to_owned(),
            };
            let owner = owner(&kept, map).map_or_else(String::new, |owner| format!(", in the code of {owner}"));
            format!("reference to `{}` at {:#x} of `{}`{owner}: {problem}", kept.symbol, kept.place, kept.section)
        })
        .collect()
}

/// Whose code refers to something there.
fn owner(kept: &Kept, map: Option<&CodeMap>) -> Option<String> {
    map?.owner(&kept.section, kept.place)
}
