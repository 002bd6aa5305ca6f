//! GNU `ar` archives: read whatever `ar` variants write, write what every linker reads.

use std::borrow::Cow;

use super::error::ElfError;
use super::symbols::symbols;

const MAGIC: &[u8] = b"!<arch>\n";
const THIN_MAGIC: &[u8] = b"!<thin>\n";
const HEADER: usize = 60;
const END: &[u8] = b"`\n";

/// One file of an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member<'a> {
    /// Its name as stored, directories included. Bytes that are not UTF-8 are replaced.
    pub name: Cow<'a, str>,
    /// Its bytes.
    pub data: &'a [u8],
}

/// Whether the bytes start like an archive, thin ones included.
pub(crate) fn is_archive(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC) || bytes.starts_with(THIN_MAGIC)
}

/// The members in file order, without symbol and name tables.
pub fn read(bytes: &[u8]) -> Result<Vec<Member<'_>>, ElfError> {
    if bytes.starts_with(THIN_MAGIC) {
        return Err(ElfError::ThinArchive);
    }
    if !bytes.starts_with(MAGIC) {
        return Err(ElfError::NotArchive { found: bytes[..bytes.len().min(8)].to_vec() });
    }
    let mut members = Vec::new();
    let mut long_names: &[u8] = &[];
    // Long names may share bytes of their table: the same limit as for symbol names.
    let mut budget = bytes.len().saturating_mul(4).saturating_add(1 << 16);
    let mut at = MAGIC.len();
    while at < bytes.len() {
        let header = Header::read(bytes, at)?;
        let data_start = at + HEADER;
        let data = &bytes[data_start..data_start + header.size];
        match header.kind(long_names, data)? {
            Kind::SymbolTable => {}
            Kind::LongNames => long_names = data,
            Kind::Member { name, data } => {
                budget = budget.checked_sub(name.len()).ok_or_else(|| {
                    ElfError::malformed(at as u64, "ar_name", "all names together are far longer than the archive")
                })?;
                members.push(Member { name: String::from_utf8_lossy(name), data });
            }
        }
        at = (data_start + header.size).next_multiple_of(2);
    }
    Ok(members)
}

/// A member header.
struct Header<'a> {
    at: usize,
    name: &'a [u8],
    size: usize,
}

/// What a member is.
enum Kind<'a> {
    SymbolTable,
    LongNames,
    Member { name: &'a [u8], data: &'a [u8] },
}

impl<'a> Header<'a> {
    fn read(bytes: &'a [u8], at: usize) -> Result<Self, ElfError> {
        let limit = bytes.len() as u64;
        let Some(record) = bytes.get(at..at + HEADER) else {
            return Err(ElfError::OutOfRange { offset: at as u64, field: "ar_hdr", end: (at + HEADER) as u64, limit });
        };
        if &record[58..60] != END {
            return Err(ElfError::malformed(
                at as u64 + 58,
                "ar_fmag",
                "a member header ends with a backtick and a newline",
            ));
        }
        let size = decimal(trim(&record[48..58]))
            .ok_or_else(|| ElfError::malformed(at as u64 + 48, "ar_size", "not a decimal number"))?;
        let end = (at + HEADER) as u64 + size as u64;
        if end > limit {
            return Err(ElfError::OutOfRange { offset: at as u64 + 48, field: "ar_size", end, limit });
        }
        Ok(Self { at, name: trim(&record[..16]), size })
    }

    fn kind(&self, long_names: &'a [u8], data: &'a [u8]) -> Result<Kind<'a>, ElfError> {
        let wrong = |problem| ElfError::malformed(self.at as u64, "ar_name", problem);
        Ok(match self.name {
            b"/" | b"/SYM64/" | b"__.SYMDEF" | b"__.SYMDEF SORTED" => Kind::SymbolTable,
            b"//" => Kind::LongNames,
            [b'/', digits @ ..] => {
                let offset = decimal(digits).ok_or_else(|| wrong("not a position in the table of long names"))?;
                let rest = long_names.get(offset..).ok_or_else(|| wrong("beyond the table of long names"))?;
                // GNU ends a name with `/` and a newline, others with a zero byte.
                let end = memchr::memchr2(b'\n', 0, rest).ok_or_else(|| wrong("the long name does not end"))?;
                Kind::Member { name: without_slash(&rest[..end]), data }
            }
            [b'#', b'1', b'/', digits @ ..] => {
                let length = decimal(digits).ok_or_else(|| wrong("not the length of a name"))?;
                let (name, data) = data.split_at_checked(length).ok_or_else(|| wrong("longer than the member"))?;
                let end = memchr::memchr(0, name).unwrap_or(name.len());
                match &name[..end] {
                    b"__.SYMDEF" | b"__.SYMDEF SORTED" => Kind::SymbolTable,
                    name => Kind::Member { name, data },
                }
            }
            name => Kind::Member { name: without_slash(name), data },
        })
    }
}

fn trim(field: &[u8]) -> &[u8] {
    let end = field.iter().rposition(|byte| *byte != b' ').map_or(0, |last| last + 1);
    &field[..end]
}

/// The end marker of a name; a path keeps its other slashes.
fn without_slash(name: &[u8]) -> &[u8] {
    name.strip_suffix(b"/").unwrap_or(name)
}

fn decimal(digits: &[u8]) -> Option<usize> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0usize, |value, digit| {
        let digit = digit.is_ascii_digit().then(|| usize::from(digit - b'0'))?;
        value.checked_mul(10)?.checked_add(digit)
    })
}

/// An archive of these members, with a symbol table; the same members always give the same bytes.
///
/// Members that are no ELF objects are allowed; they have no symbols.
///
/// ```
/// use superkernel::elf::archive;
///
/// let bytes = archive::write(&[("notes.txt", b"three"), ("a_name_longer_than_sixteen.txt", b"four")])?;
/// let members = archive::read(&bytes)?;
/// assert_eq!(members[1].name, "a_name_longer_than_sixteen.txt");
/// assert_eq!(members[1].data, b"four");
/// # Ok::<(), superkernel::elf::ElfError>(())
/// ```
pub fn write(members: &[(&str, &[u8])]) -> Result<Vec<u8>, ElfError> {
    let mut long_names = Vec::new();
    let mut headers = Vec::with_capacity(members.len());
    let mut exported: Vec<Vec<Cow<'_, str>>> = Vec::with_capacity(members.len());
    for (name, data) in members {
        headers.push(stored_name(name, &mut long_names)?);
        exported.push(exported_symbols(data).map_err(ElfError::in_member(name))?);
    }
    if long_names.len() % 2 == 1 {
        long_names.push(b'\n');
    }
    let body: usize = members.iter().map(|(_, data)| HEADER + data.len().next_multiple_of(2)).sum();
    let names_size = if long_names.is_empty() { 0 } else { HEADER + long_names.len() };
    let index = SymbolIndex::new(&exported, MAGIC.len() + names_size + body);

    let mut archive = Vec::with_capacity(MAGIC.len() + index.size() + names_size + body);
    archive.extend_from_slice(MAGIC);
    let first_member = MAGIC.len() + index.size() + names_size;
    index.write(&mut archive, &exported, member_offsets(members, first_member));
    push_members(&mut archive, members, &headers, long_names);
    Ok(archive)
}

/// An archive of these members without a symbol table: for a linker that is told to take all of them.
pub(crate) fn pack(members: &[(&str, &[u8])]) -> Result<Vec<u8>, ElfError> {
    let mut long_names = Vec::new();
    let headers = members.iter().map(|(name, _)| stored_name(name, &mut long_names)).collect::<Result<Vec<_>, _>>()?;
    let body: usize = members.iter().map(|(_, data)| HEADER + data.len().next_multiple_of(2)).sum();
    let mut archive = Vec::with_capacity(MAGIC.len() + HEADER + long_names.len() + 1 + body);
    archive.extend_from_slice(MAGIC);
    push_members(&mut archive, members, &headers, long_names);
    Ok(archive)
}

fn push_members(archive: &mut Vec<u8>, members: &[(&str, &[u8])], headers: &[String], mut long_names: Vec<u8>) {
    if long_names.len() % 2 == 1 {
        long_names.push(b'\n');
    }
    if !long_names.is_empty() {
        push_header(archive, "//", "", "", "", long_names.len());
        archive.extend_from_slice(&long_names);
    }
    for ((_, data), name) in members.iter().zip(headers) {
        push_header(archive, name, "0", "0", "644", data.len());
        archive.extend_from_slice(data);
        if data.len() % 2 == 1 {
            archive.push(b'\n');
        }
    }
}

/// The name as it stands in the header; long ones go to their table.
fn stored_name(name: &str, long_names: &mut Vec<u8>) -> Result<String, ElfError> {
    let problem = if name.is_empty() {
        "it is empty"
    } else if name.contains(['\n', '\0']) {
        "it holds a newline or a zero byte"
    } else if name.ends_with('/') {
        "it ends with a slash"
    } else if name.len() < 16 && !name.contains('/') && !name.starts_with(['#', ' ']) && !name.ends_with(' ') {
        return Ok(format!("{name}/"));
    } else {
        let stored = format!("/{}", long_names.len());
        long_names.extend_from_slice(name.as_bytes());
        long_names.extend_from_slice(b"/\n");
        return Ok(stored);
    };
    Err(ElfError::BadName { name: name.to_owned(), what: "the name of an archive member", problem })
}

/// Names that a linker may look for.
fn exported_symbols(data: &[u8]) -> Result<Vec<Cow<'_, str>>, ElfError> {
    if !data.starts_with(b"\x7fELF") {
        return Ok(Vec::new());
    }
    let exported = symbols(data)?.into_iter().filter(|symbol| symbol.is_exported() && !symbol.name.is_empty());
    Ok(exported.map(|symbol| symbol.name).collect())
}

fn member_offsets<'a>(members: &'a [(&str, &[u8])], first: usize) -> impl Iterator<Item = usize> + 'a {
    members.iter().scan(first, |next, (_, data)| {
        let offset = *next;
        *next += HEADER + data.len().next_multiple_of(2);
        Some(offset)
    })
}

/// The symbol table member: a count, the offset of the defining member per symbol, all names.
struct SymbolIndex {
    count: usize,
    names: usize,
    /// Bytes of a number: 8 in archives beyond 4 GB.
    number: usize,
}

impl SymbolIndex {
    fn new(exported: &[Vec<Cow<'_, str>>], rest: usize) -> Self {
        let count = exported.iter().map(Vec::len).sum();
        let names = exported.iter().flatten().map(|name| name.len() + 1).sum();
        let narrow = Self { count, names, number: 4 };
        if u32::try_from(rest + narrow.size()).is_ok() { narrow } else { Self { number: 8, ..narrow } }
    }

    fn data_size(&self) -> usize {
        ((1 + self.count) * self.number + self.names).next_multiple_of(2)
    }

    /// With its header; an archive without symbols has no table.
    fn size(&self) -> usize {
        if self.count == 0 { 0 } else { HEADER + self.data_size() }
    }

    fn write(&self, out: &mut Vec<u8>, exported: &[Vec<Cow<'_, str>>], offsets: impl Iterator<Item = usize>) {
        if self.count == 0 {
            return;
        }
        push_header(out, if self.number == 4 { "/" } else { "/SYM64/" }, "0", "0", "0", self.data_size());
        let end = out.len() + self.data_size();
        let mut push = |number: usize| out.extend_from_slice(&(number as u64).to_be_bytes()[8 - self.number..]);
        push(self.count);
        for (names, offset) in exported.iter().zip(offsets) {
            names.iter().for_each(|_| push(offset));
        }
        for name in exported.iter().flatten() {
            out.extend_from_slice(name.as_bytes());
            out.push(0);
        }
        out.resize(end, 0);
    }
}

/// Time and owner are zero, so that equal members give equal archives.
fn push_header(out: &mut Vec<u8>, name: &str, time: &str, owner: &str, mode: &str, size: usize) {
    out.extend_from_slice(format!("{name:<16}{time:<12}{owner:<6}{owner:<6}{mode:<8}{size:<10}").as_bytes());
    out.extend_from_slice(END);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_is_read_again_in_its_order() {
        let members: [(&str, &[u8]); 3] = [("b.o", b"\x7fELF no object at all"), ("a.o", b"odd"), ("a.o", b"")];
        let packed = pack(&members).unwrap();
        let read = read(&packed).unwrap();
        let found: Vec<(&str, &[u8])> = read.iter().map(|member| (&*member.name, member.data)).collect();
        assert_eq!(found, members);
        // No table of symbols in front, and a long name needs its table.
        assert_eq!(&packed[MAGIC.len()..][..4], b"b.o/");
        let long = [("a_name_of_more_than_fifteen_letters.o", b"x".as_slice()), ("c.o", b"y")];
        let packed = pack(&long).unwrap();
        assert_eq!(super::read(&packed).unwrap()[0].name, long[0].0);
        assert!(pack(&[("", b"x")]).is_err());
    }
}
