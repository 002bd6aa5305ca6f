//! Everything that is decided before the new file is written.

use super::arrangement::Arrangement;
use super::input::Object;
use super::outputs::Outputs;
use super::symbols::Resolution;
use super::table::{Reference, Table};
use crate::elf::Place;

/// What the new file is made of.
pub(super) struct Decided<'d, 'a> {
    pub objects: &'d [Object<'a>],
    pub resolution: &'d Resolution<'a>,
    pub outputs: &'d Outputs<'a>,
    pub arrangement: &'d Arrangement,
    pub table: &'d Table<'a>,
}

impl Decided<'_, '_> {
    /// What a symbol of an object is in the new file; `None` if it was in what is left out.
    pub(super) fn reference(&self, object: usize, symbol: usize) -> Option<Reference> {
        self.table.reference(&self.objects[object], object, symbol, self.resolution, self.outputs)
    }

    /// The symbol at the start of the part that a section symbol stands for, where there is one.
    pub(super) fn anchor(&self, object: usize, symbol: usize) -> Option<u32> {
        let found = &self.objects[object].symbols[symbol];
        match found.place {
            Place::Section(section) if found.is_section() => self.table.anchor(self.outputs.place(object, section)?),
            Place::Section(_) | Place::Undefined | Place::Absolute | Place::Common | Place::Special(_) => None,
        }
    }
}
