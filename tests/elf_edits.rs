//! Edits against a model: what an edit means is worked out a second time, naively, on objects read by meaning.

use std::borrow::Cow;

use super::elf_support::build::{self, GLOBAL, LOCAL, Object, Place as At, SectionNames, Symbol as NewSymbol};
use super::elf_support::meaning::{Group, Meaning, Place, Relocation, Section, Symbol, SymbolKey, read};
use super::elf_support::random::{Random, object};
use proptest::prelude::*;
use superkernel::Diagnostic;
use superkernel::elf::{self, Edits, ElfError, Groups, Localize, Missing, SymbolOrder};

/// What the edited object should mean, or the id of the error.
fn expected(before: &Meaning, edits: &Edits) -> Result<Meaning, &'static str> {
    let named =
        |symbol: &Symbol, names: &[String]| !matches!(symbol.key.kind, 3 | 4) && names.contains(&symbol.key.name);
    let new_name = |symbol: &Symbol| {
        let renamed = edits.rename.iter().find(|(old, _)| named(symbol, std::slice::from_ref(old)));
        renamed.map(|(_, new)| new.clone()).filter(|new| *new != symbol.key.name)
    };
    let stripped = |symbol: &Symbol| named(symbol, &edits.strip);
    let localized = |symbol: &Symbol| {
        let chosen = match &edits.localize {
            Localize::None => false,
            Localize::Names(names) => named(symbol, names),
            Localize::AllDefinedExcept(names) => {
                !named(symbol, names) && !matches!(symbol.key.kind, 3 | 4) && !stripped(symbol)
            }
        };
        chosen && symbol.binding != LOCAL && !matches!(symbol.key.place, Place::Undefined | Place::Null)
    };
    let weakened = |symbol: &Symbol| {
        let visible = symbol.binding != LOCAL && !localized(symbol);
        visible && named(symbol, &edits.weaken) && matches!(symbol.key.place, Place::Section(_))
    };
    let used = |wanted: &SymbolKey, loaded: bool| {
        before.relocations.iter().any(|relocation| {
            relocation.symbol == *wanted && (!loaded || before.sections[relocation.section].flags & 2 != 0)
        })
    };

    // Sections: by prefix, then whatever describes a dropped one.
    let starts =
        |section: &Section, prefixes: &[String]| prefixes.iter().any(|prefix| section.name.starts_with(prefix));
    let needed = |index: usize| {
        let inside = before.symbols.iter().filter(|symbol| symbol.key.place == Place::Section(index));
        inside.into_iter().any(|symbol| used(&symbol.key, true))
    };
    let goes = |(index, section): (usize, &Section)| {
        starts(section, &edits.drop_sections_with_prefix)
            || starts(section, &edits.drop_unused_with_prefix) && !needed(index)
    };
    let mut dropped: Vec<bool> = before.sections.iter().enumerate().map(goes).collect();
    for _ in 0..before.sections.len() {
        for (index, section) in before.sections.iter().enumerate() {
            dropped[index] |= section.about.is_some_and(|about| dropped[about]);
        }
    }
    let any_dropped = dropped.contains(&true);
    let kept_relocations: Vec<&Relocation> =
        before.relocations.iter().filter(|relocation| !dropped[relocation.section]).collect();
    let used_by_kept = |wanted: &SymbolKey, loaded: bool| {
        used(wanted, loaded)
            && kept_relocations.iter().any(|relocation| {
                relocation.symbol == *wanted && (!loaded || before.sections[relocation.section].flags & 2 != 0)
            })
    };

    // Groups: dissolved, or no longer COMDAT.
    let symbol_of = |key: &SymbolKey| before.symbols.iter().find(|symbol| symbol.key == *key).unwrap();
    let in_dropped = |key: &SymbolKey| matches!(key.place, Place::Section(section) if dropped[section]);
    let dissolved: Vec<bool> = before
        .groups
        .iter()
        .map(|group| {
            let dissolved = match &edits.groups {
                Groups::Keep => false,
                Groups::Dissolve => true,
                Groups::DissolveAllBut(names) => !before.symbols.iter().any(|symbol| {
                    let inside = matches!(symbol.key.place, Place::Section(place) if group.members.contains(&place));
                    inside && symbol.binding != LOCAL && named(symbol, names)
                }),
            };
            dissolved
                || stripped(symbol_of(&group.signature))
                || any_dropped && in_dropped(&group.signature)
                || any_dropped && group.members.iter().all(|member| dropped[*member])
        })
        .collect();
    let group_gone = |key: &SymbolKey| matches!(key.place, Place::Group(group) if dissolved[group]);

    // Symbols, by old index: what each becomes.
    let mut commons: Option<(u64, u64)> = None;
    let position = |old: usize| dropped[..old].iter().filter(|dropped| !**dropped).count();
    let group_position = |old: usize| dissolved[..old].iter().filter(|dissolved| !**dissolved).count();
    let kept_sections = dropped.iter().filter(|dropped| !**dropped).count();
    let mut becomes: Vec<Option<Symbol>> = Vec::new();
    // Stripped symbols of one name share what is left of them.
    let mut merged: Vec<usize> = Vec::new();
    for (index, symbol) in before.symbols.iter().enumerate() {
        let mut new = symbol.clone();
        if let Some(name) = new_name(symbol) {
            new.key.name = name;
        }
        let as_reference = |new: &Symbol| {
            let mut reference = new.clone();
            if reference.key.place != Place::Undefined {
                reference.key.place = Place::Undefined;
                (reference.key.kind, reference.key.value) = (0, 0);
                (reference.binding, reference.size) = (GLOBAL, 0);
            }
            reference
        };
        becomes.push(if stripped(symbol) {
            let same_name: Vec<&Symbol> = before
                .symbols
                .iter()
                .filter(|other| stripped(other) && other.key.name == symbol.key.name && used_by_kept(&other.key, false))
                .collect();
            let reference = same_name.iter().rev().find(|other| other.key.place == Place::Undefined);
            let survivor = reference.or(same_name.first());
            if survivor.is_some_and(|survivor| survivor.key != symbol.key) {
                merged.push(index);
            }
            survivor.filter(|_| used_by_kept(&symbol.key, false)).map(|survivor| as_reference(survivor))
        } else if in_dropped(&symbol.key) || group_gone(&symbol.key) {
            if !used_by_kept(&symbol.key, true) {
                None
            } else if symbol.binding == LOCAL {
                return Err("SK0611");
            } else {
                Some(as_reference(&new))
            }
        } else {
            if localized(symbol) {
                new.binding = LOCAL;
                if symbol.key.place == Place::Common {
                    let (size, align) = commons.unwrap_or((0, 1));
                    let start = size.next_multiple_of(symbol.key.value);
                    commons = Some((start + symbol.size, align.max(symbol.key.value)));
                    new.key.place = Place::Section(kept_sections);
                    new.key.value = start;
                }
            }
            if weakened(symbol) {
                new.binding = build::WEAK;
            }
            match symbol.key.place {
                Place::Section(section) => new.key.place = Place::Section(position(section)),
                Place::Group(group) => new.key.place = Place::Group(group_position(group)),
                Place::Undefined | Place::Absolute | Place::Common | Place::Null => {}
            }
            Some(new)
        });
    }

    let mut after = before.clone();
    let separate = |index: &usize| !merged.contains(index);
    let (locals, globals): (Vec<Symbol>, Vec<Symbol>) = (0..becomes.len())
        .filter(separate)
        .filter_map(|index| becomes[index].clone())
        .partition(|symbol| symbol.binding == LOCAL);
    after.symbols = [locals, globals].concat();

    let new_key = |old: &SymbolKey| {
        let index = before.symbols.iter().position(|symbol| symbol.key == *old).unwrap();
        becomes[index].as_ref().map(|symbol| symbol.key.clone())
    };
    let null = SymbolKey { name: String::new(), kind: 0, place: Place::Null, value: 0 };
    after.relocations = kept_relocations
        .iter()
        .map(|relocation| Relocation {
            section: position(relocation.section),
            symbol: new_key(&relocation.symbol).unwrap_or(null.clone()),
            ..(*relocation).clone()
        })
        .collect();
    after.significant = before.significant.iter().filter_map(new_key).collect();
    after.groups = (before.groups.iter().zip(&dissolved))
        .filter(|(_, dissolved)| !**dissolved)
        .map(|(group, _)| {
            expected_group(before, group, &dropped, &new_key, &|symbol| {
                (localized(symbol) || stripped(symbol), new_name(symbol).is_some())
            })
        })
        .collect();
    after.sections = Vec::new();
    for (index, section) in before.sections.iter().enumerate().filter(|(index, _)| !dropped[*index]) {
        let ungrouped =
            before.groups.iter().zip(&dissolved).any(|(group, gone)| *gone && group.members.contains(&index));
        let flags = if ungrouped { section.flags & !build::GROUP_FLAG } else { section.flags };
        let renamed = edits.rename_sections.iter().find(|(old, _)| *old == section.name);
        let name = renamed.map_or(&section.name, |(_, new)| new).clone();
        after.sections.push(Section { name, flags, about: section.about.map(position), ..section.clone() });
    }
    if let Some((size, align)) = commons {
        let name = ".bss".to_owned();
        after.sections.push(Section { name, kind: 8, flags: 3, align, size, data: Vec::new(), about: None });
    }
    Ok(after)
}

fn expected_group(
    before: &Meaning,
    group: &Group,
    dropped: &[bool],
    new_key: &dyn Fn(&SymbolKey) -> Option<SymbolKey>,
    fate: &dyn Fn(&Symbol) -> (bool, bool),
) -> Group {
    let signature = before.symbols.iter().find(|symbol| symbol.key == group.signature).unwrap();
    let (signature_withdrawn, signature_renamed) = fate(signature);
    let broken = group.members.iter().any(|member| {
        let inside = |symbol: &&Symbol| symbol.binding != LOCAL && symbol.key.place == Place::Section(*member);
        dropped[*member]
            || before.symbols.iter().filter(inside).any(|symbol| {
                let (withdrawn, renamed) = fate(symbol);
                withdrawn || renamed && !signature_renamed
            })
    });
    Group {
        comdat: group.comdat && !broken && !signature_withdrawn,
        signature: new_key(&group.signature).unwrap(),
        members: (group.members.iter().filter(|member| !dropped[**member]))
            .map(|member| dropped[..*member].iter().filter(|dropped| !**dropped).count())
            .collect(),
    }
}

/// Edits that hit names of the object more often than not.
fn random_edits(random: &mut Random, object: &Object) -> Edits {
    let mut names: Vec<String> = object.symbols.iter().map(|symbol| symbol.name.clone()).collect();
    names.retain(|name| !name.is_empty() && name != "a.c");
    names.extend(["not_there".to_owned(), "f".to_owned()]);
    names.sort();
    names.dedup();
    let mut some = |one_in: usize| -> Vec<String> { names.iter().filter(|_| random.chance(one_in)).cloned().collect() };
    let strip = some(6);
    let mut localized = some(4);
    let mut renamed = some(5);
    localized.retain(|name| !strip.contains(name));
    renamed.retain(|name| !strip.contains(name));
    let mut weaken = some(4);
    let shared = some(3);
    weaken.retain(|name| !strip.contains(name));
    let mut rename: Vec<(String, String)> =
        renamed.iter().map(|name| (name.clone(), format!("{name}_split1"))).collect();
    if let [first, second, ..] = &renamed[..]
        && random.chance(3)
    {
        // Exchanging two names is no duplicate.
        rename[0].1 = second.clone();
        rename[1].1 = first.clone();
    }
    let localize = match random.below(3) {
        0 => Localize::None,
        1 => Localize::Names(localized),
        _ => Localize::AllDefinedExcept(localized),
    };
    if let Localize::Names(names) = &localize {
        weaken.retain(|name| !names.contains(name));
    }
    Edits {
        rename,
        localize,
        order: SymbolOrder::Keep,
        weaken,
        strip,
        rename_sections: match random.below(3) {
            0 => vec![(".text.add".to_owned(), ".text".to_owned()), (".text.f".to_owned(), ".text.other".to_owned())],
            _ => Vec::new(),
        },
        drop_sections_with_prefix: match random.below(3) {
            0 => vec![".ascend.meta.".to_owned()],
            1 => vec![".debug".to_owned(), ".text.a".to_owned()],
            _ => Vec::new(),
        },
        drop_unused_with_prefix: match random.below(3) {
            0 => vec![".text.f".to_owned(), ".rodata".to_owned()],
            _ => Vec::new(),
        },
        groups: match random.below(4) {
            0 => Groups::Dissolve,
            1 => Groups::DissolveAllBut(shared),
            _ => Groups::Keep,
        },
        missing: Missing::Ignore,
    }
}

fn check(seed: u64) -> Result<(), TestCaseError> {
    let object = object(seed);
    let bytes = object.build();
    let edits = random_edits(&mut Random(!seed), &object);
    let before = read(&bytes);
    match (elf::edit(&bytes, &edits), expected(&before, &edits)) {
        (Ok(edited), Ok(wanted)) => {
            let found = read(&edited);
            prop_assert_eq!(&found.symbols, &wanted.symbols, "{:?}", edits);
            prop_assert_eq!(&found.relocations, &wanted.relocations, "{:?}", edits);
            prop_assert_eq!(&found.groups, &wanted.groups, "{:?}", edits);
            prop_assert_eq!(&found, &wanted, "{:?}", edits);
        }
        (Err(error), Err(id)) => prop_assert_eq!(error.id(), id),
        (Err(error), Ok(_)) => prop_assert!(false, "{error} for {edits:?}"),
        (Ok(_), Err(id)) => prop_assert!(false, "no error {id} for {edits:?}"),
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: std::env::var("SUPERKERNEL_ELF_EDITS").ok().and_then(|text| text.parse().ok()).unwrap_or(20_000),
        // A failing seed is printed, and is all there is to keep.
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn edits_do_what_the_model_says(seed: u64) {
        check(seed)?;
    }
}

#[test]
fn nothing_to_do_gives_the_same_bytes() {
    for seed in 0..200 {
        let bytes = object(seed).build();
        assert!(matches!(elf::edit(&bytes, &Edits::default()).unwrap(), Cow::Borrowed(_)));
        let ignored = Edits {
            rename: vec![("not_there".to_owned(), "x".to_owned()), ("f".to_owned(), "f".to_owned())],
            localize: Localize::Names(vec!["nor_this".to_owned()]),
            strip: vec!["or_that".to_owned()],
            rename_sections: vec![(".none".to_owned(), ".some".to_owned()), (".text".to_owned(), ".text".to_owned())],
            drop_sections_with_prefix: vec![".none".to_owned()],
            drop_unused_with_prefix: vec![".none".to_owned()],
            weaken: vec!["neither".to_owned()],
            missing: Missing::Ignore,
            groups: Groups::Keep,
            order: SymbolOrder::Keep,
        };
        assert!(matches!(elf::edit(&bytes, &ignored).unwrap(), Cow::Borrowed(_)));
    }
}

/// Two functions, a reference, a local one, data.
fn sample() -> Object {
    let mut sample = Object { machine: 0x1029, ..Object::default() };
    sample.sections.push(build::Section::new(".text", 6, vec![0; 64]).relocate(8, 0x4001, 1, -4));
    sample.sections.push(build::Section::new(".data", 3, vec![1; 16]));
    for (name, binding, place, value) in [
        ("add", GLOBAL, At::Section(0), 0),
        ("g_opSystemRunCfg", GLOBAL, At::Section(1), 8),
        ("multiply", build::WEAK, At::Section(0), 32),
        ("hidden", LOCAL, At::Section(0), 16),
        ("printf", GLOBAL, At::Undefined, 0),
    ] {
        sample.symbols.push(NewSymbol::new(name, binding, 2, place, value));
    }
    sample
}

fn names(list: &[&str]) -> Vec<String> {
    list.iter().map(|name| (*name).to_owned()).collect()
}

fn fails(edits: Edits) -> String {
    elf::edit(&sample().build(), &edits).unwrap_err().to_string()
}

#[test]
fn a_missing_name_is_an_error_with_names_alike() {
    let rename = vec![("multipli".to_owned(), "m".to_owned())];
    assert_eq!(
        fails(Edits { rename, ..Edits::default() }),
        "cannot rename symbol `multipli`: the object has no such symbol; did you mean `multiply`?"
    );
    assert_eq!(
        fails(Edits { strip: names(&["add", "sub"]), ..Edits::default() }),
        "cannot strip symbol `sub`: the object has no such symbol"
    );
    let edits = |localize| Edits { localize, ..Edits::default() };
    assert!(fails(edits(Localize::Names(names(&["ad"])))).contains("cannot localize symbol `ad`"));
    assert!(fails(edits(Localize::AllDefinedExcept(names(&["ad"])))).contains("cannot keep symbol `ad`"));
    assert_eq!(
        fails(edits(Localize::Names(names(&["printf"])))),
        "cannot localize symbol `printf`: the object only refers to it"
    );
    assert_eq!(
        fails(edits(Localize::AllDefinedExcept(names(&["hidden"])))),
        "cannot keep symbol `hidden`: it is local already"
    );
}

#[test]
fn contradictions_and_duplicates_are_refused() {
    let rename = |list: &[(&str, &str)]| -> Vec<(String, String)> {
        list.iter().map(|(old, new)| ((*old).to_owned(), (*new).to_owned())).collect()
    };
    let id = |edits: Edits| elf::edit(&sample().build(), &edits).map(|_| ()).map_err(|error| error.id());
    let base = Edits::default;
    assert_eq!(id(Edits { rename: rename(&[("add", "multiply")]), ..base() }), Err("SK0607"));
    assert_eq!(id(Edits { rename: rename(&[("add", "printf")]), ..base() }), Err("SK0607"));
    assert_eq!(id(Edits { rename: rename(&[("add", "x"), ("multiply", "x")]), ..base() }), Err("SK0607"));
    // Two references may become one name: whoever defines it answers both.
    let mut asking = sample();
    asking.symbols.push(NewSymbol::new("puts", GLOBAL, 2, At::Undefined, 0));
    let both = Edits { rename: rename(&[("printf", "say"), ("puts", "say")]), ..base() };
    assert!(elf::edit(&asking.build(), &both).is_ok());
    assert_eq!(id(Edits { rename: rename(&[("add", "x"), ("add", "y")]), ..base() }), Err("SK0608"));
    assert_eq!(id(Edits { rename: rename(&[("add", "x")]), strip: names(&["add"]), ..base() }), Err("SK0608"));
    assert_eq!(id(Edits { rename: rename(&[("add", "x")]), strip: names(&["x"]), ..base() }), Err("SK0608"));
    assert_eq!(id(Edits { rename: rename(&[("add", "")]), ..base() }), Err("SK0609"));
    assert_eq!(id(Edits { rename: rename(&[("add", "a\0b")]), ..base() }), Err("SK0609"));
    // A local symbol may share its name, and a name that is given up may be taken.
    assert_eq!(id(Edits { rename: rename(&[("add", "hidden")]), ..base() }), Ok(()));
    assert_eq!(id(Edits { rename: rename(&[("add", "multiply"), ("multiply", "add")]), ..base() }), Ok(()));
    let localize = Localize::Names(names(&["multiply"]));
    assert_eq!(id(Edits { rename: rename(&[("add", "multiply")]), localize, ..base() }), Ok(()));
}

#[test]
fn a_stripped_symbol_in_use_becomes_a_reference() {
    let bytes = sample().build();
    let edited = elf::edit(&bytes, &Edits { strip: names(&["g_opSystemRunCfg", "add"]), ..Edits::default() }).unwrap();
    let symbols = elf::symbols(&edited).unwrap();
    assert!(symbols.iter().all(|symbol| symbol.name != "add"));
    let kept = symbols.iter().find(|symbol| symbol.name == "g_opSystemRunCfg").unwrap();
    assert_eq!((kept.place, kept.value, kept.size), (elf::Place::Undefined, 0, 0));
}

/// Linkers refuse a reference of another kind than its definition where threads are concerned, and only there.
#[test]
fn a_stripped_thread_local_stays_one() {
    const FUNCTION: u8 = 2;
    const THREAD_LOCAL: u8 = 6;
    let object = Object {
        machine: 62,
        sections: vec![
            build::Section::new(".text", 6, vec![0; 16]).relocate(0, 1, 0, 0).relocate(8, 1, 1, 0),
            build::Section::new(".tdata", 0x403, vec![0; 8]),
        ],
        symbols: vec![
            NewSymbol::new("per_thread", GLOBAL, THREAD_LOCAL, At::Section(1), 0),
            NewSymbol::new("helper", GLOBAL, FUNCTION, At::Section(0), 0),
        ],
        ..Object::default()
    };
    let strip = names(&["per_thread", "helper"]);
    let edited = elf::edit(&object.build(), &Edits { strip, ..Edits::default() }).unwrap().into_owned();
    let symbols = elf::symbols(&edited).unwrap();
    let kind = |name: &str| symbols.iter().find(|symbol| symbol.name == name).map(|symbol| (symbol.place, symbol.kind));
    assert_eq!(kind("per_thread"), Some((elf::Place::Undefined, elf::SymbolKind::ThreadLocal)));
    assert_eq!(kind("helper"), Some((elf::Place::Undefined, elf::SymbolKind::None)));
}

#[test]
fn copies_keep_only_the_function_visible() {
    let mut object = sample();
    object.sections.push(build::Section::new(".ascend.meta.add", 2, vec![7; 8]));
    object.groups.push(build::Group { signature: 2, members: vec![1], comdat: true });
    object.names = SectionNames::Shared;
    let bytes = object.build();
    let copies = elf::split_copies(&bytes, &["add"], 4).unwrap();
    assert_eq!(copies.len(), 3);
    for (number, copy) in (1..).zip(&copies) {
        let exported: Vec<String> = elf::symbols(copy)
            .unwrap()
            .iter()
            .filter(|symbol| symbol.is_exported())
            .map(|symbol| symbol.name.to_string())
            .collect();
        assert_eq!(exported, [format!("add_split{number}")]);
        let sections = elf::sections(copy).unwrap();
        assert!(sections.iter().all(|section| section.kind != 17 && !section.name.starts_with(".ascend.meta")));
        assert_eq!(elf::section_bytes(copy, ".text").unwrap(), elf::section_bytes(&bytes, ".text").unwrap());
    }
    assert!(elf::split_copies(&bytes, &["add"], 1).unwrap().is_empty());
    assert_eq!(elf::split_copies(&bytes, &["add"], 0).unwrap_err().id(), "SK0613");
    assert_eq!(elf::split_copies(&bytes, &["hidden"], 2).unwrap_err().id(), "SK0606");
}

#[test]
fn sections_get_other_names_and_keep_everything_else() {
    let mut renamed = 0;
    for seed in 0..200 {
        let bytes = object(seed).build();
        let before = elf::sections(&bytes).unwrap();
        let Some(old) = before.iter().map(|section| section.name.to_string()).find(|name| name.starts_with(".text"))
        else {
            continue;
        };
        let rename_sections = vec![(old.clone(), ".ascend.meta.another_name".to_owned())];
        let edited = elf::edit(&bytes, &Edits { rename_sections, ..Edits::default() }).unwrap();
        let after = elf::sections(&edited).unwrap();
        assert_eq!(before.len(), after.len());
        for (before, after) in before.iter().zip(&after) {
            let expected = if *before.name == *old { ".ascend.meta.another_name" } else { &before.name };
            assert_eq!((expected, before.kind, before.flags), (&*after.name, after.kind, after.flags), "seed {seed}");
            renamed += usize::from(*before.name == *old);
        }
        assert_eq!(read(&bytes).symbols, read(&edited).symbols, "seed {seed}");
        let code = elf::section_bytes(&bytes, &old).unwrap();
        assert_eq!(code, elf::section_bytes(&edited, ".ascend.meta.another_name").unwrap(), "seed {seed}");
    }
    assert!(renamed > 50, "{renamed}");
}

#[test]
fn more_sections_than_the_header_can_count() {
    let mut object = Object { machine: 62, ..Object::default() };
    for number in 0..70_000u64 {
        let name = if number % 1000 == 7 { ".ascend.meta.x" } else { ".text.many" };
        object.sections.push(build::Section::new(name, 6, vec![number as u8; 8]));
        let symbol = NewSymbol::new(&format!("f{number}"), GLOBAL, 2, At::Section(number as usize), number);
        object.symbols.push(symbol);
    }
    object.sections[69_999].relocations.push(build::Relocation { offset: 0, kind: 1, symbol: 69_998, addend: 3 });
    let bytes = object.build();
    let before = read(&bytes);
    let edits = Edits {
        rename: vec![("f69998".to_owned(), "renamed".to_owned())],
        localize: Localize::AllDefinedExcept(names(&["f3", "f69998"])),
        drop_sections_with_prefix: names(&[".ascend.meta."]),
        ..Edits::default()
    };
    let after = read(&elf::edit(&bytes, &edits).unwrap());
    assert_eq!(after.sections.len(), before.sections.len() - 70);
    assert_eq!(after.symbols.len(), before.symbols.len() - 70);
    for symbol in after.symbols.iter().skip(1) {
        let Place::Section(section) = symbol.key.place else { panic!("{symbol:?}") };
        assert_eq!(after.sections[section].data[0], symbol.key.value as u8);
        assert_eq!(symbol.binding == GLOBAL, ["f3", "renamed"].contains(&&*symbol.key.name));
    }
    assert_eq!(after.relocations[0].symbol.name, "renamed");
    // Few enough to count again: the numbers move back into the file header.
    let few = Edits { drop_sections_with_prefix: names(&[".text.many"]), ..Edits::default() };
    let few = elf::edit(&bytes, &few).unwrap();
    assert_ne!(u16::from_le_bytes([few[60], few[61]]), 0);
    assert_eq!(read(&few).sections.len(), 70);
}

#[test]
fn what_cannot_be_renumbered_is_refused() {
    let mut object = sample();
    object.sections.push(build::Section::new(".unknown", 0, vec![0; 8]));
    let mut bytes = object.build();
    let sections = elf::sections(&bytes).unwrap();
    let unknown = sections.iter().position(|section| section.name == ".unknown").unwrap();
    let table = sections.iter().position(|section| section.kind == 2).unwrap() as u32;
    let headers = u64::from_le_bytes(bytes[40..48].try_into().unwrap()) as usize;
    bytes[headers + 64 * unknown + 40..][..4].copy_from_slice(&table.to_le_bytes());
    bytes[headers + 64 * unknown + 4..][..4].copy_from_slice(&0x7000_0001u32.to_le_bytes());
    // Renaming moves no index, localizing does.
    let rename = vec![("add".to_owned(), "sum".to_owned())];
    elf::edit(&bytes, &Edits { rename, ..Edits::default() }).unwrap();
    let localize = Localize::Names(names(&["multiply"]));
    let error = elf::edit(&bytes, &Edits { localize, ..Edits::default() }).unwrap_err();
    assert!(matches!(&error, ElfError::UnknownReferences { section, .. } if section == ".unknown"), "{error}");
}

#[test]
fn a_long_chain_of_dependent_sections_goes_in_one_sweep() {
    // Each section describes the next one, the last is dropped: quadratic work would be felt here.
    const COUNT: usize = 40_000;
    let mut object = Object { machine: 62, ..Object::default() };
    for number in 0..COUNT {
        let name = if number + 1 == COUNT { ".ascend.meta.last" } else { ".chain" };
        let mut section = build::Section::new(name, 0x82, vec![0; 4]);
        section.describes = (number + 1 < COUNT).then_some(number + 1);
        object.sections.push(section);
    }
    object.symbols.push(NewSymbol::new("f", GLOBAL, 2, At::Absolute, 1));
    let bytes = object.build();
    let edits = Edits { drop_sections_with_prefix: names(&[".ascend.meta."]), ..Edits::default() };
    let after = read(&elf::edit(&bytes, &edits).unwrap());
    assert_eq!(after.sections.len(), 0);
    assert_eq!(after.symbols.len(), 2);
}

#[test]
fn sections_that_share_bytes_are_refused() {
    let mut bytes = sample().build();
    let sections = elf::sections(&bytes).unwrap();
    let [text, data] = [".text", ".data"].map(|name| sections.iter().position(|section| section.name == name).unwrap());
    let offset = sections[text].offset;
    let headers = u64::from_le_bytes(bytes[40..48].try_into().unwrap()) as usize;
    bytes[headers + 64 * data + 24..][..8].copy_from_slice(&offset.to_le_bytes());
    let rename = vec![("add".to_owned(), "sum".to_owned())];
    let error = elf::edit(&bytes, &Edits { rename, ..Edits::default() }).unwrap_err();
    assert!(matches!(error, ElfError::Malformed { field: "sh_offset", .. }), "{error}");
}
