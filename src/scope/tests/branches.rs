//! Models of several graphs: events and scopes belong to one of them; ranges that are bracketed by nodes.

use super::*;
use crate::scope::graph::Branch;
use crate::scope::{json, pbtxt};

/// `S` in the root, then a pair on two streams with an event of the same id in each of two branches.
fn gears() -> Builder {
    let mut builder = Builder::default();
    for name in ["g0", "g1"] {
        builder.graph.branches.push(Branch { name: name.to_owned(), parent: BranchIndex::ROOT });
    }
    builder.op("a", 1, 1, "S");
    builder.op("b", 2, 2, "S");
    builder.event(5, "a", "b");
    for (number, scope) in [(1, ""), (2, "")] {
        let (first, second) = (format!("c{number}"), format!("d{number}"));
        builder.op(&first, 10 * number + 1, 1, scope);
        builder.op(&second, 10 * number + 2, 2, scope);
    }
    builder
}

fn enter_branches(builder: &mut Builder) {
    for node in &mut builder.graph.nodes {
        let number = node.name.bytes().last().filter(u8::is_ascii_digit).map_or(0, |digit| usize::from(digit - b'0'));
        node.branch =
            if node.name.len() == 2 || node.name.starts_with("end") { BranchIndex(number) } else { BranchIndex::ROOT };
    }
}

/// Writes an event out with ends of given names.
fn event_named(builder: &mut Builder, id: i64, kind: EventKind, from: &str, to: &str, end: &str) {
    let before = builder.graph.nodes.len();
    builder.event_on(kind, id + 1000, from, to, (1, 2));
    assert_eq!(builder.graph.nodes.len(), before + 2);
    for node in &mut builder.graph.nodes {
        if node.event_id == Some(id + 1000) {
            node.event_id = Some(id);
            node.name = format!("end_{}_{end}", node.op_type).into();
        }
    }
}

#[test]
fn one_id_in_two_branches_is_no_conflict() {
    let mut builder = gears();
    event_named(&mut builder, 7, EventKind::Normal, "c1", "d1", "1");
    event_named(&mut builder, 7, EventKind::Normal, "c2", "d2", "2");
    enter_branches(&mut builder);
    for node in builder.graph.nodes.iter_mut().filter(|node| node.name == "c1" || node.name == "d1") {
        node.scope = "G".to_owned().into();
    }
    for mode in [Mode::Default, Mode::Compat] {
        let plan = builder.plan(mode).unwrap();
        assert_eq!(pieces(&plan), if mode == Mode::Default { ["S: a b", "G: c1 d1"] } else { ["G: c1 d1", "S: a b"] });
        assert!(plan.events.iter().any(|event| event.id == 7 && event.from == "c2" && !event.created));
        assert!(plan.events.iter().all(|event| event.id != 7 || event.from == "c2"), "that of g0 was replaced");
    }
}

#[test]
fn a_number_used_twice_refuses_only_pieces_that_touch_it() {
    for (kind, modes) in
        [(EventKind::Notify, &[Mode::Compat][..]), (EventKind::Normal, &[Mode::Compat, Mode::Default][..])]
    {
        for &mode in modes {
            let mut builder = gears();
            event_named(&mut builder, 7, EventKind::Normal, "c1", "d1", "x");
            event_named(&mut builder, 7, kind, "c2", "d2", "y");
            assert_eq!(pieces(&builder.plan(mode).unwrap()), ["S: a b"], "{kind:?} {mode:?}: far from any scope");
            for node in builder.graph.nodes.iter_mut().filter(|node| node.name == "c1" || node.name == "d1") {
                node.scope = "T".to_owned().into();
            }
            let error = builder.plan(mode).unwrap_err();
            assert!(
                matches!(error, ScopeError::Event { .. }) && error.to_string().contains("the same id 7"),
                "{error}"
            );
        }
    }
}

#[test]
fn a_scope_name_in_two_branches_is_two_scopes() {
    let mut builder = gears();
    enter_branches(&mut builder);
    for node in builder.graph.nodes.iter_mut().filter(|node| node.name.len() == 2) {
        node.scope = "S".to_owned().into();
    }
    let plan = builder.plan(Mode::Default).unwrap();
    assert_eq!(pieces(&plan), ["S: a b", "S_2: c1 d1", "S_3: c2 d2"]);
    let branches: Vec<&str> = plan.pieces.iter().map(|piece| piece.branch.as_str()).collect();
    assert_eq!(branches, ["", "g0", "g1"]);
    assert_eq!(plan.scopes.iter().map(|scope| scope.pieces.len()).collect::<Vec<_>>(), [1, 1, 1]);
    let text = crate::scope::report::text(&plan);
    assert!(text.contains("scope S in graph g1: 1 super kernel"), "{text}");
    // Nothing waits for work of a branch that excludes its own.
    for event in plan.events.iter().filter(|event| event.created) {
        assert!(!event.to.contains("c2") && !event.from.contains("c1"), "{event:?}");
    }
    let names: Vec<String> =
        builder.plan(Mode::Compat).unwrap().pieces.iter().map(|piece| piece.name.to_string()).collect();
    assert_eq!(names, ["S", "S", "S"]);
}

#[test]
fn nested_graphs_of_a_dump_are_branches() {
    let text = r#"
        graph { name: "root" op { name: "a" type: "A" id: 0 }
                op { name: "case" type: "Case" id: 1 subgraph_name: "one" subgraph_name: "two" }
                op { name: "z" type: "Z" id: 2 input: "case:0" } }
        graph { name: "two" op { name: "x" type: "X" id: 0 input: "a:0" } op { name: "y" type: "Y" id: 1 input: "x:0" } }
        graph { name: "one" op { name: "x" type: "X" id: 0 } op { name: "call" type: "Call" id: 1 subgraph_name: "deep" } }
        graph { name: "deep" op { name: "w" type: "W" id: 0 } }
        graph { op { name: "v" type: "V" id: 0 } }
    "#;
    let graph = pbtxt::read(text.as_bytes()).unwrap();
    let shown: Vec<String> = graph
        .nodes
        .iter()
        .map(|node| format!("{} {} {}", node.id, node.name, graph.branch_name(node.branch)).trim_end().to_owned())
        .collect();
    // Ids begin again in each graph, so each stands behind the op that holds it, numbered anew.
    assert_eq!(
        shown,
        ["0 a", "1 case", "2 one/x one", "3 call one", "4 w deep", "5 two/x two", "6 y two", "7 z", "8 v graph_4"]
    );
    let parents: Vec<&str> = graph.branches.iter().map(|branch| graph.branch_name(branch.parent)).collect();
    assert_eq!(parents, ["", "", "one", ""]);
    let edges: Vec<String> =
        graph.data.iter().map(|edge| format!("{} {}", graph.node(edge.from).name, graph.node(edge.to).name)).collect();
    assert_eq!(edges, ["a two/x", "two/x y", "case z"], "names are looked up in their own graph first");
    assert_eq!(json::read(&json::write(&graph).to_string()).unwrap(), graph);
}
