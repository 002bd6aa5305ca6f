//! The generated source: what stands in it once, and how long bodies are cut.

use superkernel::emit::emit;
use superkernel::model::{CoreKind, KernelType};

use crate::integration::support::{KernelBuilder, OpBuilder};

/// What all cores run asks for no index, what some run asks once for all ops in a row, and an address is read once.
#[test]
fn what_is_known_is_not_asked_again() {
    let whole = KernelBuilder::new("").cores(2, 4).op(OpBuilder::aiv(4)).op(OpBuilder::mix(2)).plan();
    let source = emit(&whole).unwrap();
    assert!(!source.contains("_index = ") && !source.contains("_below(block") && !source.contains("_below(core"));
    assert_eq!(source.matches("    sk_call(sk_code_").count(), 3, "{source}");

    let some = (0..9).map(|number| OpBuilder::aiv(if number == 8 { 4 } else { 3 }));
    let source = emit(&KernelBuilder::new("").cores(2, 4).ops(some).plan()).unwrap();
    assert_eq!(source.matches("if (core_index < 3) {").count(), 1, "{source}");
    assert_eq!(source.matches("        sk_call(sk_code_").count(), 8, "{source}");
    assert!(source.contains("for (uint32_t turn = 0; turn < 5; ++turn) {\n            sk_between_0();"), "{source}");
    let alone = [OpBuilder::aiv(3), OpBuilder::aiv(4), OpBuilder::aiv(3)];
    let source = emit(&KernelBuilder::new("").cores(2, 4).ops(alone).plan()).unwrap();
    assert!(!source.contains("if (core_index < 3)"), "{source}");
    assert_eq!(source.matches("sk_call_below(core_index, 3, sk_code_").count(), 2, "{source}");

    let keys = [(1, KernelType::AivOnly)];
    let waiting = [OpBuilder::aiv(4), OpBuilder::aiv(4).receives(&[7]), OpBuilder::aiv(4).dynamic(&keys)];
    let source = emit(&KernelBuilder::new("").cores(2, 4).ops(waiting).plan()).unwrap();
    let entry = &source[source.find("__aicore__ void auto_gen_").unwrap()..];
    let reads = |slot: &str| entry.matches(&format!("param_base[{slot}]")).count();
    assert_eq!(entry.matches("sk_clear(sk_word_").count(), 2, "{entry}");
    for slot in (1..20).map(|slot| slot.to_string()) {
        assert!(reads(&slot) <= 1, "{slot} is read again: {entry}");
    }
}

/// A long body is cut into functions; what is in them, and in which order, stays.
#[test]
fn long_sources_are_cut_and_still_compile() {
    let ops = (0..120).map(|number| match number % 3 {
        0 => OpBuilder::aiv(4).waits_itself(),
        1 => OpBuilder::aic(2).sets_itself(),
        _ => OpBuilder::mix(2).dynamic(&[(1, KernelType::MixAic1_2)]),
    });
    let builder = KernelBuilder::new("profiling=1").cores(4, 8).ops(ops);
    let program = builder.plan();
    let source = emit(&program).unwrap();
    let parts = source.matches("SK_SHARED void sk_part_").count();
    assert!(parts > 2, "{parts} parts");
    // The position of every call, in the code of each kind; dynamic ops are called on both.
    let halves: Vec<&str> = source.split("#if defined(__DAV_").collect();
    for (code, missing) in [(halves[1], 0), (halves[2], 1)] {
        let called = code.lines().map(str::trim_start).filter_map(|line| {
            let picked = line.strip_prefix("sk_call_picked(picked, ").and_then(|rest| rest.split(", ").next());
            picked.or_else(|| line.strip_prefix("sk_call")?.rsplit(", ").nth(1).filter(|_| line.contains("sk_code_")))
        });
        let called: Vec<usize> = called.map(|position| position.parse().unwrap()).collect();
        assert_eq!(called, (0..120).filter(|number| number % 3 != missing).collect::<Vec<_>>());
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kernel.cpp");
    std::fs::write(&path, source).unwrap();
    let defines: Vec<String> = builder.build().defines().into_iter().map(str::to_owned).collect();
    for kind in CoreKind::BOTH {
        let done =
            crate::integration::support::host::compile(&path, kind, program.chip, program.kernel_type, &defines, &[]);
        done.unwrap_or_else(|complaints| panic!("{complaints}"));
    }
}
