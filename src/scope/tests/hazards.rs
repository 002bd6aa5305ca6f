//! Pieces that would wait for themselves.

use super::*;
use crate::scope::{Hazards, SingleOps};

/// A(1) X(2, waits for A) B(2) C(1): the start of the kernel would wait for X, and X for A.
fn waits_at_the_start() -> Builder {
    let mut builder = Builder::default();
    builder.op("A0", 1, 1, "S");
    builder.op("A", 2, 1, "S");
    builder.outside("X", 3, 2);
    builder.op("B", 4, 2, "S");
    builder.op("C", 5, 2, "S");
    builder.event(7, "A", "X");
    builder
}

#[test]
fn the_reference_builds_a_kernel_that_hangs() {
    let plan = waits_at_the_start().plan(Mode::Compat).unwrap();
    assert_eq!(pieces(&plan), ["S: A0 A B C"]);
    assert!(made_events(&plan).contains(&"7 normal X -> SK, 2 -> 1".to_owned()));
    assert!(made_events(&plan).contains(&"b+0 mem A -> X, 1 -> 2".to_owned()));
}

#[test]
fn we_cut_in_front_of_the_op_that_would_wait() {
    let plan = waits_at_the_start().plan(Mode::Default).unwrap();
    assert_eq!(pieces(&plan), ["S_split_0_4: A0 A", "S_split_3_6: B C"]);
    assert_eq!(cuts(&plan), ["B wait-cycle"]);
    assert_eq!(plan.scopes[0].cuts[0].through.as_deref(), Some("A -> X -> B"));
}

#[test]
fn or_refuse_on_request() {
    let settings = Settings { hazards: Hazards::Refuse, ..Settings::default() };
    let error = super::plan(&waits_at_the_start().graph, &settings).unwrap_err();
    assert!(
        matches!(&error, ScopeError::WaitCycle { first, through, node, .. }
        if (first.as_str(), through.as_str(), node.as_str()) == ("A", "X", "B")),
        "{error}"
    );
}

#[test]
fn work_that_needs_no_core_may_be_waited_for_inside() {
    let mut builder = waits_at_the_start();
    builder.graph.nodes.iter_mut().filter(|node| node.name == "X").for_each(|node| node.ai_core = false);
    let plan = builder.plan(Mode::Default).unwrap();
    assert_eq!(pieces(&plan), ["S: A0 A B C"]);
    assert_eq!(made_events(&plan), ["b+0 mem A -> X, 1 -> 2", "b+1 mem X -> B, 2 -> 1"], "not hoisted to the start");
    assert_eq!(lists(&plan.pieces[0])[2], "B waits [1] sends []");
    assert_eq!(plan.pieces[0].warnings.len(), 1);
}

/// A(1) P(3, waits for A) C(1, waits for P): the wait is inside, but P may find no core.
#[test]
fn a_kernel_between_two_members_cuts() {
    let mut builder = Builder::default();
    builder.op("A", 1, 1, "S");
    builder.op("A2", 2, 1, "S");
    builder.outside("P", 3, 3);
    builder.op("C", 4, 1, "S");
    builder.op("C2", 5, 1, "S");
    builder.event(7, "A", "P");
    builder.event(8, "P", "C");
    let plan = builder.plan(Mode::Default).unwrap();
    assert_eq!(pieces(&plan), ["S_split_0_4: A A2", "S_split_3_6: C C2"]);
}

/// Two scopes that feed each other: p -> q and q -> p, each harmless alone.
#[test]
fn kernels_that_wait_for_each_other_are_cut() {
    let mut builder = Builder::default();
    for (id, (name, stream, scope)) in (1..).zip([
        ("p1", 1, "P"),
        ("q1", 2, "Q"),
        ("q2", 2, "Q"),
        ("p2", 1, "P"),
        ("p3", 1, "P"),
        ("q3", 2, "Q"),
        ("q4", 2, "Q"),
    ]) {
        builder.op(name, id, stream, scope);
    }
    builder.event(1, "q2", "p2");
    builder.event(2, "p3", "q3");
    let settings = Settings { single_ops: SingleOps::Fuse, ..Settings::default() };
    let plan = super::plan(&builder.graph, &settings).unwrap();
    assert_eq!(pieces(&plan), ["P: p1 p2 p3", "Q_split_1_6: q1 q2", "Q_split_5_8: q3 q4"]);
}

/// A collective first, and work on the chosen stream that waits for it.
#[test]
fn a_collective_in_front_of_its_stream_is_cut_off() {
    let mut builder = Builder::default();
    builder.op("ar", 1, 5, "S").hccl = true;
    let between = builder.outside("x", 2, 3);
    between.ai_core = false;
    builder.op("mm", 3, 3, "S");
    builder.op("add", 4, 3, "S");
    builder.event(7, "ar", "x");
    let plan = builder.plan(Mode::Default).unwrap();
    assert_eq!(pieces(&plan), ["S_split_2_5: mm add"]);
    assert_eq!(left_out(&plan), ["ar single-op"]);
}

/// Work without cores, but queued behind the kernel on the stream it is launched on.
#[test]
fn work_queued_behind_the_kernel_cannot_be_waited_for() {
    let mut builder = Builder::default();
    builder.op("a", 1, 3, "S");
    builder.op("b", 2, 3, "S");
    builder.outside("host", 3, 3).ai_core = false;
    builder.op("c", 4, 0, "S");
    builder.op("d", 5, 0, "S");
    builder.event(7, "host", "c");
    let plan = builder.plan(Mode::Default).unwrap();
    assert_eq!(pieces(&plan), ["S_split_0_4: a b", "S_split_3_6: c d"]);
}
