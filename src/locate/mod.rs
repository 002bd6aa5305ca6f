//! From an address in code to its function and source line; for a super kernel also to core kind, copy and op.
//!
//! What only the build knows (which function belongs to which op, where its object came to lie) is written into the
//! kernel's object when it is linked ([`CodeMap`]), so that the object alone answers.

mod error;
mod lines;
mod log;
mod lookup;
mod map;
mod questions;

pub use error::LocateError;
pub use log::Stopped;
pub use lookup::Located;
pub(crate) use map::{CodeMap, MappedCopy, MappedFunction, SECTION as MAP_SECTION};
pub use questions::StoppedAt;
pub(crate) use questions::{counters, in_log};

use std::borrow::Cow;

use object::{Object, ObjectSection, ObjectSymbol, SectionIndex, SymbolKind};

use crate::elf::{self, ElfError};
use lines::Lines;

/// Where an address is, as far as symbols and debug information tell.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CodePlace {
    /// The function, in the words of its source.
    pub function: Option<String>,
    /// The symbol it belongs to, and how far behind it.
    pub symbol: Option<(String, u64)>,
    /// The source line.
    pub line: Option<SourceLine>,
}

/// A line of a source file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceLine {
    /// The file, as the compiler was called with it.
    pub file: String,
    /// Counted from 1.
    pub line: u32,
}

/// The line tables of a linked file, without what it was read from.
pub(crate) struct LineTable(Lines);

impl LineTable {
    /// `None` if the file has none, or none that can be understood.
    pub(crate) fn load(bytes: &[u8]) -> Option<Self> {
        let file = object::File::parse(bytes).ok()?;
        Lines::load(&file, &Layout::of(&file)).map(Self)
    }

    /// The lines of `address`: its own, then those where the functions it is in were inlined.
    pub(crate) fn frames(&self, address: u64) -> Vec<SourceLine> {
        self.0.frames(address)
    }
}

/// A function of a file.
#[derive(Debug, Clone, Copy)]
struct Function<'a> {
    start: u64,
    /// 0: nobody says.
    size: u64,
    name: &'a str,
}

/// The code of an ELF file, ready to be asked.
pub(crate) struct CodeFile<'a> {
    /// By start.
    functions: Vec<Function<'a>>,
    lines: Option<Lines>,
    layout: Layout,
    /// The sections by name.
    sections: Vec<(String, SectionIndex)>,
    /// First byte of the code that counters count from, and the byte behind its last.
    code: (u64, u64),
}

impl<'a> CodeFile<'a> {
    /// Reads symbols and debug information. Debug information that cannot be understood counts as missing.
    pub(crate) fn parse(bytes: &'a [u8]) -> Result<Self, ElfError> {
        // Says what is wrong with a file better than the reader below.
        elf::sections(bytes)?;
        let file = object::File::parse(bytes)
            .map_err(|error| ElfError::malformed(0, "file", format!("cannot be read: {error}")))?;
        let layout = Layout::of(&file);
        let mut functions: Vec<Function<'a>> = file
            .symbols()
            .filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.is_definition())
            .filter_map(|symbol| {
                let start = layout.address(symbol.section_index()?, symbol.address())?;
                Some(Function { start, size: symbol.size(), name: symbol.name().ok()? })
            })
            .collect();
        // Of several names at one place the one with a size, then the first.
        functions.sort_by_key(|function| (function.start, function.size == 0, function.name));
        functions.dedup_by_key(|function| function.start);
        let sections = file.sections().map(|section| (section.name().unwrap_or_default().to_owned(), section.index()));
        let sections = sections.collect();
        let code = code_of(&file, &layout);
        Ok(Self { functions, lines: Lines::load(&file, &layout), layout, sections, code })
    }

    /// Address of the first byte of the code.
    pub(crate) fn start(&self) -> u64 {
        self.code.0
    }

    /// Bytes of the code.
    pub(crate) fn size(&self) -> u64 {
        self.code.1 - self.code.0
    }

    /// The address of a function.
    pub(crate) fn symbol(&self, name: &str) -> Option<u64> {
        self.functions.iter().find(|function| function.name == name).map(|function| function.start)
    }

    /// First byte of a function, and the byte behind its last.
    pub(crate) fn extent(&self, name: &str) -> Option<(u64, u64)> {
        let function = self.functions.iter().find(|function| function.name == name)?;
        Some((function.start, function.start.checked_add(function.size)?))
    }

    /// The address of `value` in the section of this name.
    pub(crate) fn address(&self, section: &str, value: u64) -> Option<u64> {
        let (_, index) = self.sections.iter().find(|(name, _)| name == section)?;
        self.layout.address(*index, value)
    }

    /// Where `address` is.
    pub(crate) fn at(&self, address: u64) -> CodePlace {
        let after = self.functions.partition_point(|function| function.start <= address);
        let nearest = after.checked_sub(1).map(|at| self.functions[at]);
        // A function that says its size ends there.
        let inside = nearest.filter(|function| function.size == 0 || address - function.start < function.size);
        let symbol = inside.map(|function| (function.name.to_owned(), address - function.start));
        let known = self.lines.as_ref().and_then(|lines| lines.function(address));
        let by_symbol = || symbol.as_ref().map(|(name, _)| in_source_words(name).into_owned());
        let function = known.or_else(by_symbol);
        CodePlace { function, symbol, line: self.lines.as_ref().and_then(|lines| lines.at(address)) }
    }
}

impl CodePlace {
    /// `f(int)`, or `f+0x12` if only the symbol tells.
    pub(crate) fn function_text(&self) -> Option<String> {
        match (&self.function, &self.symbol) {
            (Some(function), Some((symbol, offset))) if in_source_words(symbol) == *function => {
                Some(format!("{function}+{offset:#x}"))
            }
            // An inlined function has no start to count from.
            (Some(function), Some(_) | None) => Some(function.clone()),
            (None, _) => None,
        }
    }
}

/// The code that program counters count from: of a linked file all of it, otherwise the section `.text`.
fn code_of(file: &object::File<'_>, layout: &Layout) -> (u64, u64) {
    let linked = file.kind() != object::ObjectKind::Relocatable;
    let is_code = |section: &object::Section<'_, '_>| {
        section.kind() == object::SectionKind::Text && (linked || section.name() == Ok(".text"))
    };
    let extents = file.sections().filter(is_code).filter_map(|section| {
        let start = layout.address(section.index(), section.address())?;
        Some((start, start.checked_add(section.size())?))
    });
    extents.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1))).unwrap_or_default()
}

/// `ns::function(int)` for a mangled name.
fn in_source_words(symbol: &str) -> Cow<'_, str> {
    addr2line::demangle(symbol, gimli::DW_LANG_C_plus_plus).map_or(Cow::Borrowed(symbol), Cow::Owned)
}

/// Addresses of sections. A file that is not linked yet has none: its sections are taken to lie one behind the other.
pub(crate) struct Layout {
    bases: Vec<(SectionIndex, u64)>,
}

impl Layout {
    fn of(file: &object::File<'_>) -> Self {
        let linked = file.kind() != object::ObjectKind::Relocatable;
        let mut next = 0_u64;
        let base = |section: object::Section<'_, '_>| {
            let base = if linked { 0 } else { next };
            if !linked {
                // Far enough apart that no address behind the end of one is taken for the start of another.
                next = next.saturating_add(section.size()).saturating_add(0x1_0000) & !0xfff;
            }
            (section.index(), base)
        };
        Self { bases: file.sections().map(base).collect() }
    }

    /// The address of `value` in a section.
    pub(crate) fn address(&self, section: SectionIndex, value: u64) -> Option<u64> {
        let (_, base) = self.bases.iter().find(|(index, _)| *index == section)?;
        base.checked_add(value)
    }
}
