//! A file whose tables of names hold the names in use and nothing else: what was called how before leaves no trace.

use std::borrow::Cow;
use std::collections::HashMap;

use super::super::error::ElfError;
use super::super::file::ElfFile;
use super::super::format::{FILE_HEADER, SYMBOL, SectionHeader, header_at, kind, put_word, section_at, word};
use super::super::strings::{NameReader, StringTable};
use super::super::symbols::SymbolTable;
use super::layout::{Arrangement, Contents, Extent, NewSection};
use super::rebuild::Decisions;
use super::{Edits, SymbolOrder, names, renumber, sections};

/// A section that no program loads.
pub(crate) struct AddedSection {
    /// Its name.
    pub name: &'static str,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// The file with its symbols in the order of their places, each name once, without what no section owns, and with `added`
/// behind all that is there: two files that differ in how they came about are the same then. What is loaded with a program
/// stays where it is, and no section gets another number.
///
/// This is done to the largest file of a build, whose code and data need not be copied for it.
pub(crate) fn normalized(mut object: Vec<u8>, added: &[AddedSection]) -> Result<Vec<u8>, ElfError> {
    let Rest { start, bytes, header } = rest(&object, added)?;
    object.truncate(start);
    object.extend_from_slice(&bytes);
    object[..FILE_HEADER].copy_from_slice(&header);
    Ok(object)
}

/// What is different in the new file: all from `start` on, and the header.
struct Rest {
    start: usize,
    bytes: Vec<u8>,
    header: [u8; FILE_HEADER],
}

fn rest(object: &[u8], added: &[AddedSection]) -> Result<Rest, ElfError> {
    let edits = Edits { order: SymbolOrder::ByPlace, ..Edits::default() };
    let file = ElfFile::parse(object)?;
    let table = SymbolTable::find(&file)?;
    let changes = names::resolve(&file, table.as_ref(), &edits)?;
    let extent = Extent::check(&file, table.as_ref())?;
    let plan = sections::plan(&file, table.as_ref(), &edits, &changes)?;
    let symbols = table.as_ref().map(|table| renumber::plan(&file, table, &changes, &plan, edits.order)).transpose()?;
    let (table, symbols) = (table.as_ref(), symbols.as_ref());
    let mut sections = Decisions { file: &file, table, changes: &changes, plan: &plan, symbols }.sections()?;
    let mut tables = Tables::of(&file, table)?;
    for section in &mut sections {
        section.header.name = tables.place_old(&file, file.names_index, section.header.name)?;
    }
    for added in added {
        sections.push(NewSection {
            old: None,
            header: SectionHeader { name: tables.place_section_name(&file, added.name)?, ..unloaded() },
            contents: Contents::Replaced(Cow::Borrowed(&added.bytes)),
        });
    }
    if let (Some(table), Some(symbols)) = (table, symbols)
        && tables.has(table.names_index)
    {
        let mut records = symbols.records.clone();
        for record in records.chunks_exact_mut(SYMBOL) {
            let name = tables.place_old(&file, table.names_index, word(record, 0))?;
            put_word(record, 0, name);
        }
        sections[table.index].contents = Contents::Replaced(Cow::Owned(records));
    }
    for (index, names) in tables.0 {
        sections[index].contents = Contents::Replaced(Cow::Owned(names.bytes));
    }
    let arrangement = Arrangement::new(&file, &extent, sections, Some, file.names_index)?;
    let start = arrangement.kept();
    let mut bytes = vec![0; arrangement.length() - start];
    match start {
        0 => arrangement.write(&mut bytes)?,
        _ => arrangement.write_behind(start, &mut bytes)?,
    }
    let mut header = [0; FILE_HEADER];
    header.copy_from_slice(&object[..FILE_HEADER]);
    arrangement.write_header(&mut header);
    Ok(Rest { start, bytes, header })
}

/// The header of a section that takes no memory when the file is loaded.
fn unloaded() -> SectionHeader {
    SectionHeader {
        name: 0,
        kind: kind::PROGBITS,
        flags: 0,
        address: 0,
        offset: 0,
        size: 0,
        link: 0,
        info: 0,
        align: 1,
        entry_size: 0,
    }
}

/// The tables of names that are made anew, by their sections.
struct Tables<'a>(HashMap<usize, Names<'a>>);

impl<'a> Tables<'a> {
    fn of(file: &ElfFile<'a>, table: Option<&SymbolTable<'a>>) -> Result<Self, ElfError> {
        let of_symbols = table.map(|table| (table.index, table.names_index));
        // Whoever else refers to a table has offsets into it.
        let is_ours = |names: usize| {
            let users = file.sections.iter().enumerate().filter(|(_, section)| section.link as usize == names);
            names != 0
                && !file.sections[names].is_allocated()
                && users.map(|(index, _)| index).all(|index| of_symbols == Some((index, names)))
        };
        let mut tables = HashMap::new();
        let used = [Some(file.names_index), of_symbols.map(|(_, names)| names)];
        for index in used.into_iter().flatten().filter(|index| is_ours(*index)) {
            tables.insert(index, Names::new(file, index)?);
        }
        Ok(Self(tables))
    }

    fn has(&self, index: usize) -> bool {
        self.0.contains_key(&index)
    }

    /// Where the name at `offset` of table `index` is now.
    fn place_old(&mut self, file: &ElfFile<'a>, index: usize, offset: u32) -> Result<u32, ElfError> {
        self.0.get_mut(&index).map_or(Ok(offset), |names| names.place_old(file, offset))
    }

    /// Where the name of a section that is added is now.
    fn place_section_name(&mut self, file: &ElfFile<'a>, name: &'static str) -> Result<u32, ElfError> {
        let Some(names) = self.0.get_mut(&file.names_index) else {
            let (field, expected) = ("e_shstrndx", "a table of section names that nobody else uses");
            let (offset, found) = (header_at::SHSTRNDX as u64, file.names_index as u64);
            return Err(ElfError::Unsupported { offset, field, found, expected });
        };
        names.place(file, name.as_bytes())
    }
}

/// A table of names as it is made anew.
struct Names<'a> {
    index: usize,
    old: NameReader<'a>,
    bytes: Vec<u8>,
    places: HashMap<&'a [u8], u32>,
}

impl<'a> Names<'a> {
    fn new(file: &ElfFile<'a>, index: usize) -> Result<Self, ElfError> {
        let old = NameReader::new(StringTable::new(file.contents(index)?), file.bytes.len());
        Ok(Self { index, old, bytes: vec![0], places: HashMap::new() })
    }

    /// Where the name at `offset` is now.
    fn place_old(&mut self, file: &ElfFile<'a>, offset: u32) -> Result<u32, ElfError> {
        if offset == 0 {
            return Ok(0);
        }
        let name = self.old.read_bytes(offset).map_err(|problem| self.broken(file, problem.describe()))?;
        self.place(file, name)
    }

    /// Where `name` is now.
    fn place(&mut self, file: &ElfFile<'a>, name: &'a [u8]) -> Result<u32, ElfError> {
        if let Some(place) = self.places.get(name) {
            return Ok(*place);
        }
        let place =
            u32::try_from(self.bytes.len()).map_err(|_| self.broken(file, "the table would grow beyond 4 GB"))?;
        self.bytes.extend_from_slice(name);
        self.bytes.push(0);
        self.places.insert(name, place);
        Ok(place)
    }

    fn broken(&self, file: &ElfFile<'_>, problem: &'static str) -> ElfError {
        ElfError::malformed(file.header_offset(self.index) + section_at::OFFSET, "sh_offset", problem)
    }
}
