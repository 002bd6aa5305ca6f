//! Main streams, events at the border and inside, op lists.

use super::*;
use crate::scope::graph::DataEdge;

/// X(2) W(4) A(1) Z(3) B(2) C(1) D(2) Y(2); the piece is A, B, C, D.
fn example() -> Builder {
    let mut builder = Builder::default();
    for (id, (name, stream)) in
        (1..).zip([("X", 2), ("W", 4), ("A", 1), ("Z", 3), ("B", 2), ("C", 1), ("D", 2), ("Y", 2)])
    {
        let scope = if "ABCD".contains(name) { "S" } else { "" };
        builder.op(name, id, stream, scope);
    }
    builder.event(3, "A", "B");
    builder.event(4, "A", "Z");
    builder.event(5, "W", "C");
    builder.event(6, "B", "C");
    builder
}

#[test]
fn the_worked_example() {
    let plan = example().plan(Mode::Compat).unwrap();
    assert_eq!(
        made_events(&plan),
        [
            "b+0 mem A -> B, 1 -> 2",
            "b+1 mem A -> Z, 1 -> 3",
            "b+2 mem B -> C, 1 -> 1",
            "3 normal X -> SK, 2 -> 1",
            "b+4 mem W -> C, 4 -> 1",
            "4 normal SK -> Y, 1 -> 2",
        ]
    );
    let piece = &plan.pieces[0];
    assert_eq!(
        lists(piece),
        ["A waits [] sends [0, 1]", "B waits [0] sends [2]", "C waits [2, 4] sends []", "D waits [] sends []"]
    );
    assert_eq!((piece.main_stream, piece.node_name.as_str()), (1, "sk_S_start_A_end_D"));
    assert_eq!(piece.kernel_name, "te_superkernel_ba5fecb4097efe0313ff9f2fa8eea3e0f4af9e856b4b01cf6260902369b42600");
}

#[test]
fn the_list_after_the_example() {
    let plan = example().plan(Mode::Compat).unwrap();
    let shown: Vec<String> = plan
        .nodes
        .iter()
        .map(|node| {
            format!("{} {} {}{}", node.id, node.name, node.stream, if node.parent.is_some() { " in" } else { "" })
        })
        .collect();
    assert_eq!(
        shown,
        [
            "0 X 2",
            "1 sk_send_3 2",
            "2 W 4",
            "3 sk_send_1073741827 4",
            "4 sk_rcv_3 1",
            "5 sk_S_start_A_end_D 1",
            "6 A 1 in",
            "7 sk_send_1073741824 1 in",
            "8 sk_send_1073741823 1 in",
            "9 sk_rcv_1073741823 2 in",
            "10 B 2 in",
            "11 sk_send_1073741825 1 in",
            "12 sk_rcv_1073741825 1 in",
            "13 sk_rcv_1073741827 1 in",
            "14 C 1 in",
            "15 D 2 in",
            "16 sk_S_start_A_end_D_output 1 in",
            "17 sk_send_4 1",
            "18 sk_rcv_1073741824 3",
            "19 Z 3",
            "20 sk_rcv_4 2",
            "21 Y 2",
        ]
    );
}

/// Ids of the members in the list after planning.
fn renumbered(plan: &ScopePlan) -> Vec<String> {
    let inside = plan.nodes.iter().filter(|node| node.parent.is_some());
    inside.map(|node| format!("{} {} {}", node.id, node.name, node.op_type)).collect()
}

#[test]
fn inner_ends_data_and_output_count_as_nodes() {
    let mut builder = Builder::default();
    builder.op("a", 1, 1, "S");
    builder.op("b", 2, 2, "S");
    builder.event(5, "a", "b");
    builder.outside("after", 3, 1);
    let plan = builder.plan(Mode::Compat).unwrap();
    assert_eq!(
        renumbered(&plan),
        [
            "1 a Op",
            "2 sk_send_1073741823 SendMem",
            "3 sk_rcv_1073741823 RecvMem",
            "4 b Op",
            "5 sk_S_start_a_end_b_output NetOutput",
        ]
    );
    assert_eq!(plan.nodes.iter().find(|node| node.name == "after").map(|node| node.id), Some(6));
    // With tensors from and to the outside: the inner graph has data nodes and one output node.
    let mut builder = Builder::default();
    builder.outside("x", 1, 1);
    builder.op("a", 2, 1, "S");
    builder.op("b", 3, 1, "S");
    builder.outside("y", 4, 1);
    builder.op("c", 5, 1, "T");
    for (from, to, input) in [("x", "a", 0), ("x", "b", 1), ("a", "b", 0), ("a", "y", 0), ("b", "y", 1)] {
        let edge = DataEdge { from: builder.index(from), output: 0, to: builder.index(to), input };
        builder.graph.data.push(edge);
    }
    let plan = builder.plan(Mode::Compat).unwrap();
    assert_eq!(
        renumbered(&plan),
        [
            "2 a Op",
            "3 b Op",
            "4 sk_S_start_a_end_b_data_0 Data",
            "5 sk_S_start_a_end_b_data_1 Data",
            "6 sk_S_start_a_end_b_output NetOutput",
            "9 c Op",
            "10 sk_T_start_c_end_c_output NetOutput",
        ]
    );
}

/// Nodes in list order with their streams and scopes, all fusable.
fn row(nodes: &[(&str, i64, &str)]) -> Builder {
    let mut builder = Builder::default();
    for (id, (name, stream, scope)) in (0..).zip(nodes) {
        builder.op(name, id, *stream, scope);
    }
    builder
}

#[test]
fn a_new_send_stands_in_front_of_older_ones_of_its_producer() {
    let mut builder = row(&[("c0", 2, "p"), ("m", 1, "q"), ("z", 3, "r"), ("u", 1, "p")]);
    builder.event(56, "m", "z");
    let plan = builder.plan(Mode::Compat).unwrap();
    // SK_p's wait for m was made first, but its send is nearer to m than that of 56: it gets the runtime event.
    assert_eq!(made_events(&plan), ["56 normal SK2 -> SK1, 1 -> 2", "b+3 mem SK2 -> SK3, 1 -> 3"]);
}

#[test]
fn the_order_of_sends_decides_ids_and_names() {
    let mut builder = row(&[("h0", 11, "p"), ("s1", -1, "q"), ("z2", -1, "p"), ("v3", 3, "q")]);
    builder.event(0, "s1", "v3");
    let plan = builder.plan(Mode::Compat).unwrap();
    assert_eq!(pieces(&plan), ["p: h0 z2", "q: s1 v3"]);
    assert_eq!(lists(&plan.pieces[1])[1], "v3 waits [2] sends []");
}

#[test]
fn the_order_events_are_listed_in_does_not_matter_to_us() {
    let events = [(1, "A", "C"), (2, "A", "Z"), (3, "A", "D"), (4, "B", "D"), (5, "X", "D"), (6, "A", "Y")];
    let planned = |order: &[usize]| {
        let mut builder = row(&[
            ("X", 4, ""),
            ("A", 1, "S"),
            ("B", 2, "S"),
            ("C", 3, "S"),
            ("D", 3, "S"),
            ("E", 1, "S"),
            ("Y", 5, "T"),
            ("Z", 6, ""),
            ("W", 5, "T"),
        ]);
        for &number in order {
            let (id, from, to) = events[number];
            builder.event(id, from, to);
        }
        let plan = builder.plan(Mode::Default).unwrap();
        let mut made = made_events(&plan);
        made.sort();
        (plan.pieces.iter().map(lists).collect::<Vec<_>>(), made)
    };
    let expected = planned(&[0, 1, 2, 3, 4, 5]);
    for order in [[5, 4, 3, 2, 1, 0], [1, 0, 3, 2, 5, 4], [2, 5, 0, 4, 1, 3]] {
        assert_eq!(planned(&order), expected, "{order:?}");
    }
}

#[test]
fn our_mode_builds_the_same_events_and_says_what_is_missing() {
    let plan = example().plan(Mode::Default).unwrap();
    let piece = &plan.pieces[0];
    // Z stands before B in the list, so A's event for it comes first.
    assert_eq!(
        lists(piece),
        ["A waits [] sends [0, 1]", "B waits [1] sends [2]", "C waits [2, 4] sends []", "D waits [] sends []"]
    );
    let problems: Vec<String> = piece.problems.iter().map(|problem| problem.explain()).collect();
    let needed = "op 2 (`C`) on stream 1 and its successor op 3 (`D`)";
    assert!(problems.iter().any(|text| text.contains(needed) && text.contains("stream-fusion=1")), "{problems:?}");
}

#[test]
fn a_second_piece_continues_the_ids() {
    let mut builder = example();
    builder.op("E", 20, 1, "T");
    builder.op("F", 21, 5, "T");
    builder.outside("G", 22, 5);
    let plan = builder.plan(Mode::Compat).unwrap();
    // The first piece used six numbers, two of them for reused ids. Nothing of T was removed: no id to reuse.
    assert_eq!(made_events(&plan).last().unwrap(), "b+6 mem SK2 -> G, 1 -> 5");
}

#[test]
fn last_op_to_the_next_scopes_first_is_a_runtime_event() {
    let mut builder = Builder::default();
    for (id, (name, stream, scope)) in (1..).zip([("A", 1, "P"), ("B", 1, "P"), ("C", 2, "Q"), ("D", 2, "Q")]) {
        builder.op(name, id, stream, scope);
    }
    builder.event(9, "B", "C");
    for mode in [Mode::Compat, Mode::Default] {
        let plan = builder.plan(mode).unwrap();
        assert_eq!(made_events(&plan), ["9 normal SK1 -> SK2, 1 -> 2"], "{mode:?}");
        assert!(plan.pieces.iter().flat_map(lists).all(|text| text.ends_with("waits [] sends []")));
    }
}

#[test]
fn a_member_that_feeds_the_middle_of_another_kernel() {
    let mut builder = Builder::default();
    for (id, (name, stream, scope)) in
        (1..).zip([("A", 1, "P"), ("B", 1, "P"), ("C", 2, "Q"), ("D", 2, "Q"), ("E", 2, "Q")])
    {
        builder.op(name, id, stream, scope);
    }
    builder.event(9, "A", "D");
    for mode in [Mode::Compat, Mode::Default] {
        let plan = builder.plan(mode).unwrap();
        // The event of the first piece (b+0) is replaced, and its id purged from A's list.
        assert_eq!(made_events(&plan), ["b+1 mem A -> D, 1 -> 2"], "{mode:?}");
        assert_eq!(lists(&plan.pieces[0]), ["A waits [] sends [1]", "B waits [] sends []"]);
        assert_eq!(lists(&plan.pieces[1]), ["C waits [] sends []", "D waits [1] sends []", "E waits [] sends []"]);
    }
}

#[test]
fn two_events_between_one_pair_become_one() {
    let mut builder = Builder::default();
    builder.op("A", 1, 1, "S");
    builder.op("B", 2, 2, "S");
    builder.outside("C", 3, 3);
    builder.event(5, "A", "B");
    builder.event(6, "A", "B");
    builder.event(7, "A", "C");
    builder.event(8, "A", "C");
    for mode in [Mode::Compat, Mode::Default] {
        let plan = builder.plan(mode).unwrap();
        assert_eq!(made_events(&plan), ["b+0 mem A -> B, 1 -> 2", "b+1 mem A -> C, 1 -> 3"], "{mode:?}");
    }
}

/// P and C in the piece; C's tiling waits for P on a stream of its own.
#[test]
fn an_attached_tiling_stream_gets_an_event_of_its_own() {
    let mut builder = Builder::default();
    builder.op("P", 1, 1, "S");
    let consumer = builder.op("C", 2, 1, "S");
    consumer.tiling_on_aicpu = true;
    consumer.task_type = crate::model::TaskType::Dynamic;
    builder.op("D", 3, 1, "S");
    builder.event_on(EventKind::Normal, 4, "P", "C", (1, 30));
    let plan = builder.plan(Mode::Compat).unwrap();
    let mut made = made_events(&plan);
    made.sort();
    assert_eq!(made, ["b+0 mem P -> SK, 1 -> 30", "b+1 mem P -> C, 1 -> 30"]);
    assert_eq!(lists(&plan.pieces[0])[0], "P waits [] sends [0, 1]");
    assert_eq!(lists(&plan.pieces[0])[1], "C waits [1] sends []");
    // On one stream P is before C anyway, and the compiler refuses such an event.
    let plan = builder.plan(Mode::Default).unwrap();
    assert_eq!(made_events(&plan), ["b+0 mem P -> SK, 1 -> 30"]);
    // From outside the wait is the kernel's, on the tiling stream.
    let mut builder = Builder::default();
    builder.outside("P", 1, 2);
    builder.op("B", 2, 1, "S");
    builder.op("C", 3, 1, "S").tiling_on_aicpu = true;
    builder.event_on(EventKind::Normal, 4, "P", "C", (2, 30));
    for mode in [Mode::Compat, Mode::Default] {
        assert_eq!(made_events(&builder.plan(mode).unwrap()), ["4 normal P -> SK, 2 -> 30"], "{mode:?}");
    }
}

#[test]
fn a_kernel_that_begins_with_a_collective_runs_on_another_stream() {
    let mut builder = Builder::default();
    builder.op("ar", 1, 5, "S").hccl = true;
    builder.outside("x", 2, 3);
    builder.op("mm", 3, 3, "S");
    builder.op("ag", 4, 2, "S").hccl = true;
    builder.op("add", 5, 4, "S");
    for mode in [Mode::Compat, Mode::Default] {
        assert_eq!(builder.plan(mode).unwrap().pieces[0].main_stream, 3, "{mode:?}");
    }
    let order = |mode| -> Vec<String> {
        let plan = builder.plan(mode).unwrap();
        let outer = plan.nodes.iter().filter(|node| node.parent.is_none() && !node.op_type.contains("Mem"));
        outer
            .map(|node| if node.op_type == "SuperKernel" { "SK".to_owned() } else { node.name.clone().into() })
            .collect()
    };
    // The reference puts the kernel in front of x, which precedes mm on the stream it runs on.
    assert_eq!(order(Mode::Compat), ["SK", "x"]);
    assert_eq!(order(Mode::Default), ["x", "SK"]);
    // Only collectives: the first one's stream.
    for node in &mut builder.graph.nodes {
        node.hccl = node.name != "x";
    }
    assert_eq!(builder.plan(Mode::Compat).unwrap().pieces[0].main_stream, 5);
}

#[test]
fn incomplete_events_far_away_fail_the_plan() {
    let mut builder = example();
    let mut send = Node::new("lonely", "Send", 0, 9);
    send.event_id = Some(77);
    builder.graph.nodes.push(send);
    for mode in [Mode::Compat, Mode::Default] {
        assert!(matches!(builder.plan(mode), Err(ScopeError::Event { .. })));
    }
    for node in &mut builder.graph.nodes {
        node.scope = Default::default();
    }
    assert!(builder.plan(Mode::Compat).is_ok(), "without a piece nobody looks");
}

#[test]
fn names_decide_the_order_in_the_reference_only() {
    let names = |rename: &str, mode| {
        let mut builder = example();
        for node in builder.graph.nodes.iter_mut().filter(|node| node.name == "A") {
            node.name = rename.to_owned().into();
        }
        let plan = builder.plan(mode).unwrap();
        plan.pieces[0].ops[0].send_event_list.clone()
    };
    assert_ne!(names("A", Mode::Compat), names("Zz", Mode::Compat));
    assert_eq!(names("A", Mode::Default), names("Zz", Mode::Default));
}

#[test]
fn memory_ids_in_use_are_not_given_out_again() {
    let mut builder = example();
    builder.outside("V", 30, 6);
    builder.outside("U", 31, 7);
    builder.event_on(EventKind::Mem, super::super::rewrite::BASE + 1, "V", "U", (6, 7));
    let used = |mode| -> Vec<i64> {
        let plan = builder.plan(mode).unwrap();
        plan.events.iter().filter(|event| event.kind == "mem").map(|event| event.id).collect()
    };
    let mut ours = used(Mode::Default);
    let count = ours.len();
    ours.sort_unstable();
    ours.dedup();
    assert_eq!(ours.len(), count);
}

#[test]
fn outer_connections() {
    let mut builder = Builder::default();
    builder.outside("x", 1, 1);
    builder.op("b", 2, 1, "S");
    builder.op("a", 3, 1, "S");
    builder.outside("y", 4, 1);
    builder.outside("z", 5, 1);
    for (from, output, to, input) in [
        ("x", 0, "b", 1),
        ("x", 1, "b", 0),
        ("x", 0, "a", 0),
        ("b", 0, "a", 1),
        ("b", 0, "y", 0),
        ("b", 0, "z", 0),
        ("a", 2, "z", 1),
    ] {
        let edge = DataEdge { from: builder.index(from), output, to: builder.index(to), input };
        builder.graph.data.push(edge);
    }
    let shown = |list: &[(smol_str::SmolStr, u32)]| {
        list.iter().map(|(name, index)| format!("{name}:{index}")).collect::<Vec<_>>()
    };
    let plan = builder.plan(Mode::Compat).unwrap();
    assert_eq!(shown(&plan.pieces[0].inputs), ["x:0", "x:1", "x:0"], "by name of the member, then by input");
    assert_eq!(shown(&plan.pieces[0].outputs), ["a:2", "b:0"]);
    let plan = builder.plan(Mode::Default).unwrap();
    assert_eq!(shown(&plan.pieces[0].inputs), ["x:1", "x:0"], "in list order, each tensor once");
    assert_eq!(shown(&plan.pieces[0].outputs), ["b:0", "a:2"]);
}

#[test]
fn op_lists_leave_empty_things_out() {
    let plan = example().plan(Mode::Compat).unwrap();
    let infos = plan.pieces[0].kernel_infos();
    let last = &infos["op_list"][3];
    assert!(last.get("send_event_list").is_none() && last.get("recv_event_list").is_none());
    assert!(infos.get("super_kernel_options").is_none());
    assert_eq!(infos["op_list"][1]["stream_id"], 2);
    let normalized = plan.pieces[0].normalized_infos();
    assert_eq!(normalized["op_list"][0]["stream_id"], 0);
    assert_eq!(normalized["op_list"][2]["recv_event_list"], serde_json::json!([2, 3]));
}

/// Only the reference can get host work into a piece: kept by `bypass`, and then forgotten.
fn with_host_work(names: [&str; 3]) -> Builder {
    let mut builder = Builder::default();
    builder.unfusable("x", 1, 1, "s");
    for (id, name) in (2..).zip(names) {
        let node = builder.op(name, id, 1, "s");
        node.options = format!("strict-scope-check=bypass:compile-options=-D{name}").into();
        if name == "prefetch" {
            (node.support, node.ai_core) = (0, false);
        }
    }
    builder
}

#[test]
fn options_and_limits_come_from_what_is_written() {
    let mut builder = with_host_work(["prefetch", "a", "b"]);
    for (node, limit) in builder.graph.nodes.iter_mut().zip([50, 40, 4, 8]) {
        (node.aicore_num, node.vectorcore_num) = (Some(limit), Some(2 * limit));
    }
    let plan = builder.plan(Mode::Compat).unwrap();
    let piece = &plan.pieces[0];
    assert_eq!(piece.members, ["prefetch", "a", "b"]);
    assert_eq!(piece.options, "strict-scope-check=bypass:compile-options=-Da");
    assert_eq!(piece.core_limits, Some((8, 16)));
}

#[test]
fn members_that_launch_no_kernel_are_not_written() {
    let builder = with_host_work(["a", "prefetch", "b"]);
    let plan = builder.plan(Mode::Compat).unwrap();
    assert_eq!(plan.pieces[0].members, ["a", "prefetch", "b"]);
    let written: Vec<&str> = plan.pieces[0].ops.iter().map(|op| op.name.as_str()).collect();
    assert_eq!(written, ["a", "b"]);
}
