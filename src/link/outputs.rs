//! Which sections of the objects are joined, and where each part lies in the new section.

use std::collections::{HashMap, HashSet};

use super::error::LinkError;
use super::input::{Object, Role};
use super::options::OutputKind;
use crate::artifact::{BLOCK_LOCAL_PREFIX, TILING_PREFIX};
use crate::elf::ElfError;
use crate::elf::format::{SectionHeader, flag, kind, section_at};
use crate::elf::{MAX_ROOM, Shape};

/// `SHT_PROGBITS`.
pub(super) const PROGBITS: u32 = 1;
/// Types from here on belong to a system, a machine or a program.
const FIRST_SPECIAL_KIND: u32 = 0x6000_0000;
/// `SHT_X86_64_UNWIND`, which is the sum of its parts nevertheless.
const UNWIND: u32 = 0x7000_0001;

/// A section of the new file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct OutputId(pub u32);

/// What a section of the new file is made of.
pub(super) struct Output<'a> {
    pub name: &'a [u8],
    pub kind: u32,
    pub flags: u64,
    pub align: u64,
    pub entry_size: u64,
    pub size: u64,
    pub parts: Vec<Part>,
    pub relocations: Vec<RelocationPart>,
    /// The section it describes (`SHF_LINK_ORDER`), in an object.
    pub describes: Option<(usize, usize)>,
}

impl Output<'_> {
    pub(super) fn empty() -> Self {
        Self {
            name: &[],
            kind: PROGBITS,
            flags: 0,
            align: 1,
            entry_size: 0,
            size: 0,
            parts: Vec::new(),
            relocations: Vec::new(),
            describes: None,
        }
    }

    pub(super) fn is_allocated(&self) -> bool {
        self.flags & flag::ALLOC != 0
    }

    /// Does it take room in the file?
    pub(super) fn has_bytes(&self) -> bool {
        self.kind != kind::NOBITS
    }
}

/// A section of an object in a section of the new file.
pub(super) struct Part {
    pub object: usize,
    pub section: usize,
    pub offset: u64,
}

/// Relocations of a part.
pub(super) struct RelocationPart {
    pub object: usize,
    /// The section that holds them.
    pub section: usize,
    pub shape: Shape,
    /// The section they are for, and where it starts in the new one.
    pub target: usize,
    pub offset: u64,
}

/// All of them.
pub(super) struct Outputs<'a> {
    pub all: Vec<Output<'a>>,
    /// By object and section.
    places: Vec<Vec<Option<(OutputId, u64)>>>,
    /// Objects and sections of groups that stay groups.
    groups: HashSet<(usize, usize)>,
    /// By global: room for common symbols that are placed here.
    pub commons: HashMap<u32, (OutputId, u64)>,
}

impl<'a> Outputs<'a> {
    pub(super) fn of(objects: &[Object<'a>], left_out: &[Vec<bool>], link: OutputKind) -> Result<Self, LinkError> {
        let mut joiner =
            Joiner { link, all: Vec::new(), by_key: HashMap::new(), remarks: HashSet::new(), relocated: Vec::new() };
        let mut places = Vec::with_capacity(objects.len());
        for (number, object) in objects.iter().enumerate() {
            joiner.relocated = vec![false; object.sections.len()];
            for section in &object.sections {
                if let Role::Relocations { target, .. } = section.role {
                    joiner.relocated[target] = true;
                }
            }
            let place = |section: usize| match object.sections[section].role {
                Role::Content if !left_out[number][section] => joiner.place(number, object, section),
                Role::Content | Role::Table | Role::Relocations { .. } | Role::Group => Ok(None),
            };
            places.push((0..object.sections.len()).map(place).collect::<Result<Vec<_>, _>>()?);
        }
        let mut outputs = Self { all: joiner.all, places, groups: HashSet::new(), commons: HashMap::new() };
        if !link.is_placed() {
            outputs.add_groups(objects, left_out);
        }
        outputs.add_relocations(objects);
        Ok(outputs)
    }

    /// Where a section of an object begins.
    pub(super) fn place(&self, object: usize, section: usize) -> Option<(OutputId, u64)> {
        self.places[object][section]
    }

    /// Is it a group that the new file has as well?
    pub(super) fn is_group(&self, object: usize, section: usize) -> bool {
        self.groups.contains(&(object, section))
    }

    /// Is a section, or what is made of it, in the new file?
    pub(super) fn has(&self, object: usize, section: usize) -> bool {
        self.place(object, section).is_some() || self.is_group(object, section)
    }

    pub(super) fn get(&self, id: OutputId) -> &Output<'a> {
        &self.all[id.0 as usize]
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = OutputId> + use<> {
        (0..self.all.len() as u32).map(OutputId)
    }

    /// Groups that still have members.
    fn add_groups(&mut self, objects: &[Object<'a>], left_out: &[Vec<bool>]) {
        for (number, object) in objects.iter().enumerate() {
            for group in object.groups.iter().filter(|group| !left_out[number][group.section]) {
                if group.members.iter().any(|member| self.places[number][*member].is_some()) {
                    self.groups.insert((number, group.section));
                }
            }
        }
    }

    fn add_relocations(&mut self, objects: &[Object<'a>]) {
        for (number, object) in objects.iter().enumerate() {
            for (section, found) in object.sections.iter().enumerate() {
                let Role::Relocations { target, shape } = found.role else { continue };
                if let Some((output, offset)) = self.places[number][target] {
                    let part = RelocationPart { object: number, section, shape, target, offset };
                    self.all[output.0 as usize].relocations.push(part);
                }
            }
        }
    }

    /// Adds a section that is no object's.
    pub(super) fn add(&mut self, output: Output<'a>) {
        self.all.push(output);
    }
}

/// What a section of the new file is, and sections must have in common to be joined.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key<'a> {
    name: &'a [u8],
    kind: u32,
    flags: u64,
    entry_size: u64,
}

struct Joiner<'a> {
    link: OutputKind,
    all: Vec<Output<'a>>,
    by_key: HashMap<Key<'a>, OutputId>,
    /// What is said of a file as a whole, such as who compiled it: nothing refers to it, and each is said once.
    remarks: HashSet<(&'a [u8], &'a [u8])>,
    /// By section of the object that is being placed: does it have relocations?
    relocated: Vec<bool>,
}

impl<'a> Joiner<'a> {
    /// Puts a section behind what is there of its kind; `None` if it is not needed in the new file.
    fn place(
        &mut self,
        number: usize,
        object: &Object<'a>,
        section: usize,
    ) -> Result<Option<(OutputId, u64)>, LinkError> {
        let (name, header) = (object.sections[section].name, object.header(section));
        let key = match self.link {
            OutputKind::Joined => joined_key(name, header),
            OutputKind::Device(_) => match device_key(name, header) {
                Some(key) => key,
                None => return Ok(None),
            },
        };
        let is_remark = match header.kind {
            FIRST_SPECIAL_KIND.. => !self.relocated[section] && !is_sum_of_parts(header),
            _ => name == b".comment" && !header.is_allocated(),
        };
        if is_remark
            && !self.remarks.insert((name, object.file.contents(section).map_err(|error| object.error(error))?))
        {
            return Ok(None);
        }
        let id = self.output(key, self.link.is_placed() || is_sum_of_parts(header));
        let output = &mut self.all[id.0 as usize];
        if header.flags & flag::LINK_ORDER != 0 && !self.link.is_placed() {
            output.describes = Some((number, header.link as usize));
        }
        let align = header.align.max(1);
        let offset = output.size.checked_next_multiple_of(align);
        let size = offset.and_then(|offset| offset.checked_add(header.size));
        // Room without bytes gets some in a device's file.
        let limit = if self.link.is_placed() && header.kind == kind::NOBITS { MAX_ROOM } else { u64::MAX / 2 };
        let (Some(offset), Some(size)) = (offset, size.filter(|size| *size <= limit)) else {
            let at = object.file.header_offset(section) + section_at::SIZE;
            return Err(object.error(ElfError::malformed(at, "sh_size", "the joined section would be too large")));
        };
        output.align = output.align.max(align);
        output.size = size;
        output.parts.push(Part { object: number, section, offset });
        Ok(Some((id, offset)))
    }

    /// The section with this key: the one there is, if it may have more parts, else a new one.
    fn output(&mut self, key: Key<'a>, can_be_joined: bool) -> OutputId {
        let next = OutputId(self.all.len() as u32);
        let id = if can_be_joined { *self.by_key.entry(key).or_insert(next) } else { next };
        if id == next {
            let Key { name, kind, flags, entry_size } = key;
            self.all.push(Output { name, kind, flags, entry_size, ..Output::empty() });
        }
        id
    }
}

/// `SHF_COMPRESSED`: the contents have a header of their own.
const COMPRESSED: u64 = 0x800;
/// `SHF_EXCLUDE`: not part of an executable.
const EXCLUDE: u64 = 0x8000_0000;
/// `SHF_EXECINSTR`.
pub(super) const EXECUTABLE: u64 = 4;
/// `SHF_MERGE` and `SHF_STRINGS`.
const MERGED: u64 = 0x30;

/// As `ld -r` joins: sections of one name and kind.
fn joined_key<'a>(name: &'a [u8], header: &SectionHeader) -> Key<'a> {
    Key { name, kind: header.kind, flags: header.flags, entry_size: header.entry_size }
}

/// Members of groups stay alone, since their groups do, and so does what has a form of its own.
fn is_sum_of_parts(header: &SectionHeader) -> bool {
    let alone = header.flags & (flag::GROUP | flag::LINK_ORDER | COMPRESSED) != 0;
    !alone && (header.kind < FIRST_SPECIAL_KIND || header.kind == UNWIND)
}

/// The names that code and data of an executable have.
const FAMILIES: [&[u8]; 5] = [b".text", b".rodata", b".data", b".bss", b".init_array"];
/// All block-local variables in an executable.
const BLOCK_LOCAL: &[u8] = b".bl_uninit";

/// As the vendor's linker joins for a device; `None` for what no device needs.
fn device_key<'a>(name: &'a [u8], header: &SectionHeader) -> Option<Key<'a>> {
    if header.flags & EXCLUDE != 0 || name == b".note.GNU-stack" || name.starts_with(TILING_PREFIX.as_bytes()) {
        return None;
    }
    if is_of_family(name, BLOCK_LOCAL_PREFIX.as_bytes()) {
        return Some(Key { name: BLOCK_LOCAL, kind: kind::NOBITS, flags: 0, entry_size: 0 });
    }
    if !header.is_allocated() {
        let flags = header.flags & MERGED;
        return Some(Key { name, kind: header.kind, flags, entry_size: header.entry_size });
    }
    let name = FAMILIES.into_iter().find(|family| is_of_family(name, family)).unwrap_or(name);
    // The loader copies from file to device, so that zeros have to be there.
    let kind = if header.kind == kind::NOBITS { PROGBITS } else { header.kind };
    Some(Key { name, kind, flags: header.flags & (flag::ALLOC | flag::WRITE | EXECUTABLE), entry_size: 0 })
}

/// `.text` or `.text.…`.
fn is_of_family(name: &[u8], family: &[u8]) -> bool {
    name.strip_prefix(family).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"."))
}
