//! The relocations that a linked file still has.

use std::collections::BTreeSet;

use super::device::Relocation;
use super::error::Unfit;
use crate::elf::file::ElfFile;
use crate::elf::format::kind;
use crate::elf::{self, ElfError, Place, Visibility};

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Kept {
    /// The section it is in.
    pub section: String,
    /// Its address.
    pub place: u64,
    pub kind: u32,
    /// The symbol's name; of a section symbol, the section's.
    pub symbol: String,
    /// Symbol and addend.
    pub target: i128,
    /// Is it what the bytes say?
    pub state: Result<(), Mismatch>,
}

/// All of a linked file.
pub(crate) fn kept(bytes: &[u8]) -> Result<Vec<Kept>, ElfError> {
    let sections = elf::sections(bytes)?;
    let symbols = elf::symbols(bytes)?;
    let name = |section: usize| sections.get(section).map_or_else(String::new, |section| section.name.to_string());
    let mut found = Vec::new();
    for relocation in elf::relocations(bytes)? {
        let symbol = relocation.symbol.checked_sub(1).and_then(|number| symbols.get(number));
        let symbol_name = match symbol {
            Some(symbol) if symbol.name.is_empty() => match symbol.place {
                Place::Section(section) => name(section),
                Place::Undefined | Place::Absolute | Place::Common | Place::Special(_) => String::new(),
            },
            Some(symbol) => symbol.name.to_string(),
            None => String::new(),
        };
        let (place, number) = (relocation.offset, relocation.kind);
        let target = i128::from(symbol.map_or(0, |symbol| symbol.value)) + i128::from(relocation.addend);
        let address = sections.get(relocation.section).map_or(0, |section| section.address);
        let start = place.checked_sub(address).and_then(|start| usize::try_from(start).ok());
        let contents = elf::section_contents(bytes, relocation.section)?;
        let state = check(contents, start, place, number, target);
        found.push(Kept { section: name(relocation.section), place, kind: number, symbol: symbol_name, target, state });
    }
    Ok(found)
}

/// Why a relocation is not what the bytes say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mismatch {
    /// Its value does not fit.
    Unfit(Unfit),
    /// The bytes say something else.
    Stored,
}

fn check(contents: &[u8], start: Option<usize>, place: u64, number: u32, value: i128) -> Result<(), Mismatch> {
    let relocation = Relocation::of(number).ok_or(Mismatch::Unfit(Unfit::Unknown { kind: number }))?;
    let stored = start.and_then(|start| contents.get(start..)?.get(..relocation.length()));
    let stored = stored.ok_or(Mismatch::Unfit(Unfit::Outside { size: contents.len() as u64 }))?;
    let mut wanted = stored.to_vec();
    relocation.apply(&mut wanted, value, place).map_err(Mismatch::Unfit)?;
    if wanted == stored { Ok(()) } else { Err(Mismatch::Stored) }
}

/// What two linked files of the same objects do not have in common, by meaning.
pub(crate) fn differences(one: &[u8], other: &[u8]) -> Result<Vec<String>, ElfError> {
    let [one, other] = [Loaded::of(one)?, Loaded::of(other)?];
    let mut found = Vec::new();
    for (what, one, other) in [
        ("section", &one.sections, &other.sections),
        ("symbol", &one.symbols, &other.symbols),
        ("relocation", &one.relocations, &other.relocations),
    ] {
        const TOLD: usize = 5;
        let only = |these: &[String], others: &[String]| -> Vec<String> {
            let others: BTreeSet<&String> = others.iter().collect();
            these.iter().filter(|line| !others.contains(line)).cloned().collect()
        };
        let (first, second) = (only(one, other), only(other, one));
        found.extend(first.iter().take(TOLD).map(|line| format!("only the first has {what} {line}")));
        found.extend(second.iter().take(TOLD).map(|line| format!("only the second has {what} {line}")));
        let more = first.len().saturating_sub(TOLD) + second.len().saturating_sub(TOLD);
        if more > 0 {
            found.push(format!("{more} more differences of a {what}"));
        }
        if first.is_empty() && second.is_empty() && one != other {
            found.push(format!("{what}s are in another order"));
        }
    }
    Ok(found)
}

/// What counts of a linked file, a line for each thing.
struct Loaded {
    sections: Vec<String>,
    symbols: Vec<String>,
    relocations: Vec<String>,
}

impl Loaded {
    fn of(bytes: &[u8]) -> Result<Self, ElfError> {
        let file = ElfFile::parse(bytes)?;
        let sections = elf::sections(bytes)?;
        let mut lines = Vec::new();
        for (index, section) in sections.iter().enumerate().skip(1) {
            let is_table = matches!(section.kind, kind::SYMTAB | kind::STRTAB | kind::RELA | kind::SYMTAB_SHNDX);
            if is_table || section.name == ".comment" {
                continue;
            }
            let contents = file.contents(index)?;
            // Room without bytes is made of zeros as well.
            let digest = match contents.iter().all(|byte| *byte == 0) {
                true => 0,
                false => contents.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
                    (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
                }),
            };
            lines.push(format!("`{}` at {:#x}, {} bytes, {digest:016x}", section.name, section.address, section.size));
        }
        let place = |place: Place| match place {
            Place::Section(section) => sections.get(section).map_or("", |section| section.name.as_ref()),
            Place::Undefined => "nowhere",
            Place::Absolute | Place::Common | Place::Special(_) => "absolute",
        };
        let symbols = elf::symbols(bytes)?;
        // What is hidden ends at this file, whether it is local in it or not.
        let is_open =
            |symbol: &&elf::Symbol<'_>| matches!(symbol.visibility, Visibility::Default | Visibility::Protected);
        let visible = symbols.iter().filter(|symbol| symbol.is_exported() || symbol.is_imported()).filter(is_open);
        let symbols = visible.map(|symbol| {
            let (name, binding, kind) = (&symbol.name, symbol.binding, symbol.kind);
            format!(
                "`{name}` ({binding} {kind}) at {:#x} of `{}`, {} bytes",
                symbol.value,
                place(symbol.place),
                symbol.size
            )
        });
        let relocations = kept(bytes)?.into_iter().map(|kept| {
            let Kept { section, place, kind, symbol, target, .. } = kept;
            format!("{kind:#x} at {place:#x} of `{section}` for `{symbol}` ({target:#x})")
        });
        Ok(Self { sections: lines, symbols: symbols.collect(), relocations: relocations.collect() })
    }
}
