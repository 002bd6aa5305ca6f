//! Ops that touch different memory need not wait for each other; each program has been accepted by the checker.

use superkernel::cost::play::{Launch, Played, play};
use superkernel::cost::prices::{Price, Prices};
use superkernel::cost::work::{OpWork, Spent};
use superkernel::model::{ByPosition, KernelType, OpPosition};
use superkernel::objects::TextSizes;
use superkernel::program::{Action, Program, Reason, Violation, verify};

use super::rules::{cube, vector};
use crate::integration::support::{KernelBuilder, OpBuilder};

const OFF: &str = "preload-code=none:early-start=0";
const ON: &str = "preload-code=none";

fn plan(options: &str, ops: &[OpBuilder]) -> Program {
    KernelBuilder::new(options).cores(2, 4).ops(ops.to_vec()).plan()
}

/// Reads buffer `from`, writes buffer `to`.
fn moves(op: OpBuilder, from: u64, to: u64) -> OpBuilder {
    op.touches(&[(64 * from, 64)], &[(64 * to, 64)])
}

fn after(program: &Program, op: usize) -> Vec<usize> {
    program.requires.ops[OpPosition::at(op)].after.iter().map(|op| op.place()).collect()
}

#[test]
fn neighbours_of_one_kind_wait_for_their_pipes_only() {
    let ops = [moves(OpBuilder::aiv(4), 0, 1), moves(OpBuilder::aiv(4), 0, 2), moves(OpBuilder::aiv(4), 2, 3)];
    let program = plan(OFF, &ops);
    assert_eq!(vector(&program, 0), ["call k0_aiv", "pipe-barrier", "call k1_aiv", "barrier aiv", "call k2_aiv"]);
    assert_eq!((after(&program, 1), after(&program, 2)), (vec![], vec![1]));
    let program = plan(ON, &ops);
    let path = vector(&program, 0);
    assert_eq!(path[..3], ["call k0_aiv", "pipe-barrier", "call k1_aiv"]);
    assert_eq!(path.iter().filter(|step| *step == "early-start-set").count(), 1);
}

#[test]
fn neighbours_of_different_kinds_run_side_by_side() {
    let ops = [moves(OpBuilder::aic(2), 0, 1), moves(OpBuilder::aiv(4), 0, 2), moves(OpBuilder::aiv(4), 1, 3)];
    let program = plan(OFF, &ops);
    assert_eq!(vector(&program, 0), ["call k1_aiv", "barrier all", "call k2_aiv"]);
    assert_eq!(cube(&program, 0), ["call k0_aic", "barrier all"]);
    // The op after both waits for both: the hand-over is from both kinds.
    let program = plan(ON, &ops);
    assert_eq!(
        vector(&program, 0),
        ["call k1_aiv", "early-start-set", "early-start-config 9", "early-start-wait 9", "call k2_aiv"]
    );
    assert_eq!(cube(&program, 0), ["call k0_aic", "early-start-set", "early-start-config 9", "early-start-wait 9"]);
    assert_eq!(after(&program, 2), [0]);
}

#[test]
fn an_order_that_was_skipped_is_kept() {
    // 1 and 2 depend on nobody, 3 on 0: what stands in front of 3 is from all of them.
    let ops = [
        moves(OpBuilder::aic(2), 0, 1),
        moves(OpBuilder::aiv(4), 0, 2),
        moves(OpBuilder::aiv(4), 0, 3),
        moves(OpBuilder::aic(2), 1, 4),
    ];
    let program = plan(OFF, &ops);
    assert_eq!(after(&program, 3), [0]);
    assert_eq!(cube(&program, 0), ["call k0_aic", "barrier all", "call k3_aic"]);
    assert_eq!(vector(&program, 0), ["call k1_aiv", "pipe-barrier", "call k2_aiv", "barrier all"]);
}

#[test]
fn some_ops_come_after_all_and_before_all_whatever_they_touch() {
    let free = |place: u64| moves(OpBuilder::aiv(4), 0, place);
    let dynamic = OpBuilder::aiv(1).dynamic(&[(5, KernelType::AivOnly)]);
    let middle: [(&str, OpBuilder); 8] = [
        (OFF, OpBuilder::aiv(4)),
        (OFF, moves(dynamic, 0, 2)),
        (OFF, moves(OpBuilder::aiv(4), 0, 2).sends(&[7])),
        (OFF, moves(OpBuilder::aiv(4), 0, 2).receives(&[7])),
        (OFF, moves(OpBuilder::aiv(4), 0, 2).calls_sync_all()),
        (OFF, moves(OpBuilder::new(KernelType::MixAiv1_0, 4), 0, 2)),
        (ON, moves(OpBuilder::aiv(4), 0, 2).sets_itself()),
        (ON, moves(OpBuilder::aiv(4), 0, 2).waits_itself()),
    ];
    for (options, op) in middle {
        let program = plan(options, &[free(1), op.clone(), free(3)]);
        assert_eq!((after(&program, 1), after(&program, 2)), (vec![0], vec![1]), "{op:?}");
    }
    // Two MIX ops share the flags of a block.
    let program = plan(OFF, &[moves(OpBuilder::mix(2), 0, 1), moves(OpBuilder::mix(2), 0, 2)]);
    assert_eq!(after(&program, 1), [0]);
    let program = plan(OFF, &[moves(OpBuilder::mix(2), 0, 1), free(2), moves(OpBuilder::mix(2), 0, 3)]);
    assert_eq!((after(&program, 1), after(&program, 2)), (vec![], vec![0]));
    // `sync=contract` is the contract, step by step.
    let program = plan("preload-code=none:early-start=0:sync=contract", &[free(1), free(2)]);
    assert_eq!(after(&program, 1), [0]);
}

#[test]
fn streams_side_by_side_lose_edges_between_ops_that_touch_different_memory() {
    let options = "preload-code=none:stream-fusion=1";
    let ops = |second: OpBuilder| {
        [moves(OpBuilder::aic(2), 0, 1), second, moves(OpBuilder::aic(2).on(1), 5, 6), moves(OpBuilder::aiv(4), 1, 3)]
    };
    let program = plan(options, &ops(moves(OpBuilder::aiv(4), 0, 2)));
    assert_eq!((after(&program, 1), after(&program, 3)), (vec![], vec![0]));
    assert_eq!(vector(&program, 0), ["call k1_aiv", "pipe-barrier", "wait-flag aic-to-aiv", "call k3_aiv"]);
    let program = plan(options, &ops(moves(OpBuilder::aiv(4), 1, 2)));
    assert_eq!((after(&program, 1), after(&program, 3)), (vec![0], vec![0]));
}

/// Without the barrier nobody waits for the slowest core.
#[test]
fn a_prediction_knows_that_nobody_waits() {
    let total = |op: OpBuilder| {
        let program = plan(OFF, &[moves(OpBuilder::aiv(4), 0, 1), op]);
        let even = || OpWork { aic: Spent::Even(5.0), aiv: Spent::Even(5.0) };
        let work: ByPosition<OpWork> = program.ops.iter().map(|_| even()).collect();
        let launch = Launch { program: &program, sizes: &TextSizes::default(), work: &work };
        play(launch, Prices::default().values(), Played::Every).unwrap().total
    };
    let [after, apart, beside] =
        [moves(OpBuilder::aiv(4), 1, 2), moves(OpBuilder::aiv(4), 2, 3), moves(OpBuilder::aic(2), 2, 3)].map(total);
    assert!((after - apart - Prices::default().values()[Price::FlagAll as usize]).abs() < 1e-9, "{after} {apart}");
    assert!(beside + 4.0 < apart, "{beside} {apart}");
}

/// What the checker asks for follows from the same order: neither less nor more is accepted.
#[test]
fn the_checker_asks_for_what_is_left() {
    let ops = [moves(OpBuilder::aiv(4), 0, 1), moves(OpBuilder::aiv(4), 0, 2), moves(OpBuilder::aiv(4), 1, 3)];
    let program = plan(OFF, &ops);
    let without = |wanted: &dyn Fn(&Action) -> bool| {
        let mut program = program.clone();
        program.steps.retain(|step| !wanted(&step.action));
        verify(&program).unwrap_err()
    };
    let unordered = without(&|action| matches!(action, Action::Barrier(_)));
    assert!(unordered.iter().any(|violation| matches!(violation, Violation::OutOfTurn { .. })), "{unordered:?}");
    let pipes = without(&|action| matches!(action, Action::PipeBarrier));
    assert!(
        pipes
            .iter()
            .all(|violation| matches!(violation, Violation::OutOfTurn { lacks, .. } if lacks.contains("pipes"))),
        "{pipes:?}"
    );
    // A pipe barrier in place of the barrier orders each core alone.
    let mut weak = program.clone();
    let barrier = weak.steps.iter_mut().find(|step| matches!(step.action, Action::Barrier(_))).unwrap();
    (barrier.action, barrier.reason) = (Action::PipeBarrier, Some(Reason::NextOnThisCore));
    let unordered = verify(&weak).unwrap_err();
    assert!(unordered.iter().all(|violation| matches!(violation, Violation::Unordered { .. })), "{unordered:?}");
}
