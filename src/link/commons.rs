//! Room for common symbols.

use super::error::LinkError;
use super::input::Object;
use super::options::OutputKind;
use super::outputs::{Output, OutputId, Outputs, PROGBITS};
use super::symbols::Resolution;
use crate::elf::format::{flag, kind, special};
use crate::elf::{ElfError, MAX_ROOM};

/// Makes room for common symbols: a device's file has an address for all, another only for those that nobody else can
/// place any more.
pub(super) fn place<'a>(
    objects: &[Object<'a>],
    resolution: &Resolution<'a>,
    outputs: &mut Outputs<'a>,
    link: OutputKind,
) -> Result<(), LinkError> {
    let kind = if link.is_placed() { PROGBITS } else { kind::NOBITS };
    let mut room = Output { name: b".bss", kind, flags: flag::ALLOC | flag::WRITE, ..Output::empty() };
    let id = OutputId(outputs.all.len() as u32);
    for (position, global) in (0..).zip(&resolution.globals) {
        let Some((object, symbol)) = global.definition else { continue };
        if global.raw.section != special::COMMON || !(link.is_placed() || global.hidden) {
            continue;
        }
        let align = global.raw.value.max(1);
        let start = align.is_power_of_two().then(|| room.size.checked_next_multiple_of(align)).flatten();
        let end = start.and_then(|start| start.checked_add(global.raw.size)).filter(|end| *end <= MAX_ROOM);
        let (Some(start), Some(end)) = (start, end) else {
            let problem = format!("symbol {symbol} has no alignment and size that a common symbol can have");
            return Err(objects[object].error(ElfError::malformed(0, "st_value", problem)));
        };
        room.align = room.align.max(align);
        room.size = end;
        outputs.commons.insert(position, (id, start));
    }
    if !outputs.commons.is_empty() {
        outputs.add(room);
    }
    Ok(())
}
