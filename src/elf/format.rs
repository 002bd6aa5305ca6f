//! The ELF64 little-endian records as they lie in a file.

/// Bytes of the file header.
pub const FILE_HEADER: usize = 64;
/// Bytes of a section header.
pub const SECTION_HEADER: usize = 64;
/// Bytes of a program header.
pub const PROGRAM_HEADER: usize = 56;
/// Bytes of a symbol.
pub const SYMBOL: usize = 24;
/// Bytes of a relocation without an addend.
pub const REL: usize = 16;
/// Bytes of a relocation with an addend.
pub const RELA: usize = 24;

/// Where fields of the file header are.
pub mod header_at {
    pub const CLASS: usize = 4;
    pub const DATA: usize = 5;
    pub const TYPE: usize = 16;
    pub const MACHINE: usize = 18;
    pub const PHOFF: usize = 32;
    pub const SHOFF: usize = 40;
    pub const PHENTSIZE: usize = 54;
    pub const PHNUM: usize = 56;
    pub const SHENTSIZE: usize = 58;
    pub const SHNUM: usize = 60;
    pub const SHSTRNDX: usize = 62;
}

/// Where fields of a section header are, for error messages.
pub mod section_at {
    pub const TYPE: u64 = 4;
    pub const OFFSET: u64 = 24;
    pub const SIZE: u64 = 32;
    pub const LINK: u64 = 40;
    pub const INFO: u64 = 44;
    pub const ENTSIZE: u64 = 56;
}

/// `ET_REL`.
pub const RELOCATABLE: u16 = 1;

/// `EM_MIPS`: its 64-bit relocations keep the symbol in the first half of `r_info`.
pub const MACHINE_MIPS: u16 = 8;

/// `sh_type` values this engine knows.
pub mod kind {
    pub const NULL: u32 = 0;
    pub const SYMTAB: u32 = 2;
    pub const STRTAB: u32 = 3;
    pub const RELA: u32 = 4;
    pub const NOBITS: u32 = 8;
    pub const REL: u32 = 9;
    pub const GROUP: u32 = 17;
    pub const SYMTAB_SHNDX: u32 = 18;
    pub const CREL: u32 = 0x4000_0014;
    pub const LLVM_ADDRSIG: u32 = 0x6fff_4c03;
    /// Only weights: its symbols are in a relocation section of its own.
    pub const LLVM_CALL_GRAPH_PROFILE: u32 = 0x6fff_4c09;
}

/// `sh_flags` bits this engine knows.
pub mod flag {
    pub const WRITE: u64 = 1;
    pub const ALLOC: u64 = 2;
    pub const INFO_LINK: u64 = 0x40;
    pub const LINK_ORDER: u64 = 0x80;
    pub const GROUP: u64 = 0x200;
}

/// First word of a section group: only one group of a signature is linked.
pub const GROUP_COMDAT: u32 = 1;

/// Special values of `st_shndx`, `e_shnum`, `e_shstrndx`.
pub mod special {
    pub const UNDEFINED: u16 = 0;
    pub const FIRST: u16 = 0xff00;
    pub const ABSOLUTE: u16 = 0xfff1;
    pub const COMMON: u16 = 0xfff2;
    pub const EXTENDED: u16 = 0xffff;
}

/// `st_info` low half: kinds of symbol.
pub mod symbol_kind {
    pub const NONE: u8 = 0;
    pub const OBJECT: u8 = 1;
    pub const SECTION: u8 = 3;
    pub const FILE: u8 = 4;
    pub const COMMON: u8 = 5;
    pub const TLS: u8 = 6;
}

/// `st_info` high half: bindings.
pub mod binding {
    pub const LOCAL: u8 = 0;
    pub const GLOBAL: u8 = 1;
    pub const WEAK: u8 = 2;
}

/// A 16-bit number. The caller holds a record that is long enough.
pub fn half(record: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([record[at], record[at + 1]])
}

/// A 32-bit number. The caller holds a record that is long enough.
pub fn word(record: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([record[at], record[at + 1], record[at + 2], record[at + 3]])
}

/// A 64-bit number. The caller holds a record that is long enough.
pub fn double(record: &[u8], at: usize) -> u64 {
    u64::from(word(record, at)) | u64::from(word(record, at + 4)) << 32
}

/// Writes a 16-bit number.
pub fn put_half(record: &mut [u8], at: usize, value: u16) {
    record[at..at + 2].copy_from_slice(&value.to_le_bytes());
}

/// Writes a 32-bit number.
pub fn put_word(record: &mut [u8], at: usize, value: u32) {
    record[at..at + 4].copy_from_slice(&value.to_le_bytes());
}

/// Writes a 64-bit number.
pub fn put_double(record: &mut [u8], at: usize, value: u64) {
    record[at..at + 8].copy_from_slice(&value.to_le_bytes());
}

/// One section header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SectionHeader {
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
    pub fn read(record: &[u8]) -> Self {
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
    pub fn write(&self, record: &mut [u8]) {
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
    pub fn is_allocated(&self) -> bool {
        self.flags & flag::ALLOC != 0
    }

    /// Whether the section has bytes in the file.
    pub fn has_bytes(&self) -> bool {
        self.kind != kind::NOBITS && self.kind != kind::NULL && self.size > 0
    }

    /// Whether `sh_info` is a section index.
    pub fn info_is_section(&self) -> bool {
        matches!(self.kind, kind::REL | kind::RELA | kind::CREL) || self.flags & flag::INFO_LINK != 0
    }
}

/// One symbol as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawSymbol {
    pub name: u32,
    pub info: u8,
    pub other: u8,
    pub section: u16,
    pub value: u64,
    pub size: u64,
}

impl RawSymbol {
    /// Reads a record of [`SYMBOL`] bytes.
    pub fn read(record: &[u8]) -> Self {
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
    pub fn write(&self, record: &mut [u8]) {
        put_word(record, 0, self.name);
        record[4] = self.info;
        record[5] = self.other;
        put_half(record, 6, self.section);
        put_double(record, 8, self.value);
        put_double(record, 16, self.size);
    }

    pub fn binding(&self) -> u8 {
        self.info >> 4
    }

    pub fn kind(&self) -> u8 {
        self.info & 0xf
    }

    pub fn is_local(&self) -> bool {
        self.binding() == binding::LOCAL
    }

    /// Section and file symbols stand for something else than a name of the program.
    pub fn is_named_by_program(&self) -> bool {
        self.name != 0 && !matches!(self.kind(), symbol_kind::SECTION | symbol_kind::FILE)
    }

    /// The same symbol with another binding.
    pub fn with_binding(self, binding: u8) -> Self {
        Self { info: binding << 4 | self.kind(), ..self }
    }
}
