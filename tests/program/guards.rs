//! Mistakes in the checker itself that would go unnoticed: limits that are off by one, rules that another rule covers.

use std::path::Path;

use superkernel::model::{CoreKind, EventId, OpIndex, SlotNumber};
use superkernel::program::launch::{Accounting, Schedule, play};
use superkernel::program::{Action, Barrier, CoreIndex, Part, Program, Violation, verify};

use super::orders::{Order, play_in};
use crate::integration::support::{KernelBuilder, OpBuilder};

fn read(path: &str) -> Program {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(path);
    Program::read(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn overflows(violations: &[Violation]) -> bool {
    violations.iter().any(|violation| matches!(violation, Violation::Overflow { .. }))
}

/// A counter goes to 15: as many sets may be ahead of their waits, and not one more.
#[test]
fn fifteen_counts_fit_and_sixteen_do_not() {
    let sixteen = read("broken/overflow/several_streams_sixteen_times.txt");
    assert!(overflows(&verify(&sixteen).unwrap_err()));
    // One pair of set and wait fewer at a time, until nothing is wrong any more.
    let mut fewer = sixteen;
    while let Err(violations) = verify(&fewer) {
        assert!(overflows(&violations), "{violations:?}");
        for wanted in ["set-flag", "wait-flag"] {
            let steps = &fewer.steps;
            let again = |place: &usize| steps[*place].action.name() == wanted && steps[*place] == steps[place - 1];
            let repeated = (1..steps.len()).find(again).unwrap();
            fewer.steps.remove(repeated);
        }
    }
    let all: Vec<u32> = (0..fewer.block_num).collect();
    let outcome = play(&fewer, &all, Schedule::Eager(CoreKind::Aiv), Accounting::PerCore).unwrap();
    assert_eq!(outcome.most_ahead, 15);
}

/// Any order shows what cores cannot know. (A slow core shows it too, and must do so without this one's help: the test of
/// `src/program/launch/stall.rs`.)
#[test]
fn one_order_shows_what_cores_cannot_know() {
    let mut seen = 0;
    for kind in ["unordered", "early-notify", "early-start", "early-workspace", "early-release"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/broken").join(kind);
        for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.extension().is_none_or(|have| have != "txt") {
                continue;
            }
            let program = Program::read(&std::fs::read_to_string(&entry).unwrap()).unwrap();
            let all: Vec<u32> = (0..program.block_num).collect();
            let of_kind = |violation: &Violation| {
                matches!(
                    violation,
                    Violation::Unordered { .. }
                        | Violation::EarlyNotify { .. }
                        | Violation::EarlyStart { .. }
                        | Violation::EarlyWorkspace { .. }
                        | Violation::EarlyRelease { .. }
                )
            };
            for order in Order::several(seen) {
                let found = play_in(&program, &all, order, Accounting::PerCore).unwrap_err();
                assert!(found.iter().any(of_kind), "{} {order:?}: {found:?}", entry.display());
            }
            seen += 1;
        }
    }
    assert!(seen >= 10, "only {seen} programs");
}

/// An op whose end is not announced yet keeps idle cores in their `SyncAll`: nobody may wait for anything before.
#[test]
fn nothing_is_waited_for_before_the_end_is_announced() {
    let good = read("cases/cube_only_fed/program.txt");
    verify(&good).unwrap();
    let announced = good.steps.iter().position(|step| step.action == Action::EndSyncAll).unwrap();
    let (event, slot) = (EventId(1), SlotNumber(0));
    let flag = good.steps.iter().find(|step| step.action.name() == "barrier").unwrap().action.clone();
    for action in [Action::WaitEvent { event, slot }, flag] {
        let mut broken = good.clone();
        let mut step = broken.steps[announced].clone();
        step.action = action;
        broken.steps.insert(announced, step);
        let violations = verify(&broken).unwrap_err();
        let lacks = |violation: &Violation| {
            matches!(violation, Violation::OutOfTurn { lacks: "the op's end is announced to the idle cores", .. })
        };
        assert!(violations.iter().any(lacks), "{violations:?}");
    }
}

/// Cores that an op leaves idle write back their caches as well.
#[test]
fn idle_cores_flush_too() {
    let mut program = read("cases/several_streams_all_extras/program.txt");
    verify(&program).unwrap();
    let flush = program.steps.iter().position(|step| step.action == Action::Flush && step.reason.is_none()).unwrap();
    let op = program.steps[flush].op.unwrap();
    program.steps[flush].cores.part = Part::Below(CoreIndex::Block, program.ops[op].block_num);
    let violations = verify(&program).unwrap_err();
    let lacks = |violation: &Violation| matches!(violation, Violation::Missing { action: "flush", .. });
    assert!(violations.iter().any(lacks), "{violations:?}");
}

/// Where sets are counted in sum, the second set of a quick core completes the round that a slow one has not joined
/// yet: the cube core goes on though a vector core is still in the op it waited for. Core by core nothing is wrong.
#[test]
fn a_quick_core_does_not_speak_for_a_slow_one() {
    let mut program = KernelBuilder::new("preload-code=none:stream-fusion=1")
        .cores(1, 2)
        .op(OpBuilder::aiv(2).on(0).sends(&[1]))
        .op(OpBuilder::aiv(2).on(1).sends(&[2]))
        .op(OpBuilder::aic(1).on(2).receives(&[1]))
        .op(OpBuilder::aic(1).on(2).receives(&[2]))
        .plan();
    for step in program.steps.iter_mut().filter(|step| step.action == Action::Barrier(Barrier::Aiv)) {
        step.action = Action::PipeBarrier;
    }
    for kind in CoreKind::BOTH {
        play(&program, &[0], Schedule::Eager(kind), Accounting::PerCore).unwrap();
    }
    let (first, second) = (OpIndex(0), OpIndex(2));
    assert_eq!(verify(&program), Err(vec![Violation::Unordered { first, second }]), "{}", program.text());
}
