//! The sections of the new file in their order; for a device, their addresses.

use std::collections::HashMap;

use super::error::LinkError;
use super::input::Object;
use super::options::OutputKind;
use super::outputs::{EXECUTABLE, OutputId, Outputs};
use crate::elf::ElfError;
use crate::elf::format::{REL, flag, section_at, special};

/// One section of the new file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece {
    /// The empty first one.
    Null,
    /// A group: of which object, and which of its groups.
    Group(usize, usize),
    /// Contents.
    Output(OutputId),
    /// Relocations of contents.
    Relocations(OutputId, Form),
    /// The symbol table.
    Symbols,
    /// Section indices of symbols that do not fit there.
    ExtendedIndices,
    /// Names of sections.
    SectionNames,
    /// Names of symbols.
    SymbolNames,
}

/// Whether relocations say what to add.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Rel,
    Rela,
}

impl Form {
    /// The form of records of this size.
    pub(super) fn of(entry: usize) -> Self {
        if entry == REL { Self::Rel } else { Self::Rela }
    }
}

/// The new file's sections.
pub(super) struct Arrangement {
    pub pieces: Vec<Piece>,
    /// By output: its section index.
    index_of: Vec<u32>,
    /// By object and section: the index of a group.
    groups: HashMap<(usize, usize), u32>,
    /// By output: its address; 0 for what has none.
    addresses: Vec<u64>,
}

/// Memory with other rights begins at a multiple of this.
pub(super) const PAGE: u64 = 0x1000;

impl Arrangement {
    pub(super) fn of(objects: &[Object<'_>], outputs: &Outputs<'_>, link: OutputKind) -> Result<Self, LinkError> {
        let mut pieces = vec![Piece::Null];
        let mut addresses = vec![0; outputs.all.len()];
        match link {
            OutputKind::Joined => {
                for (number, object) in objects.iter().enumerate() {
                    let kept = |group: &usize| outputs.is_group(number, object.groups[*group].section);
                    pieces.extend((0..object.groups.len()).filter(kept).map(|group| Piece::Group(number, group)));
                }
                for id in outputs.ids() {
                    pieces.push(Piece::Output(id));
                    pieces.extend(relocations(outputs, id));
                }
            }
            OutputKind::Device(_) => {
                let (loaded, others): (Vec<OutputId>, Vec<OutputId>) = in_device_order(outputs);
                addresses = place(outputs, &loaded).ok_or_else(|| {
                    let first = &objects[0];
                    first.error(ElfError::malformed(section_at::SIZE, "sh_size", "the file would be too large"))
                })?;
                let kept =
                    |id: &OutputId| if link.keeps_relocations() { relocations(outputs, *id) } else { Vec::new() };
                pieces.extend(loaded.iter().map(|id| Piece::Output(*id)));
                pieces.extend(loaded.iter().flat_map(kept));
                others.iter().for_each(|id| {
                    pieces.push(Piece::Output(*id));
                    pieces.extend(kept(id));
                });
            }
        }
        pieces.push(Piece::Symbols);
        // With the tables that are still to come.
        if pieces.len() + 3 >= usize::from(special::FIRST) {
            if link.is_placed() {
                let (found, limit) = (pieces.len() as u64 + 2, u64::from(special::FIRST) - 1);
                return Err(LinkError::TooMuch { what: "sections", found, limit, who: "the loader" });
            }
            pieces.push(Piece::ExtendedIndices);
        }
        pieces.extend([Piece::SectionNames, Piece::SymbolNames]);
        let (mut index_of, mut groups) = (vec![0; outputs.all.len()], HashMap::new());
        for (index, piece) in pieces.iter().enumerate() {
            match piece {
                Piece::Output(id) => index_of[id.0 as usize] = index as u32,
                Piece::Group(object, group) => {
                    groups.insert((*object, objects[*object].groups[*group].section), index as u32);
                }
                Piece::Null | Piece::Relocations(..) | Piece::Symbols => {}
                Piece::ExtendedIndices | Piece::SectionNames | Piece::SymbolNames => {}
            }
        }
        Ok(Self { pieces, index_of, groups, addresses })
    }

    /// The index of a section that parts were joined to.
    pub(super) fn index(&self, id: OutputId) -> u32 {
        self.index_of[id.0 as usize]
    }

    /// The index of a group that stays one.
    pub(super) fn group(&self, object: usize, section: usize) -> Option<u32> {
        self.groups.get(&(object, section)).copied()
    }

    /// The index of the only piece like this.
    pub(super) fn index_of_table(&self, table: Piece) -> u32 {
        // All tables come last.
        self.pieces.iter().rposition(|piece| *piece == table).map_or(0, |index| index as u32)
    }

    pub(super) fn address(&self, id: OutputId) -> u64 {
        self.addresses[id.0 as usize]
    }
}

/// The relocation sections of an output: one, or two if its parts have relocations of both forms.
fn relocations(outputs: &Outputs<'_>, id: OutputId) -> Vec<Piece> {
    let parts = &outputs.get(id).relocations;
    let has = |form: &Form| parts.iter().any(|part| Form::of(part.shape.entry) == *form);
    [Form::Rela, Form::Rel].into_iter().filter(has).map(|form| Piece::Relocations(id, form)).collect()
}

/// What is loaded: code, constants, data; and the rest, block-local memory last.
fn in_device_order(outputs: &Outputs<'_>) -> (Vec<OutputId>, Vec<OutputId>) {
    let rank = |id: &OutputId| {
        let flags = outputs.get(*id).flags;
        match (flags & EXECUTABLE != 0, flags & flag::WRITE != 0) {
            (true, _) => 0,
            (false, false) => 1,
            (false, true) => 2,
        }
    };
    let (mut loaded, mut others): (Vec<OutputId>, Vec<OutputId>) =
        outputs.ids().partition(|id| outputs.get(*id).is_allocated());
    loaded.sort_by_key(rank);
    others.sort_by_key(|id| !outputs.get(*id).has_bytes());
    (loaded, others)
}

/// Addresses from 0 on; what is written to begins on a page of its own.
fn place(outputs: &Outputs<'_>, loaded: &[OutputId]) -> Option<Vec<u64>> {
    let mut addresses = vec![0; outputs.all.len()];
    let mut next: u64 = 0;
    let mut writable = false;
    for id in loaded {
        let output = outputs.get(*id);
        let starts_data = output.flags & flag::WRITE != 0 && output.flags & EXECUTABLE == 0 && !writable;
        writable |= starts_data;
        let align = if starts_data { output.align.max(PAGE) } else { output.align };
        let start = next.checked_next_multiple_of(align)?;
        addresses[id.0 as usize] = start;
        next = start.checked_add(output.size)?;
    }
    Some(addresses)
}
