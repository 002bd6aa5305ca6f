//! An ELF file opened for reading: header and section headers checked, contents borrowed.

use super::error::ElfError;
use super::format::{
    FILE_HEADER, PROGRAM_HEADER, RELOCATABLE, SECTION_HEADER, SectionHeader, double, half, header_at, kind, section_at,
    special,
};
use super::strings::StringTable;

/// A parsed file. Every section header has been read; contents are checked when asked for.
pub(crate) struct ElfFile<'a> {
    pub bytes: &'a [u8],
    pub machine: u16,
    pub sections: Vec<SectionHeader>,
    /// Index of the section with the section names; 0 when sections have no names.
    pub names_index: usize,
    /// Where the section headers start.
    pub headers_offset: u64,
}

impl<'a> ElfFile<'a> {
    /// Reads the file header and all section headers.
    pub(crate) fn parse(bytes: &'a [u8]) -> Result<Self, ElfError> {
        if !bytes.starts_with(b"\x7fELF") {
            return Err(ElfError::NotElf { found: bytes[..bytes.len().min(4)].to_vec() });
        }
        let Some(header) = bytes.get(..FILE_HEADER) else {
            return Err(out_of_range(0, "e_ident", FILE_HEADER as u64, bytes.len()));
        };
        expect(header_at::CLASS, "EI_CLASS", header[header_at::CLASS].into(), 2, "2 (64-bit)")?;
        expect(header_at::DATA, "EI_DATA", header[header_at::DATA].into(), 1, "1 (little endian)")?;
        let headers_offset = double(header, header_at::SHOFF);
        let mut file = Self {
            bytes,
            machine: half(header, header_at::MACHINE),
            sections: Vec::new(),
            names_index: 0,
            headers_offset,
        };
        if headers_offset != 0 {
            file.read_section_headers(header)?;
        }
        Ok(file)
    }

    fn read_section_headers(&mut self, header: &[u8]) -> Result<(), ElfError> {
        let entry = half(header, header_at::SHENTSIZE);
        expect(header_at::SHENTSIZE, "e_shentsize", entry.into(), SECTION_HEADER as u64, "64")?;
        let first = SectionHeader::read(slice(
            self.bytes,
            self.headers_offset,
            SECTION_HEADER as u64,
            header_at::SHOFF as u64,
            "e_shoff",
        )?);
        // With 65,280 sections or more the real numbers are in the first section header.
        let count = match half(header, header_at::SHNUM) {
            0 => first.size,
            count => count.into(),
        };
        let length = count.saturating_mul(SECTION_HEADER as u64);
        let table = slice(self.bytes, self.headers_offset, length, header_at::SHNUM as u64, "e_shnum")?;
        self.sections = table.chunks_exact(SECTION_HEADER).map(SectionHeader::read).collect();
        self.names_index = match half(header, header_at::SHSTRNDX) {
            special::EXTENDED => first.link as usize,
            index => index.into(),
        };
        self.check_special_sections()
    }

    /// Section 0 must be empty, and the section names must be a string table: both are told apart by their index, and
    /// must not be something else by their type.
    fn check_special_sections(&self) -> Result<(), ElfError> {
        if self.sections.first().is_some_and(|first| first.kind != kind::NULL) {
            let offset = self.headers_offset + section_at::TYPE;
            return Err(ElfError::malformed(offset, "sh_type", "section 0 must be empty"));
        }
        let names = self.sections.get(self.names_index).map(|names| names.kind);
        if self.names_index != 0 && names != Some(kind::STRTAB) {
            let problem = format!("section {} is no string table", self.names_index);
            return Err(ElfError::malformed(header_at::SHSTRNDX as u64, "e_shstrndx", problem));
        }
        Ok(())
    }

    /// Where the header of section `index` is in the file.
    pub(crate) fn header_offset(&self, index: usize) -> u64 {
        self.headers_offset.saturating_add((index * SECTION_HEADER) as u64)
    }

    /// The bytes of section `index`; empty for sections without bytes in the file.
    pub(crate) fn contents(&self, index: usize) -> Result<&'a [u8], ElfError> {
        let section = &self.sections[index];
        if !section.has_bytes() {
            return Ok(&[]);
        }
        let field_offset = self.header_offset(index) + section_at::SIZE;
        slice(self.bytes, section.offset, section.size, field_offset, "sh_size")
    }

    /// The section header `index`, named in section `from` by `field` at `field_offset` of its header.
    pub(crate) fn linked(
        &self,
        from: usize,
        field: &'static str,
        field_offset: u64,
        index: u32,
    ) -> Result<usize, ElfError> {
        let index = index as usize;
        if index < self.sections.len() {
            return Ok(index);
        }
        Err(ElfError::malformed(self.header_offset(from) + field_offset, field, format!("there is no section {index}")))
    }

    /// The section names.
    pub(crate) fn section_names(&self) -> Result<StringTable<'a>, ElfError> {
        let bytes = if self.names_index == 0 { &[][..] } else { self.contents(self.names_index)? };
        Ok(StringTable::new(bytes))
    }

    /// The name of section `index` as bytes up to the end of the string table.
    ///
    /// For prefix tests: the end of the name is not looked for.
    pub(crate) fn name_and_rest(&self, names: &StringTable<'a>, index: usize) -> Result<&'a [u8], ElfError> {
        let name = self.sections[index].name;
        if name == 0 {
            return Ok(&[]);
        }
        names
            .from(name)
            .ok_or_else(|| out_of_range(self.header_offset(index), "sh_name", u64::from(name) + 1, names.bytes().len()))
    }

    /// The name of section `index` for messages; never fails.
    pub(crate) fn display_name(&self, index: usize) -> String {
        let name = self.section_names().ok().and_then(|names| {
            // Long enough for any name a person would read.
            let rest = names.from(self.sections.get(index)?.name)?;
            let rest = &rest[..rest.len().min(200)];
            let end = memchr::memchr(0, rest).unwrap_or(rest.len());
            Some(String::from_utf8_lossy(&rest[..end]).into_owned())
        });
        name.filter(|name| !name.is_empty()).unwrap_or_else(|| format!("#{index}"))
    }

    /// `e_phoff` and `e_phnum`, checked to be in the file; (0, 0) without program headers.
    pub(crate) fn program_headers(&self) -> Result<&'a [u8], ElfError> {
        let header = &self.bytes[..FILE_HEADER];
        let offset = double(header, header_at::PHOFF);
        if offset == 0 {
            return Ok(&[]);
        }
        let count = match half(header, header_at::PHNUM) {
            // Likewise extended: the number is in the first section header.
            0xffff => self.sections.first().map_or(0xffff, |first| first.info.into()),
            count => u64::from(count),
        };
        if count == 0 {
            return Ok(&[]);
        }
        let entry = half(header, header_at::PHENTSIZE);
        expect(header_at::PHENTSIZE, "e_phentsize", entry.into(), PROGRAM_HEADER as u64, "56")?;
        slice(self.bytes, offset, count.saturating_mul(PROGRAM_HEADER as u64), header_at::PHOFF as u64, "e_phoff")
    }

    /// Whether the file is an executable or a shared object: what it loads must not move.
    pub(crate) fn is_linked(&self) -> bool {
        half(self.bytes, header_at::TYPE) != RELOCATABLE
    }

    /// Indices of all sections of one type.
    pub(crate) fn of_kind(&self, kind: u32) -> impl Iterator<Item = usize> + '_ {
        self.sections.iter().enumerate().filter(move |(_, section)| section.kind == kind).map(|(index, _)| index)
    }

    /// Whether there is any section group.
    pub(crate) fn has_groups(&self) -> bool {
        self.of_kind(kind::GROUP).next().is_some()
    }
}

/// `bytes[offset..offset + length]`, or an error that names the field that asked for it.
pub(crate) fn slice<'a>(
    bytes: &'a [u8],
    offset: u64,
    length: u64,
    field_offset: u64,
    field: &'static str,
) -> Result<&'a [u8], ElfError> {
    let end = offset.saturating_add(length);
    let range = usize::try_from(offset).ok().zip(usize::try_from(end).ok());
    range
        .and_then(|(start, end)| bytes.get(start..end))
        .ok_or_else(|| out_of_range(field_offset, field, end, bytes.len()))
}

fn out_of_range(offset: u64, field: &'static str, end: u64, limit: usize) -> ElfError {
    ElfError::OutOfRange { offset, field, end, limit: limit as u64 }
}

fn expect(at: usize, field: &'static str, found: u64, wanted: u64, expected: &'static str) -> Result<(), ElfError> {
    if found == wanted { Ok(()) } else { Err(ElfError::Unsupported { offset: at as u64, field, found, expected }) }
}
