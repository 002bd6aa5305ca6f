//! Adds a section that no program loads.

use super::error::ElfError;
use super::file::ElfFile;
use super::format::{FILE_HEADER, SECTION_HEADER, header_at, special};

/// `SHT_PROGBITS`.
const PROGBITS: u32 = 1;
/// Where fields of a section header are.
const OFFSET: usize = 24;
const SIZE: usize = 32;

/// The file with one more section, behind all others: nothing that is there moves or gets another number.
pub(crate) fn append_section(object: &[u8], name: &str, contents: &[u8]) -> Result<Vec<u8>, ElfError> {
    let file = ElfFile::parse(object)?;
    let unsupported = |found: u64, expected| {
        let offset = header_at::SHNUM as u64;
        Err(ElfError::Unsupported { offset, field: "e_shnum", found, expected })
    };
    let count = file.sections.len();
    if file.names_index == 0 || count == 0 {
        return unsupported(count as u64, "sections with names");
    }
    if count + 1 >= usize::from(special::FIRST) {
        return unsupported(count as u64, "fewer than 65,279 sections");
    }
    let names = file.contents(file.names_index)?;
    let headers = file.headers_offset as usize;
    // `parse` has checked that the headers are inside the file.
    let mut table = object[headers..headers + count * SECTION_HEADER].to_vec();

    let mut output = object.to_vec();
    let contents_at = append(&mut output, contents);
    let names_at = append(&mut output, names);
    output.extend_from_slice(name.as_bytes());
    output.push(0);
    let names_size = names.len() + name.len() + 1;
    let names_header = &mut table[file.names_index * SECTION_HEADER..][..SECTION_HEADER];
    names_header[OFFSET..OFFSET + 8].copy_from_slice(&(names_at as u64).to_le_bytes());
    names_header[SIZE..SIZE + 8].copy_from_slice(&(names_size as u64).to_le_bytes());
    table.extend(header(names.len() as u32, contents_at as u64, contents.len() as u64));
    let table_at = append(&mut output, &table);
    output[header_at::SHOFF..header_at::SHOFF + 8].copy_from_slice(&(table_at as u64).to_le_bytes());
    output[header_at::SHNUM..header_at::SHNUM + 2].copy_from_slice(&((count + 1) as u16).to_le_bytes());
    debug_assert!(output.len() > FILE_HEADER);
    Ok(output)
}

/// Puts `bytes` behind the file, aligned; where they start.
fn append(output: &mut Vec<u8>, bytes: &[u8]) -> usize {
    output.resize(output.len().next_multiple_of(8), 0);
    let start = output.len();
    output.extend_from_slice(bytes);
    start
}

/// A section that takes no memory when the file is loaded.
fn header(name: u32, offset: u64, size: u64) -> [u8; SECTION_HEADER] {
    let mut bytes = [0; SECTION_HEADER];
    bytes[..4].copy_from_slice(&name.to_le_bytes());
    bytes[4..8].copy_from_slice(&PROGBITS.to_le_bytes());
    bytes[OFFSET..OFFSET + 8].copy_from_slice(&offset.to_le_bytes());
    bytes[SIZE..SIZE + 8].copy_from_slice(&size.to_le_bytes());
    // Alignment.
    bytes[48..56].copy_from_slice(&1_u64.to_le_bytes());
    bytes
}
