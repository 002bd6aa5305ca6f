//! One object opened for linking: what each section is, and its symbols.

use super::error::LinkError;
use super::options::{Input, OutputKind};
use crate::elf::file::ElfFile;
use crate::elf::format::{
    FILE_HEADER, GROUP_COMDAT, RELOCATABLE, RawSymbol, SectionHeader, half, header_at, kind, section_at, symbol_kind,
    word,
};
use crate::elf::strings::{NameProblem, NameReader};
use crate::elf::symbols::SymbolTable;
use crate::elf::{DEVICE_MACHINE, ElfError, Place, References, Shape, of_section};

/// An object.
pub(super) struct Object<'a> {
    pub name: &'a str,
    pub file: ElfFile<'a>,
    /// By section index.
    pub sections: Vec<Section<'a>>,
    /// By symbol index, the empty first one included.
    pub symbols: Vec<Symbol<'a>>,
    pub groups: Vec<Group<'a>>,
}

/// A section and what it is for.
pub(super) struct Section<'a> {
    pub name: &'a [u8],
    pub role: Role,
}

/// What a section is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Tables that are made anew, or that nobody needs afterwards.
    Table,
    /// Code, data, notes, debug information.
    Content,
    /// Relocations of another section.
    Relocations { target: usize, shape: Shape },
    /// Members of a group.
    Group,
}

/// A symbol, with its name and place read.
pub(super) struct Symbol<'a> {
    pub name: &'a [u8],
    pub raw: RawSymbol,
    pub place: Place,
}

impl Symbol<'_> {
    /// Does it stand for its section?
    pub(super) fn is_section(&self) -> bool {
        self.raw.kind() == symbol_kind::SECTION
    }

    /// For messages.
    pub(super) fn display(&self) -> String {
        String::from_utf8_lossy(self.name).into_owned()
    }
}

/// A section group.
pub(super) struct Group<'a> {
    /// The section that lists its members.
    pub section: usize,
    /// What makes two groups the same.
    pub name: &'a [u8],
    /// The symbol that names it.
    pub signature: usize,
    pub comdat: bool,
    pub members: Vec<usize>,
}

/// `EI_OSABI`, `EI_ABIVERSION` and `e_flags`, which the new file has too.
pub(super) const OS_ABI: usize = 7;
pub(super) const FLAGS: usize = 48;

impl<'a> Object<'a> {
    pub(super) fn open(input: &Input<'a>) -> Result<Self, LinkError> {
        let about = LinkError::of(input.name);
        let file = ElfFile::parse(input.bytes).map_err(&about)?;
        let kind = half(input.bytes, header_at::TYPE);
        if kind != RELOCATABLE {
            return Err(LinkError::NotRelocatable { object: input.name.to_owned(), kind });
        }
        Self::read(input.name, file).map_err(about)
    }

    fn read(name: &'a str, file: ElfFile<'a>) -> Result<Self, ElfError> {
        let table = SymbolTable::find(&file)?;
        check_contents(&file)?;
        let symbols = table.as_ref().map_or_else(|| Ok(Vec::new()), |table| read_symbols(&file, table))?;
        let sections = read_sections(&file, table.as_ref())?;
        let mut object = Self { name, file, sections, symbols, groups: Vec::new() };
        object.groups = object.read_groups()?;
        Ok(object)
    }

    fn read_groups(&self) -> Result<Vec<Group<'a>>, ElfError> {
        let groups = (0..self.sections.len()).filter(|index| self.sections[*index].role == Role::Group);
        groups.map(|index| self.read_group(index)).collect()
    }

    fn read_group(&self, index: usize) -> Result<Group<'a>, ElfError> {
        let (file, header) = (&self.file, &self.file.sections[index]);
        let bytes = file.contents(index)?;
        let wrong = |at, field, problem: String| ElfError::malformed(file.header_offset(index) + at, field, problem);
        if bytes.len() < 4 || bytes.len() % 4 != 0 {
            let problem = "a section group is a flag word and section indices";
            return Err(wrong(section_at::SIZE, "sh_size", problem.to_owned()));
        }
        let mut members = Vec::with_capacity(bytes.len() / 4 - 1);
        for at in (4..bytes.len()).step_by(4) {
            let member = word(bytes, at) as usize;
            if member == 0 || member >= self.sections.len() {
                let problem = format!("there is no section {member}");
                return Err(ElfError::malformed(header.offset + at as u64, "group member", problem));
            }
            members.push(member);
        }
        let signature = header.info as usize;
        let Some(symbol) = self.symbols.get(signature).filter(|_| signature != 0) else {
            return Err(wrong(section_at::INFO, "sh_info", format!("there is no symbol {signature}")));
        };
        let name = match symbol.place {
            // A section symbol has no name of its own.
            Place::Section(section) if symbol.is_section() && symbol.name.is_empty() => self.sections[section].name,
            Place::Section(_) | Place::Undefined | Place::Absolute | Place::Common | Place::Special(_) => symbol.name,
        };
        Ok(Group { section: index, name, signature, comdat: word(bytes, 0) & GROUP_COMDAT != 0, members })
    }

    /// A section's header.
    pub(super) fn header(&self, section: usize) -> &SectionHeader {
        &self.file.sections[section]
    }

    /// A section's name for messages.
    pub(super) fn section_name(&self, section: usize) -> String {
        self.sections.get(section).map_or_else(String::new, |found| String::from_utf8_lossy(found.name).into_owned())
    }

    /// Adds this object to an error about its bytes.
    pub(super) fn error(&self, source: ElfError) -> LinkError {
        LinkError::Object { object: self.name.to_owned(), source }
    }

    pub(super) fn flags(&self) -> u32 {
        word(self.file.bytes, FLAGS)
    }

    /// `EI_OSABI` and `EI_ABIVERSION`.
    pub(super) fn abi(&self) -> u16 {
        half(self.file.bytes, OS_ABI)
    }
}

/// Objects that go together, and with what is made of them.
pub(super) fn check_alike(objects: &[Object<'_>], kind: OutputKind) -> Result<(), LinkError> {
    let first = objects.first().ok_or(LinkError::NoObjects)?;
    for object in objects {
        let machine = object.file.machine;
        let different = |field, found: u32, expected: u32| {
            let (object, first) = (object.name.to_owned(), first.name.to_owned());
            Err(LinkError::Different { object, first, field, found, expected })
        };
        if kind.is_placed() && machine != DEVICE_MACHINE {
            return Err(LinkError::NotForDevice { object: object.name.to_owned(), machine });
        }
        if machine != first.file.machine {
            return different("e_machine", machine.into(), first.file.machine.into());
        }
        // Those of a device name the core kind, of which a kernel may have both. Elsewhere they say how code calls code.
        if machine != DEVICE_MACHINE && object.flags() != first.flags() {
            return different("e_flags", object.flags(), first.flags());
        }
    }
    Ok(())
}

/// All sections are inside of the file and share no bytes: what is made of them is then no larger than they are.
fn check_contents(file: &ElfFile<'_>) -> Result<(), ElfError> {
    let mut total: u64 = FILE_HEADER as u64;
    for (index, section) in file.sections.iter().enumerate() {
        if section.has_bytes() {
            file.contents(index)?;
            total = total.saturating_add(section.size);
            if total > file.bytes.len() as u64 {
                let offset = file.header_offset(index) + section_at::OFFSET;
                return Err(ElfError::malformed(offset, "sh_offset", format!("section {index} overlaps others")));
            }
        }
        if section.align > 1 && !section.align.is_power_of_two() {
            let offset = file.header_offset(index) + section_at::ADDRALIGN;
            return Err(ElfError::malformed(offset, "sh_addralign", "not a power of two"));
        }
    }
    Ok(())
}

fn read_symbols<'a>(file: &ElfFile<'a>, table: &SymbolTable<'a>) -> Result<Vec<Symbol<'a>>, ElfError> {
    let mut names = NameReader::new(table.names, file.bytes.len());
    let read = |index| {
        let raw = table.raw(index);
        let wrong =
            |problem: NameProblem| ElfError::malformed(table.offset_of(file, index), "st_name", problem.describe());
        Ok(Symbol { name: names.read_bytes(raw.name).map_err(wrong)?, raw, place: table.place(file, index)? })
    };
    (0..table.count()).map(read).collect()
}

fn read_sections<'a>(file: &ElfFile<'a>, table: Option<&SymbolTable<'a>>) -> Result<Vec<Section<'a>>, ElfError> {
    let mut names = NameReader::new(file.section_names()?, file.bytes.len());
    let read = |(index, header): (usize, &SectionHeader)| {
        let wrong =
            |problem: NameProblem| ElfError::malformed(file.header_offset(index), "sh_name", problem.describe());
        Ok(Section { name: names.read_bytes(header.name).map_err(wrong)?, role: role(file, table, index)? })
    };
    file.sections.iter().enumerate().map(read).collect()
}

fn role(file: &ElfFile<'_>, table: Option<&SymbolTable<'_>>, index: usize) -> Result<Role, ElfError> {
    let header = &file.sections[index];
    let is_table = |found: &SymbolTable<'_>| index == found.index || index == found.names_index;
    let own_table = table.is_some_and(is_table) || index == file.names_index;
    match header.kind {
        kind::NULL | kind::SYMTAB | kind::SYMTAB_SHNDX => return Ok(Role::Table),
        // Without one of them a linker takes every symbol for significant and every call for as likely as any other.
        kind::LLVM_ADDRSIG | kind::LLVM_CALL_GRAPH_PROFILE => return Ok(Role::Table),
        kind::STRTAB if own_table => return Ok(Role::Table),
        kind::CREL => return Err(unknown(file, index)),
        _ => {}
    }
    let Some(table) = table else {
        return match header.kind {
            kind::REL | kind::RELA | kind::GROUP if header.size > 0 => Err(unknown(file, index)),
            _ => Ok(Role::Content),
        };
    };
    match of_section(file, table, index)? {
        References::Relocations(shape) => {
            let target = file.linked(index, "sh_info", section_at::INFO, header.info)?;
            Ok(Role::Relocations { target, shape })
        }
        References::Group => Ok(Role::Group),
        References::None if matches!(header.kind, kind::REL | kind::RELA | kind::GROUP) => Err(unknown(file, index)),
        References::None => Ok(Role::Content),
        References::ExtendedIndices | References::AddressSignificance => Ok(Role::Table),
    }
}

fn unknown(file: &ElfFile<'_>, index: usize) -> ElfError {
    let (section, kind) = (file.display_name(index), file.sections[index].kind);
    ElfError::UnknownReferences { section, kind, offset: file.header_offset(index) }
}
