//! From an address in code to its function and source line.

mod lines;

use std::borrow::Cow;

use object::{Object, ObjectSection, ObjectSymbol, SectionIndex, SymbolKind};

use crate::elf::{self, ElfError};
use lines::Lines;

/// Where an address is, as far as symbols and debug information tell.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct CodePlace {
    /// The function, in the words of its source.
    pub function: Option<String>,
    /// The symbol it belongs to, and how far behind it.
    pub symbol: Option<(String, u64)>,
    /// The source line.
    pub line: Option<SourceLine>,
}

/// A line of a source file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SourceLine {
    /// The file, as the compiler was called with it.
    pub file: String,
    /// Counted from 1.
    pub line: u32,
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
        Ok(Self { functions, lines: Lines::load(&file, &layout) })
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
