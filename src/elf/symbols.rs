//! The symbol table: found, checked, and shown as plain data.

use std::borrow::Cow;
use std::fmt;

use super::error::ElfError;
use super::file::ElfFile;
use super::format::{RawSymbol, SYMBOL, binding, kind, section_at, special, symbol_kind, word};
use super::strings::{NameReader, StringTable};

/// Who sees a symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Binding {
    /// Only this object.
    Local,
    /// Every object; one definition.
    Global,
    /// Every object; gives way to a global definition.
    Weak,
    /// Something else, such as `STB_GNU_UNIQUE` (10).
    Other(u8),
}

impl Binding {
    fn from_raw(raw: u8) -> Self {
        match raw {
            binding::LOCAL => Self::Local,
            binding::GLOBAL => Self::Global,
            binding::WEAK => Self::Weak,
            other => Self::Other(other),
        }
    }
}

impl fmt::Display for Binding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local => formatter.write_str("local"),
            Self::Global => formatter.write_str("global"),
            Self::Weak => formatter.write_str("weak"),
            Self::Other(raw) => write!(formatter, "binding-{raw}"),
        }
    }
}

/// What a symbol names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SymbolKind {
    /// Not said.
    None,
    /// Data.
    Object,
    /// Code.
    Function,
    /// A section.
    Section,
    /// A source file.
    File,
    /// Data not yet placed.
    Common,
    /// Data per thread.
    ThreadLocal,
    /// Something else, such as `STT_GNU_IFUNC` (10).
    Other(u8),
}

impl SymbolKind {
    fn from_raw(raw: u8) -> Self {
        match raw {
            symbol_kind::NONE => Self::None,
            symbol_kind::OBJECT => Self::Object,
            2 => Self::Function,
            symbol_kind::SECTION => Self::Section,
            symbol_kind::FILE => Self::File,
            symbol_kind::COMMON => Self::Common,
            symbol_kind::TLS => Self::ThreadLocal,
            other => Self::Other(other),
        }
    }
}

impl fmt::Display for SymbolKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::None => "none",
            Self::Object => "object",
            Self::Function => "function",
            Self::Section => "section",
            Self::File => "file",
            Self::Common => "common",
            Self::ThreadLocal => "thread-local",
            Self::Other(raw) => return write!(formatter, "kind-{raw}"),
        })
    }
}

/// Who may refer to a symbol of a linked file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Visibility {
    /// As its binding says.
    Default,
    /// Left to the processor.
    Internal,
    /// Not other components.
    Hidden,
    /// Others too, but they cannot replace it.
    Protected,
}

impl fmt::Display for Visibility {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Default => "default",
            Self::Internal => "internal",
            Self::Hidden => "hidden",
            Self::Protected => "protected",
        })
    }
}

/// Where a symbol is defined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Place {
    /// In another object.
    Undefined,
    /// Nowhere: its value is a number.
    Absolute,
    /// In room the linker makes.
    Common,
    /// In the section with this index.
    Section(usize),
    /// A special index of the processor or the operating system.
    Special(u16),
}

/// One symbol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol<'a> {
    /// Its name; empty for section symbols. Bytes that are not UTF-8 are replaced.
    pub name: Cow<'a, str>,
    /// Who sees it.
    pub binding: Binding,
    /// What it names.
    pub kind: SymbolKind,
    /// Where it is defined.
    pub place: Place,
    /// Its offset in the section, its address in a linked file, or the alignment of a common symbol.
    pub value: u64,
    /// How many bytes it names.
    pub size: u64,
    /// Who may refer to it.
    pub visibility: Visibility,
}

impl Symbol<'_> {
    /// Whether the object holds what the symbol names.
    pub(crate) fn is_defined(&self) -> bool {
        self.place != Place::Undefined
    }

    /// Whether other objects can refer to this definition.
    pub fn is_exported(&self) -> bool {
        self.is_defined() && self.binding != Binding::Local
    }

    /// Whether another object must define it.
    pub(crate) fn is_imported(&self) -> bool {
        !self.is_defined() && self.binding != Binding::Local && !self.name.is_empty()
    }
}

/// All symbols of an object in file order, without the empty first entry. An object without a symbol table has none.
pub fn symbols(object: &[u8]) -> Result<Vec<Symbol<'_>>, ElfError> {
    let file = ElfFile::parse(object)?;
    let Some(table) = SymbolTable::find(&file)? else { return Ok(Vec::new()) };
    let mut names = NameReader::new(table.names, object.len());
    (1..table.count())
        .map(|index| {
            let raw = table.raw(index);
            let name = names
                .read(raw.name)
                .map_err(|problem| ElfError::malformed(table.offset_of(&file, index), "st_name", problem.describe()))?;
            Ok(Symbol {
                name,
                binding: Binding::from_raw(raw.binding()),
                kind: SymbolKind::from_raw(raw.kind()),
                place: table.place(&file, index)?,
                value: raw.value,
                size: raw.size,
                visibility: match raw.other & 3 {
                    0 => Visibility::Default,
                    1 => Visibility::Internal,
                    2 => Visibility::Hidden,
                    _ => Visibility::Protected,
                },
            })
        })
        .collect()
}

/// The `.symtab` of a file with the sections that belong to it.
pub(crate) struct SymbolTable<'a> {
    /// Its section.
    pub index: usize,
    records: &'a [u8],
    /// The section with the names.
    pub names_index: usize,
    pub names: StringTable<'a>,
    /// The `SHT_SYMTAB_SHNDX` section and its words, one per symbol.
    pub extended: Option<(usize, &'a [u8])>,
}

impl<'a> SymbolTable<'a> {
    /// The only symbol table, if there is one.
    pub(crate) fn find(file: &ElfFile<'a>) -> Result<Option<Self>, ElfError> {
        let mut tables = file.of_kind(kind::SYMTAB);
        let Some(index) = tables.next() else { return Ok(None) };
        if let Some(second) = tables.next() {
            return Err(ElfError::Unsupported {
                offset: file.header_offset(second) + section_at::TYPE,
                field: "sh_type",
                found: kind::SYMTAB.into(),
                expected: "one symbol table",
            });
        }
        let section = &file.sections[index];
        let wrong = |field_offset, field, problem: &str| {
            ElfError::malformed(file.header_offset(index) + field_offset, field, problem)
        };
        if section.entry_size != SYMBOL as u64 {
            return Err(wrong(section_at::ENTSIZE, "sh_entsize", "a symbol has 24 bytes"));
        }
        let records = file.contents(index)?;
        if records.len() % SYMBOL != 0 || u32::try_from(records.len() / SYMBOL).is_err() {
            return Err(wrong(section_at::SIZE, "sh_size", "not a whole number of symbols"));
        }
        let names_index = file.linked(index, "sh_link", section_at::LINK, section.link)?;
        if file.sections[names_index].kind != kind::STRTAB {
            return Err(wrong(section_at::LINK, "sh_link", "the section with the symbol names is no string table"));
        }
        let names = StringTable::new(file.contents(names_index)?);
        let extended = Self::find_extended(file, index, records.len() / SYMBOL)?;
        Ok(Some(Self { index, records, names_index, names, extended }))
    }

    fn find_extended(file: &ElfFile<'a>, table: usize, count: usize) -> Result<Option<(usize, &'a [u8])>, ElfError> {
        let found = file.of_kind(kind::SYMTAB_SHNDX).find(|index| file.sections[*index].link as usize == table);
        let Some(index) = found else { return Ok(None) };
        let words = file.contents(index)?;
        if words.len() != 4 * count {
            let offset = file.header_offset(index) + section_at::SIZE;
            return Err(ElfError::malformed(offset, "sh_size", "not one word for each symbol"));
        }
        Ok(Some((index, words)))
    }

    /// How many entries there are, the empty first one included.
    pub(crate) fn count(&self) -> usize {
        self.records.len() / SYMBOL
    }

    /// Entry `index`.
    pub(crate) fn raw(&self, index: usize) -> RawSymbol {
        RawSymbol::read(&self.records[index * SYMBOL..(index + 1) * SYMBOL])
    }

    /// Where entry `index` is in the file.
    pub(crate) fn offset_of(&self, file: &ElfFile<'_>, index: usize) -> u64 {
        file.sections[self.index].offset + (index * SYMBOL) as u64
    }

    /// Where entry `index` is defined.
    pub(crate) fn place(&self, file: &ElfFile<'_>, index: usize) -> Result<Place, ElfError> {
        self.place_of(file, index, self.raw(index).section)
    }

    /// Where entry `index`, whose `st_shndx` is `stored`, is defined.
    pub(crate) fn place_of(&self, file: &ElfFile<'_>, index: usize, stored: u16) -> Result<Place, ElfError> {
        let wrong = |problem: String| Err(ElfError::malformed(self.offset_of(file, index) + 6, "st_shndx", problem));
        let section = match stored {
            special::UNDEFINED => return Ok(Place::Undefined),
            special::ABSOLUTE => return Ok(Place::Absolute),
            special::COMMON => return Ok(Place::Common),
            special::EXTENDED => match self.extended {
                Some((_, words)) => word(words, 4 * index) as usize,
                None => return wrong("there is no section with extended indices".to_owned()),
            },
            special::FIRST.. => return Ok(Place::Special(stored)),
            index => index.into(),
        };
        if section < file.sections.len() {
            Ok(Place::Section(section))
        } else {
            wrong(format!("there is no section {section}"))
        }
    }
}
