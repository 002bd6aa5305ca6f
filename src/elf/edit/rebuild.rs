//! What each section of the new file holds.

use std::borrow::Cow;

use super::super::error::ElfError;
use super::super::file::ElfFile;
use super::super::format::{GROUP_COMDAT, SectionHeader, flag, kind, word};
use super::super::symbols::SymbolTable;
use super::layout::{Contents, NewSection};
use super::names::Changes;
use super::references::{References, of_section, renumber_significance};
use super::renumber::{Commons, NewSymbols};
use super::sections::SectionPlan;

/// Everything decided so far.
pub(crate) struct Decisions<'d, 'a> {
    pub file: &'d ElfFile<'a>,
    pub table: Option<&'d SymbolTable<'a>>,
    pub changes: &'d Changes,
    pub plan: &'d SectionPlan,
    pub symbols: Option<&'d NewSymbols>,
}

impl<'d> Decisions<'d, '_> {
    /// The sections of the new file in their new order.
    pub(crate) fn sections(&self) -> Result<Vec<NewSection<'d>>, ElfError> {
        let kept = (0..self.file.sections.len()).filter(|index| !self.plan.dropped[*index]);
        let mut sections = kept.map(|index| self.section(index)).collect::<Result<Vec<_>, _>>()?;
        if let Some(commons) = self.symbols.and_then(|symbols| symbols.commons) {
            let section = self.commons_section(commons, &mut sections)?;
            sections.push(section);
        }
        for (index, name) in &self.plan.renamed {
            if !self.plan.dropped[*index] {
                let offset = self.add_section_name(&mut sections, format!("{name}\0").as_bytes())?;
                sections[self.plan.new_index[*index] as usize].header.name = offset;
            }
        }
        Ok(sections)
    }

    fn section(&self, index: usize) -> Result<NewSection<'d>, ElfError> {
        let mut header = self.file.sections[index];
        self.renumber_links(&mut header);
        if self.plan.ungrouped[index] {
            header.flags &= !flag::GROUP;
        }
        let mut contents = Contents::Same;
        if let (Some(table), Some(symbols)) = (self.table, self.symbols) {
            contents = self.symbol_section(table, symbols, index, &mut header)?;
        }
        Ok(NewSection { old: Some(index), header, contents })
    }

    fn renumber_links(&self, header: &mut SectionHeader) {
        let renumber = |index: &mut u32| {
            if let Some(new) = self.plan.new_index.get(*index as usize) {
                *index = *new;
            }
        };
        renumber(&mut header.link);
        if header.info_is_section() {
            renumber(&mut header.info);
        }
    }

    /// Contents of sections that hold symbols, their names or their indices.
    fn symbol_section(
        &self,
        table: &SymbolTable<'_>,
        symbols: &'d NewSymbols,
        index: usize,
        header: &mut SectionHeader,
    ) -> Result<Contents<'d>, ElfError> {
        if index == table.index {
            header.info = symbols.first_global;
            return Ok(Contents::Replaced(Cow::Borrowed(&symbols.records)));
        }
        if index == table.names_index && !self.changes.added_names.is_empty() {
            return Ok(Contents::Extended(self.changes.added_names.clone()));
        }
        if let (Some((extended, _)), Some(words)) = (table.extended, &symbols.extended)
            && index == extended
        {
            return Ok(Contents::Replaced(Cow::Borrowed(words)));
        }
        if header.kind == kind::GROUP && self.file.sections[index].link as usize == table.index {
            return self.group(symbols, index, header);
        }
        if symbols.same_indices {
            return Ok(Contents::Same);
        }
        Ok(match of_section(self.file, table, index)? {
            References::Relocations(shape) => Contents::Relocations(shape, &symbols.new_indices),
            References::AddressSignificance => {
                let bytes = self.file.contents(index)?;
                let bytes = renumber_significance(self.file, index, bytes, &symbols.new_indices)?;
                Contents::Replaced(Cow::Owned(bytes))
            }
            References::None | References::Group | References::ExtendedIndices => Contents::Same,
        })
    }

    fn group(&self, symbols: &NewSymbols, index: usize, header: &mut SectionHeader) -> Result<Contents<'d>, ElfError> {
        if let Some(signature) = symbols.new_indices.get(header.info as usize) {
            header.info = *signature;
        }
        if !self.plan.drops && !self.plan.plain_groups[index] {
            return Ok(Contents::Same);
        }
        let bytes = self.file.contents(index)?;
        let mut words = Vec::with_capacity(bytes.len());
        for at in (0..bytes.len() / 4).map(|number| 4 * number) {
            let mut value = word(bytes, at);
            if at == 0 {
                if self.plan.plain_groups[index] {
                    value &= !GROUP_COMDAT;
                }
            } else {
                let member = value as usize;
                if self.plan.dropped.get(member).copied().unwrap_or(true) {
                    continue;
                }
                value = self.plan.new_index[member];
            }
            words.extend_from_slice(&value.to_le_bytes());
        }
        Ok(Contents::Replaced(Cow::Owned(words)))
    }

    /// A section without bytes for common symbols that became local.
    fn commons_section(&self, commons: Commons, sections: &mut [NewSection<'d>]) -> Result<NewSection<'d>, ElfError> {
        let name = self.add_section_name(sections, b".bss\0")?;
        Ok(NewSection {
            old: None,
            header: SectionHeader {
                name,
                kind: kind::NOBITS,
                flags: flag::ALLOC | flag::WRITE,
                address: 0,
                offset: 0,
                size: commons.size,
                link: 0,
                info: 0,
                align: commons.align,
                entry_size: 0,
            },
            contents: Contents::Same,
        })
    }

    /// Where a name (with its end) is among the section names: appended unless it is there.
    fn add_section_name(&self, sections: &mut [NewSection<'d>], name: &[u8]) -> Result<u32, ElfError> {
        if self.file.names_index == 0 {
            return Ok(0);
        }
        let names = self.file.contents(self.file.names_index)?;
        let offset = match memchr::memmem::find(names, name) {
            Some(offset) => offset,
            None => {
                let place = self.plan.new_index[self.file.names_index] as usize;
                let contents = &mut sections[place].contents;
                let mut more = match std::mem::replace(contents, Contents::Same) {
                    Contents::Extended(more) => more,
                    Contents::Same | Contents::Relocations(..) | Contents::Replaced(_) => Vec::new(),
                };
                let offset = names.len() + more.len();
                more.extend_from_slice(name);
                *contents = Contents::Extended(more);
                offset
            }
        };
        Ok(u32::try_from(offset).unwrap_or(0))
    }
}
