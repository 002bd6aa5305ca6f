//! Device files, each with one thing broken: what the loader's view says.

use super::loader::problems;
use crate::elf::DEVICE_MACHINE;
use crate::integration::elf_support::build as objects;
use crate::link::{self, Input, LinkOptions, OutputKind};
use crate::locate::{CodeMap, MappedCopy, MappedFunction};
use objects::{ALLOC, GLOBAL, Group, LOCAL, Object, Place, Section, Symbol, WEAK};

const EXECUTABLE: u64 = 4;
const FUNCTION: u8 = 2;
const DATA: u8 = 1;
const SHARED: &str = "g_super_kernel_dynamic_block_num";

fn symbol(name: &str, binding: u8, kind: u8, section: usize, value: u64) -> Symbol {
    Symbol::new(name, binding, kind, Place::Section(section), value)
}

/// An object with an entry that calls a function, and a shared block-local variable of four bytes.
fn good() -> Object {
    let text = Section::new(".text", ALLOC | EXECUTABLE, vec![0; 16]).relocate(0, 0x11b, 1, 0).relocate(4, 0x123, 2, 0);
    Object {
        machine: DEVICE_MACHINE,
        sections: vec![
            text,
            Section::new(".bl.uninit.shared", ALLOC | 1, vec![0; 4]),
            Section::new(".ascend.stack.size.record", 0, 0x8000_u64.to_le_bytes().to_vec()),
            Section::new(".bl.uninit.more", ALLOC | 1, vec![0; 4]),
        ],
        symbols: vec![
            symbol("k_mix_aiv", GLOBAL, FUNCTION, 0, 0),
            symbol("inner", LOCAL, FUNCTION, 0, 8),
            symbol(SHARED, WEAK, DATA, 1, 0),
        ],
        groups: vec![Group { signature: 2, members: vec![1], comdat: true }],
        ..Object::default()
    }
}

/// `e_flags` of a vector core of c220.
fn with_flags(mut file: Vec<u8>) -> Vec<u8> {
    file[48..52].copy_from_slice(&0x93_0000_u32.to_le_bytes());
    file
}

fn linked(object: &Object) -> Vec<u8> {
    let bytes = object.build();
    let kind = OutputKind::Device(link::KeptRelocations::Keep);
    let options = LinkOptions { kind, ..LinkOptions::default() };
    with_flags(link::link(&[Input { name: "k.o", bytes: &bytes }], &options).unwrap())
}

fn said(file: &[u8]) -> Vec<String> {
    problems(file, &["k_mix_aiv".to_owned()]).unwrap()
}

/// What is said of a good file with one change before it is linked.
fn broken(damage: impl Fn(&mut Object)) -> Vec<String> {
    let mut object = good();
    damage(&mut object);
    said(&linked(&object))
}

#[test]
fn a_good_file_passes() {
    assert_eq!(said(&linked(&good())), [""; 0]);
}

#[test]
fn a_file_that_is_not_linked() {
    let found = said(&with_flags(good().build()));
    assert!(found.contains(&"the file is not linked: its `e_type` is 1".to_owned()), "{found:?}");
}

#[test]
fn another_global_function_would_be_a_kernel() {
    let wanted = ["the loader would take function `inner` for a kernel"];
    assert_eq!(broken(|object| object.symbols[1].binding = GLOBAL), wanted);
    // Weak and hidden ones are none.
    assert_eq!(broken(|object| object.symbols[1].binding = WEAK), [""; 0]);
}

#[test]
fn a_shared_variable_has_one_address() {
    let found = broken(|object| object.symbols.push(symbol(SHARED, LOCAL, DATA, 3, 0)));
    assert_eq!(found, [format!("shared variable `{SHARED}` has 2 addresses")]);
    // Others may have several.
    assert_eq!(broken(|object| object.symbols.extend([1, 3].map(|at| symbol("own", LOCAL, DATA, at, 0)))), [""; 0]);
}

#[test]
fn block_local_memory_has_an_end() {
    let found = broken(|object| object.sections[3].data = vec![0; 4096]);
    assert_eq!(found, ["block-local variables take 4104 bytes of 4096"]);
    let mut far = symbol("far", LOCAL, DATA, 3, 4);
    far.size = 8;
    let found = broken(|object| object.symbols.push(far.clone()));
    assert_eq!(found, ["block-local variable `far` ends outside of its memory"]);
}

#[test]
fn all_stacks_are_alike() {
    let small = 0x4000_u64.to_le_bytes();
    let found = broken(|object| object.sections[2].data.extend_from_slice(&small));
    assert_eq!(found, ["1 functions need a stack of 0x4000 bytes instead of 0x8000"]);
    // No record at all is usual.
    assert_eq!(broken(|object| object.sections[2].data.clear()), [""; 0]);
}

#[test]
fn what_is_stored_is_what_relocations_say() {
    let mut file = linked(&good());
    let text = crate::elf::sections(&file).unwrap()[1].offset as usize;
    file[text] ^= 1;
    assert_eq!(said(&file), ["reference to `inner` at 0x0 of `.text`: something else is stored there"]);
}

/// A good file with a map: its first eight bytes are of an op, the rest is the super kernel's own.
fn with_map(object: &Object, own: bool) -> Vec<u8> {
    let copies = vec![MappedCopy { symbol: "f".to_owned(), code: Some((".text".to_owned(), 0, 8)) }];
    let function = MappedFunction { kind: "aiv".to_owned(), ops: if own { Vec::new() } else { vec![1] }, copies };
    let ops = vec![(0, "first".to_owned()), (7, "second".to_owned())];
    let map = CodeMap::new("k", ops, vec![function]);
    crate::elf::normalized(linked(object), &[map.section()]).unwrap()
}

#[test]
fn whose_code_it_is_stands_in_the_message() {
    for (own, owner) in [(false, "op 7 (`second`)"), (true, "the super kernel itself")] {
        let mut file = with_map(&good(), own);
        assert_eq!(said(&file), [""; 0]);
        let text = crate::elf::sections(&file).unwrap()[1].offset as usize;
        file[text] ^= 1;
        let wanted =
            format!("reference to `inner` at 0x0 of `.text`, in the code of {owner}: something else is stored there");
        assert_eq!(said(&file), [wanted]);
    }
}

#[test]
fn variables_in_no_section_end_the_loaders_walk() {
    let mut number = symbol("number", GLOBAL, DATA, 0, 7);
    number.place = Place::Absolute;
    let found = broken(|object| object.symbols.push(number.clone()));
    assert_eq!(found, ["variable `number` is in no section: the loader stops there"]);
}

#[test]
fn nothing_stays_undefined_but_what_the_loader_fills_in() {
    let undefined = |name: &str| {
        let mut object = good();
        object.symbols.push(Symbol::new(name, GLOBAL, 0, Place::Undefined, 0));
        let mut file = with_flags(object.build());
        file[16] = 2;
        said(&file).into_iter().filter(|problem| problem.starts_with("no definition")).collect::<Vec<_>>()
    };
    assert_eq!(undefined("helper"), ["no definition of `helper`"]);
    assert_eq!(undefined("g_sysPrintFifoSpace"), [""; 0]);
}
