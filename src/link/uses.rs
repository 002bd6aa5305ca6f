//! Which symbols relocations need, and whether all of them can be had.

use std::collections::HashSet;

use super::error::LinkError;
use super::input::{Object, Role};
use super::options::OutputKind;
use super::outputs::{OutputId, Outputs, RelocationPart};
use super::symbols::{Meaning, Resolution};
use crate::elf::format::{REL, binding, word};
use crate::elf::{ElfError, Place};

/// What relocations and groups need.
pub(super) struct Uses {
    /// By object and symbol.
    pub used: Vec<Vec<bool>>,
    /// Where a part begins that relocations without an addend refer to by its section: the new section's symbol says
    /// where the first part begins, and what to add is in the code, in a form that only the machine knows.
    pub anchors: Vec<(OutputId, u64)>,
    /// Globals that nobody defines, and that code of an object refers to whose own definition is left out.
    pub needed: HashSet<u32>,
}

/// Sections whose references to what is left out are left out as well, as all linkers do: unwind and debug information
/// describes code that another object brings with its description.
const FORGIVING: [&[u8]; 2] = [b".eh_frame", b".gcc_except_table"];

pub(super) fn find(
    objects: &[Object<'_>],
    resolution: &Resolution<'_>,
    outputs: &Outputs<'_>,
    link: OutputKind,
) -> Result<Uses, LinkError> {
    let used = objects.iter().map(|object| vec![false; object.symbols.len()]).collect();
    let mut uses = Uses { used, anchors: Vec::new(), needed: HashSet::new() };
    let mut known = HashSet::new();
    for output in &outputs.all {
        for part in &output.relocations {
            let object = &objects[part.object];
            let mut mark = |symbol: usize| -> Result<(), LinkError> {
                if resolution.meaning(part.object, symbol) == Meaning::Gone && !forgives(object, part.target) {
                    return Err(discarded(object, part, symbol));
                }
                if link.is_placed() {
                    check_defined(object, resolution, part.object, symbol)?;
                }
                if let Meaning::Global(position) = resolution.meaning(part.object, symbol)
                    && resolution.globals[position as usize].definition.is_none()
                    && object.symbols[symbol].place != Place::Undefined
                    && object.symbols[symbol].raw.binding() != binding::WEAK
                {
                    uses.needed.insert(position);
                }
                uses.used[part.object][symbol] = true;
                if part.shape.entry == REL
                    && let Place::Section(section) = object.symbols[symbol].place
                    && object.symbols[symbol].is_section()
                    && let Some(place @ (_, 1..)) = outputs.place(part.object, section)
                    && known.insert(place)
                {
                    uses.anchors.push(place);
                }
                Ok(())
            };
            symbols_of(object, part)?.try_for_each(|symbol| mark(symbol?))?;
        }
    }
    if !link.is_placed() {
        for (number, object) in objects.iter().enumerate() {
            for group in object.groups.iter().filter(|group| outputs.is_group(number, group.section)) {
                uses.used[number][group.signature] = true;
            }
        }
    }
    Ok(uses)
}

/// The symbols of relocations, checked to be there.
fn symbols_of<'o>(
    object: &'o Object<'_>,
    part: &'o RelocationPart,
) -> Result<impl Iterator<Item = Result<usize, LinkError>> + 'o, LinkError> {
    let records = object.file.contents(part.section).map_err(|error| object.error(error))?;
    let shape = part.shape;
    Ok(records.chunks_exact(shape.entry).enumerate().map(move |(number, record)| {
        let symbol = word(record, shape.symbol_at) as usize;
        if symbol < object.symbols.len() {
            return Ok(symbol);
        }
        let at = object.header(part.section).offset + (number * shape.entry + shape.symbol_at) as u64;
        Err(object.error(ElfError::malformed(at, "r_info", format!("there is no symbol {symbol}"))))
    }))
}

/// A name that only a left out group defined, or one that cannot be left undefined.
fn check_defined(
    object: &Object<'_>,
    resolution: &Resolution<'_>,
    number: usize,
    symbol: usize,
) -> Result<(), LinkError> {
    let Meaning::Global(position) = resolution.meaning(number, symbol) else { return Ok(()) };
    let global = &resolution.globals[position as usize];
    if global.definition.is_some() || global.raw.binding() == binding::WEAK {
        return Ok(());
    }
    Err(LinkError::Undefined { symbols: vec![(object.symbols[symbol].display(), object.name.to_owned())] })
}

fn forgives(object: &Object<'_>, target: usize) -> bool {
    let name = object.sections[target].name;
    !object.header(target).is_allocated() || FORGIVING.iter().any(|forgiving| name.starts_with(forgiving))
}

fn discarded(object: &Object<'_>, part: &RelocationPart, symbol: usize) -> LinkError {
    debug_assert!(matches!(object.sections[part.section].role, Role::Relocations { .. }));
    let found = &object.symbols[symbol];
    let section = match found.place {
        Place::Section(section) => object.section_name(section),
        Place::Undefined | Place::Absolute | Place::Common | Place::Special(_) => String::new(),
    };
    let symbol = if found.name.is_empty() { section } else { found.display() };
    LinkError::Discarded { object: object.name.to_owned(), section: object.section_name(part.target), symbol }
}
