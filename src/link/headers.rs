//! The section headers of the new file, and the members of its groups.

use std::borrow::Cow;
use std::collections::HashSet;

use super::arrangement::{Form, Piece};
use super::decided::Decided;
use super::error::LinkError;
use super::options::OutputKind;
use super::outputs::OutputId;
use super::relocations;
use super::strings::Strings;
use crate::elf::format::{GROUP_COMDAT, REL, RELA, SYMBOL, SectionHeader, flag, kind};
use crate::elf::{ElfError, Place};

/// The headers, but for offsets and for the sizes of tables; and the names.
pub(super) fn headers<'a>(
    file: &Decided<'_, 'a>,
    link: OutputKind,
) -> Result<(Vec<SectionHeader>, Strings<'a>), LinkError> {
    let mut names = Strings::new();
    let mut headers = Vec::with_capacity(file.arrangement.pieces.len());
    let tables = Tables::of(file);
    for piece in &file.arrangement.pieces {
        let mut header = header(file, *piece, &tables, link)?;
        header.name = names.add(name(file, *piece))?;
        headers.push(header);
    }
    Ok((headers, names))
}

/// Where tables are that others name.
struct Tables {
    symbols: u32,
    symbol_names: u32,
}

impl Tables {
    fn of(file: &Decided<'_, '_>) -> Self {
        let index = |piece| file.arrangement.index_of_table(piece);
        Self { symbols: index(Piece::Symbols), symbol_names: index(Piece::SymbolNames) }
    }
}

fn name<'a>(file: &Decided<'_, 'a>, piece: Piece) -> Cow<'a, [u8]> {
    match piece {
        Piece::Null => Cow::Borrowed(b""),
        Piece::Group(..) => Cow::Borrowed(b".group"),
        Piece::Output(id) => Cow::Borrowed(file.outputs.get(id).name),
        Piece::Relocations(id, Form::Rel) => Cow::Owned([b".rel", file.outputs.get(id).name].concat()),
        Piece::Relocations(id, Form::Rela) => Cow::Owned([b".rela", file.outputs.get(id).name].concat()),
        Piece::Symbols => Cow::Borrowed(b".symtab"),
        Piece::ExtendedIndices => Cow::Borrowed(b".symtab_shndx"),
        Piece::SymbolNames => Cow::Borrowed(b".strtab"),
        Piece::SectionNames => Cow::Borrowed(b".shstrtab"),
    }
}

fn plain(kind: u32, align: u64, entry_size: usize) -> SectionHeader {
    SectionHeader {
        name: 0,
        kind,
        flags: 0,
        address: 0,
        offset: 0,
        size: 0,
        link: 0,
        info: 0,
        align,
        entry_size: entry_size as u64,
    }
}

fn header(file: &Decided<'_, '_>, piece: Piece, tables: &Tables, link: OutputKind) -> Result<SectionHeader, LinkError> {
    Ok(match piece {
        Piece::Null => plain(kind::NULL, 0, 0),
        Piece::Group(object, group) => {
            let signature = file.objects[object].groups[group].signature;
            let info = file.reference(object, signature).map_or(0, |reference| reference.symbol);
            let size = 4 * group_words(file, object, group).len() as u64;
            SectionHeader { link: tables.symbols, info, size, ..plain(kind::GROUP, 4, 4) }
        }
        Piece::Output(id) => output_header(file, id, link)?,
        Piece::Relocations(id, form) => {
            let (kind, entry) = match form {
                Form::Rel => (kind::REL, REL),
                Form::Rela => (kind::RELA, RELA),
            };
            SectionHeader {
                flags: flag::INFO_LINK | file.outputs.get(id).flags & flag::GROUP,
                size: relocations::size(file, id, form),
                link: tables.symbols,
                info: file.arrangement.index(id),
                ..plain(kind, 8, entry)
            }
        }
        Piece::Symbols => {
            SectionHeader { link: tables.symbol_names, info: file.table.first_global, ..plain(kind::SYMTAB, 8, SYMBOL) }
        }
        Piece::ExtendedIndices => SectionHeader { link: tables.symbols, ..plain(kind::SYMTAB_SHNDX, 4, 4) },
        Piece::SymbolNames | Piece::SectionNames => plain(kind::STRTAB, 1, 0),
    })
}

fn output_header(file: &Decided<'_, '_>, id: OutputId, link: OutputKind) -> Result<SectionHeader, LinkError> {
    let output = file.outputs.get(id);
    let mut header = SectionHeader {
        flags: output.flags,
        address: file.arrangement.address(id),
        size: output.size,
        entry_size: output.entry_size,
        ..plain(output.kind, output.align, 0)
    };
    // What a section names beside its contents ends with the last link.
    let Some(first) = output.parts.first().filter(|_| !link.is_placed()) else { return Ok(header) };
    let object = &file.objects[first.object];
    let old = object.header(first.section);
    let index = |section: u32| {
        let section = Some(section as usize).filter(|section| *section < object.sections.len());
        let place = section.and_then(|section| file.outputs.place(first.object, section));
        place.map_or(0, |(output, _)| file.arrangement.index(output))
    };
    header.link = index(old.link);
    if old.flags & flag::INFO_LINK != 0 {
        header.info = index(old.info);
    }
    if old.flags & flag::LINK_ORDER != 0 && old.link != 0 && header.link == 0 {
        let problem = "the section that it describes is not linked".to_owned();
        return Err(object.error(ElfError::DropRefused { section: object.section_name(first.section), problem }));
    }
    Ok(header)
}

/// A group's words: whether it is interchangeable, and its members with their relocations.
pub(super) fn group_words(file: &Decided<'_, '_>, object: usize, group: usize) -> Vec<u32> {
    let group = &file.objects[object].groups[group];
    let is_comdat = group.comdat && !has_hidden(file, object, &group.members);
    let mut words = vec![if is_comdat { GROUP_COMDAT } else { 0 }];
    for (id, _) in group.members.iter().filter_map(|member| file.outputs.place(object, *member)) {
        let index = file.arrangement.index(id);
        words.push(index);
        let is_of_member = |piece: &&Piece| matches!(piece, Piece::Relocations(of, _) if *of == id);
        let behind = file.arrangement.pieces.iter().skip(index as usize + 1);
        words.extend((index + 1..).zip(behind.take_while(is_of_member)).map(|(next, _)| next));
    }
    words
}

/// Does a group define what nobody sees any more? Then no other object's can stand for it.
fn has_hidden(file: &Decided<'_, '_>, object: usize, members: &[usize]) -> bool {
    let members: HashSet<usize> = members.iter().copied().collect();
    file.objects[object].symbols.iter().enumerate().any(|(index, symbol)| match symbol.place {
        Place::Section(section) => members.contains(&section) && file.resolution.is_hidden(object, index),
        Place::Undefined | Place::Absolute | Place::Common | Place::Special(_) => false,
    })
}
