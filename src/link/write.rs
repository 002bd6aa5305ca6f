//! Writes the new file.

use std::borrow::Cow;

use rayon::prelude::*;

use super::arrangement::Piece;
use super::decided::Decided;
use super::error::{LinkError, RelocationProblem};
use super::headers::{group_words, headers};
use super::input::{FLAGS, OS_ABI};
use super::options::OutputKind;
use super::outputs::{EXECUTABLE, OutputId};
use super::relocations;
use super::strings::Strings;
use crate::elf::format::{
    FILE_HEADER, PROGRAM_HEADER, RELOCATABLE, SECTION_HEADER, SYMBOL, SectionHeader, flag, header_at, put_double,
    put_half, put_word, special,
};

/// `ET_EXEC`.
const LINKED: u16 = 2;
/// Fields of the file header.
const VERSION: usize = 20;
const HEADER_SIZE: usize = 52;
/// `p_type` and `p_flags`.
const LOAD: u32 = 1;
const GNU_STACK: u32 = 0x6474_e551;
const READABLE: u32 = 4;
const WRITABLE: u32 = 2;
const RUNNABLE: u32 = 1;
/// `p_align` of what is loaded.
const PAGE: u64 = 0x1000;

pub(super) fn write(file: &Decided<'_, '_>, link: OutputKind) -> Result<Vec<u8>, LinkError> {
    let symbols = Symbols::of(file)?;
    let (mut headers, section_names) = headers(file, link)?;
    let segments = if link.is_placed() { segments(file) } else { Vec::new() };
    let table = |piece: Piece| -> Option<&[u8]> {
        match piece {
            Piece::Symbols => Some(&symbols.records),
            Piece::ExtendedIndices => Some(&symbols.extended),
            Piece::SymbolNames => Some(&symbols.names.bytes),
            Piece::SectionNames => Some(&section_names.bytes),
            Piece::Null | Piece::Group(..) | Piece::Output(_) | Piece::Relocations(..) => None,
        }
    };
    for (piece, header) in file.arrangement.pieces.iter().zip(&mut headers) {
        header.size = table(*piece).map_or(header.size, |bytes| bytes.len() as u64);
    }
    if headers.len() >= usize::from(special::FIRST) {
        // The numbers that do not fit into the file header.
        headers[0].size = headers.len() as u64;
        headers[0].link = file.arrangement.index_of_table(Piece::SectionNames);
    }
    let headers_at = lay_out(&mut headers, segments.len())?;
    let mut bytes = vec![0; headers_at + headers.len() * SECTION_HEADER];
    write_file_header(file, &mut bytes, link, headers_at, segments.len());
    for (segment, record) in segments.iter().zip(bytes[FILE_HEADER..].chunks_exact_mut(PROGRAM_HEADER)) {
        segment.write(record);
    }
    let write_piece = |(piece, contents): (Piece, &mut [u8])| -> Result<Vec<RelocationProblem>, LinkError> {
        let mut problems = Vec::new();
        match piece {
            Piece::Output(id) => {
                fill(file, id, contents)?;
                if link.is_placed() {
                    relocations::apply(file, id, contents, &mut problems)?;
                }
            }
            Piece::Relocations(id, form) => relocations::write(file, id, form, contents)?,
            Piece::Group(object, group) => {
                let words = group_words(file, object, group);
                contents.chunks_exact_mut(4).zip(words).for_each(|(place, word)| put_word(place, 0, word));
            }
            Piece::Null | Piece::Symbols | Piece::ExtendedIndices | Piece::SymbolNames | Piece::SectionNames => {
                if let Some(table) = table(piece) {
                    contents.copy_from_slice(table);
                }
            }
        }
        Ok(problems)
    };
    let places = places(&file.arrangement.pieces, &headers, &mut bytes[..headers_at]);
    let problems = places.into_par_iter().map(write_piece).collect::<Result<Vec<_>, _>>()?.concat();
    if !problems.is_empty() {
        return Err(LinkError::Relocations { problems });
    }
    for (header, record) in headers.iter().zip(bytes[headers_at..].chunks_exact_mut(SECTION_HEADER)) {
        header.write(record);
    }
    Ok(bytes)
}

/// The bytes of every section that has some: sections follow one another in the file.
fn places<'b>(pieces: &[Piece], headers: &[SectionHeader], bytes: &'b mut [u8]) -> Vec<(Piece, &'b mut [u8])> {
    let (mut rest, mut at) = (bytes, 0);
    let mut places = Vec::with_capacity(pieces.len());
    for (piece, header) in pieces.iter().zip(headers).filter(|(_, header)| header.has_bytes()) {
        let start = header.offset as usize;
        let (_, behind) = rest.split_at_mut(start - at);
        let (contents, behind) = behind.split_at_mut(header.size as usize);
        places.push((*piece, contents));
        (rest, at) = (behind, start + header.size as usize);
    }
    places
}

/// The symbol table in bytes.
struct Symbols<'a> {
    records: Vec<u8>,
    /// Section indices that do not fit into them.
    extended: Vec<u8>,
    names: Strings<'a>,
}

impl<'a> Symbols<'a> {
    fn of(file: &Decided<'_, 'a>) -> Result<Self, LinkError> {
        let entries = &file.table.entries;
        let (mut records, mut extended) = (vec![0; entries.len() * SYMBOL], vec![0; entries.len() * 4]);
        let mut names = Strings::new();
        let places = records.chunks_exact_mut(SYMBOL).zip(extended.chunks_exact_mut(4));
        for (entry, (record, word)) in entries.iter().zip(places) {
            let mut raw = entry.raw;
            raw.name = names.add(Cow::Borrowed(entry.name))?;
            if let Some(section) = entry.section {
                raw.section = match u16::try_from(section) {
                    Ok(small) if small < special::FIRST => small,
                    Ok(_) | Err(_) => {
                        put_word(word, 0, section);
                        special::EXTENDED
                    }
                };
            }
            raw.write(record);
        }
        Ok(Self { records, extended, names })
    }
}

/// Gives all sections their offsets; where the section headers start.
fn lay_out(headers: &mut [SectionHeader], segments: usize) -> Result<usize, LinkError> {
    // Offsets and addresses of what is loaded differ by the same number everywhere, and there is nothing in front.
    let base = (FILE_HEADER + segments * PROGRAM_HEADER) as u64;
    let limit = u64::from(u32::MAX);
    let too_large = |found| LinkError::TooMuch { what: "bytes", found, limit, who: "a kernel file" };
    let mut next = base;
    for header in headers.iter_mut().skip(1) {
        header.offset = match segments > 0 && header.is_allocated() {
            true => base.saturating_add(header.address),
            false => next.next_multiple_of(header.align.max(1)),
        };
        if header.has_bytes() {
            next = header.offset.saturating_add(header.size);
        }
        if next > limit {
            return Err(too_large(next));
        }
    }
    Ok(next.next_multiple_of(8) as usize)
}

fn write_file_header(file: &Decided<'_, '_>, bytes: &mut [u8], link: OutputKind, headers_at: usize, segments: usize) {
    let first = &file.objects[0];
    bytes[..16].copy_from_slice(&first.file.bytes[..16]);
    if let Some(object) = file.objects.iter().find(|object| object.abi() != 0) {
        put_half(bytes, OS_ABI, object.abi());
    }
    put_half(bytes, header_at::TYPE, if link.is_placed() { LINKED } else { RELOCATABLE });
    put_half(bytes, header_at::MACHINE, first.file.machine);
    put_word(bytes, VERSION, 1);
    if segments > 0 {
        put_double(bytes, header_at::PHOFF, FILE_HEADER as u64);
        put_half(bytes, header_at::PHENTSIZE, PROGRAM_HEADER as u16);
        put_half(bytes, header_at::PHNUM, segments as u16);
    }
    put_double(bytes, header_at::SHOFF, headers_at as u64);
    put_word(bytes, FLAGS, first.flags());
    put_half(bytes, HEADER_SIZE, FILE_HEADER as u16);
    put_half(bytes, header_at::SHENTSIZE, SECTION_HEADER as u16);
    let count = file.arrangement.pieces.len();
    let names = file.arrangement.index_of_table(Piece::SectionNames);
    // Numbers that do not fit stand in the first section header.
    match (u16::try_from(count), u16::try_from(names)) {
        (Ok(count), Ok(names)) if count < special::FIRST => {
            put_half(bytes, header_at::SHNUM, count);
            put_half(bytes, header_at::SHSTRNDX, names);
        }
        _ => put_half(bytes, header_at::SHSTRNDX, special::EXTENDED),
    }
}

fn fill(file: &Decided<'_, '_>, id: OutputId, bytes: &mut [u8]) -> Result<(), LinkError> {
    let parts = file.outputs.get(id).parts.iter().filter(|_| file.outputs.get(id).has_bytes());
    let (mut rest, mut at) = (bytes, 0);
    let mut places = Vec::new();
    // One part follows the other.
    for part in parts {
        let object = &file.objects[part.object];
        let contents = object.file.contents(part.section).map_err(|error| object.error(error))?;
        let start = part.offset as usize;
        let (_, behind) = rest.split_at_mut(start - at);
        let (place, behind) = behind.split_at_mut(contents.len());
        places.push((place, contents));
        (rest, at) = (behind, start + contents.len());
    }
    places.into_par_iter().with_min_len(PARTS_AT_ONCE).for_each(|(place, contents)| place.copy_from_slice(contents));
    Ok(())
}

/// Fewer parts than this are copied sooner than shared among threads.
const PARTS_AT_ONCE: usize = 32;

/// A program header.
struct Segment {
    kind: u32,
    flags: u32,
    offset: u64,
    address: u64,
    size: u64,
    align: u64,
}

impl Segment {
    fn write(&self, record: &mut [u8]) {
        put_word(record, 0, self.kind);
        put_word(record, 4, self.flags);
        for (at, value) in
            (8..).step_by(8).zip([self.offset, self.address, self.address, self.size, self.size, self.align])
        {
            put_double(record, at, value);
        }
    }
}

/// Code with constants, data, and that the stack holds no code.
fn segments(file: &Decided<'_, '_>) -> Vec<Segment> {
    let mut segments: Vec<Segment> = Vec::new();
    for piece in &file.arrangement.pieces {
        let Piece::Output(id) = *piece else { continue };
        let (output, address) = (file.outputs.get(id), file.arrangement.address(id));
        if !output.is_allocated() {
            continue;
        }
        let is_data = output.flags & flag::WRITE != 0 && output.flags & EXECUTABLE == 0;
        let flags = READABLE | if is_data { WRITABLE } else { RUNNABLE };
        match segments.last_mut().filter(|last| last.flags == flags) {
            Some(last) => last.size = address + output.size - last.address,
            None => {
                let (offset, size) = (0, output.size);
                segments.push(Segment { kind: LOAD, flags, offset, address, size, align: PAGE });
            }
        }
    }
    let flags = READABLE | WRITABLE;
    segments.push(Segment { kind: GNU_STACK, flags, offset: 0, address: 0, size: 0, align: 0 });
    let base = (FILE_HEADER + segments.len() * PROGRAM_HEADER) as u64;
    segments
        .iter_mut()
        .filter(|segment| segment.kind == LOAD)
        .for_each(|segment| segment.offset = base + segment.address);
    segments
}
