//! A file whose tables of names hold the names in use and nothing else: what was called how before leaves no trace.

use std::borrow::Cow;
use std::collections::HashMap;

use super::super::error::ElfError;
use super::super::file::ElfFile;
use super::super::format::{SYMBOL, put_word, section_at, word};
use super::super::strings::{NameReader, StringTable};
use super::super::symbols::SymbolTable;
use super::layout::{Arrangement, Contents, Extent, NewSection};
use super::{Edits, SymbolOrder, edit};

/// The file with its symbols in the order of their places, each name once, and without what no section owns: two files that
/// differ in how they came about are the same then. What is loaded with a program stays where it is.
pub(crate) fn normalized(object: &[u8]) -> Result<Vec<u8>, ElfError> {
    compacted(&edit(object, &Edits { order: SymbolOrder::ByPlace, ..Edits::default() })?)
}

fn compacted(object: &[u8]) -> Result<Vec<u8>, ElfError> {
    let file = ElfFile::parse(object)?;
    let table = SymbolTable::find(&file)?;
    let extent = Extent::check(&file, table.as_ref())?;
    let of_symbols = table.as_ref().map(|table| (table.index, table.names_index));
    // Whoever else refers to a table has offsets into it.
    let is_ours = |names: usize| {
        let users = file.sections.iter().enumerate().filter(|(_, section)| section.link as usize == names);
        names != 0
            && !file.sections[names].is_allocated()
            && users.map(|(index, _)| index).all(|index| of_symbols == Some((index, names)))
    };
    let mut tables: HashMap<usize, Names<'_>> = HashMap::new();
    let used = [Some(file.names_index), of_symbols.map(|(_, names)| names)];
    for index in used.into_iter().flatten().filter(|index| is_ours(*index)) {
        tables.insert(index, Names::new(&file, index)?);
    }
    let mut sections: Vec<NewSection<'_>> = Vec::with_capacity(file.sections.len());
    for (index, header) in file.sections.iter().enumerate() {
        let mut header = *header;
        if let Some(names) = tables.get_mut(&file.names_index) {
            header.name = names.place(&file, header.name)?;
        }
        sections.push(NewSection { old: Some(index), header, contents: Contents::Same });
    }
    if let Some((symbols, names)) = of_symbols
        && let Some(names) = tables.get_mut(&names)
    {
        let mut records = file.contents(symbols)?.to_vec();
        for record in records.chunks_exact_mut(SYMBOL) {
            let name = names.place(&file, word(record, 0))?;
            put_word(record, 0, name);
        }
        sections[symbols].contents = Contents::Replaced(Cow::Owned(records));
    }
    for (index, names) in tables {
        sections[index].contents = Contents::Replaced(Cow::Owned(names.bytes));
    }
    let arrangement = Arrangement::new(&file, &extent, sections, Some, file.names_index)?;
    let mut output = vec![0; arrangement.length()];
    arrangement.write(&mut output)?;
    Ok(output)
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
    fn place(&mut self, file: &ElfFile<'a>, offset: u32) -> Result<u32, ElfError> {
        if offset == 0 {
            return Ok(0);
        }
        let broken = |problem: &'static str| {
            ElfError::malformed(file.header_offset(self.index) + section_at::OFFSET, "sh_offset", problem)
        };
        let name = self.old.read_bytes(offset).map_err(|problem| broken(problem.describe()))?;
        if let Some(place) = self.places.get(name) {
            return Ok(*place);
        }
        let place = u32::try_from(self.bytes.len()).map_err(|_| broken("the table would grow beyond 4 GB"))?;
        self.bytes.extend_from_slice(name);
        self.bytes.push(0);
        self.places.insert(name, place);
        Ok(place)
    }
}
