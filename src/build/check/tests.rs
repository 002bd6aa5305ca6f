//! Finished kernels, each with one thing broken: what the check says.

use super::*;
use crate::integration::elf_support::build as objects;
use objects::{ALLOC, GLOBAL, LOCAL, Object, Place, Section, Symbol, WEAK};

const EXECUTABLE: u64 = 4;
const FUNCTION: u8 = 2;
const DATA: u8 = 1;
const TEXT: usize = 0;
const META: [usize; 2] = [2, 3];
/// Positions of the symbols in a good object.
const AIC_ENTRY: usize = 0;
const AIV_ENTRY: usize = 1;
const CONFIG: usize = 2;
const INNER: usize = 3;

/// A mixed super kernel `k` with an inner function, as a build leaves it.
fn good() -> Object {
    let meta = LaunchMeta::of(SuperKernelType::Mix1_2.kernel_type()).to_bytes();
    let symbol = |name: &str, binding, kind, section| Symbol::new(name, binding, kind, Place::Section(section), 0);
    Object {
        machine: 62,
        sections: vec![
            Section::new(".text", ALLOC | EXECUTABLE, vec![0xc3; 40]),
            Section::new(".data", ALLOC, vec![0; 16]),
            Section::new(".ascend.meta.k_mix_aic", 0, meta.to_vec()),
            Section::new(".ascend.meta.k_mix_aiv", 0, meta.to_vec()),
            Section::new(".text.more", ALLOC | EXECUTABLE, vec![0xc3; 2]),
        ],
        symbols: vec![
            symbol("k_mix_aic", GLOBAL, FUNCTION, TEXT),
            symbol("k_mix_aiv", GLOBAL, FUNCTION, TEXT),
            symbol(RUN_CONFIG, GLOBAL, DATA, 1),
            symbol("add", LOCAL, FUNCTION, TEXT),
        ],
        ..Object::default()
    }
}

fn checked(object: &[u8], toolchain: ToolchainKind) -> Result<Sizes, Vec<String>> {
    let inner = ["add".to_owned()];
    check(object, "k", SuperKernelType::Mix1_2, &inner, toolchain).map_err(|error| {
        let BuildError::Check { kernel, problems } = error else { panic!("{error}") };
        assert_eq!(kernel, "k");
        problems
    })
}

/// What is said about a good object with one change, whoever linked it.
fn problems(damage: impl Fn(&mut Object)) -> Vec<String> {
    let mut object = good();
    damage(&mut object);
    let bytes = object.build();
    let [host, cann] = [ToolchainKind::Host, ToolchainKind::Cann].map(|toolchain| checked(&bytes, toolchain));
    assert_eq!(host, cann);
    host.expect_err("a damaged object")
}

#[test]
fn a_good_object_passes_and_is_measured() {
    let bytes = good().build();
    let sizes = checked(&bytes, ToolchainKind::Host).unwrap();
    let symbols = elf::symbols(&bytes).unwrap().len() as u64;
    assert_eq!(sizes, Sizes { file: bytes.len() as u64, code: 42, symbols, block_local: 0 });
    assert_eq!(checked(&bytes, ToolchainKind::Cann), Ok(sizes));
}

#[test]
fn what_is_no_object_is_not_published() {
    let bytes = good().build();
    assert_eq!(
        checked(&bytes[..bytes.len() - 1], ToolchainKind::Host),
        Err(vec![elf::symbols(&bytes[..bytes.len() - 1]).unwrap_err().to_string()])
    );
    assert_eq!(checked(b"", ToolchainKind::Cann).unwrap_err().len(), 1);
}

#[test]
fn an_entry_that_nobody_can_call_is_missing() {
    for (entry, name) in [(AIC_ENTRY, "k_mix_aic"), (AIV_ENTRY, "k_mix_aiv"), (CONFIG, RUN_CONFIG)] {
        let said = [format!("global symbol `{name}` is missing")];
        assert_eq!(problems(|object| object.symbols[entry].binding = LOCAL), said);
        assert_eq!(problems(|object| object.symbols[entry].place = Place::Undefined), said);
        assert_eq!(problems(|object| drop(object.symbols.remove(entry))), said);
    }
}

#[test]
fn a_kernel_of_one_kind_needs_one_entry() {
    let meta = LaunchMeta::of(SuperKernelType::Aiv.kernel_type()).to_bytes();
    let mut object = good();
    object.symbols.remove(AIC_ENTRY);
    object.sections[META[1]].data = meta.to_vec();
    object.sections[META[0]].name = ".comment".to_owned();
    let bytes = object.build();
    assert!(check(&bytes, "k", SuperKernelType::Aiv, &["add".to_owned()], ToolchainKind::Host).is_ok());
    assert!(check(&bytes, "other", SuperKernelType::Aiv, &["add".to_owned()], ToolchainKind::Host).is_err());
}

#[test]
fn whatever_else_a_host_object_shows_is_told() {
    for binding in [GLOBAL, WEAK] {
        let mut object = good();
        for name in ["helper", "another"] {
            object.symbols.push(Symbol::new(name, binding, FUNCTION, Place::Section(TEXT), 8));
        }
        let bytes = object.build();
        let said = ["another", "helper"].map(|name| format!("symbol `{name}` should not be global"));
        assert_eq!(checked(&bytes, ToolchainKind::Host).unwrap_err(), said);
        assert!(checked(&bytes, ToolchainKind::Cann).is_ok());
    }
}

#[test]
fn an_inner_function_stays_inside() {
    let outside = ["function `add` is not resolved inside the kernel"];
    assert_eq!(problems(|object| object.symbols[INNER].place = Place::Undefined), outside);
    // Beside a definition of its own, a reference that somebody else could answer.
    assert_eq!(
        problems(|object| object.symbols.push(Symbol::new("add", GLOBAL, FUNCTION, Place::Undefined, 0))),
        outside
    );
    for binding in [GLOBAL, WEAK] {
        let mut object = good();
        object.symbols[INNER].binding = binding;
        let bytes = object.build();
        let said = vec!["symbol `add` should not be global".to_owned(), outside[0].to_owned()];
        assert_eq!(checked(&bytes, ToolchainKind::Host), Err(said));
        assert_eq!(checked(&bytes, ToolchainKind::Cann).unwrap_err(), outside);
    }
    assert_eq!(problems(|object| drop(object.symbols.remove(INNER))), ["function `add` is missing"]);
}

#[test]
fn the_loader_finds_the_launch_type_of_every_entry() {
    for (section, name) in META.into_iter().zip([".ascend.meta.k_mix_aic", ".ascend.meta.k_mix_aiv"]) {
        assert_eq!(
            problems(|object| object.sections[section].name = ".ascend.meta.other".to_owned()),
            [format!("section `{name}` is missing")]
        );
        let right = good().sections[section].data.clone();
        for (place, wrong) in (0..right.len()).map(|place| (place, right[place] ^ 1)) {
            let mut bytes = right.clone();
            bytes[place] = wrong;
            let said = format!("section `{name}` has the bytes {bytes:02x?} instead of {right:02x?}");
            assert_eq!(problems(|object| object.sections[section].data = bytes.clone()), [said]);
        }
        let shorter = right[..right.len() - 1].to_vec();
        assert_eq!(problems(|object| object.sections[section].data = shorter.clone()).len(), 1);
    }
}

#[test]
fn problems_are_told_together_but_not_all_of_many() {
    let mut object = good();
    object.symbols[INNER].place = Place::Undefined;
    object.symbols[CONFIG].binding = LOCAL;
    object.sections[META[0]].name = ".comment".to_owned();
    let said = checked(&object.build(), ToolchainKind::Host).unwrap_err();
    assert_eq!(said.len(), 3, "{said:?}");
    let inner: Vec<String> = (0..30).map(|number| format!("f{number}")).collect();
    let error = check(&good().build(), "k", SuperKernelType::Mix1_2, &inner, ToolchainKind::Host).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("function `f19` is missing") && !text.contains("`f20`"), "{text}");
}
