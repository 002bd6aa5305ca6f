//! The ELF64 little-endian records as they lie in a file.

/// Bytes of the file header.
pub(crate) const FILE_HEADER: usize = 64;
/// Bytes of a section header.
pub(crate) const SECTION_HEADER: usize = 64;
/// Bytes of a program header.
pub(crate) const PROGRAM_HEADER: usize = 56;
/// Bytes of a symbol.
pub(crate) const SYMBOL: usize = 24;
/// Bytes of a relocation without an addend.
pub(crate) const REL: usize = 16;
/// Bytes of a relocation with an addend.
pub(crate) const RELA: usize = 24;

/// Where fields of the file header are.
pub(crate) mod header_at {
    pub(crate) const CLASS: usize = 4;
    pub(crate) const DATA: usize = 5;
    pub(crate) const TYPE: usize = 16;
    pub(crate) const MACHINE: usize = 18;
    pub(crate) const PHOFF: usize = 32;
    pub(crate) const SHOFF: usize = 40;
    pub(crate) const FLAGS: usize = 48;
    pub(crate) const PHENTSIZE: usize = 54;
    pub(crate) const PHNUM: usize = 56;
    pub(crate) const SHENTSIZE: usize = 58;
    pub(crate) const SHNUM: usize = 60;
    pub(crate) const SHSTRNDX: usize = 62;
}

/// Where fields of a section header are, for error messages.
pub(crate) mod section_at {
    pub(crate) const TYPE: u64 = 4;
    pub(crate) const OFFSET: u64 = 24;
    pub(crate) const SIZE: u64 = 32;
    pub(crate) const LINK: u64 = 40;
    pub(crate) const INFO: u64 = 44;
    pub(crate) const ADDRALIGN: u64 = 48;
    pub(crate) const ENTSIZE: u64 = 56;
}

/// `ET_REL`.
pub(crate) const RELOCATABLE: u16 = 1;

/// `EM_MIPS`: its 64-bit relocations keep the symbol in the first half of `r_info`.
pub(crate) const MACHINE_MIPS: u16 = 8;

/// `sh_type` values this engine knows.
pub(crate) mod kind {
    pub(crate) const NULL: u32 = 0;
    pub(crate) const PROGBITS: u32 = 1;
    pub(crate) const SYMTAB: u32 = 2;
    pub(crate) const STRTAB: u32 = 3;
    pub(crate) const RELA: u32 = 4;
    pub(crate) const NOBITS: u32 = 8;
    pub(crate) const REL: u32 = 9;
    pub(crate) const GROUP: u32 = 17;
    pub(crate) const SYMTAB_SHNDX: u32 = 18;
    pub(crate) const CREL: u32 = 0x4000_0014;
    pub(crate) const LLVM_ADDRSIG: u32 = 0x6fff_4c03;
    /// Only weights: its symbols are in a relocation section of its own.
    pub(crate) const LLVM_CALL_GRAPH_PROFILE: u32 = 0x6fff_4c09;
}

/// `sh_flags` bits this engine knows.
pub(crate) mod flag {
    pub(crate) const WRITE: u64 = 1;
    pub(crate) const ALLOC: u64 = 2;
    pub(crate) const INFO_LINK: u64 = 0x40;
    pub(crate) const LINK_ORDER: u64 = 0x80;
    pub(crate) const GROUP: u64 = 0x200;
}

/// First word of a section group: only one group of a signature is linked.
pub(crate) const GROUP_COMDAT: u32 = 1;

/// Special values of `st_shndx`, `e_shnum`, `e_shstrndx`.
pub(crate) mod special {
    pub(crate) const UNDEFINED: u16 = 0;
    pub(crate) const FIRST: u16 = 0xff00;
    pub(crate) const ABSOLUTE: u16 = 0xfff1;
    pub(crate) const COMMON: u16 = 0xfff2;
    pub(crate) const EXTENDED: u16 = 0xffff;
}

/// `st_info` low half: kinds of symbol.
pub(crate) mod symbol_kind {
    pub(crate) const NONE: u8 = 0;
    pub(crate) const OBJECT: u8 = 1;
    pub(crate) const SECTION: u8 = 3;
    pub(crate) const FILE: u8 = 4;
    pub(crate) const COMMON: u8 = 5;
    pub(crate) const TLS: u8 = 6;
}

/// `st_info` high half: bindings.
pub(crate) mod binding {
    pub(crate) const LOCAL: u8 = 0;
    pub(crate) const GLOBAL: u8 = 1;
    pub(crate) const WEAK: u8 = 2;
    pub(crate) const GNU_UNIQUE: u8 = 10;
}

/// A 16-bit number. The caller holds a record that is long enough.
pub(crate) fn half(record: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([record[at], record[at + 1]])
}

/// A 32-bit number. The caller holds a record that is long enough.
pub(crate) fn word(record: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([record[at], record[at + 1], record[at + 2], record[at + 3]])
}

/// A 64-bit number. The caller holds a record that is long enough.
pub(crate) fn double(record: &[u8], at: usize) -> u64 {
    u64::from(word(record, at)) | u64::from(word(record, at + 4)) << 32
}

/// Writes a 16-bit number.
pub(crate) fn put_half(record: &mut [u8], at: usize, value: u16) {
    record[at..at + 2].copy_from_slice(&value.to_le_bytes());
}

/// Writes a 32-bit number.
pub(crate) fn put_word(record: &mut [u8], at: usize, value: u32) {
    record[at..at + 4].copy_from_slice(&value.to_le_bytes());
}

/// Writes a 64-bit number.
pub(crate) fn put_double(record: &mut [u8], at: usize, value: u64) {
    record[at..at + 8].copy_from_slice(&value.to_le_bytes());
}

/// One section header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SectionHeader {
    pub name: u32,
    pub kind: u32,
    pub flags: u64,
    pub address: u64,
    pub offset: u64,
    pub size: u64,
    pub link: u32,
    pub info: u32,
    pub align: u64,
    pub entry_size: u64,
}

impl SectionHeader {
    /// Reads a record of [`SECTION_HEADER`] bytes.
    pub(crate) fn read(record: &[u8]) -> Self {
        Self {
            name: word(record, 0),
            kind: word(record, 4),
            flags: double(record, 8),
            address: double(record, 16),
            offset: double(record, 24),
            size: double(record, 32),
            link: word(record, 40),
            info: word(record, 44),
            align: double(record, 48),
            entry_size: double(record, 56),
        }
    }

    /// Writes a record of [`SECTION_HEADER`] bytes.
    pub(crate) fn write(&self, record: &mut [u8]) {
        put_word(record, 0, self.name);
        put_word(record, 4, self.kind);
        put_double(record, 8, self.flags);
        put_double(record, 16, self.address);
        put_double(record, 24, self.offset);
        put_double(record, 32, self.size);
        put_word(record, 40, self.link);
        put_word(record, 44, self.info);
        put_double(record, 48, self.align);
        put_double(record, 56, self.entry_size);
    }

    /// Whether the section takes room in memory when the program runs.
    pub(crate) fn is_allocated(&self) -> bool {
        self.flags & flag::ALLOC != 0
    }

    /// Whether the section has bytes in the file.
    pub(crate) fn has_bytes(&self) -> bool {
        self.kind != kind::NOBITS && self.kind != kind::NULL && self.size > 0
    }

    /// Whether `sh_info` is a section index.
    pub(crate) fn info_is_section(&self) -> bool {
        matches!(self.kind, kind::REL | kind::RELA | kind::CREL) || self.flags & flag::INFO_LINK != 0
    }
}

/// One symbol as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RawSymbol {
    pub name: u32,
    pub info: u8,
    pub other: u8,
    pub section: u16,
    pub value: u64,
    pub size: u64,
}

impl RawSymbol {
    /// Reads a record of [`SYMBOL`] bytes.
    pub(crate) fn read(record: &[u8]) -> Self {
        Self {
            name: word(record, 0),
            info: record[4],
            other: record[5],
            section: half(record, 6),
            value: double(record, 8),
            size: double(record, 16),
        }
    }

    /// Writes a record of [`SYMBOL`] bytes.
    pub(crate) fn write(&self, record: &mut [u8]) {
        put_word(record, 0, self.name);
        record[4] = self.info;
        record[5] = self.other;
        put_half(record, 6, self.section);
        put_double(record, 8, self.value);
        put_double(record, 16, self.size);
    }

    pub(crate) fn binding(&self) -> u8 {
        self.info >> 4
    }

    pub(crate) fn kind(&self) -> u8 {
        self.info & 0xf
    }

    pub(crate) fn is_local(&self) -> bool {
        self.binding() == binding::LOCAL
    }

    /// Section and file symbols stand for something else than a name of the program.
    pub(crate) fn is_named_by_program(&self) -> bool {
        self.name != 0 && !matches!(self.kind(), symbol_kind::SECTION | symbol_kind::FILE)
    }

    /// The same symbol with another binding.
    pub(crate) fn with_binding(self, binding: u8) -> Self {
        Self { info: binding << 4 | self.kind(), ..self }
    }
}
