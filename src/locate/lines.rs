//! Source lines, from DWARF line tables.

use std::sync::Arc;

use gimli::{EndianArcSlice, RunTimeEndian};
use object::{Object, ObjectSection, ObjectSymbol, RelocationFlags, RelocationKind, RelocationTarget};

use super::{Layout, SourceLine};

type Reader = EndianArcSlice<RunTimeEndian>;

/// The line tables of a file.
pub(super) struct Lines(addr2line::Context<Reader>);

impl Lines {
    /// Those of `file`; `None` if it has none, or none that can be understood.
    pub(super) fn load(file: &object::File<'_>, layout: &Layout) -> Option<Self> {
        file.section_by_name(".debug_line")?;
        let endian = if file.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
        let load = |id: gimli::SectionId| -> Result<Reader, gimli::Error> {
            let bytes = file.section_by_name(id.name()).map(|section| contents(file, &section, layout));
            Ok(Reader::new(Arc::from(bytes.unwrap_or_default()), endian))
        };
        let dwarf = gimli::Dwarf::load(load).ok()?;
        addr2line::Context::from_dwarf(dwarf).ok().map(Self)
    }

    /// The line of `address`.
    pub(super) fn at(&self, address: u64) -> Option<SourceLine> {
        let location = self.0.find_location(address).ok().flatten()?;
        Some(SourceLine { file: location.file?.to_owned(), line: location.line? })
    }

    /// The lines of `address`: its own, then those where the functions it is in were inlined.
    pub(super) fn frames(&self, address: u64) -> Vec<SourceLine> {
        let mut found = Vec::new();
        let Ok(mut frames) = self.0.find_frames(address).skip_all_loads() else { return found };
        while let Ok(Some(frame)) = frames.next() {
            if let Some((Some(file), Some(line))) = frame.location.map(|location| (location.file, location.line)) {
                found.push(SourceLine { file: file.to_owned(), line });
            }
        }
        found
    }

    /// The innermost function at `address`, inlined or not; symbols do not name functions that are nobody else's.
    pub(super) fn function(&self, address: u64) -> Option<String> {
        let mut frames = self.0.find_frames(address).skip_all_loads().ok()?;
        while let Some(frame) = frames.next().ok()? {
            if let Some(name) = frame.function.and_then(|function| Some(function.demangle().ok()?.into_owned())) {
                return Some(name);
            }
        }
        None
    }
}

/// The bytes of a section, with the addresses that a linker would write into it.
fn contents(file: &object::File<'_>, section: &object::Section<'_, '_>, layout: &Layout) -> Vec<u8> {
    let mut bytes = section.data().unwrap_or_default().to_vec();
    if file.kind() != object::ObjectKind::Relocatable {
        return bytes;
    }
    for (offset, relocation) in section.relocations() {
        let RelocationFlags::Elf { .. } = relocation.flags() else { continue };
        if relocation.kind() != RelocationKind::Absolute {
            continue;
        }
        let RelocationTarget::Symbol(symbol) = relocation.target() else { continue };
        let target = file.symbol_by_index(symbol).ok().and_then(|symbol| {
            let section = symbol.section_index()?;
            let name = file.section_by_index(section).ok()?.name().unwrap_or_default().to_owned();
            // Offsets into other debug sections count from the start of that section.
            match name.starts_with(".debug") {
                true => Some(symbol.address()),
                false => layout.address(section, symbol.address()),
            }
        });
        let Some(target) = target else { continue };
        let value = target.wrapping_add_signed(relocation.addend());
        let size = usize::from(relocation.size() / 8);
        let place = usize::try_from(offset).ok().and_then(|at| bytes.get_mut(at..at.checked_add(size)?));
        if let Some(place) = place.filter(|place| place.len() <= 8) {
            let length = place.len();
            place.copy_from_slice(&value.to_le_bytes()[..length]);
        }
    }
    bytes
}
