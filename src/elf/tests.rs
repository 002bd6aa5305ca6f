//! Single facts about objects that are easily lost: limits, what is named in an error, what an added section changes.

use super::format::{SECTION_HEADER, kind, section_at, symbol_kind};
use super::limits::{MAX_ALIGNMENT, MAX_ROOM};
use super::*;
use crate::integration::elf_support::build::{
    self as objects, ALLOC, Extended, GLOBAL, LOCAL, NOBITS, Object, Place as At, Symbol as NewSymbol, WEAK,
};
use crate::integration::elf_support::{meaning, random};

const TEXT: usize = 0;
const ROOM: usize = 1;
const FUNCTION: u8 = 2;

/// Code with a relocation, room without bytes, a symbol of each binding and one from elsewhere.
fn object() -> Object {
    let mut room = objects::Section::new(".bss", ALLOC, Vec::new());
    (room.kind, room.memory) = (NOBITS, 64);
    let symbol = |name: &str, binding, place| NewSymbol::new(name, binding, FUNCTION, place, 0);
    Object {
        machine: 62,
        sections: vec![objects::Section::new(".text", ALLOC | 4, vec![0xc3; 16]).relocate(4, 2, 3, 0), room],
        symbols: vec![
            symbol("mine", LOCAL, At::Section(TEXT)),
            symbol("all", GLOBAL, At::Section(TEXT)),
            symbol("maybe", WEAK, At::Section(TEXT)),
            symbol("theirs", GLOBAL, At::Undefined),
        ],
        extended: Extended::Always,
        ..Object::default()
    }
}

/// Where a field of the first section of a kind is in the file.
fn field_of(bytes: &[u8], wanted: u32, field: u64) -> usize {
    let start = u64::from_le_bytes(bytes[40..48].try_into().unwrap()) as usize;
    let is_wanted = |header: &&[u8]| header[4..8] == wanted.to_le_bytes();
    let place = bytes[start..].chunks(SECTION_HEADER).position(|header| is_wanted(&header)).unwrap();
    start + place * SECTION_HEADER + field as usize
}

/// A change that gives symbols other numbers: everything is read for it.
fn removal() -> Edits {
    Edits { strip: vec!["maybe".to_owned()], ..Edits::default() }
}

#[test]
fn a_wrong_field_is_named_where_it_is() {
    let good = object().build();
    assert!(edit(&good, &removal()).is_ok());
    for (section, field, value) in [
        (kind::SYMTAB_SHNDX, section_at::SIZE, 4_u32),
        (kind::SYMTAB, section_at::LINK, 99),
        (kind::RELA, section_at::ENTSIZE, 16),
    ] {
        let mut bytes = good.clone();
        let place = field_of(&bytes, section, field);
        bytes[place..place + 4].copy_from_slice(&value.to_le_bytes());
        let Err(error) = edit(&bytes, &removal()) else { panic!("{field} of {section} may be {value}") };
        let ElfError::Malformed { offset, .. } = error else { panic!("{error}") };
        assert_eq!(offset, place as u64, "{error}");
    }
    // The real table becomes the second one.
    let mut bytes = good;
    let (place, second) =
        (field_of(&bytes, 1, section_at::TYPE), field_of(&bytes, kind::SYMTAB, section_at::TYPE) as u64);
    bytes[place..place + 4].copy_from_slice(&kind::SYMTAB.to_le_bytes());
    let error = symbols(&bytes).unwrap_err();
    assert!(matches!(error, ElfError::Unsupported { offset, field: "sh_type", .. } if offset == second), "{error}");
}

#[test]
fn a_common_symbol_with_a_strange_alignment_is_named_where_it_is() {
    let mut common = object();
    common.symbols.push(NewSymbol::new("common", GLOBAL, 1, At::Common, 3));
    let bytes = common.build();
    let table = field_of(&bytes, kind::SYMTAB, section_at::OFFSET);
    let table = u64::from_le_bytes(bytes[table..table + 8].try_into().unwrap());
    let edits = Edits { localize: Localize::Names(vec!["common".to_owned()]), ..Edits::default() };
    let error = edit(&bytes, &edits).unwrap_err();
    let ElfError::Malformed { offset, field: "st_value", .. } = error else { panic!("{error}") };
    // The fifth symbol behind the empty one; the value is 8 bytes into it.
    assert_eq!(offset, table + 5 * 24 + 8);
}

#[test]
fn symbols_say_who_sees_them() {
    let mut all = object();
    for (visibility, symbol) in all.symbols.iter_mut().enumerate() {
        symbol.visibility = visibility as u8;
    }
    let bytes = all.build();
    let found = symbols(&bytes).unwrap();
    let told: Vec<(String, String, Visibility, bool)> = found
        .iter()
        .map(|symbol| (symbol.name.to_string(), symbol.binding.to_string(), symbol.visibility, symbol.is_imported()))
        .collect();
    let expected = [
        ("mine", "local", Visibility::Default, false),
        ("all", "global", Visibility::Internal, false),
        ("maybe", "weak", Visibility::Hidden, false),
        ("theirs", "global", Visibility::Protected, true),
    ];
    assert_eq!(told, expected.map(|(name, binding, seen, from)| (name.to_owned(), binding.to_owned(), seen, from)));
    assert_eq!(Binding::Other(11).to_string(), "binding-11");
    // A reference without a name asks for nothing.
    all.symbols[3].name.clear();
    assert!(!symbols(&all.build()).unwrap()[3].is_imported());
}

#[test]
fn room_and_alignment_have_limits() {
    let refused = |change: &dyn Fn(&mut Object)| {
        let mut changed = object();
        change(&mut changed);
        let bytes = changed.build();
        let said = check_limits(&bytes).err();
        match &said {
            None => assert!(check_file_limits(&bytes).is_ok()),
            Some(error) => {
                assert!(error.is_excess(), "{error}");
                assert_eq!(check_file_limits(&bytes).unwrap_err().to_string(), error.to_string());
            }
        }
        said.map(|error| error.to_string())
    };
    let common = |size: u64, align: u64| {
        let mut symbol = NewSymbol::new("common", GLOBAL, symbol_kind::OBJECT, At::Common, align);
        symbol.size = size;
        symbol
    };
    assert_eq!(refused(&|_| {}), None);
    assert_eq!(refused(&|object| object.sections[TEXT].align = MAX_ALIGNMENT), None);
    let said = refused(&|object| object.sections[TEXT].align = 2 * MAX_ALIGNMENT).unwrap();
    assert!(said.starts_with("section `.text`: `sh_addralign`"), "{said}");
    assert_eq!(refused(&|object| object.sections[ROOM].memory = MAX_ROOM), None);
    let said = refused(&|object| object.sections[ROOM].memory = MAX_ROOM + 1).unwrap();
    assert!(said.starts_with("section `.bss`: `sh_size`"), "{said}");
    // Room that nobody loads, and bytes that are in the file, cost nothing.
    assert_eq!(
        refused(&|object| (object.sections[ROOM].flags, object.sections[ROOM].memory) = (0, 2 * MAX_ROOM)),
        None
    );
    // Together it counts.
    assert_eq!(refused(&|object| object.symbols.push(common(MAX_ROOM - 64, 8))), None);
    let said = refused(&|object| object.symbols.push(common(MAX_ROOM - 63, 8))).unwrap();
    assert!(said.starts_with("common symbol `common`: `st_size`"), "{said}");
    assert_eq!(refused(&|object| object.symbols.push(common(8, MAX_ALIGNMENT))), None);
    let said = refused(&|object| object.symbols.push(common(8, 2 * MAX_ALIGNMENT))).unwrap();
    assert!(said.starts_with("common symbol `common`: `st_value`"), "{said}");
}

#[test]
fn members_of_archives_have_limits_too() {
    let good = object().build();
    assert!(check_file_limits(&archive::write(&[("k.o", &good)]).unwrap()).is_ok());
    let mut large = object();
    large.sections[ROOM].memory = MAX_ROOM + 1;
    let packed = archive::write(&[("k.o", &good), ("large.o", &large.build())]).unwrap();
    let said = check_file_limits(&packed).unwrap_err().to_string();
    assert!(said.contains("large.o") && said.contains("`.bss`"), "{said}");
}

fn added(name: &'static str, bytes: &[u8]) -> AddedSection {
    AddedSection { name, bytes: bytes.to_vec() }
}

#[test]
fn an_added_section_changes_nothing_else() {
    let before = normalized(object().build(), &[]).unwrap();
    let after = normalized(before.clone(), &[added(".more", b"some bytes"), added(".last", b"")]).unwrap();
    assert_eq!(section_bytes(&after, ".more").unwrap(), Some(&b"some bytes"[..]));
    assert_eq!(symbols(&after).unwrap(), symbols(&before).unwrap());
    let (old, new) = (sections(&before).unwrap(), sections(&after).unwrap());
    assert_eq!(new.len(), old.len() + 2);
    for (old, new) in old.iter().zip(&new) {
        assert_eq!((&old.name, old.flags), (&new.name, new.flags));
        if old.name != ".shstrtab" {
            assert_eq!(section_bytes(&before, &old.name).unwrap(), section_bytes(&after, &new.name).unwrap());
        }
    }
    let [more, last] = &new[old.len()..] else { panic!("{new:?}") };
    assert_eq!((more.name.as_ref(), more.flags, more.size), (".more", 0, 10));
    assert_eq!((last.name.as_ref(), last.flags, last.size), (".last", 0, 0));
    // The bytes do not tell when the section came.
    let (first, second) = ([added(".more", b"some bytes")], [added(".last", b"")]);
    assert!(normalized(normalized(before, &first).unwrap(), &second).unwrap() == after);
}

#[test]
fn a_file_without_names_of_sections_gets_no_section() {
    let mut bytes = object().build();
    bytes[62..64].fill(0);
    let said = normalized(bytes.clone(), &[added(".more", b"x")]).unwrap_err().to_string();
    assert!(said.contains("a table of section names"), "{said}");
    assert!(normalized(bytes.clone(), &[]).is_ok());
    // No sections at all.
    bytes[40..48].fill(0);
    bytes[60..62].fill(0);
    let said = normalized(bytes.clone(), &[added(".more", b"x")]).unwrap_err().to_string();
    assert!(said.contains("a table of section names"), "{said}");
}

#[test]
fn what_the_file_needs_is_not_dropped() {
    let refusal = |object: &Object, name: &str| {
        let edits = Edits { drop_sections_with_prefix: vec![name.to_owned()], ..Edits::default() };
        edit(&object.build(), &edits).map(drop).unwrap_err().to_string()
    };
    let full = object();
    for name in [".symtab_shndx", ".shstrtab"] {
        assert!(refusal(&full, name).contains("the file needs it"), "{name}");
    }
    for name in [".symtab", ".strtab"] {
        assert!(refusal(&full, name).contains("refers to it"), "{name}");
    }
    // Also where nobody refers to it.
    let mut alone = Object { extended: Extended::WhenNeeded, ..full };
    alone.sections[TEXT].relocations.clear();
    assert!(refusal(&alone, ".symtab").contains("the file needs it"));
}

/// Only what says that it describes a section goes with it.
#[test]
fn a_section_that_names_a_dropped_one_keeps_it() {
    const LINK_ORDER: u64 = 0x80;
    for (flags, goes) in [(LINK_ORDER, true), (0, false)] {
        let mut described = object();
        let mut about = objects::Section::new(".about", flags, vec![1; 4]);
        about.describes = Some(2);
        described.sections.extend([objects::Section::new(".extra", 0, vec![2; 4]), about]);
        let bytes = described.build();
        let edits = Edits { drop_sections_with_prefix: vec![".extra".to_owned()], ..Edits::default() };
        let edited = edit(&bytes, &edits).map(std::borrow::Cow::into_owned);
        match edited {
            Ok(edited) => assert!(goes && section_bytes(&edited, ".about").unwrap().is_none()),
            Err(error) => assert!(!goes && matches!(error, ElfError::DropRefused { .. }), "{error}"),
        }
    }
}

#[test]
fn a_name_that_does_not_end_is_told() {
    let mut bytes = object().build();
    let place = field_of(&bytes, kind::STRTAB, section_at::SIZE);
    bytes[place] -= 1;
    let said = symbols(&bytes).unwrap_err().to_string();
    assert!(said.contains("the name does not end inside of the string table"), "{said}");
}

#[test]
fn an_empty_section_may_be_anywhere() {
    let mut bytes = object().build();
    // The first section there is, made empty.
    let place = field_of(&bytes, 1, section_at::OFFSET);
    bytes[place..place + 8].copy_from_slice(&(1_u64 << 40).to_le_bytes());
    assert!(section_bytes(&bytes, ".text").is_err());
    bytes[place + 8..place + 16].fill(0);
    assert_eq!(section_bytes(&bytes, ".text").unwrap(), Some(&[][..]));
}

/// Names of 70,000 letters in the table and among the new ones: their sum is far from 4 GB.
#[test]
fn long_names_fit() {
    let (old, new) = ("o".repeat(70_000), "n".repeat(70_000));
    let mut long = object();
    long.symbols[1].name = old.clone();
    let bytes = long.build();
    let edits = Edits { rename: vec![(old, new.clone())], ..Edits::default() };
    let edited = edit(&bytes, &edits).unwrap();
    assert_eq!(symbols(&edited).unwrap()[1].name, new);
}

/// A rename to the same name makes no second symbol of that name, whatever was there before.
#[test]
fn a_name_that_stays_is_no_duplicate() {
    let mut double = object();
    double.symbols[2] = NewSymbol::new("all", WEAK, FUNCTION, At::Section(TEXT), 8);
    let bytes = double.build();
    let stays = ("all".to_owned(), "all".to_owned());
    let moves = ("theirs".to_owned(), "ours".to_owned());
    assert_eq!(edit(&bytes, &Edits { rename: vec![stays.clone()], ..Edits::default() }).unwrap(), bytes);
    let edited = edit(&bytes, &Edits { rename: vec![stays, moves], ..Edits::default() }).unwrap().into_owned();
    let names: Vec<String> = symbols(&edited).unwrap().iter().map(|symbol| symbol.name.to_string()).collect();
    assert_eq!(names, ["mine", "all", "all", "ours"]);
}

#[test]
fn a_normalized_file_means_the_same_and_forgets_what_it_was_called() {
    let renamed = |bytes: &[u8], from: &str, to: &str| {
        let rename = vec![(from.to_owned(), to.to_owned())];
        edit(bytes, &Edits { rename, missing: Missing::Ignore, ..Edits::default() }).map(|bytes| bytes.into_owned())
    };
    let meaning = |bytes: &[u8]| {
        let mut meaning = meaning::read(bytes);
        meaning.symbols.sort_by_key(|symbol| format!("{symbol:?}"));
        meaning
    };
    let mut same = 0;
    for seed in 0..200 {
        let bytes = random::object(seed).build();
        let once = normalized(bytes.clone(), &[]).unwrap();
        assert_eq!(normalized(once.clone(), &[]).unwrap(), once, "seed {seed}");
        assert_eq!(meaning(&once), meaning(&bytes), "seed {seed}");
        let Ok(other) = renamed(&bytes, "f", "another_name") else { continue };
        let back = renamed(&other, "another_name", "f").unwrap();
        // A group whose signature was renamed is no longer one of those that linkers keep one of.
        if meaning(&back) == meaning(&bytes) {
            assert!(normalized(back, &[]).unwrap() == once, "seed {seed}");
            same += 1;
        }
    }
    assert!(same > 50, "{same}");
}
