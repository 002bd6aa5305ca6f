//! What is linked for a device and how, and what of joining random objects do not show.

use super::device::Relocation as Stored;
use super::*;
use crate::elf::{self, DEVICE_MACHINE, Localize};
use crate::integration::elf_support::build as objects;
use crate::integration::elf_support::meaning;
use objects::{ALLOC, GLOBAL, Group, LOCAL, NOBITS, Object, Place, RelocationForm, Section, Symbol, WEAK};

const WRITE: u64 = 1;
const EXECUTABLE: u64 = 4;
const FUNCTION: u8 = 2;
const DATA: u8 = 1;
const DEVICE: OutputKind = OutputKind::Device(KeptRelocations::Keep);

/// Code of `words` zero instructions.
fn code(words: usize) -> Section {
    let mut section = Section::new(".text", ALLOC | EXECUTABLE, vec![0; 4 * words]);
    section.align = 4;
    section
}

/// A block-local variable as the device compiler makes it: the section, and its group.
fn block_local(object: &mut Object, name: &str, size: usize) -> usize {
    object.sections.push(Section::new(&format!(".bl.uninit.{name}"), ALLOC | WRITE, vec![0; size]));
    let section = object.sections.len() - 1;
    let mut symbol = Symbol::new(name, WEAK, DATA, Place::Section(section), 0);
    symbol.size = size as u64;
    object.symbols.push(symbol);
    let signature = object.symbols.len() - 1;
    object.groups.push(Group { signature, members: vec![section], comdat: true });
    signature
}

fn device_object() -> Object {
    Object { machine: DEVICE_MACHINE, ..Object::default() }
}

fn symbol(name: &str, binding: u8, kind: u8, section: usize, value: u64) -> Symbol {
    Symbol::new(name, binding, kind, Place::Section(section), value)
}

fn linked(objects: &[&Object], options: &LinkOptions) -> Result<Vec<u8>, LinkError> {
    let bytes: Vec<Vec<u8>> = objects.iter().map(|object| object.build()).collect();
    let names = ["a.o", "b.o", "c.o"];
    let inputs: Vec<Input<'_>> = bytes.iter().zip(names).map(|(bytes, name)| Input { name, bytes }).collect();
    link(&inputs, options)
}

fn for_device(objects: &[&Object]) -> Result<Vec<u8>, LinkError> {
    linked(objects, &LinkOptions { kind: DEVICE, ..LinkOptions::default() })
}

fn joined(objects: &[&Object]) -> Vec<u8> {
    linked(objects, &LinkOptions::default()).unwrap()
}

/// Address, size and offset of a section.
fn place(file: &[u8], name: &str) -> (u64, u64, u64) {
    let found = elf::sections(file).unwrap().into_iter().find(|section| section.name == name);
    found.map(|section| (section.address, section.size, section.offset)).unwrap_or_else(|| panic!("no {name}"))
}

fn value(file: &[u8], name: &str) -> u64 {
    elf::symbols(file).unwrap().into_iter().find(|symbol| symbol.name == name).unwrap().value
}

fn word(file: &[u8], section: &str, offset: usize) -> u32 {
    let bytes = elf::section_bytes(file, section).unwrap().unwrap();
    u32::from_le_bytes(bytes[offset..offset + 4].try_into().unwrap())
}

/// Two objects that call each other, share a block-local variable and have data.
fn pair() -> [Object; 2] {
    let mut first = device_object();
    first.sections = vec![code(8), Section::new(".data", ALLOC | WRITE, vec![7; 8])];
    first.symbols = vec![
        symbol("first", GLOBAL, FUNCTION, 0, 0),
        Symbol::new("second", GLOBAL, 0, Place::Undefined, 0),
        symbol("numbers", GLOBAL, DATA, 1, 4),
    ];
    let shared = block_local(&mut first, "shared", 8);
    first.sections[0] = code(8).relocate(0, 0x11b, 1, 0).relocate(4, 0x123, shared, 4).relocate(8, 0x15c, 2, 0);
    let mut second = device_object();
    second.sections = vec![code(4)];
    second.symbols =
        vec![symbol("second", GLOBAL, FUNCTION, 0, 4), Symbol::new("first", GLOBAL, 0, Place::Undefined, 0)];
    second.symbols[0].size = 12;
    let own = block_local(&mut second, "own", 16);
    let shared = block_local(&mut second, "shared", 8);
    second.sections[0] = code(4).relocate(0, 0x123, own, 0).relocate(4, 0x123, shared, 0).relocate(8, 0x11b, 1, 0);
    [first, second]
}

#[test]
fn a_device_file_has_addresses_and_one_of_each_shared_variable() {
    let [first, second] = pair();
    let file = for_device(&[&first, &second]).unwrap();
    let headers = 64 + 3 * 56;
    assert_eq!(place(&file, ".text"), (0, 48, headers));
    assert_eq!(place(&file, ".data"), (0x1000, 8, 0x1000 + headers));
    let (address, size, _) = place(&file, ".bl_uninit");
    assert_eq!((address, size), (0, 24));
    assert_eq!((value(&file, "shared"), value(&file, "own")), (0, 8));
    assert_eq!((value(&file, "first"), value(&file, "second"), value(&file, "numbers")), (0, 36, 0x1004));
    // The call from 0 to 36, in instructions.
    assert_eq!(word(&file, ".text", 0), 9);
    assert_eq!(word(&file, ".text", 4), 4);
    // From behind the instructions that make the address.
    assert_eq!((word(&file, ".text", 8), word(&file, ".text", 12)), (0x1004 - 8 - 16, 0));
    assert_eq!((word(&file, ".text", 32), word(&file, ".text", 36)), (8, 0));
    assert_eq!(word(&file, ".text", 40), 0x1_0000 - 10);
    let elf::Identity { kind, machine, .. } = elf::identity(&file).unwrap();
    assert_eq!((kind, machine), (2, DEVICE_MACHINE));
    // `.rela.text` is still there, unless nobody wants it.
    assert_eq!(place(&file, ".rela.text").1, 6 * 24);
    let kind = OutputKind::Device(KeptRelocations::Drop);
    let bare = linked(&[&first, &second], &LinkOptions { kind, ..LinkOptions::default() }).unwrap();
    assert!(elf::sections(&bare).unwrap().iter().all(|section| !section.name.starts_with(".rela")));
    assert_eq!(elf::section_bytes(&bare, ".text"), elf::section_bytes(&file, ".text"));
}

/// Two objects with one group, of which only the second defines `extra`, and a third that refers to it weakly.
fn with_a_name_that_is_left_out(used: bool) -> [Object; 3] {
    let with_group = |names: &[&str]| {
        let mut object = Object { machine: 62, ..Object::default() };
        object.sections = vec![code(4), Section::new(".text.shared", ALLOC | EXECUTABLE, vec![0; 16])];
        object.symbols = names.iter().map(|name| symbol(name, GLOBAL, FUNCTION, 1, 0)).collect();
        object.symbols[0].binding = WEAK;
        object.groups = vec![Group { signature: 0, members: vec![1], comdat: true }];
        object
    };
    let (first, mut second) = (with_group(&["shared"]), with_group(&["shared", "extra"]));
    if used {
        second.sections[0] = code(4).relocate(0, 2, 1, 0);
    }
    let mut third = Object { machine: 62, ..Object::default() };
    third.symbols = vec![Symbol::new("extra", WEAK, 0, Place::Undefined, 0)];
    third.sections = vec![code(4).relocate(0, 2, 0, 0)];
    [first, second, third]
}

#[test]
fn a_weak_reference_stays_weak_unless_code_needs_the_name() {
    let binding = |objects: &[&Object]| {
        let file = joined(objects);
        let found = elf::symbols(&file).unwrap().into_iter().find(|symbol| symbol.name == "extra").unwrap();
        assert_eq!(found.place, elf::Place::Undefined);
        found.binding
    };
    for (used, wanted) in [(false, elf::Binding::Weak), (true, elf::Binding::Global)] {
        let [first, second, third] = with_a_name_that_is_left_out(used);
        assert_eq!(binding(&[&first, &second, &third]), wanted);
        assert_eq!(binding(&[&third, &first, &second]), wanted);
    }
    // Nobody else speaks of it: it is what its definition was.
    let [first, second, _] = with_a_name_that_is_left_out(false);
    assert_eq!(binding(&[&first, &second]), elf::Binding::Global);
}

#[test]
fn what_is_hidden_is_local_in_the_result() {
    let [first, second] = pair();
    let names = |localize: Localize| -> Vec<String> {
        let file = linked(&[&first, &second], &LinkOptions { kind: DEVICE, localize, ..LinkOptions::default() });
        let file = file.unwrap();
        let symbols = elf::symbols(&file).unwrap();
        symbols.iter().filter(|symbol| symbol.is_exported()).map(|symbol| symbol.name.to_string()).collect()
    };
    assert_eq!(names(Localize::None), ["first", "second", "numbers", "shared", "own"]);
    assert_eq!(names(Localize::Names(vec!["second".into(), "absent".into()])), ["first", "numbers", "shared", "own"]);
    assert_eq!(names(Localize::AllDefinedExcept(vec!["first".into()])), ["first"]);
}

#[test]
fn what_a_device_does_not_need_is_left_out() {
    let [mut first, _] = pair();
    first.symbols[1].place = Place::Section(0);
    for name in [".ascendc_tiling.T", ".note.GNU-stack"] {
        first.sections.push(Section::new(name, ALLOC, vec![1; 8]));
    }
    first.sections.push(Section::new(".rodata.cst", ALLOC, vec![2; 8]));
    let mut zeros = Section::new(".bss.zeros", ALLOC | WRITE, Vec::new());
    (zeros.kind, zeros.memory) = (NOBITS, 32);
    first.sections.push(zeros);
    first.symbols.push(Symbol::new("common", GLOBAL, DATA, Place::Common, 16));
    let file = for_device(&[&first]).unwrap();
    let names: Vec<String> = elf::sections(&file).unwrap().iter().map(|section| section.name.to_string()).collect();
    let wanted = [
        "",
        ".text",
        ".rodata",
        ".data",
        ".bss",
        ".bss",
        ".rela.text",
        ".bl_uninit",
        ".symtab",
        ".shstrtab",
        ".strtab",
    ];
    assert_eq!(names, wanted);
    assert_eq!(place(&file, ".rodata").0, 32);
    // The loader copies from the file, so that zeros are in it.
    assert_eq!(elf::section_bytes(&file, ".bss").unwrap().unwrap(), [0; 32]);
    assert_eq!(value(&file, "common") % 16, 0);
}

/// What an object cannot be linked for a device for, as text.
fn refused(damage: impl Fn(&mut Object, &mut Object)) -> String {
    let [mut first, mut second] = pair();
    damage(&mut first, &mut second);
    for_device(&[&first, &second]).unwrap_err().to_string()
}

#[test]
fn what_does_not_fit_is_said_with_names_and_numbers() {
    let far = refused(|first, _| {
        let relocations = first.sections[0].relocations.clone();
        first.sections[0] = code(40_000);
        first.sections[0].relocations = relocations;
    });
    assert_eq!(
        far,
        "`a.o`: `first` refers to `second` at offset 0x0: a call needs 160004, and -131072 to 131068 is possible\n  \
         `b.o`: `second` refers to `first` at offset 0x8: a call needs -160008, and -131072 to 131068 is possible"
    );
    let full = refused(|first, _| first.sections[2].data = vec![0; 5000]);
    assert_eq!(
        full,
        "`b.o`: `.text` refers to `own` at offset 0x0: the offset of a block-local variable needs 5000, and 0 to 4095 is possible"
    );
    assert_eq!(
        refused(|first, _| first.sections[0].relocations[0].kind = 0x777),
        "`a.o`: `first` refers to `second` at offset 0x0: relocation type 0x777 is not known"
    );
    assert_eq!(
        refused(|first, _| first.sections[0].relocations[2].offset = 24),
        "`a.o`: `.text` refers to `numbers` at offset 0x18: the place is outside of the section's 32 bytes"
    );
    assert_eq!(
        refused(|first, _| first.sections[0].relocations[0].addend = 2),
        "`a.o`: `first` refers to `second` at offset 0x0: 38 bytes are not a multiple of an instruction"
    );
}

#[test]
fn objects_that_do_not_go_together_are_refused() {
    assert_eq!(
        refused(|_, second| second.symbols[0].place = Place::Undefined),
        "no definition of `second` (needed by `a.o`)"
    );
    assert_eq!(
        refused(|_, second| second.symbols[1].place = Place::Section(0)),
        "`first` is defined by `a.o` and by `b.o`"
    );
    assert_eq!(
        refused(|_, second| second.machine = 62),
        "`b.o` is an object of machine 0x3e: only those of AI cores (0x1029) can be linked for a device"
    );
    let [first, mut second] = pair();
    second.machine = 62;
    let error = linked(&[&first, &second], &LinkOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), "`b.o` cannot be linked with `a.o`: its `e_machine` is 0x3e instead of 0x1029");
    assert_eq!(link(&[], &LinkOptions::default()), Err(LinkError::NoObjects));
    let file = for_device(&[&pair()[0], &pair()[1]]).unwrap();
    let again = link(&[Input { name: "k.o", bytes: &file }], &LinkOptions::default()).unwrap_err();
    assert_eq!(again.to_string(), "`k.o` is not a relocatable object: its `e_type` is 2");
}

#[test]
fn every_relocation_is_stored_where_it_belongs() {
    let stored = |kind: u32, target: i128, place: u64| -> Result<String, Unfit> {
        let relocation = Stored::of(kind).unwrap();
        // Everything around is set, and has to stay.
        let mut field = vec![0xff; relocation.length()];
        relocation.apply(&mut field, target, place)?;
        Ok(field.iter().map(|byte| format!("{byte:02x}")).collect())
    };
    assert_eq!(stored(0x123, 0xabc, 0), Ok("bcfaffff".into()));
    assert_eq!(stored(0x11b, 0x1000, 0x1010), Ok("fcffffff".into()));
    assert_eq!(stored(0x13a, 0x4_0000_000c, 0), Ok("0000ffff0000ffff0100ffff".into()));
    assert_eq!(stored(0x15c, 0x1234_5678_9abc, 0xc), Ok("a09affff7856ffff3412ffff0000ffff".into()));
    assert_eq!(stored(0x11d, 0x22758, 0x74), Ok("2200ffff".into()));
    assert_eq!(stored(0x11e, 0x22758, 0x78), Ok("58f7ffff".into()));
    assert_eq!(stored(0x137, 0x108, 0), Ok("ffffff00010000ff".into()));
    assert_eq!(stored(0x101, 0x0102_0304_0506_0708, 9), Ok("0807060504030201".into()));
    assert_eq!(stored(0x102, 0x0102_0304, 9), Ok("04030201".into()));
    assert_eq!(stored(0, 1, 1), Ok(String::new()));
    // The last that fit, and the first that do not.
    for (kind, lowest, highest, step) in [
        (0x123, 0, 4095, 1),
        (0x11b, -131_072, 131_068, 4),
        (0x102, i128::from(i32::MIN), i128::from(u32::MAX), 1),
        (0x137, i128::from(i32::MIN) + 8, i128::from(i32::MAX) + 8, 1),
    ] {
        for (target, fits) in [(lowest, true), (highest, true), (lowest - step, false), (highest + step, false)] {
            assert_eq!(stored(kind, target, 0).is_ok(), fits, "{kind:#x} {target}");
        }
    }
    assert_eq!(stored(0x11d, 0x22758, 0x1000), Err(Unfit::Unproven { kind: 0x11d }));
    assert_eq!(Stored::of(0x999), None);
}

/// An object of the host with a function and a reference to it by its section.
fn host(name: &str, form: RelocationForm) -> Object {
    let mut object = Object { machine: 62, ..Object::default() };
    let mut text = Section::new(".text", ALLOC | EXECUTABLE, vec![0; 16]);
    text.form = form;
    text.relocations.push(objects::Relocation { offset: 8, kind: 1, symbol: 0, addend: 3 });
    object.sections = vec![text];
    object.symbols = vec![symbol("", LOCAL, 3, 0, 0), symbol(name, GLOBAL, FUNCTION, 0, 0)];
    object
}

#[test]
fn relocations_without_addend_get_a_symbol_where_their_part_begins() {
    let forms = [RelocationForm::Rela, RelocationForm::Rel];
    for form in forms {
        let file = joined(&[&host("f", RelocationForm::Rela), &host("g", form)]);
        let found = meaning::read(&file);
        let moved = found.relocations.iter().find(|relocation| relocation.offset == 24).unwrap();
        match form {
            RelocationForm::Rela => assert_eq!((moved.addend, moved.symbol.value, moved.symbol.kind), (Some(19), 0, 3)),
            RelocationForm::Rel => assert_eq!((moved.addend, moved.symbol.value, moved.symbol.kind), (None, 16, 0)),
        }
    }
}

#[test]
fn a_group_that_hides_something_is_no_longer_interchangeable() {
    let mut object = host("f", RelocationForm::Rela);
    block_local(&mut object, "shared", 8);
    let is_comdat = |localize: Localize| {
        let file = linked(&[&object], &LinkOptions { localize, ..LinkOptions::default() }).unwrap();
        meaning::read(&file).groups[0].comdat
    };
    assert!(is_comdat(Localize::None));
    assert!(is_comdat(Localize::Names(vec!["f".into()])));
    assert!(!is_comdat(Localize::AllDefinedExcept(vec!["f".into()])));
}

#[test]
fn common_symbols_take_the_largest_and_get_room_when_they_are_hidden() {
    let [mut first, mut second] = [host("f", RelocationForm::Rela), host("g", RelocationForm::Rela)];
    let common = |size, align| {
        let mut symbol = Symbol::new("buffer", GLOBAL, DATA, Place::Common, align);
        symbol.size = size;
        symbol
    };
    first.symbols.push(common(8, 16));
    second.symbols.push(common(24, 4));
    let open = joined(&[&first, &second]);
    let symbols = elf::symbols(&open).unwrap();
    let buffer = symbols.iter().find(|symbol| symbol.name == "buffer").unwrap();
    assert_eq!((buffer.place, buffer.value, buffer.size), (elf::Place::Common, 16, 24));
    let options = LinkOptions { localize: Localize::Names(vec!["buffer".into()]), ..LinkOptions::default() };
    let hidden = linked(&[&first, &second], &options).unwrap();
    assert_eq!(place(&hidden, ".bss").1, 24);
    assert!(!elf::symbols(&hidden).unwrap().iter().any(|symbol| symbol.is_exported() && symbol.name == "buffer"));
}

#[test]
fn what_describes_a_section_goes_with_it() {
    let with_note = |name: &str| {
        let mut object = host(name, RelocationForm::Rela);
        let mut note = Section::new(".notes_of", ALLOC | 0x80, vec![1; 8]);
        note.describes = Some(0);
        object.sections.push(note);
        object.groups.push(Group { signature: 1, members: vec![0], comdat: true });
        object
    };
    // Two functions of one name in groups of that name: the first stays, and so does what is said of it.
    let mut second = with_note("f");
    second.sections[0].relocations.clear();
    let file = joined(&[&with_note("f"), &second]);
    let found = meaning::read(&file);
    let notes: Vec<_> = found.sections.iter().filter(|section| section.name == ".notes_of").collect();
    assert_eq!(notes.len(), 1);
    assert_eq!(found.sections[notes[0].about.unwrap()].name, ".text");
}

#[test]
fn more_sections_than_the_header_can_count() {
    let mut object = host("f", RelocationForm::Rela);
    object.sections.extend((0..66_000).map(|number| Section::new(&format!(".s{number}"), 0, vec![1])));
    object.symbols.push(symbol("last", GLOBAL, DATA, 66_000, 0));
    let file = joined(&[&object, &host("g", RelocationForm::Rela)]);
    let symbols = elf::symbols(&file).unwrap();
    let last = symbols.iter().find(|symbol| symbol.name == "last").unwrap();
    let elf::Place::Section(section) = last.place else { panic!("{last:?}") };
    assert_eq!(elf::sections(&file).unwrap()[section].name, ".s65999");
    object.machine = DEVICE_MACHINE;
    object.sections[0].relocations.clear();
    let error = for_device(&[&object]).unwrap_err().to_string();
    assert!(error.ends_with("sections, more than the 65279 that the loader takes"), "{error}");
}
