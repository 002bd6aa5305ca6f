//! Lays out the new file: the fixed part as it was, the other sections behind it in their old order.

use std::borrow::Cow;

use super::super::error::ElfError;
use super::super::file::ElfFile;
use super::super::format::{
    FILE_HEADER, PROGRAM_HEADER, SECTION_HEADER, SectionHeader, double, half, header_at, put_double, put_half,
    section_at, special,
};
use super::super::symbols::SymbolTable;
use super::references::{Shape, renumber_relocations};

/// How the sections of the input lie in its file.
pub(crate) struct Extent {
    /// Sections with bytes that may move, in file order.
    movable: Vec<usize>,
    /// Everything before stays where it is: headers, and in a linked file all that is loaded.
    fixed_end: usize,
}

impl Extent {
    /// Checks that all sections are inside of the file and that none which is read or moved shares bytes with
    /// another: what follows is then linear in the size of the file.
    pub(crate) fn check(file: &ElfFile<'_>, table: Option<&SymbolTable<'_>>) -> Result<Self, ElfError> {
        let mut fixed_end = fixed_end(file)?;
        let first_segment = double(file.bytes, header_at::PHOFF);
        let segments = first_segment..first_segment.saturating_add(file.program_headers()?.len() as u64);
        let mut order = Vec::with_capacity(file.sections.len());
        for (index, section) in file.sections.iter().enumerate() {
            if section.has_bytes() {
                file.contents(index)?;
                order.push(index);
            }
        }
        order.sort_by_key(|index| file.sections[*index].offset);
        let mut movable = Vec::with_capacity(order.len());
        let mut previous: Option<(usize, u64)> = None;
        for index in order {
            let section = &file.sections[index];
            let end = section.offset + section.size;
            let loaded = file.is_linked() && section.is_allocated();
            if !loaded || table.is_some_and(|table| section.link as usize == table.index) {
                let overlap = |what: String| {
                    ElfError::malformed(
                        file.header_offset(index) + section_at::OFFSET,
                        "sh_offset",
                        format!("section {index} overlaps {what}"),
                    )
                };
                if section.offset < FILE_HEADER as u64 {
                    return Err(overlap("the file header".to_owned()));
                }
                if !segments.is_empty() && section.offset < segments.end && segments.start < end {
                    return Err(overlap("the program headers".to_owned()));
                }
                if let Some((other, _)) = previous.filter(|(_, end)| *end > section.offset) {
                    return Err(overlap(format!("section {other}")));
                }
                previous = Some((index, end));
            }
            if section.offset < fixed_end as u64 {
                // Checked to be inside of the file, hence a usize.
                fixed_end = fixed_end.max(end as usize);
            } else {
                movable.push(index);
            }
        }
        Ok(Self { movable, fixed_end })
    }
}

/// The end of everything that must not move.
fn fixed_end(file: &ElfFile<'_>) -> Result<usize, ElfError> {
    let segments = file.program_headers()?;
    let mut end = FILE_HEADER as u64;
    if !segments.is_empty() {
        end = end.max(double(file.bytes, header_at::PHOFF) + segments.len() as u64);
    }
    for segment in segments.chunks_exact(PROGRAM_HEADER) {
        end = end.max(double(segment, 8).saturating_add(double(segment, 32)));
    }
    if file.is_linked() {
        for section in file.sections.iter().filter(|section| section.is_allocated() && section.has_bytes()) {
            end = end.max(section.offset.saturating_add(section.size));
        }
    }
    // A segment may claim more than there is; then everything stays.
    Ok(usize::try_from(end).unwrap_or(usize::MAX).min(file.bytes.len()))
}

/// What a section of the new file holds.
pub(crate) enum Contents<'a> {
    /// The input's bytes, or none.
    Same,
    /// The input's relocations with these new symbol indices.
    Relocations(Shape, &'a [u32]),
    /// Other bytes.
    Replaced(Cow<'a, [u8]>),
    /// The input's bytes with more behind them.
    Extended(Vec<u8>),
}

impl Contents<'_> {
    /// Bytes in the new file, for a section that had `old`.
    fn length(&self, old: usize) -> usize {
        match self {
            Self::Same | Self::Relocations(..) => old,
            Self::Replaced(bytes) => bytes.len(),
            Self::Extended(more) => old + more.len(),
        }
    }
}

/// One section of the new file.
pub(crate) struct NewSection<'a> {
    /// Its index in the input; `None` for one that was not there.
    pub old: Option<usize>,
    /// Its header; offset and size are filled in here.
    pub header: SectionHeader,
    pub contents: Contents<'a>,
}

/// The new file, fully described but not yet written: its length is known, so that the caller can provide the memory.
pub(crate) struct Arrangement<'d, 'a> {
    file: &'d ElfFile<'a>,
    fixed_end: usize,
    sections: Vec<NewSection<'d>>,
    /// Sections that keep their place and get other bytes there.
    refilled: Vec<usize>,
    /// Sections behind the fixed part, in file order.
    placed: Vec<usize>,
    headers_start: usize,
    names_index: usize,
}

impl<'d, 'a> Arrangement<'d, 'a> {
    /// Finds a place for every section. `position` tells where a section of the input is in `sections`.
    pub(crate) fn new(
        file: &'d ElfFile<'a>,
        extent: &Extent,
        mut sections: Vec<NewSection<'d>>,
        position: impl Fn(usize) -> Option<usize>,
        names_index: usize,
    ) -> Result<Self, ElfError> {
        let mut refilled = Vec::new();
        let mut behind = Vec::new();
        for (place, section) in sections.iter().enumerate() {
            let Some(old) = section.old else {
                if section.contents.length(0) > 0 {
                    behind.push(place);
                }
                continue;
            };
            let before = file.contents(old)?.len();
            let after = section.contents.length(before);
            let starts_inside = (section.header.offset as usize) < extent.fixed_end;
            if before == 0 {
                if after > 0 {
                    behind.push(place);
                }
            } else if starts_inside && after == before {
                if !matches!(section.contents, Contents::Same) {
                    refilled.push(place);
                }
            } else if starts_inside {
                if section.header.is_allocated() && file.is_linked() {
                    return Err(ElfError::malformed(
                        file.header_offset(old) + section_at::SIZE,
                        "sh_size",
                        "the section is loaded with the program and cannot change its size",
                    ));
                }
                behind.push(place);
            }
        }
        let moved = extent.movable.iter().filter_map(|old| position(*old));
        let placed: Vec<usize> = moved.chain(behind).collect();
        let mut end = extent.fixed_end;
        for place in &placed {
            end = place_section(file, &mut sections[*place], end)?;
        }
        place_empty(file, &mut sections);
        set_extended_numbers(file, &mut sections, names_index);
        let headers_start = end.next_multiple_of(8);
        Ok(Self { file, fixed_end: extent.fixed_end, sections, refilled, placed, headers_start, names_index })
    }

    /// Bytes of the new file.
    pub(crate) fn length(&self) -> usize {
        self.headers_start + self.sections.len() * SECTION_HEADER
    }

    /// Writes the file into memory of that length.
    pub(crate) fn write(&self, output: &mut [u8]) -> Result<(), ElfError> {
        output[..self.fixed_end].copy_from_slice(&self.file.bytes[..self.fixed_end]);
        for place in &self.refilled {
            self.fill(*place, 0, output)?;
        }
        self.write_behind(self.fixed_end, output.split_at_mut(self.fixed_end).1)?;
        self.write_header(output);
        Ok(())
    }

    /// How many bytes of the input, its header aside, are the first bytes of the new file as well.
    pub(crate) fn kept(&self) -> usize {
        if !self.refilled.is_empty() {
            return 0;
        }
        let mut end = self.fixed_end;
        for place in &self.placed {
            let section = &self.sections[*place];
            let (Some(old), Contents::Same) = (section.old, &section.contents) else { break };
            let start = section.header.offset as usize;
            let gap_is_empty = self.file.bytes.get(end..start).is_some_and(|gap| gap.iter().all(|byte| *byte == 0));
            if self.file.sections[old].offset != section.header.offset || !gap_is_empty {
                break;
            }
            end = start + section.header.size as usize;
        }
        end
    }

    /// Writes what follows the first `start` bytes, which end where a section ends; the header is not written.
    pub(crate) fn write_behind(&self, start: usize, output: &mut [u8]) -> Result<(), ElfError> {
        let mut end = start;
        for place in &self.placed {
            let at = self.sections[*place].header.offset as usize;
            if at < end {
                continue;
            }
            output[end - start..at - start].fill(0);
            end = self.fill(*place, start, output)?;
        }
        output[end - start..self.headers_start - start].fill(0);
        let records = output[self.headers_start - start..].chunks_exact_mut(SECTION_HEADER);
        for (section, record) in self.sections.iter().zip(records) {
            section.header.write(record);
        }
        Ok(())
    }

    /// Says in the file's header where the section headers are.
    pub(crate) fn write_header(&self, header: &mut [u8]) {
        put_double(header, header_at::SHOFF, self.headers_start as u64);
        put_half(header, header_at::SHNUM, small(self.sections.len()).unwrap_or(0));
        put_half(header, header_at::SHSTRNDX, small(self.names_index).unwrap_or(special::EXTENDED));
    }

    /// Writes the bytes of one section into `output`, which begins `start` bytes behind the beginning of the file; returns
    /// where they end in the file.
    fn fill(&self, place: usize, start: usize, output: &mut [u8]) -> Result<usize, ElfError> {
        let section = &self.sections[place];
        let at = section.header.offset as usize;
        let before = match section.old {
            Some(old) => self.file.contents(old)?,
            None => &[],
        };
        let end = at + section.contents.length(before.len());
        let target = &mut output[at - start..end - start];
        match &section.contents {
            Contents::Same => target.copy_from_slice(before),
            Contents::Replaced(bytes) => target.copy_from_slice(bytes),
            Contents::Extended(more) => {
                target[..before.len()].copy_from_slice(before);
                target[before.len()..].copy_from_slice(more);
            }
            Contents::Relocations(shape, new_indices) => {
                target.copy_from_slice(before);
                if let Some(old) = section.old {
                    renumber_relocations(self.file, old, *shape, target, new_indices)?;
                }
            }
        }
        Ok(end)
    }
}

/// Gives one section a place at or behind `end`, with the alignment it had; returns where it ends.
fn place_section(file: &ElfFile<'_>, section: &mut NewSection<'_>, end: usize) -> Result<usize, ElfError> {
    let before = match section.old {
        Some(old) => file.contents(old)?.len(),
        None => 0,
    };
    // Not more than it had: a claim of a huge alignment does not make a huge file.
    let offset = section.header.offset;
    let had = if before == 0 || offset == 0 { 8 } else { 1 << offset.trailing_zeros() };
    let align = section.header.align.clamp(1, had);
    let start = end.next_multiple_of(usize::try_from(align).unwrap_or(1));
    let length = section.contents.length(before);
    section.header.offset = start as u64;
    section.header.size = length as u64;
    Ok(start + length)
}

/// Sections of a relocatable file that never had bytes get an offset inside of the new file.
fn place_empty(file: &ElfFile<'_>, sections: &mut [NewSection<'_>]) {
    if file.is_linked() {
        return;
    }
    let mut end = FILE_HEADER as u64;
    for section in sections.iter_mut().skip(1) {
        let had_bytes = section.old.is_some_and(|old| file.sections[old].has_bytes());
        if had_bytes || section.header.has_bytes() {
            end = section.header.offset + section.header.size;
        } else {
            section.header.offset = end;
        }
    }
}

/// Numbers too large for the file header are in the first section header.
fn set_extended_numbers(file: &ElfFile<'_>, sections: &mut [NewSection<'_>], names_index: usize) {
    let was_extended = half(file.bytes, header_at::SHSTRNDX) == special::EXTENDED;
    let count = sections.len();
    if let Some(first) = sections.first_mut() {
        first.header.size = if small(count).is_some() { 0 } else { count as u64 };
        if small(names_index).is_none() || was_extended {
            first.header.link = if small(names_index).is_some() { 0 } else { names_index as u32 };
        }
    }
}

/// A number that fits into the file header.
fn small(number: usize) -> Option<u16> {
    u16::try_from(number).ok().filter(|number| *number < special::FIRST)
}
