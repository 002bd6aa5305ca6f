//! The symbol table of the new file.

use std::collections::HashMap;

use super::arrangement::Arrangement;
use super::input::Object;
use super::options::{LinkOptions, Locals};
use super::outputs::{OutputId, Outputs};
use super::symbols::{Meaning, Resolution};
use super::uses::Uses;
use crate::elf::Place;
use crate::elf::format::{RawSymbol, binding, symbol_kind};

/// The new symbols, locals first.
pub(super) struct Table<'a> {
    pub entries: Vec<Entry<'a>>,
    pub first_global: u32,
    /// By object and symbol; 0 for those that are gone.
    locals: Vec<Vec<u32>>,
    /// By global.
    globals: Vec<u32>,
    /// By output: the symbol that stands for it.
    sections: Vec<u32>,
    anchors: HashMap<(OutputId, u64), u32>,
}

/// One of them.
pub(super) struct Entry<'a> {
    pub name: &'a [u8],
    /// Without its name's place, and without its section if it is in one.
    pub raw: RawSymbol,
    /// The index of its section in the new file.
    pub section: Option<u32>,
}

/// What a relocation refers to in the new file.
pub(super) struct Reference {
    pub symbol: u32,
    /// How far what is meant lies behind what the old symbol meant.
    pub moved: u64,
}

impl<'a> Table<'a> {
    pub(super) fn new(
        objects: &[Object<'a>],
        resolution: &Resolution<'a>,
        outputs: &Outputs<'a>,
        uses: &Uses,
        arrangement: &Arrangement,
        options: &LinkOptions,
    ) -> Self {
        let maker = Maker { resolution, outputs, arrangement };
        let null = RawSymbol { name: 0, info: 0, other: 0, section: 0, value: 0, size: 0 };
        let mut entries = vec![Entry { name: &[], raw: null, section: None }];
        let mut push = |entry: Entry<'a>| {
            entries.push(entry);
            entries.len() as u32 - 1
        };
        let sections = outputs.ids().map(|id| push(maker.label(id, 0, symbol_kind::SECTION))).collect();
        let anchors =
            uses.anchors.iter().map(|place| (*place, push(maker.label(place.0, place.1, symbol_kind::NONE)))).collect();
        let mut locals: Vec<Vec<u32>> = Vec::with_capacity(objects.len());
        for (number, object) in objects.iter().enumerate() {
            let kept = |index: usize| {
                let is_own = index > 0 && resolution.meaning(number, index) == Meaning::Own;
                let is_wanted = options.locals == Locals::All || uses.used[number][index];
                is_own && is_wanted && !object.symbols[index].is_section()
            };
            let mut index_of = |index: usize| if kept(index) { push(maker.local(object, number, index)) } else { 0 };
            locals.push((0..object.symbols.len()).map(&mut index_of).collect());
        }
        let mut globals = vec![0; resolution.globals.len()];
        for (position, global) in resolution.globals.iter().enumerate().filter(|(_, global)| global.hidden) {
            debug_assert!(global.definition.is_some());
            globals[position] = push(maker.global(objects, position));
        }
        let first_global = entries.len() as u32;
        for (position, global) in resolution.globals.iter().enumerate() {
            // A name that only groups defined which are left out, and that nobody needs.
            let is_nothing = options.kind.is_placed() && global.definition.is_none() && !global.is_referred;
            if !global.hidden && !is_nothing {
                globals[position] = entries.len() as u32;
                entries.push(maker.global(objects, position));
            }
        }
        Self { entries, first_global, locals, globals, sections, anchors }
    }

    /// What symbol `index` of an object is in the new file, for relocations that say what to add or not.
    pub(super) fn reference(
        &self,
        object: &Object<'_>,
        number: usize,
        index: usize,
        resolution: &Resolution<'_>,
        outputs: &Outputs<'_>,
    ) -> Option<Reference> {
        let symbol = &object.symbols[index];
        match resolution.meaning(number, index) {
            Meaning::Gone => None,
            Meaning::Global(position) => Some(Reference { symbol: self.globals[position as usize], moved: 0 }),
            Meaning::Own => match symbol.place {
                Place::Section(section) if symbol.is_section() => {
                    let (output, offset) = outputs.place(number, section)?;
                    let moved = offset.wrapping_add(symbol.raw.value);
                    Some(Reference { symbol: self.sections[output.0 as usize], moved })
                }
                Place::Section(_) | Place::Undefined | Place::Absolute | Place::Common | Place::Special(_) => {
                    Some(Reference { symbol: self.locals[number][index], moved: 0 })
                }
            },
        }
    }

    /// The symbol at the start of a part, for relocations that cannot be told to add something.
    pub(super) fn anchor(&self, place: (OutputId, u64)) -> Option<u32> {
        self.anchors.get(&place).copied()
    }
}

struct Maker<'m, 'a> {
    resolution: &'m Resolution<'a>,
    outputs: &'m Outputs<'a>,
    arrangement: &'m Arrangement,
}

impl<'a> Maker<'_, 'a> {
    /// A symbol without a name.
    fn label(&self, output: OutputId, offset: u64, kind: u8) -> Entry<'a> {
        let value = self.arrangement.address(output).wrapping_add(offset);
        let raw = RawSymbol { name: 0, info: binding::LOCAL << 4 | kind, other: 0, section: 0, value, size: 0 };
        Entry { name: &[], raw, section: Some(self.arrangement.index(output)) }
    }

    fn local(&self, object: &Object<'a>, number: usize, index: usize) -> Entry<'a> {
        let symbol = &object.symbols[index];
        self.placed(symbol.name, symbol.raw, number, symbol.place)
    }

    fn global(&self, objects: &[Object<'a>], position: usize) -> Entry<'a> {
        let global = &self.resolution.globals[position];
        let other = global.raw.other & !3 | global.visibility;
        let mut raw = RawSymbol { other, ..global.raw };
        if global.hidden {
            raw = raw.with_binding(binding::LOCAL);
        }
        let Some((object, symbol)) = global.definition else { return Entry { name: global.name, raw, section: None } };
        if let Some((output, offset)) = self.outputs.commons.get(&(position as u32)) {
            if raw.kind() == symbol_kind::COMMON {
                raw.info = raw.binding() << 4 | symbol_kind::OBJECT;
            }
            // It was the alignment.
            raw.value = 0;
            return self.in_output(global.name, raw, *output, *offset);
        }
        self.placed(global.name, raw, object, objects[object].symbols[symbol].place)
    }

    /// A symbol that an object defines.
    fn placed(&self, name: &'a [u8], raw: RawSymbol, object: usize, place: Place) -> Entry<'a> {
        let raw = RawSymbol { name: 0, ..raw };
        let Place::Section(section) = place else { return Entry { name, raw, section: None } };
        match self.outputs.place(object, section) {
            Some((output, offset)) => self.in_output(name, raw, output, offset),
            None => Entry { name, raw, section: self.arrangement.group(object, section) },
        }
    }

    fn in_output(&self, name: &'a [u8], mut raw: RawSymbol, output: OutputId, offset: u64) -> Entry<'a> {
        raw.value = raw.value.wrapping_add(offset).wrapping_add(self.arrangement.address(output));
        Entry { name, raw, section: Some(self.arrangement.index(output)) }
    }
}
