//! One definition for every global name.

use std::collections::{HashMap, HashSet};

use super::error::LinkError;
use super::input::{Object, Symbol};
use super::options::{LinkOptions, OutputKind};
use super::outputs::Outputs;
use crate::elf::format::{RawSymbol, binding, special, symbol_kind};
use crate::elf::{Localize, Place};

/// What every symbol of every object means.
pub(super) struct Resolution<'a> {
    /// In the order in which objects name them.
    pub globals: Vec<Global<'a>>,
    /// By object and symbol.
    meanings: Vec<Vec<Meaning>>,
}

/// What a symbol of an object means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// Itself: it is local.
    Own,
    /// The global symbol with this position.
    Global(u32),
    /// Something in a section that the new file does not have.
    Gone,
}

/// A global name.
pub(super) struct Global<'a> {
    pub name: &'a [u8],
    /// Object and symbol that define it.
    pub definition: Option<(usize, usize)>,
    /// The definition as it was read, or the first reference; common symbols with the largest size and alignment.
    pub raw: RawSymbol,
    /// Who may refer to it: the strictest of all.
    pub visibility: u8,
    /// Does an object refer to it, without bringing a definition?
    pub is_referred: bool,
    /// An object that does so and needs a definition.
    pub needed_by: Option<usize>,
    /// Does nobody see it afterwards?
    pub hidden: bool,
}

/// Which definition of a name is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Strength {
    None,
    Weak,
    Common,
    Strong,
}

impl Strength {
    fn of(symbol: &Symbol<'_>) -> Self {
        match symbol.place {
            Place::Undefined => Self::None,
            Place::Common => Self::Common,
            Place::Absolute | Place::Section(_) | Place::Special(_) if symbol.raw.binding() == binding::WEAK => {
                Self::Weak
            }
            Place::Absolute | Place::Section(_) | Place::Special(_) => Self::Strong,
        }
    }
}

impl<'a> Resolution<'a> {
    pub(super) fn of(objects: &[Object<'a>], outputs: &Outputs<'_>, options: &LinkOptions) -> Result<Self, LinkError> {
        let mut resolver = Resolver { objects, known: HashMap::new(), globals: Vec::new() };
        let mut meanings = Vec::with_capacity(objects.len());
        for (number, object) in objects.iter().enumerate() {
            let meaning = |(index, symbol)| resolver.meaning(number, index, symbol, outputs);
            meanings.push(object.symbols.iter().enumerate().map(meaning).collect::<Result<Vec<_>, _>>()?);
        }
        let mut globals: Vec<Global<'a>> = resolver.globals.into_iter().map(|(global, _)| global).collect();
        hide(&mut globals, options);
        let resolution = Self { globals, meanings };
        if options.kind.is_placed() {
            resolution.check_defined(objects)?;
        }
        Ok(resolution)
    }

    pub(super) fn meaning(&self, object: usize, symbol: usize) -> Meaning {
        self.meanings[object][symbol]
    }

    /// Notes that code refers to these names, which nobody defines, as to what must be there.
    pub(super) fn need(&mut self, positions: &HashSet<u32>) {
        for global in positions.iter().map(|position| *position as usize) {
            let global = &mut self.globals[global];
            global.raw = as_reference(global.raw, binding::GLOBAL);
        }
    }

    /// Is it a definition that nobody sees any more?
    pub(super) fn is_hidden(&self, object: usize, symbol: usize) -> bool {
        match self.meaning(object, symbol) {
            Meaning::Global(position) => {
                let global = &self.globals[position as usize];
                global.hidden && global.definition == Some((object, symbol))
            }
            Meaning::Own | Meaning::Gone => false,
        }
    }

    /// Every name that an object cannot do without must be defined.
    fn check_defined(&self, objects: &[Object<'_>]) -> Result<(), LinkError> {
        let missing = self.globals.iter().filter(|global| global.definition.is_none());
        let symbols: Vec<(String, String)> = missing
            .filter_map(|global| {
                let object = objects[global.needed_by?].name.to_owned();
                Some((String::from_utf8_lossy(global.name).into_owned(), object))
            })
            .collect();
        if symbols.is_empty() { Ok(()) } else { Err(LinkError::Undefined { symbols }) }
    }
}

struct Resolver<'o, 'a> {
    objects: &'o [Object<'a>],
    known: HashMap<&'a [u8], u32>,
    globals: Vec<(Global<'a>, Strength)>,
}

impl<'a> Resolver<'_, 'a> {
    fn meaning(
        &mut self,
        object: usize,
        index: usize,
        symbol: &Symbol<'a>,
        outputs: &Outputs<'_>,
    ) -> Result<Meaning, LinkError> {
        let gone = matches!(symbol.place, Place::Section(section) if !outputs.has(object, section));
        if index == 0 || symbol.raw.is_local() {
            return Ok(if gone { Meaning::Gone } else { Meaning::Own });
        }
        // The group that stays defines the name, so this one refers to it.
        let strength = if gone { Strength::None } else { Strength::of(symbol) };
        let position = *self.known.entry(symbol.name).or_insert_with(|| {
            let global = Global {
                name: symbol.name,
                definition: None,
                raw: as_reference(symbol.raw, binding::WEAK),
                visibility: 0,
                is_referred: false,
                needed_by: None,
                hidden: false,
            };
            self.globals.push((global, Strength::None));
            // There are fewer symbols than bytes in objects, each of which has fewer than 2^32.
            u32::try_from(self.globals.len() - 1).unwrap_or(u32::MAX)
        });
        let (global, found) = &mut self.globals[position as usize];
        global.visibility = stricter(global.visibility, symbol.raw.other & 3);
        match strength {
            // Only a group that is left out defines it here. That is no reference, unless a relocation makes it one.
            Strength::None if gone => {
                if *found == Strength::None && !global.is_referred {
                    refer(global, symbol.raw);
                }
            }
            Strength::None => {
                if symbol.raw.binding() != binding::WEAK {
                    global.needed_by.get_or_insert(object);
                }
                if *found == Strength::None {
                    if !global.is_referred {
                        global.raw = as_reference(global.raw, binding::WEAK);
                    }
                    refer(global, symbol.raw);
                }
                global.is_referred = true;
            }
            Strength::Common if *found == Strength::Common => {
                // Room for whoever needs most.
                global.raw.size = global.raw.size.max(symbol.raw.size);
                global.raw.value = global.raw.value.max(symbol.raw.value);
            }
            Strength::Strong if *found == Strength::Strong => {
                let (first, defined) = global.definition.unwrap_or((object, index));
                let same = &self.objects[first].symbols[defined];
                if symbol.place != Place::Absolute
                    || same.place != Place::Absolute
                    || same.raw.value != symbol.raw.value
                {
                    let [first, second] = [first, object].map(|number| self.objects[number].name.to_owned());
                    return Err(LinkError::Duplicate { symbol: symbol.display(), first, second });
                }
            }
            Strength::Weak | Strength::Common | Strength::Strong if strength > *found => {
                *found = strength;
                global.definition = Some((object, index));
                global.raw = symbol.raw;
            }
            Strength::Weak | Strength::Common | Strength::Strong => {}
        }
        Ok(Meaning::Global(position))
    }
}

/// Notes what a reference says about a name that nobody has defined yet.
fn refer(global: &mut Global<'_>, reference: RawSymbol) {
    let bound = if reference.binding() == binding::WEAK { global.raw.binding() } else { binding::GLOBAL };
    let kind = if global.raw.kind() == symbol_kind::NONE { reference } else { global.raw };
    global.raw = as_reference(kind, bound);
}

/// The same name as a reference. Linkers compare only one kind between reference and definition.
fn as_reference(raw: RawSymbol, bound: u8) -> RawSymbol {
    let kind = if raw.kind() == symbol_kind::TLS { symbol_kind::TLS } else { symbol_kind::NONE };
    let info = bound << 4 | kind;
    RawSymbol { name: 0, info, other: raw.other, section: special::UNDEFINED, value: 0, size: 0 }
}

/// The stricter of two visibilities: internal, hidden, protected, default.
fn stricter(one: u8, other: u8) -> u8 {
    match (one, other) {
        (0, visibility) | (visibility, 0) => visibility,
        (one, other) => one.min(other),
    }
}

/// Which definitions nobody sees afterwards.
fn hide(globals: &mut [Global<'_>], options: &LinkOptions) {
    let (names, others): (HashSet<&[u8]>, bool) = match &options.localize {
        Localize::None => (HashSet::new(), false),
        Localize::Names(names) => (names.iter().map(String::as_bytes).collect(), false),
        Localize::AllDefinedExcept(names) => (names.iter().map(String::as_bytes).collect(), true),
    };
    for global in globals.iter_mut().filter(|global| global.definition.is_some()) {
        let asked = names.contains(global.name) != others;
        // A special section index means what only the machine's own linker knows.
        let is_special = !matches!(global.raw.section, special::ABSOLUTE | special::COMMON | special::EXTENDED)
            && global.raw.section >= special::FIRST;
        let is_common_per_thread = global.raw.section == special::COMMON && global.raw.kind() == symbol_kind::TLS;
        global.hidden = match options.kind {
            OutputKind::Joined => asked && !is_special && !is_common_per_thread,
            // Whatever else was hidden from other files ends at this one.
            OutputKind::Device(_) => asked || matches!(global.visibility, 1 | 2),
        };
    }
}
