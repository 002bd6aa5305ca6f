//! An object by meaning: what is left when file offsets, table order and indices are taken away.
//!
//! Reads the bytes on its own, so that a mistake of the engine's reader does not hide one of its writer.

use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meaning {
    pub machine: u16,
    pub kind: u16,
    pub sections: Vec<Section>,
    pub symbols: Vec<Symbol>,
    pub relocations: Vec<Relocation>,
    pub groups: Vec<Group>,
    /// Names and values of address-significant symbols.
    pub significant: Vec<SymbolKey>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    pub name: String,
    pub kind: u32,
    pub flags: u64,
    pub align: u64,
    pub size: u64,
    pub data: Vec<u8>,
    /// The section it describes or relocates, by position among the sections with contents.
    pub about: Option<usize>,
}

/// Enough of a symbol to recognize it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SymbolKey {
    pub name: String,
    pub kind: u8,
    pub place: Place,
    pub value: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    pub key: SymbolKey,
    pub binding: u8,
    pub other: u8,
    pub size: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    Undefined,
    Absolute,
    Common,
    Section(usize),
    Group(usize),
    Null,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relocation {
    pub section: usize,
    pub offset: u64,
    pub kind: u32,
    pub addend: Option<i64>,
    pub symbol: SymbolKey,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    pub comdat: bool,
    pub signature: SymbolKey,
    pub members: Vec<usize>,
}

fn number(bytes: &[u8], at: usize, width: usize) -> u64 {
    bytes[at..at + width].iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

fn text(table: &[u8], at: u64) -> String {
    if at == 0 {
        return String::new();
    }
    let rest = &table[at as usize..];
    String::from_utf8(rest[..rest.iter().position(|byte| *byte == 0).unwrap()].to_vec()).unwrap()
}

/// A section header as numbers.
struct Header {
    name: u64,
    kind: u32,
    flags: u64,
    offset: usize,
    size: u64,
    link: usize,
    info: usize,
    align: u64,
    entry: u64,
}

impl Header {
    fn data<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        if self.kind == 8 || self.kind == 0 { &[] } else { &bytes[self.offset..self.offset + self.size as usize] }
    }
}

/// Reads a valid object; anything else is a panic, which fails the test.
pub fn read(bytes: &[u8]) -> Meaning {
    let start = number(bytes, 40, 8) as usize;
    let header = |index: usize| {
        let at = start + index * 64;
        Header {
            name: number(bytes, at, 4),
            kind: number(bytes, at + 4, 4) as u32,
            flags: number(bytes, at + 8, 8),
            offset: number(bytes, at + 24, 8) as usize,
            size: number(bytes, at + 32, 8),
            link: number(bytes, at + 40, 4) as usize,
            info: number(bytes, at + 44, 4) as usize,
            align: number(bytes, at + 48, 8),
            entry: number(bytes, at + 56, 8),
        }
    };
    let count = match number(bytes, 60, 2) {
        0 => header(0).size as usize,
        count => count as usize,
    };
    let names = match number(bytes, 62, 2) {
        0xffff => header(0).link,
        names => names as usize,
    };
    let headers: Vec<Header> = (0..count).map(header).collect();
    for header in &headers {
        if !header.data(bytes).is_empty() && header.align > 1 {
            assert_eq!(header.offset as u64 % header.align, 0, "every section stays aligned");
        }
    }
    let names = headers[names].data(bytes);

    // Positions among the sections with contents of the program, and among groups.
    let mut positions = BTreeMap::new();
    let mut group_positions = BTreeMap::new();
    for (index, header) in headers.iter().enumerate() {
        match header.kind {
            17 => {
                group_positions.insert(index, group_positions.len());
            }
            0 | 2 | 3 | 4 | 9 | 18 | 0x6fff_4c03 => {}
            _ => {
                positions.insert(index, positions.len());
            }
        }
    }
    let sections = positions.keys().map(|index| {
        let header = &headers[*index];
        Section {
            name: text(names, header.name),
            kind: header.kind,
            flags: header.flags,
            align: header.align,
            size: header.size,
            data: header.data(bytes).to_vec(),
            about: positions.get(&header.link).copied().filter(|_| header.flags & 0x80 != 0),
        }
    });
    let symbols = read_symbols(bytes, &headers, &positions, &group_positions);
    let key = |index: usize| symbols[index].key.clone();
    let mut relocations = Vec::new();
    let mut groups = Vec::new();
    let mut significant = Vec::new();
    for header in &headers {
        let data = header.data(bytes);
        match header.kind {
            4 | 9 => {
                assert_eq!(header.entry, if header.kind == 4 { 24 } else { 16 });
                for record in data.chunks_exact(header.entry as usize) {
                    let info = number(record, 8, 8);
                    relocations.push(Relocation {
                        section: positions[&header.info],
                        offset: number(record, 0, 8),
                        kind: info as u32,
                        addend: (header.kind == 4).then(|| number(record, 16, 8) as i64),
                        symbol: key((info >> 32) as usize),
                    });
                }
            }
            17 => groups.push(Group {
                comdat: number(data, 0, 4) == 1,
                signature: key(header.info),
                // A member may be a relocation section, which has no position of its own.
                members: (data[4..].chunks_exact(4))
                    .filter_map(|word| positions.get(&(number(word, 0, 4) as usize)).copied())
                    .collect(),
            }),
            0x6fff_4c03 => {
                let mut at = 0;
                while at < data.len() {
                    let (mut value, mut shift) = (0, 0);
                    loop {
                        let byte = usize::from(data[at]);
                        value |= (byte & 0x7f) << shift;
                        (at, shift) = (at + 1, shift + 7);
                        if byte < 0x80 {
                            break;
                        }
                    }
                    significant.push(key(value));
                }
            }
            _ => {}
        }
    }
    Meaning {
        kind: number(bytes, 16, 2) as u16,
        machine: number(bytes, 18, 2) as u16,
        sections: sections.collect(),
        symbols,
        relocations,
        groups,
        significant,
    }
}

/// All symbols, the empty first one included; checks the order that the format wants.
fn read_symbols(
    bytes: &[u8],
    headers: &[Header],
    positions: &BTreeMap<usize, usize>,
    group_positions: &BTreeMap<usize, usize>,
) -> Vec<Symbol> {
    let Some((table_index, table)) = headers.iter().enumerate().find(|(_, header)| header.kind == 2) else {
        return Vec::new();
    };
    let strings = headers[table.link].data(bytes);
    let extended = headers.iter().find(|header| header.kind == 18);
    if let Some(extended) = extended {
        assert_eq!(extended.link, table_index);
        assert_eq!(extended.size, table.size / 6);
    }
    let symbols: Vec<Symbol> = table
        .data(bytes)
        .chunks_exact(24)
        .enumerate()
        .map(|(index, record)| {
            let info = record[4];
            let in_section = |section: usize| match positions.get(&section) {
                Some(position) => Place::Section(*position),
                None => Place::Group(group_positions[&section]),
            };
            let place = match number(record, 6, 2) {
                _ if index == 0 => Place::Null,
                0 => Place::Undefined,
                0xfff1 => Place::Absolute,
                0xfff2 => Place::Common,
                0xffff => {
                    let words = extended.expect("a table of extended indices").data(bytes);
                    in_section(number(words, 4 * index, 4) as usize)
                }
                section => in_section(section as usize),
            };
            Symbol {
                key: SymbolKey {
                    name: text(strings, number(record, 0, 4)),
                    kind: info & 0xf,
                    place,
                    value: number(record, 8, 8),
                },
                binding: info >> 4,
                other: record[5],
                size: number(record, 16, 8),
            }
        })
        .collect();
    for (index, symbol) in symbols.iter().enumerate() {
        assert_eq!(symbol.binding == 0, index < table.info, "locals come first, and `sh_info` tells where they end");
    }
    symbols
}
