//! Relocations in the new file: with the places and symbols of there, and stored into the contents for a device.

use super::arrangement::Form;
use super::decided::Decided;
use super::device::Relocation;
use super::error::{LinkError, RelocationProblem, Unfit};
use super::outputs::{OutputId, RelocationPart};
use crate::elf::Place;
use crate::elf::format::{REL, double, kind, put_double, put_word, word};

/// Problems told one by one.
const TOLD: usize = 20;
/// Where `r_info` and `r_addend` are.
const INFO: usize = 8;
const ADDEND: usize = 16;

/// How many bytes the relocations of one form take.
pub(super) fn size(file: &Decided<'_, '_>, id: OutputId, form: Form) -> u64 {
    parts(file, id, form).map(|part| file.objects[part.object].header(part.section).size).sum()
}

fn parts<'f>(file: &'f Decided<'_, '_>, id: OutputId, form: Form) -> impl Iterator<Item = &'f RelocationPart> {
    file.outputs.get(id).relocations.iter().filter(move |part| Form::of(part.shape.entry) == form)
}

/// Writes all relocations of one form that an output has.
pub(super) fn write(file: &Decided<'_, '_>, id: OutputId, form: Form, bytes: &mut [u8]) -> Result<(), LinkError> {
    let mut rest = bytes;
    for part in parts(file, id, form) {
        let records = records(file, part)?;
        let (new, behind) = rest.split_at_mut(records.len());
        new.copy_from_slice(records);
        rest = behind;
        let base = file.arrangement.address(id).wrapping_add(part.offset);
        new.chunks_exact_mut(part.shape.entry).for_each(|record| renew(file, part, base, record));
    }
    Ok(())
}

fn records<'a>(file: &Decided<'_, 'a>, part: &RelocationPart) -> Result<&'a [u8], LinkError> {
    let object = &file.objects[part.object];
    object.file.contents(part.section).map_err(|error| object.error(error))
}

/// Gives a record its new place and symbol.
fn renew(file: &Decided<'_, '_>, part: &RelocationPart, base: u64, record: &mut [u8]) {
    let index = word(record, part.shape.symbol_at) as usize;
    put_double(record, 0, double(record, 0).wrapping_add(base));
    let Some(reference) = file.reference(part.object, index) else {
        // What it described is left out.
        record[INFO..].fill(0);
        return;
    };
    let mut symbol = reference.symbol;
    if part.shape.entry == REL {
        symbol = file.anchor(part.object, index).unwrap_or(symbol);
    } else {
        put_double(record, ADDEND, double(record, ADDEND).wrapping_add(reference.moved));
    }
    put_word(record, part.shape.symbol_at, symbol);
}

/// Stores the values of all relocations of an output into its contents.
pub(super) fn apply(
    file: &Decided<'_, '_>,
    id: OutputId,
    contents: &mut [u8],
    problems: &mut Vec<RelocationProblem>,
) -> Result<(), LinkError> {
    for part in &file.outputs.get(id).relocations {
        let object = &file.objects[part.object];
        for record in records(file, part)?.chunks_exact(part.shape.entry) {
            if problems.len() >= TOLD {
                return Ok(());
            }
            let index = word(record, part.shape.symbol_at) as usize;
            let Some(reference) = file.reference(part.object, index) else { continue };
            let offset = double(record, 0);
            let number = word(record, INFO);
            let target = i128::from(file.table.entries[reference.symbol as usize].raw.value)
                + i128::from(reference.moved)
                + if part.shape.entry == REL { 0 } else { i128::from(double(record, ADDEND) as i64) };
            let place = part.offset.saturating_add(offset);
            let size = object.header(part.target).size;
            let stored = Relocation::of(number).filter(|_| part.shape.entry != REL);
            let stored = stored.ok_or(Unfit::Unknown { kind: number }).and_then(|relocation| {
                let end = offset.checked_add(relocation.length() as u64).filter(|end| *end <= size);
                let start = usize::try_from(place).ok().filter(|_| end.is_some());
                let field = start.and_then(|start| contents.get_mut(start..)?.get_mut(..relocation.length()));
                let address = file.arrangement.address(id).wrapping_add(place);
                relocation.apply(field.ok_or(Unfit::Outside { size })?, target, address)
            });
            if let Err(unfit) = stored {
                problems.push(problem(file, part, offset, index, unfit));
            }
        }
    }
    Ok(())
}

fn problem(
    file: &Decided<'_, '_>,
    part: &RelocationPart,
    offset: u64,
    symbol: usize,
    unfit: Unfit,
) -> RelocationProblem {
    const FUNCTION: u8 = 2;
    let object = &file.objects[part.object];
    let around = object.symbols.iter().find(|symbol| {
        let raw = symbol.raw;
        symbol.place == Place::Section(part.target)
            && raw.kind() == FUNCTION
            && (raw.value..raw.value.saturating_add(raw.size)).contains(&offset)
    });
    let meant = &object.symbols[symbol];
    let name = match meant.place {
        Place::Section(section) if meant.name.is_empty() => object.section_name(section),
        Place::Section(_) | Place::Undefined | Place::Absolute | Place::Common | Place::Special(_) => meant.display(),
    };
    debug_assert!(matches!(object.header(part.section).kind, kind::REL | kind::RELA));
    RelocationProblem {
        object: object.name.to_owned(),
        place: around.map_or_else(|| object.section_name(part.target), |function| function.display()),
        offset,
        symbol: name,
        unfit,
    }
}
