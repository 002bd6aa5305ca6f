//! An object described as data, and its bytes.

pub const LOCAL: u8 = 0;
pub const GLOBAL: u8 = 1;
pub const WEAK: u8 = 2;

pub const PROGBITS: u32 = 1;
pub const NOBITS: u32 = 8;

pub const ALLOC: u64 = 2;
pub const GROUP_FLAG: u64 = 0x200;

#[derive(Debug, Clone, Default)]
pub struct Object {
    pub machine: u16,
    pub sections: Vec<Section>,
    pub symbols: Vec<Symbol>,
    pub groups: Vec<Group>,
    /// Symbols of an address-significance table.
    pub significant: Option<Vec<usize>>,
    pub extended: Extended,
    pub names: SectionNames,
}

/// Whether symbols keep their section in `SHT_SYMTAB_SHNDX`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Extended {
    #[default]
    WhenNeeded,
    Always,
}

/// Whether section names share the string table of the symbols, as LLVM does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SectionNames {
    #[default]
    Own,
    Shared,
}

#[derive(Debug, Clone)]
pub struct Section {
    pub name: String,
    pub kind: u32,
    pub flags: u64,
    pub align: u64,
    pub data: Vec<u8>,
    /// Bytes in memory of a `NOBITS` section.
    pub memory: u64,
    pub relocations: Vec<Relocation>,
    pub form: RelocationForm,
    /// A section this one describes (`SHF_LINK_ORDER`).
    pub describes: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RelocationForm {
    Rel,
    Rela,
}

#[derive(Debug, Clone, Copy)]
pub struct Relocation {
    pub offset: u64,
    pub kind: u32,
    pub symbol: usize,
    pub addend: i64,
}

#[derive(Debug, Clone)]
pub struct Symbol {
    pub name: String,
    pub binding: u8,
    pub kind: u8,
    pub visibility: u8,
    pub place: Place,
    pub value: u64,
    pub size: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Undefined,
    Absolute,
    Common,
    /// Position in `Object::sections`.
    Section(usize),
    /// Position in `Object::groups`: how assemblers place a signature that names nothing else.
    Group(usize),
}

#[derive(Debug, Clone)]
pub struct Group {
    pub signature: usize,
    pub members: Vec<usize>,
    pub comdat: bool,
}

impl Section {
    pub fn new(name: &str, flags: u64, data: Vec<u8>) -> Self {
        Self {
            name: name.to_owned(),
            kind: PROGBITS,
            flags,
            align: 8,
            data,
            memory: 0,
            relocations: Vec::new(),
            form: RelocationForm::Rela,
            describes: None,
        }
    }

    pub fn relocate(mut self, offset: u64, kind: u32, symbol: usize, addend: i64) -> Self {
        self.relocations.push(Relocation { offset, kind, symbol, addend });
        self
    }
}

impl Symbol {
    pub fn new(name: &str, binding: u8, kind: u8, place: Place, value: u64) -> Self {
        Self { name: name.to_owned(), binding, kind, visibility: 0, place, value, size: 4 }
    }
}

/// A string table that shares the ends of names.
#[derive(Default)]
struct Strings(Vec<u8>);

impl Strings {
    fn add(&mut self, name: &str) -> u32 {
        if self.0.is_empty() {
            self.0.push(0);
        }
        if name.is_empty() {
            return 0;
        }
        let mut wanted = name.as_bytes().to_vec();
        wanted.push(0);
        // Searching is slow in large tables; big objects do without sharing.
        if self.0.len() < 20_000
            && let Some(found) = self.0.windows(wanted.len()).position(|window| window == wanted)
        {
            return found as u32;
        }
        self.0.extend_from_slice(&wanted);
        (self.0.len() - wanted.len()) as u32
    }
}

/// A section header in the making.
#[derive(Clone, Default)]
struct Header {
    name: String,
    kind: u32,
    flags: u64,
    data: Vec<u8>,
    size: Option<u64>,
    link: u32,
    info: u32,
    align: u64,
    entry: u64,
}

impl Object {
    /// The file.
    pub fn build(&self) -> Vec<u8> {
        let mut headers = vec![Header::default()];
        let group_index: Vec<usize> = (0..self.groups.len()).map(|number| 1 + number).collect();
        let mut section_index = Vec::new();
        let mut next = 1 + self.groups.len();
        for section in &self.sections {
            section_index.push(next);
            next += 1 + usize::from(!section.relocations.is_empty());
        }
        let table_index = next + usize::from(self.significant.is_some());

        // Locals first, as the format wants.
        let mut order: Vec<usize> = (0..self.symbols.len()).collect();
        order.sort_by_key(|index| self.symbols[*index].binding != LOCAL);
        let mut symbol_index = vec![0; self.symbols.len()];
        for (position, index) in order.iter().enumerate() {
            symbol_index[*index] = position + 1;
        }

        for group in &self.groups {
            let mut data = u32::from(group.comdat).to_le_bytes().to_vec();
            for member in &group.members {
                data.extend_from_slice(&(section_index[*member] as u32).to_le_bytes());
                // As compilers do; GNU's linker refuses a group without.
                if !self.sections[*member].relocations.is_empty() {
                    data.extend_from_slice(&(section_index[*member] as u32 + 1).to_le_bytes());
                }
            }
            headers.push(Header {
                name: ".group".to_owned(),
                kind: 17,
                data,
                link: table_index as u32,
                info: symbol_index[group.signature] as u32,
                align: 4,
                entry: 4,
                ..Header::default()
            });
        }
        for (number, section) in self.sections.iter().enumerate() {
            let grouped = self.groups.iter().any(|group| group.members.contains(&number));
            headers.push(Header {
                name: section.name.clone(),
                kind: section.kind,
                flags: section.flags | if grouped { GROUP_FLAG } else { 0 },
                data: section.data.clone(),
                size: (section.kind == NOBITS).then_some(section.memory),
                link: section.describes.map_or(0, |other| section_index[other] as u32),
                align: section.align,
                ..Header::default()
            });
            if !section.relocations.is_empty() {
                headers.push(relocation_header(section, section_index[number], table_index, &symbol_index, grouped));
            }
        }
        if let Some(significant) = &self.significant {
            let mut data = Vec::new();
            for symbol in significant {
                push_leb128(&mut data, symbol_index[*symbol] as u32);
            }
            let name = ".llvm_addrsig".to_owned();
            headers.push(Header { name, kind: 0x6fff_4c03, data, link: table_index as u32, ..Header::default() });
        }
        self.push_tables(headers, &order, &section_index, &group_index)
    }

    fn push_tables(
        &self,
        mut headers: Vec<Header>,
        order: &[usize],
        section_index: &[usize],
        group_index: &[usize],
    ) -> Vec<u8> {
        let table_index = headers.len();
        let needs_extended = self.extended == Extended::Always || table_index >= 0xff00;
        let names_index = table_index + 1 + usize::from(needs_extended);
        let mut strings = Strings::default();
        let (mut records, mut words) = (vec![0; 24], vec![0; 4]);
        for index in order {
            let symbol = &self.symbols[*index];
            let (stored, word) = match symbol.place {
                Place::Undefined => (0, 0),
                Place::Absolute => (0xfff1, 0),
                Place::Common => (0xfff2, 0),
                Place::Section(section) => stored_index(section_index[section], needs_extended),
                Place::Group(group) => stored_index(group_index[group], needs_extended),
            };
            records.extend_from_slice(&strings.add(&symbol.name).to_le_bytes());
            records.push(symbol.binding << 4 | symbol.kind);
            records.push(symbol.visibility);
            records.extend_from_slice(&stored.to_le_bytes());
            records.extend_from_slice(&symbol.value.to_le_bytes());
            records.extend_from_slice(&symbol.size.to_le_bytes());
            words.extend_from_slice(&word.to_le_bytes());
        }
        let locals = self.symbols.iter().filter(|symbol| symbol.binding == LOCAL).count();
        headers.push(Header {
            name: ".symtab".to_owned(),
            kind: 2,
            data: records,
            link: names_index as u32,
            info: locals as u32 + 1,
            align: 8,
            entry: 24,
            ..Header::default()
        });
        if needs_extended {
            let (name, link) = (".symtab_shndx".to_owned(), table_index as u32);
            headers.push(Header { name, kind: 18, data: words, link, align: 4, entry: 4, ..Header::default() });
        }
        headers.push(Header { name: ".strtab".to_owned(), kind: 3, align: 1, ..Header::default() });
        let own = self.names == SectionNames::Own;
        if own {
            headers.push(Header { name: ".shstrtab".to_owned(), kind: 3, align: 1, ..Header::default() });
        }
        let mut own_names = Strings::default();
        let section_names = if own { &mut own_names } else { &mut strings };
        let name_offsets: Vec<u32> = headers.iter().map(|header| section_names.add(&header.name)).collect();
        headers[names_index].data = std::mem::take(&mut strings.0);
        if own {
            headers[names_index + 1].data = own_names.0;
        }
        lay_out(self.machine, &headers, &name_offsets, names_index + usize::from(own))
    }
}

fn relocation_header(section: &Section, target: usize, table: usize, symbol_index: &[usize], grouped: bool) -> Header {
    let rela = section.form == RelocationForm::Rela;
    let mut data = Vec::new();
    for relocation in &section.relocations {
        data.extend_from_slice(&relocation.offset.to_le_bytes());
        let symbol = symbol_index[relocation.symbol] as u64;
        data.extend_from_slice(&(symbol << 32 | u64::from(relocation.kind)).to_le_bytes());
        if rela {
            data.extend_from_slice(&relocation.addend.to_le_bytes());
        }
    }
    Header {
        name: format!("{}{}", if rela { ".rela" } else { ".rel" }, section.name),
        kind: if rela { 4 } else { 9 },
        flags: 0x40 | if grouped { GROUP_FLAG } else { 0 },
        data,
        link: table as u32,
        info: target as u32,
        align: 8,
        entry: if rela { 24 } else { 16 },
        ..Header::default()
    }
}

fn stored_index(section: usize, extended: bool) -> (u16, u32) {
    if extended { (0xffff, section as u32) } else { (section as u16, 0) }
}

fn lay_out(machine: u16, headers: &[Header], name_offsets: &[u32], names_index: usize) -> Vec<u8> {
    let mut bytes = vec![0; 64];
    let mut table = Vec::new();
    let many = headers.len() >= 0xff00;
    for (index, (header, name)) in headers.iter().zip(name_offsets).enumerate() {
        if !header.data.is_empty() {
            bytes.resize(bytes.len().next_multiple_of(header.align.max(1) as usize), 0);
        }
        let offset = if index == 0 { 0 } else { bytes.len() as u64 };
        bytes.extend_from_slice(&header.data);
        let mut size = header.size.unwrap_or(header.data.len() as u64);
        let mut link = header.link;
        if index == 0 && many {
            (size, link) = (headers.len() as u64, names_index as u32);
        }
        table.extend_from_slice(&name.to_le_bytes());
        table.extend_from_slice(&header.kind.to_le_bytes());
        for value in [header.flags, 0, offset, size] {
            table.extend_from_slice(&value.to_le_bytes());
        }
        table.extend_from_slice(&link.to_le_bytes());
        table.extend_from_slice(&header.info.to_le_bytes());
        table.extend_from_slice(&header.align.to_le_bytes());
        table.extend_from_slice(&header.entry.to_le_bytes());
    }
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    let start = bytes.len() as u64;
    bytes.extend_from_slice(&table);
    bytes[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
    bytes[16..18].copy_from_slice(&1u16.to_le_bytes());
    bytes[18..20].copy_from_slice(&machine.to_le_bytes());
    bytes[20..24].copy_from_slice(&1u32.to_le_bytes());
    bytes[40..48].copy_from_slice(&start.to_le_bytes());
    bytes[52..54].copy_from_slice(&64u16.to_le_bytes());
    bytes[58..60].copy_from_slice(&64u16.to_le_bytes());
    let (count, names) = if many { (0, 0xffff) } else { (headers.len() as u16, names_index as u16) };
    bytes[60..62].copy_from_slice(&count.to_le_bytes());
    bytes[62..64].copy_from_slice(&names.to_le_bytes());
    bytes
}

fn push_leb128(out: &mut Vec<u8>, mut value: u32) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}
