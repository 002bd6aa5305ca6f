//! The sections that hold symbol indices: relocations, groups, address-significance tables.

use super::super::error::ElfError;
use super::super::file::ElfFile;
use super::super::format::{MACHINE_MIPS, REL, RELA, kind, put_word, section_at, word};
use super::super::symbols::SymbolTable;

/// How a section refers to symbols.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum References {
    /// It does not.
    None,
    /// An index at `symbol_at` of every `entry` bytes.
    Relocations(Shape),
    /// The group's signature in `sh_info`.
    Group,
    /// One word for each symbol.
    ExtendedIndices,
    /// LEB128 numbers.
    AddressSignificance,
}

/// Where relocation records keep their symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    pub entry: usize,
    pub symbol_at: usize,
}

/// How section `index` refers to the symbols of `table`.
///
/// Unknown formats are an error: a symbol index left behind would silently mean another symbol.
pub(crate) fn of_section(file: &ElfFile<'_>, table: &SymbolTable<'_>, index: usize) -> Result<References, ElfError> {
    let section = &file.sections[index];
    if section.link as usize != table.index {
        return Ok(References::None);
    }
    match section.kind {
        kind::REL | kind::RELA => relocations(file, index).map(References::Relocations),
        kind::GROUP => Ok(References::Group),
        kind::SYMTAB_SHNDX => Ok(References::ExtendedIndices),
        kind::LLVM_ADDRSIG => Ok(References::AddressSignificance),
        kind::NULL | kind::LLVM_CALL_GRAPH_PROFILE => Ok(References::None),
        unknown => Err(ElfError::UnknownReferences {
            section: file.display_name(index),
            kind: unknown,
            offset: file.header_offset(index),
        }),
    }
}

fn relocations(file: &ElfFile<'_>, index: usize) -> Result<Shape, ElfError> {
    let section = &file.sections[index];
    let entry = if section.kind == kind::REL { REL } else { RELA };
    let wrong = |field_offset, field, problem| {
        Err(ElfError::malformed(file.header_offset(index) + field_offset, field, problem))
    };
    if section.entry_size != entry as u64 && section.size != 0 {
        return wrong(section_at::ENTSIZE, "sh_entsize", format!("a relocation of this type has {entry} bytes"));
    }
    if !section.size.is_multiple_of(entry as u64) {
        return wrong(section_at::SIZE, "sh_size", "not a whole number of relocations".to_owned());
    }
    // `r_info` has the symbol in its upper half, except on MIPS, where it comes first.
    Ok(Shape { entry, symbol_at: if file.machine == MACHINE_MIPS { 8 } else { 12 } })
}

/// Who uses a symbol.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Use {
    /// Any relocation.
    pub relocated: bool,
    /// A relocation of something that is loaded (not only of debug information).
    pub loaded: bool,
}

/// Who uses each symbol, among the sections that stay.
pub(crate) fn uses(file: &ElfFile<'_>, table: &SymbolTable<'_>, dropped: &[bool]) -> Result<Vec<Use>, ElfError> {
    let mut uses = vec![Use::default(); table.count()];
    for (index, section) in file.sections.iter().enumerate().filter(|(index, _)| !dropped[*index]) {
        let References::Relocations(shape) = of_section(file, table, index)? else { continue };
        let target = file.sections.get(section.info as usize);
        // Without a known target, be careful: take it for something loaded.
        let loaded = target.is_none_or(|target| target.is_allocated() || target.kind == kind::NULL);
        for (number, record) in file.contents(index)?.chunks_exact(shape.entry).enumerate() {
            let symbol = word(record, shape.symbol_at);
            let Some(found) = uses.get_mut(symbol as usize) else {
                return Err(no_symbol(file, index, number * shape.entry + shape.symbol_at, "r_info", symbol));
            };
            found.relocated = true;
            found.loaded |= loaded;
        }
    }
    Ok(uses)
}

/// Writes new symbol indices into relocation records; `bytes` is a copy of section `index`.
pub(crate) fn renumber_relocations(
    file: &ElfFile<'_>,
    index: usize,
    shape: Shape,
    bytes: &mut [u8],
    new_indices: &[u32],
) -> Result<(), ElfError> {
    for (number, record) in bytes.chunks_exact_mut(shape.entry).enumerate() {
        let symbol = word(record, shape.symbol_at);
        let Some(new) = new_indices.get(symbol as usize) else {
            return Err(no_symbol(file, index, number * shape.entry + shape.symbol_at, "r_info", symbol));
        };
        put_word(record, shape.symbol_at, *new);
    }
    Ok(())
}

/// An address-significance table with new symbol indices; symbols that are gone are left out.
pub(crate) fn renumber_significance(
    file: &ElfFile<'_>,
    index: usize,
    bytes: &[u8],
    new_indices: &[u32],
) -> Result<Vec<u8>, ElfError> {
    let mut result = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        let mut symbol: u64 = 0;
        let mut shift = 0;
        loop {
            let Some(byte) = bytes.get(at).filter(|_| shift < 35) else {
                let offset = file.sections[index].offset + start as u64;
                return Err(ElfError::malformed(offset, "address-significance entry", "the number does not end"));
            };
            symbol |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            at += 1;
            if byte & 0x80 == 0 {
                break;
            }
        }
        let symbol = u32::try_from(symbol).unwrap_or(u32::MAX);
        match new_indices.get(symbol as usize) {
            None => return Err(no_symbol(file, index, start, "address-significance entry", symbol)),
            Some(0) => {}
            Some(new) => push_leb128(&mut result, *new),
        }
    }
    Ok(result)
}

fn push_leb128(out: &mut Vec<u8>, mut value: u32) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn no_symbol(file: &ElfFile<'_>, index: usize, at: usize, field: &'static str, symbol: u32) -> ElfError {
    ElfError::malformed(file.sections[index].offset + at as u64, field, format!("there is no symbol {symbol}"))
}
