//! Random numbers and random objects, the same for the same seed.

use super::build::*;

/// SplitMix64: small, fast and good enough to pick mutations.
#[derive(Clone)]
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut value = self.0;
        value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ value >> 31
    }

    /// A number below `limit`, which is not 0.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    pub fn chance(&mut self, one_in: usize) -> bool {
        self.below(one_in) == 0
    }

    pub fn pick<'a, T>(&mut self, values: &'a [T]) -> &'a T {
        &values[self.below(values.len())]
    }
}

/// Names that are ends of one another, alike, and long.
const NAMES: [&str; 12] = [
    "f",
    "_f",
    "add_f",
    "add",
    "_Z3addIiEiT_",
    "g_opSystemRunCfg",
    "helper",
    "helpers",
    "r",
    "kernel_0_mix_aic",
    "data",
    "a_rather_long_name_of_a_symbol_that_is_longer_than_the_others_by_far",
];

/// A valid object with a bit of everything.
pub fn object(seed: u64) -> Object {
    let mut random = Random(seed);
    let mut object = Object {
        machine: *random.pick(&[62, 183, 0x1029]),
        extended: if random.chance(4) { Extended::Always } else { Extended::WhenNeeded },
        names: if random.chance(3) { SectionNames::Shared } else { SectionNames::Own },
        ..Object::default()
    };
    sections(&mut random, &mut object);
    symbols(&mut random, &mut object);
    relocations(&mut random, &mut object);
    groups(&mut random, &mut object);
    if random.chance(3) && !object.symbols.is_empty() {
        let count = random.below(5);
        object.significant = Some((0..count).map(|_| random.below(object.symbols.len())).collect());
    }
    object
}

fn sections(random: &mut Random, object: &mut Object) {
    let choice = [".text", ".text.f", ".text.add", ".data", ".rodata.str1.1", ".ascend.meta.f", ".debug_info", ".bss"];
    for number in 0..1 + random.below(8) {
        let name = *random.pick(&choice);
        let loaded = !name.starts_with(".debug");
        let length = 8 + random.below(60);
        let data = (0..length).map(|_| random.next() as u8).collect();
        let mut section = Section::new(name, if loaded { ALLOC } else { 0 }, data);
        section.align = *random.pick(&[1, 4, 8, 16, 64]);
        if name == ".bss" {
            section.kind = NOBITS;
            section.memory = section.data.len() as u64;
            section.data.clear();
        }
        if random.chance(4) {
            section.form = RelocationForm::Rel;
        }
        if number > 0 && random.chance(8) {
            section.describes = Some(random.below(number));
            section.flags |= 0x80;
        }
        object.sections.push(section);
    }
}

fn symbols(random: &mut Random, object: &mut Object) {
    for number in 0..object.sections.len() {
        if random.chance(2) {
            object.symbols.push(Symbol::new("", LOCAL, 3, Place::Section(number), 0));
        }
    }
    if random.chance(2) {
        object.symbols.push(Symbol::new("a.c", LOCAL, 4, Place::Absolute, 0));
    }
    let mut global_names: Vec<&str> = Vec::new();
    for number in 0..random.below(14) {
        let name = *random.pick(&NAMES);
        let place = match random.below(10) {
            0..2 => Place::Undefined,
            2 => Place::Absolute,
            3 => Place::Common,
            _ => Place::Section(random.below(object.sections.len())),
        };
        let taken = global_names.contains(&name);
        let local = (taken || random.chance(3)) && !matches!(place, Place::Undefined | Place::Common);
        if !local && taken {
            continue;
        }
        let binding = if local { LOCAL } else { *random.pick(&[GLOBAL, GLOBAL, WEAK, 10]) };
        if !local {
            global_names.push(name);
        }
        let value = match place {
            Place::Undefined => 0,
            Place::Common => *random.pick(&[1, 4, 8, 64]),
            // Unique, so that a symbol can be recognized.
            Place::Absolute | Place::Section(_) | Place::Group(_) => 1000 + number as u64,
        };
        let mut symbol = Symbol::new(name, binding, *random.pick(&[0, 1, 2]), place, value);
        symbol.visibility = *random.pick(&[0, 0, 2, 3]);
        symbol.size = random.below(100) as u64;
        object.symbols.push(symbol);
    }
}

fn relocations(random: &mut Random, object: &mut Object) {
    if object.symbols.is_empty() {
        return;
    }
    for number in 0..object.sections.len() {
        if object.sections[number].kind == NOBITS || random.chance(3) {
            continue;
        }
        for _ in 0..random.below(6) {
            let symbol = random.below(object.symbols.len());
            // Real files refer to file symbols nowhere.
            if object.symbols[symbol].kind == 4 {
                continue;
            }
            let kind = *random.pick(&[1, 2, 0x3ff, 0x7fff_0001]);
            let offset = random.below(8) as u64;
            let addend = random.below(1000) as i64 - 500;
            object.sections[number].relocations.push(Relocation { offset, kind, symbol, addend });
        }
    }
}

fn groups(random: &mut Random, object: &mut Object) {
    let mut free: Vec<usize> = (0..object.sections.len()).collect();
    for _ in 0..random.below(3) {
        if object.symbols.is_empty() || free.is_empty() {
            return;
        }
        let members = (0..1 + random.below(2)).filter_map(|_| free.pop()).collect();
        let comdat = !random.chance(4);
        let signature = if random.chance(4) {
            object.symbols.push(Symbol::new("only_a_signature", LOCAL, 0, Place::Group(object.groups.len()), 0));
            object.symbols.len() - 1
        } else {
            let symbol = random.below(object.symbols.len());
            if matches!(object.symbols[symbol].place, Place::Group(_)) {
                continue;
            }
            symbol
        };
        object.groups.push(Group { signature, members, comdat });
    }
}
