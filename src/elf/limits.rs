//! What an object may ask of a linker or a loader: a few header bytes must not cost gigabytes.

use std::collections::HashSet;

use super::archive;
use super::error::ElfError;
use super::file::ElfFile;
use super::format::{flag, kind, section_at};
use super::shared::{SharedPart, VariableMemory};
use super::symbols::{Place, symbols};
use crate::artifact::BLOCK_LOCAL_ROOM;

/// Largest alignment of a section: the largest page there is on machines in use. A linker pads up to it.
pub(crate) const MAX_ALIGNMENT: u64 = 1 << 16;
/// Largest room without bytes in the file (`.bss`, common symbols), all of an object together. A loader, and the
/// simulator for every core, makes that room.
pub(crate) const MAX_ROOM: u64 = 1 << 28;

/// [`check_limits`] for a file: an object, or an archive of them.
pub(crate) fn check_file_limits(bytes: &[u8]) -> Result<(), ElfError> {
    if !archive::is_archive(bytes) {
        return check_limits(bytes);
    }
    archive::read(bytes)?
        .iter()
        .try_for_each(|member| check_limits(member.data).map_err(ElfError::in_member(&member.name)))
}

/// Refuses a file whose block-local variables have no room on a core: an object, or an archive that is linked whole.
pub(crate) fn check_block_local(bytes: &[u8]) -> Result<(), ElfError> {
    let objects = match archive::is_archive(bytes) {
        true => archive::read(bytes)?.into_iter().map(|member| member.data).collect(),
        false => vec![bytes],
    };
    let mut counted = HashSet::new();
    let mut value: u64 = 0;
    for object in objects {
        let SharedPart { variables, own_block_local } = SharedPart::of(object)?;
        value = value.saturating_add(own_block_local);
        for variable in variables.into_iter().filter(|variable| variable.memory == VariableMemory::BlockLocal) {
            if counted.insert((variable.name, variable.size)) {
                value = value.saturating_add(variable.size);
            }
        }
    }
    if value <= BLOCK_LOCAL_ROOM {
        return Ok(());
    }
    let of = "the block-local variables together".to_owned();
    Err(ElfError::Excessive { of, offset: 0, field: "sh_size", value, limit: BLOCK_LOCAL_ROOM })
}

/// Refuses an object that asks for more room or a larger alignment than any kernel needs.
pub(crate) fn check_limits(object: &[u8]) -> Result<(), ElfError> {
    let file = ElfFile::parse(object)?;
    let mut room: u64 = 0;
    let mut take_room = |name: &dyn Fn() -> String, offset: u64, field: &'static str, size: u64| {
        room = room.saturating_add(size);
        if room <= MAX_ROOM {
            return Ok(());
        }
        Err(ElfError::Excessive { of: name(), offset, field, value: size, limit: MAX_ROOM })
    };
    for (index, section) in file.sections.iter().enumerate().skip(1) {
        let name = || format!("section `{}`", file.display_name(index));
        // Sections that are not loaded are padded in files all the same.
        if section.align > MAX_ALIGNMENT {
            let offset = file.header_offset(index).saturating_add(section_at::ADDRALIGN);
            let (field, value) = ("sh_addralign", section.align);
            return Err(ElfError::Excessive { of: name(), offset, field, value, limit: MAX_ALIGNMENT });
        }
        if section.kind == kind::NOBITS && section.flags & flag::ALLOC != 0 {
            take_room(&name, file.header_offset(index).saturating_add(section_at::SIZE), "sh_size", section.size)?;
        }
    }
    for symbol in symbols(object)?.iter().filter(|symbol| symbol.place == Place::Common) {
        let name = || format!("common symbol `{}`", symbol.name);
        if symbol.value > MAX_ALIGNMENT {
            let (field, value) = ("st_value", symbol.value);
            return Err(ElfError::Excessive { of: name(), offset: 0, field, value, limit: MAX_ALIGNMENT });
        }
        take_room(&name, 0, "st_size", symbol.size)?;
    }
    Ok(())
}
