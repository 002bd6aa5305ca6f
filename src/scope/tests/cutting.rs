//! Where scopes are cut, and what the pieces are called.

use super::*;
use crate::scope::{Cuts, SingleOps, reason::Reason};

/// Two streams: 1 5x 6 8x 10 and 2 3 4x 7 9.
fn two_streams() -> Builder {
    let mut builder = Builder::default();
    for (id, stream) in [(1, 1), (2, 2), (3, 2), (4, 2), (5, 1), (6, 1), (7, 2), (8, 1), (9, 2), (10, 1)] {
        let name = format!("n{id}");
        if [4, 5, 8].contains(&id) {
            builder.unfusable(&name, id, stream, "S");
        } else {
            builder.op(&name, id, stream, "S").options = "stream-fusion=1".to_owned().into();
        }
    }
    builder
}

#[test]
fn a_cut_on_one_stream_cuts_all() {
    for mode in [Mode::Compat, Mode::Default] {
        let plan = two_streams().plan(mode).unwrap();
        assert_eq!(pieces(&plan), ["S_split_0_4: n1 n2 n3", "S_split_5_8: n6 n7", "S_split_8_11: n9 n10"]);
        assert_eq!(left_out(&plan), ["n4 no-support-flag", "n5 no-support-flag", "n8 no-support-flag"]);
    }
}

fn attention() -> Builder {
    let mut builder = Builder::default();
    for (id, stream) in
        [(20, 7), (21, 9), (22, 7), (23, 11), (24, 9), (25, 7), (27, 7), (28, 9), (29, 9), (30, 7), (33, 7)]
    {
        let name = format!("n{id}");
        match id {
            25 => builder.outside(&name, id, stream),
            23 | 28 => builder.unfusable(&name, id, stream, "attn"),
            33 => {
                let node = builder.op(&name, id, stream, "attn");
                node.local_memory_size = 64;
                node
            }
            _ => builder.op(&name, id, stream, "attn"),
        };
    }
    builder
}

#[test]
fn dropped_nodes_cut_only_streams_with_kept_ones() {
    let plan = attention().plan(Mode::Compat).unwrap();
    assert_eq!(
        pieces(&plan),
        ["attn_split_19_25: n20 n21 n22 n24", "attn_split_25_28: n27", "attn_split_28_31: n29 n30"]
    );
    assert_eq!(left_out(&plan), ["n23 no-support-flag", "n28 no-support-flag", "n33 simt"]);
    assert_eq!(cuts(&plan), ["n25 unmarked", "n28 no-support-flag"]);
}

#[test]
fn one_op_pieces_are_left_alone_unless_asked_for() {
    let builder = attention();
    let plan = builder.plan(Mode::Default).unwrap();
    assert_eq!(pieces(&plan), ["attn_split_19_25: n20 n21 n22 n24", "attn_split_28_31: n29 n30"]);
    assert!(left_out(&plan).contains(&"n27 single-op".to_owned()));
    let record = plan.records.iter().find(|record| record.reason == Reason::SingleOp.code()).unwrap();
    assert_eq!((record.level, record.node.as_str()), ("INFO", "n27"));
    let settings = Settings { single_ops: SingleOps::Fuse, ..Settings::default() };
    assert_eq!(super::plan(&builder.graph, &settings).unwrap().pieces.len(), 3);
}

#[test]
fn a_lone_op_keeps_the_name_of_its_scope() {
    let mut builder = Builder::default();
    builder.op("a", 5, 1, "one");
    assert_eq!(pieces(&builder.plan(Mode::Compat).unwrap()), ["one: a"]);
    let plan = builder.plan(Mode::Compat).unwrap();
    assert_eq!(plan.pieces[0].ops[0].location, "start");
    assert!(builder.plan(Mode::Default).unwrap().pieces.is_empty());
}

#[test]
fn a_dropped_first_op_already_renames_the_piece() {
    let mut builder = Builder::default();
    builder.unfusable("c", 3, 1, "m");
    builder.op("d", 4, 1, "m");
    builder.op("e", 5, 1, "m");
    for mode in [Mode::Compat, Mode::Default] {
        let plan = builder.plan(mode).unwrap();
        assert_eq!(pieces(&plan), ["m_split_3_6: d e"]);
        let locations: Vec<&str> = plan.pieces[0].ops.iter().map(|op| op.location).collect();
        assert_eq!(locations, ["start", "end"]);
        assert_eq!(plan.pieces[0].node_name, "sk_m_split_3_6_start_d_end_e");
    }
}

#[test]
fn alternating_scopes_cut_each_other() {
    let mut builder = Builder::default();
    for (id, scope) in [(1, "p"), (2, "q"), (3, "p"), (4, "q")] {
        builder.op(&format!("n{id}"), id, 1, scope);
    }
    let plan = builder.plan(Mode::Compat).unwrap();
    assert_eq!(pieces(&plan), ["p_split_0_2: n1", "p_split_2_4: n3", "q_split_1_3: n2", "q_split_3_5: n4"]);
    assert_eq!(cuts(&plan), ["n2 other-scope", "n3 other-scope"]);
    assert!(builder.plan(Mode::Default).unwrap().pieces.is_empty());
}

#[test]
fn reference_pieces_are_ordered_by_name_ours_by_place() {
    let mut builder = Builder::default();
    for id in 1..=20 {
        let name = format!("n{id}");
        if id == 9 {
            builder.outside(&name, id, 1)
        } else {
            builder.op(&name, id, 1, "s")
        };
    }
    builder.op("z1", 21, 2, "a");
    builder.op("z2", 22, 2, "a");
    let names = |mode| -> Vec<String> {
        builder.plan(mode).unwrap().pieces.iter().map(|piece| piece.name.to_string()).collect()
    };
    assert_eq!(names(Mode::Compat), ["a", "s_split_0_9", "s_split_9_21"]);
    assert_eq!(names(Mode::Default), ["s_split_0_9", "s_split_9_21", "a"]);
}

#[test]
fn sources_and_event_ends_never_interrupt_and_lose_their_marks() {
    for op_type in ["Data", "Variable", "Const", "Constant", "ConstPlaceHolder"] {
        let mut builder = Builder::default();
        builder.op("a", 1, 1, "s").options = "strict-scope-check=abort".to_owned().into();
        let source = builder.unfusable("x", 2, 1, "s");
        source.op_type = op_type.to_owned().into();
        source.options = "strict-scope-check=nonsense".to_owned().into();
        builder.op("b", 3, 1, "s").options = "strict-scope-check=abort".to_owned().into();
        for mode in [Mode::Compat, Mode::Default] {
            let plan = builder.plan(mode).unwrap();
            assert_eq!(pieces(&plan), ["s: a b"]);
            assert!(plan.records.is_empty(), "without a message");
        }
    }
}

#[test]
fn nodes_without_a_task_interrupt_the_reference_only() {
    let mut builder = Builder::default();
    builder.op("a", 1, 1, "s");
    builder.outside("reshape", 2, 1).no_task = true;
    builder.op("b", 3, 1, "s");
    assert_eq!(pieces(&builder.plan(Mode::Compat).unwrap()), ["s_split_0_2: a", "s_split_2_4: b"]);
    assert_eq!(pieces(&builder.plan(Mode::Default).unwrap()), ["s: a b"]);
    // An event that ends at it still orders the stream.
    builder.outside("w", 0, 2);
    builder.graph.nodes.rotate_right(1);
    builder.event(7, "w", "reshape");
    assert!(builder.plan(Mode::Default).unwrap().pieces.is_empty());
}

#[test]
fn unknown_shapes_are_left_alone() {
    let mut builder = two_streams();
    builder.graph.unknown_shape = true;
    let plan = builder.plan(Mode::Compat).unwrap();
    assert!(plan.pieces.is_empty() && plan.scopes.is_empty());
    assert!(crate::scope::report::text(&plan).contains("not static"));
}

#[test]
fn a_marked_node_without_a_stream_is_left_out() {
    let mut builder = Builder::default();
    builder.op("a", 1, 1, "s");
    builder.op("lost", 2, -1, "s");
    builder.op("b", 3, 1, "s");
    let plan = builder.plan(Mode::Default).unwrap();
    assert_eq!(pieces(&plan), ["s: a b"]);
    assert_eq!(left_out(&plan), ["lost unassigned-stream"]);
}

#[test]
fn excluded_nodes_cut_like_unfusable_ones() {
    let mut builder = Builder::default();
    for id in 1..=5 {
        builder.op(&format!("n{id}"), id, 1, "s");
    }
    let settings = Settings { exclude: vec!["n3".to_owned()], ..Settings::default() };
    let plan = super::plan(&builder.graph, &settings).unwrap();
    assert_eq!(pieces(&plan), ["s_split_0_3: n1 n2", "s_split_3_6: n4 n5"]);
    assert_eq!(left_out(&plan), ["n3 excluded"]);
}

#[test]
fn a_piece_is_never_called_like_another_scope() {
    let mut builder = Builder::default();
    for id in 1..=5 {
        let name = format!("n{id}");
        if id == 3 {
            builder.outside(&name, id, 1)
        } else {
            builder.op(&name, id, 1, "s")
        };
    }
    builder.op("a", 6, 2, "s_split_0_3");
    builder.op("b", 7, 2, "s_split_0_3");
    let plan = builder.plan(Mode::Default).unwrap();
    assert_eq!(pieces(&plan), ["s_split_0_3_2: n1 n2", "s_split_3_6: n4 n5", "s_split_0_3: a b"]);
}

#[test]
fn core_limits_count_only_when_both_are_given() {
    let limits = |edit: &dyn Fn(&mut Builder)| {
        let mut builder = Builder::default();
        for (id, name) in [(1, "a"), (2, "b"), (3, "c")] {
            builder.op(name, id, 1, "s");
        }
        edit(&mut builder);
        let plan = builder.plan(Mode::Default).unwrap();
        (plan.pieces[0].core_limits, plan.pieces[0].kernel_name.clone())
    };
    let (none, plain) = limits(&|_| {});
    let (both, limited) = limits(&|builder| {
        builder.graph.nodes[0].aicore_num = Some(4);
        builder.graph.nodes[1].aicore_num = Some(8);
        builder.graph.nodes[1].vectorcore_num = Some(12);
    });
    let (one, half) = limits(&|builder| builder.graph.nodes[0].aicore_num = Some(4));
    let (collective, _) = limits(&|builder| {
        builder.graph.nodes[2].hccl = true;
        builder.graph.nodes[2].aicore_num = Some(4);
        builder.graph.nodes[2].vectorcore_num = Some(4);
    });
    assert_eq!((none, both, one, collective), (None, Some((8, 12)), None, None));
    assert_ne!(plain, limited);
    assert_eq!(plain, half);
}

#[test]
fn members_must_agree_on_their_options() {
    let mut builder = Builder::default();
    builder.op("a", 1, 1, "s").options = "stream-fusion=1:profiling=1".to_owned().into();
    builder.op("b", 2, 1, "s").options = "profiling=1:stream-fusion=1:early-start=1".to_owned().into();
    assert_eq!(builder.plan(Mode::Default).unwrap().pieces.len(), 1, "the same options in other words");
    builder.graph.nodes[1].options = "profiling=1".to_owned().into();
    builder.op("c", 3, 1, "t");
    builder.op("d", 4, 1, "t");
    let problems = |builder: &Builder| {
        let plan = builder.plan(Mode::Default).unwrap();
        let ids = |piece: &Piece| piece.problems.iter().map(|problem| problem.id).collect::<Vec<_>>().join(" ");
        plan.pieces.iter().map(|piece| format!("{} {}", piece.name, ids(piece))).collect::<Vec<_>>()
    };
    assert_eq!(problems(&builder), ["s SK1012 SK1020", "t SK1020"], "the other scope is planned all the same");
    assert_eq!(builder.plan(Mode::Compat).unwrap().pieces[0].options, "stream-fusion=1:profiling=1");
    builder.graph.nodes[1].options = "stream-funsion=1:split-mode=0".to_owned().into();
    assert_eq!(problems(&builder), ["t SK1020"]);
    let mistakes = builder.plan(Mode::Default).unwrap().mistakes;
    let found: Vec<(&str, &str)> = mistakes.iter().map(|mistake| (mistake.id, mistake.node.as_str())).collect();
    assert_eq!(found, [("SK1011", "b"), ("SK1011", "b")], "both mistakes of one string");
}

/// Stream 1 is interrupted, stream 2 has nothing to do with it.
#[test]
fn independent_chains_stay_whole_on_request() {
    let mut builder = Builder::default();
    for (id, stream) in [(1, 1), (2, 2), (3, 1), (4, 2), (5, 1), (6, 2), (7, 1), (8, 2)] {
        let name = format!("n{id}");
        let node = if id == 3 { builder.unfusable(&name, id, stream, "S") } else { builder.op(&name, id, stream, "S") };
        node.options = "stream-fusion=1".to_owned().into();
    }
    let settings = Settings { cuts: Cuts::PerStream, ..Settings::default() };
    let per_stream = |builder: &Builder| pieces(&super::plan(&builder.graph, &settings).unwrap());
    assert_eq!(pieces(&builder.plan(Mode::Default).unwrap()), ["S_split_0_3: n1 n2", "S_split_3_9: n4 n5 n6 n7 n8"]);
    assert_eq!(per_stream(&builder), ["S_split_0_9: n1 n2 n4 n6 n8", "S_split_4_8: n5 n7"]);
    // With an event from behind the interruption the end of the other chain belongs to the second piece.
    builder.event(9, "n5", "n6");
    assert_eq!(per_stream(&builder), ["S_split_0_5: n1 n2 n4", "S_split_4_9: n5 n6 n7 n8"]);
    assert_eq!(per_stream(&two_streams()), ["S_split_0_4: n1 n2 n3", "S_split_5_10: n6 n7 n9"]);
}
