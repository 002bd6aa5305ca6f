//! Joining compared with the linkers that do it elsewhere: random sets of objects, by meaning.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::process::Command;

use superkernel::link::{Input, KeptRelocations, LinkError, LinkOptions, Locals, OutputKind, link};

use super::elf_support::{build, meaning, random};
use build::{Place, RelocationForm, Symbol};
use meaning::Meaning;
use random::Random;

/// Sets of objects; `SUPERKERNEL_JOINS` for more.
fn count() -> u64 {
    std::env::var("SUPERKERNEL_JOINS").ok().and_then(|value| value.parse().ok()).unwrap_or(60)
}

/// Objects that all linkers take: relocations of the host, and no section that describes another.
fn objects(seed: u64) -> Vec<Vec<u8>> {
    let mut random = Random(seed ^ 0x6a6f_696e);
    (0..2 + random.below(3))
        .map(|number| {
            let mut object = random::object(random.next());
            object.machine = 62;
            object.significant = None;
            let names: Vec<bool> = object.symbols.iter().map(|symbol| symbol.name.is_empty()).collect();
            // To LLD all groups without a name are one.
            object.groups.iter_mut().for_each(|group| group.comdat &= !names[group.signature]);
            let has_groups = !object.groups.is_empty();
            for section in &mut object.sections {
                section.form = RelocationForm::Rela;
                section.describes = None;
                // Where debug information refers to what is left out, LLD 14 writes over other relocations.
                if section.name.starts_with(".debug") && has_groups {
                    section.relocations.clear();
                }
                section.flags &= !0x80;
                section.flags |= u64::from(section.kind == build::NOBITS);
                section.relocations.iter_mut().for_each(|relocation| relocation.kind = *random.pick(&[1, 10, 24]));
            }
            object.symbols.iter_mut().for_each(|symbol| adapt(symbol, number, &mut random));
            // LLD takes no empty string table.
            object.symbols.push(Symbol::new(&format!("of_{number}"), build::GLOBAL, 1, Place::Section(0), 7));
            object.build()
        })
        .collect()
}

/// Most strong definitions get a name of their own, or nothing could ever be joined.
fn adapt(symbol: &mut Symbol, number: usize, random: &mut Random) {
    let is_strong = matches!(symbol.place, Place::Section(_) | Place::Absolute | Place::Group(_));
    if symbol.binding == 10 {
        symbol.binding = build::GLOBAL;
    }
    if symbol.binding == build::GLOBAL && is_strong && !random.chance(3) {
        symbol.name = format!("{}_{number}", symbol.name);
    }
    // LLD makes room for common symbols at once.
    if symbol.place == Place::Common {
        symbol.place = Place::Undefined;
        symbol.value = 0;
    }
}

fn inputs(objects: &[Vec<u8>]) -> Vec<Input<'_>> {
    const NAMES: [&str; 4] = ["0.o", "1.o", "2.o", "3.o"];
    objects.iter().zip(NAMES).map(|(bytes, name)| Input { name, bytes }).collect()
}

/// What `tool -r` makes of the objects, and what it says.
fn joined_by(tool: &str, directory: &Path, objects: &[Vec<u8>], arguments: &[&str]) -> (Option<Vec<u8>>, String) {
    let mut command = Command::new(tool);
    command.current_dir(directory).arg("-r").args(arguments);
    for (number, object) in objects.iter().enumerate() {
        let name = format!("{number}.o");
        std::fs::write(directory.join(&name), object).unwrap();
        command.arg(name);
    }
    let done = command.args(["-o", "joined.o"]).output().unwrap();
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    (done.status.success().then(|| std::fs::read(directory.join("joined.o")).unwrap()), said)
}

fn is_there(tool: &str) -> bool {
    Command::new(tool).arg("--version").output().is_ok()
}

/// Type, flags, alignment, size, contents.
type SectionKept = (u32, u64, u64, u64, Vec<u8>);

/// Name, flags, and the position among those of equal name and flags: where sections of other flags stand, linkers decide.
type SectionKey = (String, u64, usize);

/// What a linker must keep, in an order that does not depend on it.
#[derive(Debug, PartialEq, Eq)]
struct Kept {
    sections: BTreeMap<SectionKey, SectionKept>,
    symbols: Vec<String>,
    relocations: Vec<String>,
    groups: Vec<String>,
}

/// What the objects say of names, as far as linkers may make different things of it.
struct Names {
    /// Defined for others. Where the result only refers to one, the group with it is left out; whether the reference is
    /// weak depends with LLD on whom it meets first (src/link/tests.rs says what it should be).
    defined: HashSet<String>,
    /// Of different kinds in different objects. GNU's linker takes that of a reference for a definition without one.
    mixed: HashSet<String>,
}

impl Names {
    fn of(objects: &[Vec<u8>]) -> Self {
        let mut kinds: BTreeMap<String, HashSet<u8>> = BTreeMap::new();
        let mut defined = HashSet::new();
        for symbol in objects.iter().flat_map(|object| meaning::read(object).symbols) {
            if symbol.binding != 0 {
                kinds.entry(symbol.key.name.clone()).or_default().insert(symbol.key.kind);
                if matches!(symbol.key.place, meaning::Place::Section(_)) {
                    defined.insert(symbol.key.name);
                }
            }
        }
        let mixed = kinds.into_iter().filter(|(_, kinds)| kinds.len() > 1).map(|(name, _)| name).collect();
        Self { defined, mixed }
    }
}

fn kept(meaning: &Meaning, names: &Names, linker: Linker) -> Kept {
    let mut numbers: BTreeMap<(&str, u64), usize> = BTreeMap::new();
    let mut keys: Vec<SectionKey> = Vec::new();
    for section in &meaning.sections {
        let number = numbers.entry((&section.name, section.flags)).or_default();
        keys.push((section.name.clone(), section.flags, *number));
        *number += 1;
    }
    // What a relocation writes over does not count, nor a mark that linkers add.
    let data = |index: usize, found: &meaning::Section| {
        let mut data = found.data.clone();
        for relocation in meaning.relocations.iter().filter(|relocation| relocation.section == index) {
            data.iter_mut().skip(relocation.offset as usize).take(8).for_each(|byte| *byte = 0);
        }
        data
    };
    let sections: BTreeMap<_, _> = (keys.iter().cloned().zip(&meaning.sections).enumerate())
        .filter(|(_, (key, _))| key.0 != ".note.GNU-stack")
        .map(|(index, (key, found))| {
            (key, (found.kind, found.flags, found.align.max(1), found.size, data(index, found)))
        })
        .collect();
    let place = |place: &meaning::Place| match place {
        meaning::Place::Section(index) => format!("{:?}", keys[*index]),
        meaning::Place::Group(_) => "a group".to_owned(),
        meaning::Place::Undefined | meaning::Place::Null => "nowhere".to_owned(),
        other @ (meaning::Place::Absolute | meaning::Place::Common) => format!("{other:?}"),
    };
    // LLD forgets local names that stand only for a group.
    let signatures: Vec<&meaning::SymbolKey> = meaning.groups.iter().map(|group| &group.signature).collect();
    let is_signature = |symbol: &meaning::Symbol| symbol.binding == 0 && signatures.contains(&&symbol.key);
    let is_name =
        |key: &meaning::SymbolKey| meaning.symbols.iter().any(|symbol| symbol.key == *key && symbol.binding != 0);
    // GNU's linker notes the file of every object.
    let is_file = |symbol: &meaning::Symbol| symbol.key.kind == 4 && symbol.key.name.ends_with(".o");
    let named = meaning.symbols.iter().skip(1).filter(|symbol| symbol.key.kind != 3);
    // It also forgets what only a group that is left out defined, where no code refers to it.
    let is_forgotten = |symbol: &meaning::Symbol| {
        linker == Linker::Gnu
            && symbol.key.place == meaning::Place::Undefined
            && names.defined.contains(&symbol.key.name)
            && meaning.relocations.iter().all(|relocation| relocation.symbol != symbol.key)
    };
    // And some local names; those that relocations refer to are compared with these.
    let is_local = |symbol: &meaning::Symbol| linker == Linker::Gnu && symbol.binding == 0;
    let is_kept = |symbol: &&meaning::Symbol| {
        ![is_signature(symbol), is_file(symbol), is_forgotten(symbol), is_local(symbol)].contains(&true)
    };
    let named = named.filter(is_kept);
    let mut symbols: Vec<String> = named
        .map(|symbol| {
            let key = &symbol.key;
            // What kind of thing a reference means, its definition says.
            let is_reference = key.place == meaning::Place::Undefined;
            let is_mixed = linker == Linker::Gnu && symbol.binding != 0 && names.mixed.contains(&key.name);
            let kind = if is_reference || is_mixed { 0 } else { key.kind };
            let binding = if is_reference && names.defined.contains(&key.name) { 1 } else { symbol.binding };
            let place = place(&key.place);
            format!("{} {binding} {kind} {} {place} {} {}", key.name, symbol.other, key.value, symbol.size)
        })
        .collect();
    let mut relocations: Vec<String> = meaning
        .relocations
        .iter()
        .map(|found| {
            let (symbol, addend) = (&found.symbol, found.addend.unwrap_or(0));
            let target = format!("{} {} {}", symbol.name, place(&symbol.place), symbol.value);
            format!("{:?} {} {} {target} {addend}", keys[found.section], found.offset, found.kind)
        })
        .collect();
    let mut groups: Vec<String> = meaning
        .groups
        .iter()
        .map(|group| {
            let mut members: Vec<_> = group.members.iter().map(|member| &keys[*member]).collect();
            members.sort();
            let name = if is_name(&group.signature) { group.signature.name.as_str() } else { "" };
            format!("{} {name} {members:?}", group.comdat)
        })
        .collect();
    symbols.sort();
    relocations.sort();
    groups.sort();
    Kept { sections, symbols, relocations, groups }
}

/// What only one of them has.
fn difference(ours: &Kept, theirs: &Kept) -> String {
    let lines = |kept: &Kept| -> Vec<String> {
        let sections = kept.sections.iter().map(|section| format!("{section:?}"));
        sections.chain(kept.symbols.clone()).chain(kept.relocations.clone()).chain(kept.groups.clone()).collect()
    };
    let (ours, theirs) = (lines(ours), lines(theirs));
    let only = |these: &[String], others: &[String]| {
        let found: Vec<String> = these.iter().filter(|line| !others.contains(line)).take(4).cloned().collect();
        found.join("\n    ")
    };
    format!("ours\n    {}\n  theirs\n    {}", only(&ours, &theirs), only(&theirs, &ours))
}

/// A linker that joins objects as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Linker {
    Lld,
    Gnu,
}

impl Linker {
    fn command(self) -> &'static str {
        match self {
            Self::Lld => "ld.lld",
            Self::Gnu => "ld.bfd",
        }
    }

    /// What it says of references to what another object brings.
    fn discarded(self) -> &'static str {
        match self {
            Self::Lld => "relocation refers to a discarded section",
            Self::Gnu => "defined in discarded section",
        }
    }
}

#[test]
fn random_objects_are_joined_as_lld_joins_them() {
    are_joined_alike(Linker::Lld);
}

#[test]
fn random_objects_are_joined_as_gnu_ld_joins_them() {
    are_joined_alike(Linker::Gnu);
}

fn are_joined_alike(linker: Linker) {
    if !is_there(linker.command()) {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let (mut joined, mut refused, mut discarded, mut different) = (0, 0, 0, Vec::new());
    for seed in 0..count() {
        let objects = objects(seed);
        // GNU's linker gives names that only relocations keep a value without the place of their part.
        let (locals, arguments) = match linker {
            Linker::Lld if seed % 2 == 1 => (Locals::Needed, &["-x"][..]),
            Linker::Lld | Linker::Gnu => (Locals::All, &[][..]),
        };
        let ours = link(&inputs(&objects), &LinkOptions { locals, ..LinkOptions::default() });
        match joined_by(linker.command(), directory.path(), &objects, arguments) {
            // Code that refers to what is left out would read or call anything. Linkers warn of some and go on.
            (Some(_), said)
                if matches!(ours, Err(LinkError::Discarded { .. })) || said.contains(linker.discarded()) =>
            {
                if !matches!(ours, Err(LinkError::Discarded { .. } | LinkError::Duplicate { .. })) {
                    different.push(format!("seed {seed}: {:?}, {said}", ours.map(drop)));
                }
                discarded += 1;
            }
            (Some(theirs), _) => {
                let Ok(ours) = ours else {
                    different.push(format!("seed {seed}: {:?}", ours.map(drop)));
                    continue;
                };
                let names = Names::of(&objects);
                let [ours, theirs] = [ours, theirs].map(|file| kept(&meaning::read(&file), &names, linker));
                if ours != theirs {
                    different.push(format!("seed {seed}: {}", difference(&ours, &theirs)));
                }
                joined += 1;
            }
            (None, said) if said.contains(linker.discarded()) => {
                if !matches!(ours, Err(LinkError::Discarded { .. } | LinkError::Duplicate { .. })) {
                    different.push(format!("seed {seed}: {:?}, {said}", ours.map(drop)));
                }
                discarded += 1;
            }
            // GNU's linker gives up without a word where groups of one name have other members.
            (None, said) if linker == Linker::Gnu && said.is_empty() => refused += 1,
            (None, why) => {
                if !matches!(ours, Err(LinkError::Duplicate { .. })) {
                    let ours = ours.map(drop);
                    different.push(format!("seed {seed}: {ours:?} instead of {why}"));
                }
                refused += 1;
            }
        }
    }
    let number = different.len();
    different.truncate(8);
    assert!(different.is_empty(), "{number} of {}:\n{}", count(), different.join("\n"));
    println!("{joined} sets joined alike, {refused} refused alike, {discarded} with references to what is left out");
    assert!(joined > refused + discarded && refused > 0 && discarded > 0);
}

/// Damage gives an error or another object, never a panic, and never an object out of proportion.
#[test]
fn damaged_objects_are_refused_or_linked() {
    let mut linked = 0;
    for seed in 0..20 * count() {
        let mut random = Random(seed);
        let mut objects: Vec<Vec<u8>> = (0..2).map(|_| random::object(random.next()).build()).collect();
        let machine = *random.pick(&[62_u16, 0x1029]);
        objects.iter_mut().for_each(|object| object[18..20].copy_from_slice(&machine.to_le_bytes()));
        let size: usize = objects.iter().map(Vec::len).sum();
        for _ in 0..1 + random.below(3) {
            let object = &mut objects[random.below(2)];
            let place = 16 + random.below(object.len() - 16);
            object[place] = *random.pick(&[0, 1, 0x7f, 0xff, random.clone().next() as u8]);
        }
        let kinds = [OutputKind::Joined, OutputKind::Device(KeptRelocations::Keep)];
        let options = LinkOptions { kind: *random.pick(&kinds), ..LinkOptions::default() };
        if let Ok(bytes) = link(&inputs(&objects), &options) {
            assert!(bytes.len() < 40 * size + (1 << 21), "seed {seed}: {} bytes from {size}", bytes.len());
            linked += 1;
        }
    }
    assert!(linked > 0);
}
