//! Questions about an object's sections.

use std::borrow::Cow;

use super::error::ElfError;
use super::file::ElfFile;
use super::format::{FILE_HEADER, RELA, double, half, header_at, kind, word};
use super::strings::NameReader;

/// One section, as its header describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section<'a> {
    /// Its name. Bytes that are not UTF-8 are replaced.
    pub name: Cow<'a, str>,
    /// `sh_type`.
    pub kind: u32,
    /// `sh_flags`.
    pub flags: u64,
    /// `sh_addr`.
    pub address: u64,
    /// Where its bytes are in the file.
    pub offset: u64,
    /// How many bytes it has (in memory, for a section without bytes in the file).
    pub size: u64,
    /// `sh_link`.
    pub link: u32,
    /// `sh_info`.
    pub info: u32,
    /// `sh_addralign`.
    pub align: u64,
}

/// `e_machine` of objects for the machine this runs on.
pub(crate) const HOST_MACHINE: u16 = if cfg!(target_arch = "aarch64") { 183 } else { 62 };

/// `e_machine` of objects for the device.
pub(crate) const DEVICE_MACHINE: u16 = 0x1029;

/// What kind of file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    /// `e_type`: 1 relocatable, 2 executable, 3 shared object.
    pub kind: u16,
    /// `e_machine`.
    pub machine: u16,
    /// `e_flags`.
    pub flags: u32,
}

/// Type and machine of an ELF file.
pub fn identity(object: &[u8]) -> Result<Identity, ElfError> {
    let file = ElfFile::parse(object)?;
    let header = &object[..FILE_HEADER];
    let flags = word(header, header_at::FLAGS);
    Ok(Identity { kind: half(header, header_at::TYPE), machine: file.machine, flags })
}

/// One relocation with an addend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Relocation {
    /// The section that it changes.
    pub section: usize,
    /// Where in that section.
    pub offset: u64,
    /// Its type.
    pub kind: u32,
    /// The index of its symbol, the empty first one included.
    pub symbol: usize,
    /// What is added.
    pub addend: i64,
}

/// All relocations with addends, section by section.
pub(crate) fn relocations(object: &[u8]) -> Result<Vec<Relocation>, ElfError> {
    let file = ElfFile::parse(object)?;
    let mut found = Vec::new();
    for index in file.of_kind(kind::RELA) {
        let section = file.sections[index].info as usize;
        found.extend(file.contents(index)?.chunks_exact(RELA).map(|record| Relocation {
            section,
            offset: double(record, 0),
            kind: word(record, 8),
            symbol: word(record, 12) as usize,
            addend: double(record, 16).cast_signed(),
        }));
    }
    Ok(found)
}

/// Size of the first section whose name starts with `.text`.
pub fn text_size(object: &[u8]) -> Result<u64, ElfError> {
    let file = ElfFile::parse(object)?;
    let names = file.section_names()?;
    for index in 1..file.sections.len() {
        if file.name_and_rest(&names, index)?.starts_with(b".text") {
            return Ok(file.sections[index].size);
        }
    }
    Err(ElfError::NoText)
}

/// All sections in file order, the empty first one included, so that a position is a section index.
pub fn sections(object: &[u8]) -> Result<Vec<Section<'_>>, ElfError> {
    let file = ElfFile::parse(object)?;
    let mut names = NameReader::new(file.section_names()?, object.len());
    file.sections
        .iter()
        .enumerate()
        .map(|(index, header)| {
            let name = names
                .read(header.name)
                .map_err(|problem| ElfError::malformed(file.header_offset(index), "sh_name", problem.describe()))?;
            Ok(Section {
                name,
                kind: header.kind,
                flags: header.flags,
                address: header.address,
                offset: header.offset,
                size: header.size,
                link: header.link,
                info: header.info,
                align: header.align,
            })
        })
        .collect()
}

/// The bytes of the first section with this name; `None` when there is none. A section that takes no room in the
/// file (`.bss`) has no bytes.
pub fn section_bytes<'a>(object: &'a [u8], name: &str) -> Result<Option<&'a [u8]>, ElfError> {
    let file = ElfFile::parse(object)?;
    let names = file.section_names()?;
    for index in 1..file.sections.len() {
        if names.short(file.sections[index].name, name.len()) == Some(name.as_bytes()) {
            return file.contents(index).map(Some);
        }
    }
    Ok(None)
}

/// The bytes of section `index`, none for one without bytes in the file.
pub(crate) fn section_contents(object: &[u8], index: usize) -> Result<&[u8], ElfError> {
    let file = ElfFile::parse(object)?;
    if index < file.sections.len() { file.contents(index) } else { Ok(&[]) }
}
