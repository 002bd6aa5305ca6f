//! The new symbol table, and the way from old to new symbol indices.

use std::collections::HashMap;

use super::super::error::ElfError;
use super::super::file::ElfFile;
use super::super::format::{RawSymbol, SYMBOL, binding, special, symbol_kind};
use super::super::symbols::{Place, SymbolTable};
use super::SymbolOrder;
use super::names::{Changes, Fate};
use super::references::{Use, uses};
use super::sections::SectionPlan;

/// Names are compared up to this length; behind it, symbols of the same place stay as they are.
const LONGEST_COMPARED: usize = 4096;

/// The symbol table to write.
pub(crate) struct NewSymbols {
    /// The records, locals first.
    pub records: Vec<u8>,
    /// The words of `SHT_SYMTAB_SHNDX`, when the file has them.
    pub extended: Option<Vec<u8>>,
    /// `sh_info`: the first symbol that is not local.
    pub first_global: u32,
    /// By old index; 0 for symbols that are gone.
    pub new_indices: Vec<u32>,
    /// Whether all indices are what they were.
    pub same_indices: bool,
    /// Room for common symbols that became local.
    pub commons: Option<Commons>,
}

/// A section without bytes for common symbols that became local: only the linker could have placed them, and it
/// places global ones only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Commons {
    pub section: u32,
    pub size: u64,
    pub align: u64,
}

/// What becomes of one symbol.
#[derive(Clone, Copy)]
enum Outcome {
    /// Defined in the section with this new index, or as `st_shndx` says.
    Stays(RawSymbol, Option<u32>),
    Gone,
    /// References go to the symbol with this old index.
    Merged(usize),
}

/// Makes the new symbol table.
pub(crate) fn plan(
    file: &ElfFile<'_>,
    table: &SymbolTable<'_>,
    changes: &Changes,
    sections: &SectionPlan,
    order: SymbolOrder,
) -> Result<NewSymbols, ElfError> {
    let used = if changes.strips || sections.drops { uses(file, table, &sections.dropped)? } else { Vec::new() };
    let survivors = survivors(table, changes, &used);
    let mut commons = None;
    let mut outcomes = Vec::with_capacity(table.count());
    for index in 0..table.count() {
        let mut outcome = outcome(file, table, changes, sections, index, &used, &survivors)?;
        if let Outcome::Stays(raw, section) = &mut outcome
            && raw.section == special::COMMON
            && changes.symbols[index].fate == Fate::Localize
        {
            *section = Some(make_room(file, table, sections, index, raw, &mut commons)?);
        }
        outcomes.push(outcome);
    }
    let staying = |is_local: bool| {
        let stays = outcomes.iter().enumerate().filter_map(move |(index, outcome)| match outcome {
            Outcome::Stays(raw, section) => Some((index, *raw, *section)),
            Outcome::Gone | Outcome::Merged(_) => None,
        });
        stays.filter(move |(index, raw, _)| (*index == 0 || raw.is_local()) == is_local)
    };
    let mut writer = Writer::new(table, outcomes.len());
    for (index, raw, section) in in_order(table, staying(true).collect(), order) {
        writer.push(file, table, index, raw, section)?;
    }
    let first_global = writer.next;
    for (index, raw, section) in in_order(table, staying(false).collect(), order) {
        writer.push(file, table, index, raw, section)?;
    }
    let Writer { records, extended, mut new_indices, .. } = writer;
    for (index, outcome) in outcomes.iter().enumerate() {
        if let Outcome::Merged(into) = outcome {
            new_indices[index] = new_indices[*into];
        }
    }
    let same_indices = new_indices.iter().enumerate().all(|(old, new)| old == *new as usize);
    Ok(NewSymbols { records, extended, first_global, new_indices, same_indices, commons })
}

/// A symbol that stays, with its old index and its new section.
type Staying = (usize, RawSymbol, Option<u32>);

/// Symbols as they are to follow one another. A file's name stays in front of the symbols that came behind it.
fn in_order(table: &SymbolTable<'_>, mut symbols: Vec<Staying>, order: SymbolOrder) -> Vec<Staying> {
    match order {
        SymbolOrder::Keep => {}
        SymbolOrder::ByPlace => {
            let begins_file = |symbol: &Staying| symbol.0 == 0 || symbol.1.kind() == symbol_kind::FILE;
            for part in symbols.chunk_by_mut(|_, next| !begins_file(next)) {
                let from = usize::from(begins_file(&part[0]));
                let place = |(_, raw, section): &Staying| {
                    (section.unwrap_or(u32::from(raw.section)), raw.value, raw.size, raw.info)
                };
                let name = |symbol: &Staying| table.names.short(symbol.1.name, LONGEST_COMPARED).unwrap_or_default();
                // Names are looked for only where nothing else tells symbols apart.
                part[from..]
                    .sort_by(|one, other| place(one).cmp(&place(other)).then_with(|| name(one).cmp(name(other))));
            }
        }
    }
    symbols
}

/// For each stripped name that relocations use, the one symbol that stays as a reference. A symbol that was a
/// reference already is preferred: it knows best how it wants to be resolved.
fn survivors(table: &SymbolTable<'_>, changes: &Changes, used: &[Use]) -> HashMap<u32, usize> {
    let mut survivors: HashMap<u32, usize> = HashMap::new();
    if changes.strips {
        for (index, change) in changes.symbols.iter().enumerate() {
            let Fate::Strip(name) = change.fate else { continue };
            let raw = table.raw(index);
            if used[index].relocated && (raw.section == special::UNDEFINED || !survivors.contains_key(&name)) {
                survivors.insert(name, index);
            }
        }
    }
    survivors
}

fn outcome(
    file: &ElfFile<'_>,
    table: &SymbolTable<'_>,
    changes: &Changes,
    sections: &SectionPlan,
    index: usize,
    used: &[Use],
    survivors: &HashMap<u32, usize>,
) -> Result<Outcome, ElfError> {
    let mut raw = table.raw(index);
    let place = table.place_of(file, index, raw.section)?;
    let change = changes.symbols[index];
    if change.new_name != 0 {
        raw.name = change.new_name;
    }
    if let Fate::Strip(name) = change.fate {
        return Ok(match survivors.get(&name) {
            _ if !used[index].relocated => Outcome::Gone,
            Some(survivor) if *survivor != index => Outcome::Merged(*survivor),
            _ => Outcome::Stays(as_reference(raw), None),
        });
    }
    if let Place::Section(section) = place
        && sections.dropped[section]
    {
        if !used[index].loaded {
            return Ok(Outcome::Gone);
        }
        if raw.is_local() {
            return Err(ElfError::DropRefused {
                section: file.display_name(section),
                problem: "loaded sections refer to it".to_owned(),
            });
        }
        return Ok(Outcome::Stays(as_reference(raw), None));
    }
    match change.fate {
        Fate::Localize => raw = raw.with_binding(binding::LOCAL),
        Fate::Weaken => raw = raw.with_binding(binding::WEAK),
        Fate::Keep | Fate::Strip(_) => {}
    }
    let section = match place {
        Place::Section(section) => Some(sections.new_index[section]),
        Place::Undefined | Place::Absolute | Place::Common | Place::Special(_) => None,
    };
    Ok(Outcome::Stays(raw, section))
}

/// The same name as a reference to a definition elsewhere.
fn as_reference(raw: RawSymbol) -> RawSymbol {
    if raw.section == special::UNDEFINED {
        return raw;
    }
    // Linkers compare only this kind between reference and definition.
    let kind = if raw.kind() == symbol_kind::TLS { symbol_kind::TLS } else { symbol_kind::NONE };
    RawSymbol { info: binding::GLOBAL << 4 | kind, section: special::UNDEFINED, value: 0, size: 0, ..raw }
}

/// Places a common symbol, whose value is its alignment.
fn make_room(
    file: &ElfFile<'_>,
    table: &SymbolTable<'_>,
    sections: &SectionPlan,
    index: usize,
    raw: &mut RawSymbol,
    commons: &mut Option<Commons>,
) -> Result<u32, ElfError> {
    let room = commons.get_or_insert_with(|| Commons {
        section: sections.dropped.iter().filter(|dropped| !**dropped).count() as u32,
        size: 0,
        align: 1,
    });
    let align = raw.value.max(1);
    let start = align.is_power_of_two().then(|| room.size.checked_next_multiple_of(align)).flatten();
    let Some((start, end)) = start.and_then(|start| Some((start, start.checked_add(raw.size)?))) else {
        let offset = table.offset_of(file, index) + 8;
        return Err(ElfError::malformed(offset, "st_value", "not an alignment that a common symbol can have"));
    };
    *room = Commons { size: end, align: room.align.max(align), ..*room };
    raw.value = start;
    if raw.kind() == symbol_kind::COMMON {
        raw.info = binding::LOCAL << 4 | symbol_kind::OBJECT;
    }
    Ok(room.section)
}

/// Writes symbols one after the other.
struct Writer {
    records: Vec<u8>,
    extended: Option<Vec<u8>>,
    new_indices: Vec<u32>,
    next: u32,
}

impl Writer {
    fn new(table: &SymbolTable<'_>, count: usize) -> Self {
        Self {
            records: Vec::with_capacity(count * SYMBOL),
            extended: table.extended.map(|(_, words)| Vec::with_capacity(words.len())),
            new_indices: vec![0; count],
            next: 0,
        }
    }

    fn push(
        &mut self,
        file: &ElfFile<'_>,
        table: &SymbolTable<'_>,
        index: usize,
        mut raw: RawSymbol,
        section: Option<u32>,
    ) -> Result<(), ElfError> {
        let mut extended = 0u32;
        if let Some(section) = section {
            match u16::try_from(section) {
                Ok(small) if small < special::FIRST => raw.section = small,
                _ if self.extended.is_some() => {
                    raw.section = special::EXTENDED;
                    extended = section;
                }
                _ => {
                    let offset = table.offset_of(file, index) + 6;
                    return Err(ElfError::malformed(offset, "st_shndx", "there is no section with extended indices"));
                }
            }
        }
        let at = self.records.len();
        self.records.resize(at + SYMBOL, 0);
        raw.write(&mut self.records[at..]);
        if let Some(words) = &mut self.extended {
            words.extend_from_slice(&extended.to_le_bytes());
        }
        self.new_indices[index] = self.next;
        self.next += 1;
        Ok(())
    }
}
