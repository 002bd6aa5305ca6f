//! Damaged objects and archives: every call ends with a result or an error, never with a panic or without bounds.
//!
//! `SUPERKERNEL_ELF_MUTATIONS` sets how many mutants are tried; a failure names the number of its mutant, and
//! `SUPERKERNEL_ELF_MUTANT` repeats a single one.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::panic::catch_unwind;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};

use super::elf_support::random::{Random, object};
use rayon::prelude::*;
use superkernel::Diagnostic;
use superkernel::elf::{self, Edits, ElfError, Groups, Localize, Missing, archive};

/// Counts what each thread holds, so that a claim of a huge table is caught when memory is asked for it.
struct CountingAllocator;

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

fn count(change: isize) {
    // A thread that is ending has no counters any more.
    let _ = HELD.try_with(|held| {
        held.set(held.get() + change);
        let _ = PEAK.try_with(|peak| peak.set(peak.get().max(held.get())));
    });
}

// SAFETY: every call goes to the system allocator unchanged; counting allocates nothing.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Runs `work` and returns the most memory it held at once.
fn peak_memory(work: impl FnOnce()) -> usize {
    let before = HELD.get();
    PEAK.set(before);
    work();
    (PEAK.get() - before).max(0) as usize
}

/// Far above what any call needs for real files, far below what a trusted count would take.
fn memory_limit(input: usize) -> usize {
    64 * input + (1 << 20)
}

#[test]
fn damaged_files_are_errors() {
    let seeds = seeds();
    if let Some(number) = environment("SUPERKERNEL_ELF_MUTANT") {
        return check(&mutant(&seeds, number), number);
    }
    let count = environment("SUPERKERNEL_ELF_MUTATIONS").unwrap_or(100_000);
    let accepted = AtomicU64::new(0);
    let failed = (0..count).into_par_iter().find_any(|number| {
        let bytes = mutant(&seeds, *number);
        accepted.fetch_add(u64::from(elf::symbols(&bytes).is_ok()), Ordering::Relaxed);
        catch_unwind(|| check(&bytes, *number)).is_err()
    });
    assert_eq!(failed, None, "SUPERKERNEL_ELF_MUTANT=<the number> repeats the mutant that failed");
    let accepted = accepted.into_inner();
    println!("{count} mutants of {} files, {accepted} of them still readable", seeds.len());
    // Mutants that fail at the first byte test nothing: most must get past the header.
    assert!(accepted > count / 5, "only {accepted} of {count} mutants were readable");
}

fn environment(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is not a number: {text}")))
}

/// Synthetic objects, what the system's compiler makes, a linked program with kept relocations, and archives.
fn seeds() -> Vec<Vec<u8>> {
    let mut seeds: Vec<Vec<u8>> = (0..40).map(|seed| object(seed).build()).collect();
    seeds.extend(compiled());
    let members: Vec<(&str, &[u8])> = vec![
        ("short.o", &seeds[0]),
        ("a_name_that_needs_the_table_of_long_names.o", &seeds[1]),
        ("text", b"no object"),
        ("another_name_that_needs_the_table_of_long_names.o", &seeds[2]),
    ];
    let archive = archive::write(&members).unwrap();
    let mut bsd = b"!<arch>\n".to_vec();
    bsd.extend_from_slice(format!("{:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", "#1/12", 0, 0, 0, 644, 16).as_bytes());
    bsd.extend_from_slice(b"long_name.o\0data");
    seeds.extend([archive.clone(), archive, bsd]);
    seeds
}

fn compiled() -> Vec<Vec<u8>> {
    let directory = tempfile::tempdir().unwrap();
    let source = directory.path().join("a.cpp");
    let text = "template <class T> struct Box { T v; Box(T x) : v(x) {} virtual ~Box() {} T get() { return v; } };
        thread_local int t; int counter; static int helper(int x) { return x + counter + t; }
        extern \"C\" int kernel(int x) { return Box<int>(x).get() + helper(x); }
        extern \"C\" void _start() { kernel(1); }
        __attribute__((used, section(\".ascend.meta.kernel\"))) static const int meta[2] = {1, 2};";
    std::fs::write(&source, text).unwrap();
    let build = |name: &str, arguments: &[&str]| {
        let output = directory.path().join(name);
        let done = Command::new("c++").args(arguments).arg(&source).arg("-o").arg(&output).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        std::fs::read(output).unwrap()
    };
    vec![
        build("plain.o", &["-c"]),
        build("debug.o", &["-c", "-g", "-O2", "-ffunction-sections"]),
        build(
            "linked",
            &["-nostdlib", "-static", "-Wl,-q", "-fno-exceptions", "-fno-rtti", "-Wl,--unresolved-symbols=ignore-all"],
        ),
    ]
}

/// Values that sit on the edge of some check.
const EDGES: [u64; 24] = [
    0,
    1,
    2,
    3,
    4,
    7,
    8,
    16,
    17,
    18,
    24,
    63,
    64,
    0x7f,
    0xff,
    0xfeff,
    0xff00,
    0xfff2,
    0xffff,
    0x7fff_ffff,
    0xffff_ffff,
    1 << 40,
    u64::MAX - 63,
    u64::MAX,
];

fn mutant(seeds: &[Vec<u8>], number: u64) -> Vec<u8> {
    let mut random = Random(number.wrapping_mul(0x5851_f42d_4c95_7f2d));
    let mut bytes = random.pick(seeds).clone();
    for _ in 0..1 + random.below(4) {
        mutate(&mut random, &mut bytes);
    }
    bytes
}

fn mutate(random: &mut Random, bytes: &mut Vec<u8>) {
    if bytes.is_empty() {
        return;
    }
    let length = bytes.len();
    match random.below(16) {
        0 => bytes.truncate(random.below(length)),
        1 => bytes.extend((0..random.below(100)).map(|_| 0xa5)),
        2 => {
            let (from, to) = (random.below(length), random.below(length));
            let count = random.below(64).min(length - from).min(length - to);
            bytes.copy_within(from..from + count, to);
        }
        3..6 => {
            let at = random.below(length);
            bytes[at] ^= 1 << random.below(8);
        }
        6 => {
            let at = random.below(length);
            bytes[at] = random.next() as u8;
        }
        7 => put(random, bytes, 16, 48),
        _ => mutate_structure(random, bytes),
    }
}

/// Writes an edge value, or one near the file's length, somewhere in a range.
fn put(random: &mut Random, bytes: &mut [u8], start: usize, length: usize) {
    let width = *random.pick(&[1, 2, 4, 8]);
    let value = match random.below(4) {
        0 => bytes.len() as u64 - 1 + random.below(3) as u64,
        1 => random.below(80) as u64,
        _ => *random.pick(&EDGES),
    };
    let at = start.saturating_add(random.below((length.min(bytes.len()) / width).max(1)) * width);
    if let Some(target) = bytes.get_mut(at..).and_then(|rest| rest.get_mut(..width)) {
        target.copy_from_slice(&value.to_le_bytes()[..width]);
    }
}

/// Hits a field of a section header, or a record of a section the engine interprets.
fn mutate_structure(random: &mut Random, bytes: &mut [u8]) {
    let Ok(sections) = elf::sections(bytes) else {
        return put(random, bytes, 0, 200.min(bytes.len()));
    };
    if sections.is_empty() {
        return put(random, bytes, 0, 64);
    }
    let index = random.below(sections.len());
    if random.chance(2) {
        let headers = u64::from_le_bytes(bytes[40..48].try_into().unwrap()) as usize;
        return put(random, bytes, headers + index * 64, 64);
    }
    let interpreted: Vec<(usize, usize)> = sections
        .iter()
        .filter(|section| matches!(section.kind, 2 | 3 | 4 | 9 | 17 | 18 | 0x6fff_4c03))
        .map(|section| (section.offset as usize, section.size as usize))
        .collect();
    if !interpreted.is_empty() {
        let (offset, size) = *random.pick(&interpreted);
        put(random, bytes, offset, size);
    }
}

/// Every function on one mutant.
fn check(bytes: &[u8], number: u64) {
    let peak = peak_memory(|| exercise(bytes));
    assert!(peak <= memory_limit(bytes.len()), "mutant {number}: {peak} bytes of memory for {} of input", bytes.len());
}

fn exercise(bytes: &[u8]) {
    expect_located(elf::text_size(bytes));
    expect_located(elf::sections(bytes));
    expect_located(elf::section_bytes(bytes, ".text"));
    expect_located(elf::identity(bytes));
    let names = exported_names(bytes);
    for edits in edits(&names) {
        if let Some(edited) = expect_located(elf::edit(bytes, &edits)) {
            // What was written must be as readable as what was read.
            assert!(edited.len() <= 20 * bytes.len() + 4096);
            if elf::sections(bytes).is_ok()
                && let Err(error) = elf::sections(&edited)
            {
                panic!("{edits:?}: {error}");
            }
            if elf::symbols(bytes).is_ok()
                && let Err(error) = elf::symbols(&edited)
            {
                panic!("{edits:?}: {error}");
            }
            let again = elf::edit(&edited, &Edits::default()).expect("an edited file can be edited");
            assert_eq!(*again, *edited);
        }
    }
    let first: Vec<&str> = names.iter().take(1).map(String::as_str).collect();
    if let Some(copies) = expect_located(elf::split_copies(bytes, &first, 3)) {
        assert_eq!(copies.len(), 2);
    }
    if let Some(members) = expect_located(archive::read(bytes)) {
        for member in &members {
            expect_located(elf::symbols(member.data));
        }
        let owned: Vec<(&str, &[u8])> = members.iter().map(|member| (&*member.name, member.data)).collect();
        expect_located(archive::write(&owned));
    }
}

fn exported_names(bytes: &[u8]) -> Vec<String> {
    let symbols = expect_located(elf::symbols(bytes)).unwrap_or_default();
    let exported = symbols.into_iter().filter(|symbol| symbol.is_exported() && !symbol.name.is_empty());
    exported.map(|symbol| symbol.name.into_owned()).take(4).collect()
}

fn edits(names: &[String]) -> Vec<Edits> {
    let base = Edits { missing: Missing::Ignore, ..Edits::default() };
    let first = names.first().cloned().unwrap_or_else(|| "f".to_owned());
    vec![
        Edits::default(),
        Edits { rename: vec![(first.clone(), "renamed_to_something_new".to_owned())], ..base.clone() },
        Edits { localize: Localize::Names(names.to_vec()), ..base.clone() },
        Edits { strip: names.to_vec(), ..base.clone() },
        Edits {
            localize: Localize::AllDefinedExcept(vec![first]),
            drop_sections_with_prefix: vec![".ascend.meta.".to_owned(), ".debug".to_owned()],
            groups: Groups::Dissolve,
            ..base
        },
    ]
}

/// Errors must be printable, have an id, and say where when they are about the file's bytes.
fn expect_located<T>(result: Result<T, ElfError>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(error) => {
            assert!(error.id().starts_with("SK06"));
            let text = error.to_string();
            if let ElfError::OutOfRange { field, .. } | ElfError::Malformed { field, .. } = &error {
                assert!(text.contains("offset 0x") && text.contains(field), "{text}");
            }
            None
        }
    }
}

#[test]
fn overlapping_names_stay_cheap() {
    // One name of half a megabyte that does not end early, named by every symbol at another place.
    let mut hostile = object(0);
    hostile.symbols.clear();
    hostile.sections.truncate(1);
    hostile.sections[0].relocations.clear();
    hostile.groups.clear();
    hostile.significant = None;
    let long: String = "x".repeat(500_000);
    for number in 0..20_000 {
        use super::elf_support::build::{GLOBAL, Place, Symbol};
        hostile.symbols.push(Symbol::new(if number == 0 { &long } else { "" }, GLOBAL, 2, Place::Section(0), number));
    }
    let mut bytes = hostile.build();
    let table = elf::sections(&bytes).unwrap().into_iter().find(|section| section.kind == 2).unwrap();
    let (offset, count) = (table.offset as usize, table.size as usize / 24);
    for symbol in 1..count {
        bytes[offset + symbol * 24..][..4].copy_from_slice(&(symbol as u32).to_le_bytes());
    }
    let peak = peak_memory(|| {
        let error = elf::symbols(&bytes).unwrap_err();
        assert!(matches!(error, ElfError::Malformed { field: "st_name", .. }), "{error}");
        let edits = Edits { rename: vec![("x".to_owned(), "y".to_owned())], ..Edits::default() };
        assert!(elf::edit(&bytes, &edits).is_err());
        let edits = Edits { localize: Localize::AllDefinedExcept(vec![]), ..Edits::default() };
        assert!(elf::edit(&bytes, &edits).is_ok());
    });
    assert!(peak <= memory_limit(bytes.len()), "{peak}");
}
