//! `strict-scope-check`: unset, bypass, abort, and how the two modes differ.

use super::*;

/// Where the node that cannot be fused stands.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Stray {
    None,
    Start,
    Middle,
    End,
    OtherStream,
    OtherScopeBetween,
}

/// a b c on stream 1, all marked, with a stray node somewhere.
fn graph(stray: Stray, options: &str) -> Builder {
    let mut builder = Builder::default();
    let unfusable = |builder: &mut Builder, id, stream| {
        builder.unfusable("x", id, stream, "s").options = options.to_owned().into();
    };
    if stray == Stray::Start {
        unfusable(&mut builder, 0, 1);
    }
    builder.op("a", 1, 1, "s").options = options.to_owned().into();
    match stray {
        Stray::Middle => unfusable(&mut builder, 2, 1),
        Stray::OtherScopeBetween => {
            builder.op("x", 2, 1, "t");
        }
        Stray::OtherStream => unfusable(&mut builder, 2, 9),
        Stray::None | Stray::Start | Stray::End => {}
    }
    builder.op("b", 3, 1, "s").options = options.to_owned().into();
    builder.op("c", 4, 1, "s").options = options.to_owned().into();
    if stray == Stray::End {
        unfusable(&mut builder, 5, 1);
    }
    builder
}

#[test]
fn unset_drops_and_cuts() {
    for (stray, expected) in [
        (Stray::None, &["s: a b c"][..]),
        (Stray::Start, &["s_split_0_5: a b c"]),
        (Stray::Middle, &["s_split_0_2: a", "s_split_2_5: b c"]),
        (Stray::End, &["s_split_0_5: a b c"]),
        (Stray::OtherStream, &["s: a b c"]),
        (Stray::OtherScopeBetween, &["s_split_0_2: a", "s_split_2_5: b c", "t: x"]),
    ] {
        assert_eq!(pieces(&graph(stray, "").plan(Mode::Compat).unwrap()), expected, "{stray:?}");
    }
}

#[test]
fn bypass_leaves_the_whole_scope_unfused() {
    for mode in [Mode::Compat, Mode::Default] {
        let plan = graph(Stray::None, "strict-scope-check=bypass").plan(mode).unwrap();
        assert_eq!(pieces(&plan), ["s: a b c"], "nothing to object to");
        for stray in [Stray::Start, Stray::Middle, Stray::End, Stray::OtherStream, Stray::OtherScopeBetween] {
            let plan = graph(stray, "strict-scope-check=bypass").plan(mode).unwrap();
            assert!(plan.pieces.iter().all(|piece| piece.scope != "s"), "{stray:?}");
            let scope = plan.scopes.iter().find(|scope| scope.name == "s").unwrap();
            assert_eq!((scope.outcome, scope.strict), ("bypassed", Some("bypass")));
            let warning = plan.records.iter().find(|record| record.level == "WARNING").unwrap();
            for part in
                ["super_kernel_scope", "`x`", "`s`", "local_memory_size", "stream", "position", "topological id"]
            {
                assert!(warning.text.contains(part), "{}", warning.text);
            }
        }
    }
}

#[test]
fn abort_fails() {
    for mode in [Mode::Compat, Mode::Default] {
        assert_eq!(pieces(&graph(Stray::None, "strict-scope-check=abort").plan(mode).unwrap()), ["s: a b c"]);
        for stray in [Stray::Start, Stray::Middle, Stray::End, Stray::OtherStream, Stray::OtherScopeBetween] {
            let error = graph(stray, "strict-scope-check=abort").plan(mode).unwrap_err();
            let ScopeError::StrictAbort { scope, node, reason, .. } = &error else { panic!("{error}") };
            let expected = if stray == Stray::OtherScopeBetween { "other-scope" } else { "no-support-flag" };
            assert_eq!((scope.as_str(), node.as_str(), reason.code()), ("s", "x", expected), "{stray:?}");
            for part in ["super_kernel_scope", "`x`", "`s`", expected] {
                assert!(error.to_string().contains(part), "{error}");
            }
        }
    }
}

/// The span walk of the reference forgets the tiling rule.
#[test]
fn a_blocked_tiling_op_is_fused_by_the_reference_only() {
    let mut builder = graph(Stray::None, "strict-scope-check=abort");
    let node = &mut builder.graph.nodes[1];
    (node.tiling_on_aicpu, node.reuse_binary) = (true, true);
    assert_eq!(pieces(&builder.plan(Mode::Compat).unwrap()), ["s: a b c"]);
    assert!(matches!(builder.plan(Mode::Default), Err(ScopeError::StrictAbort { .. })));
}

/// A dropped node without the option makes the reference forget the bypass.
#[test]
fn a_mixed_scope_is_built_by_the_reference_only() {
    let mut builder = graph(Stray::Start, "strict-scope-check=bypass");
    builder.graph.nodes[0].options = String::new().into();
    builder.unfusable("y", 6, 1, "s").options = "strict-scope-check=bypass".to_owned().into();
    builder.op("d", 7, 1, "s").options = "strict-scope-check=bypass".to_owned().into();
    assert_eq!(pieces(&builder.plan(Mode::Compat).unwrap()), ["s_split_0_8: a b c y d"]);
    let plan = builder.plan(Mode::Default).unwrap();
    assert!(plan.pieces.is_empty());
    assert_eq!(plan.scopes[0].outcome, "bypassed");
}

#[test]
fn two_values_in_one_scope_are_a_conflict() {
    let mut builder = graph(Stray::Middle, "strict-scope-check=abort");
    for node in &mut builder.graph.nodes[1..] {
        node.options = "strict-scope-check=bypass".to_owned().into();
    }
    assert_eq!(mistakes(&builder), ["SK1009 s"]);
    // The last one in the list wins.
    assert!(builder.plan(Mode::Compat).unwrap().pieces.is_empty());
    builder.graph.nodes.last_mut().unwrap().options = "strict-scope-check=abort".to_owned().into();
    assert!(matches!(builder.plan(Mode::Compat), Err(ScopeError::StrictAbort { .. })));
}

#[test]
fn bad_values_fail_the_whole_plan_in_the_reference_and_their_scope_here() {
    let error = graph(Stray::None, "strict-scope-check=").plan(Mode::Compat).unwrap_err();
    assert!(matches!(error, ScopeError::StrictValue { .. }));
    assert_eq!(mistakes(&graph(Stray::None, "strict-scope-check=")), ["SK1008 s"]);
    assert!(graph(Stray::None, "strict-scope-check").plan(Mode::Compat).is_ok());
    assert_eq!(mistakes(&graph(Stray::None, "strict-scope-check")), ["SK1008 s"]);
}

/// `id scope` of every mistake; nothing of those scopes is planned.
fn mistakes(builder: &Builder) -> Vec<String> {
    let plan = builder.plan(Mode::Default).unwrap();
    assert!(plan.pieces.is_empty() && plan.scopes[0].outcome == "mistaken");
    plan.mistakes.iter().map(|mistake| format!("{} {}", mistake.id, mistake.scope)).collect()
}

#[test]
fn a_scope_of_nothing_disappears() {
    let mut builder = Builder::default();
    builder.unfusable("a", 1, 1, "s");
    builder.unfusable("b", 2, 1, "s");
    for mode in [Mode::Compat, Mode::Default] {
        let plan = builder.plan(mode).unwrap();
        assert!(plan.pieces.is_empty());
        assert_eq!(plan.scopes[0].outcome, "empty");
        assert_eq!(plan.records.len(), 2);
    }
}
