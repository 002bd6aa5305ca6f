//! What is filled in for graphs from before compilation.

use super::*;
use crate::scope::prediction::fill_in;
use crate::scope::{Order, Orders, json};

fn plan_model(graph: Graph, settings: &Settings) -> Result<ScopePlan, ScopeError> {
    crate::scope::plan_model(&graph, settings, &Cancel::new())
}

/// A graph before compilation from lines `name Type scope label: input input:1 ^wait`.
fn graph(lines: &[&str]) -> Graph {
    let (mut nodes, mut data, mut control) = (Vec::new(), Vec::new(), Vec::new());
    for line in lines {
        let (head, inputs) = line.split_once(':').map_or((*line, ""), |(head, inputs)| (head, inputs));
        let mut words = head.split(' ').map(|word| if word == "-" { "" } else { word });
        let mut next = || words.next().unwrap_or_default();
        let (name, op_type, scope, label) = (next(), next(), next(), next());
        nodes.push(
            serde_json::json!({"name": name, "type": op_type, "scope": scope, "stream_label": label, "stream": 0,
            "options": if scope.is_empty() { "" } else { "stream-fusion=1" }, "same_type": name.starts_with("same")}),
        );
        for (number, input) in inputs.split_whitespace().enumerate() {
            match input.strip_prefix('^') {
                Some(before) => control.push(serde_json::json!([before, name])),
                None => data.push(serde_json::json!({"from": input, "to": name, "input": number})),
            }
        }
    }
    let text = serde_json::json!({"before_compilation": true, "nodes": nodes, "data": data, "control": control});
    json::read(&text.to_string()).unwrap()
}

fn ordered(lines: &[&str], order: Order) -> Vec<String> {
    let settings = Settings { orders: Orders::Only(order), ..Settings::default() };
    fill_in(graph(lines), &settings).unwrap().nodes.into_iter().map(|node| node.name.into()).collect()
}

/// `with scope: x=mm; y=relu(x); z=exp(y); w=tanh(z)`, then `abs(x)` and `neg(z)`.
const READ_BEHIND: &[&str] = &[
    "i Data",
    "mm MatMul s: i",
    "relu Relu s: mm",
    "exp Exp s: relu",
    "tanh Tanh s: exp",
    "abs Abs: mm",
    "neg Neg: exp",
    "out NetOutput: tanh abs neg",
];

#[test]
fn the_engine_sorts_depth_first() {
    assert_eq!(ordered(READ_BEHIND, Order::Engine), ["i", "mm", "abs", "relu", "exp", "neg", "tanh", "out"]);
    assert_eq!(ordered(READ_BEHIND, Order::Program), ["i", "mm", "relu", "exp", "tanh", "abs", "neg", "out"]);
}

#[test]
fn sources_begin_with_data_and_keep_their_order() {
    let lines = ["c Const", "x Data", "d Const", "y Data", "a Add: x d", "b Add: y c", "e Add: a b", "f Neg: y ^a"];
    assert_eq!(ordered(&lines, Order::Engine), ["x", "y", "c", "b", "d", "a", "f", "e"]);
}

#[test]
fn a_circle_has_no_order() {
    let mut graph = graph(&["x Data", "a Add: x", "b Add: a"]);
    graph.control.push(ControlEdge { from: NodeIndex(2), to: NodeIndex(1) });
    let settings = Settings { orders: Orders::Only(Order::Engine), ..Settings::default() };
    assert!(matches!(fill_in(graph, &settings), Err(ScopeError::CyclicEdges { .. })));
}

#[test]
fn what_only_the_engines_order_cuts_is_a_finding() {
    let plan = plan_model(graph(READ_BEHIND), &Settings::default()).unwrap();
    assert_eq!(pieces(&plan), ["s: mm relu exp tanh"]);
    assert_eq!(plan.findings.len(), 1);
    let finding = &plan.findings[0];
    assert_eq!((finding.kind, finding.scope.as_str()), ("engine-order", "s"));
    assert!(finding.message.contains("`abs`") && finding.message.contains("`neg`"), "{}", finding.message);
    assert!(finding.solution.contains("topology_sorting_strategy = \"StableRDFS\""));
    let only = |order| plan_model(graph(READ_BEHIND), &Settings { orders: Orders::Only(order), ..Settings::default() });
    assert_eq!(pieces(&only(Order::Engine).unwrap()), ["s_split_2_5: relu exp"], "one-op pieces are left alone");
    assert!(only(Order::Program).unwrap().findings.is_empty());
}

#[test]
fn identities_go_and_their_waits_stay() {
    let lines = [
        "x Data",
        "a MatMul s: x",
        "b Exp s v: x",
        "wait Identity s v: b ^a",
        "again Identity s v: wait",
        "same Cast s v: again",
        "c Tanh s v: same",
        "d Add s: a c",
    ];
    let plan = plan_model(graph(&lines), &Settings::default()).unwrap();
    assert_eq!(pieces(&plan), ["s: a b c d"]);
    assert_eq!(
        lists(&plan.pieces[0]),
        ["a waits [] sends [0]", "b waits [] sends []", "c waits [0] sends [1]", "d waits [1] sends []"]
    );
}

#[test]
fn constants_are_folded_and_shapes_have_no_task() {
    let lines = [
        "x Data",
        "c Const",
        "p Pack s: c c",
        "k Cast s: p",
        "fill Fill: k c",
        "a Add s: x fill",
        "shape Shape: a",
        "r Reshape: a shape",
        "b Exp s: r",
        "noise RandomUniform: c",
        "d Add s: b noise",
    ];
    let plan = plan_model(graph(&lines), &Settings::default()).unwrap();
    assert_eq!(pieces(&plan), ["s_split_4_9: a b"]);
    assert_eq!(cuts(&plan), ["noise unmarked"], "another result every time is no constant");
    assert!(plan.prediction[1].contains("3 folded to constants, 2 without a task"), "{:?}", plan.prediction);
}

#[test]
fn only_the_first_consumer_on_a_stream_has_an_event() {
    let lines =
        ["x Data", "a Add: x", "b Add - v: a", "c Add - v: a", "d Add - w: a", "r Reshape - v: a", "e Add - w: r"];
    let filled = fill_in(graph(&lines), &Settings::default()).unwrap();
    let recvs = filled.nodes.iter().filter(|node| node.op_type == "Recv").map(|node| node.stream);
    assert_eq!(recvs.collect::<Vec<_>>(), [1, 2], "through what launches nothing too");
}

#[test]
fn marked_collectives_of_four_kinds_run_inside_kernels() {
    let lines = ["x Data", "a MatMul s: x", "r HcomAllReduce s: a", "w Identity s: r", "b Exp s: w", "c Exp s: b"];
    let plan = plan_model(graph(&lines), &Settings::default()).unwrap();
    assert_eq!(pieces(&plan), ["s: a r b c"]);
    assert!(plan.prediction.iter().any(|note| note.contains("HcomAllReduce") && note.contains("--not-fusable")));
    let without = Settings { not_fusable: vec!["HcomAllReduce".to_owned()], ..Settings::default() };
    let plan = plan_model(graph(&lines), &without).unwrap();
    assert_eq!(pieces(&plan), ["s_split_3_6: b c"]);
    assert_eq!(cuts(&plan), ["b wait-cycle"], "it runs on a stream of its own");
    let other = lines.map(|line| line.replace("AllReduce", "Broadcast"));
    let plan = plan_model(graph(&other.each_ref().map(String::as_str)), &Settings::default()).unwrap();
    assert_eq!(pieces(&plan), ["s_split_3_6: b c"], "not one of the four");
}

#[test]
fn types_can_be_taken_out_and_put_in() {
    let lines = ["x Data", "a Add s: x", "p Cmo s: a", "b Exp s: a", "c Exp s: b"];
    let with = |fusable: &str, not_fusable: &str| {
        let list = |types: &str| types.split_whitespace().map(str::to_owned).collect();
        let settings = Settings { fusable: list(fusable), not_fusable: list(not_fusable), ..Settings::default() };
        plan_model(graph(&lines), &settings).unwrap()
    };
    assert_eq!(
        (pieces(&with("", "")), left_out(&with("", ""))),
        (vec!["s_split_2_5: b c".to_owned()], vec!["p no-ai-core".to_owned(), "a single-op".to_owned()])
    );
    assert_eq!(pieces(&with("Cmo", "")), ["s: a p b c"]);
    assert_eq!(left_out(&with("Cmo", "Exp")), ["b not-fusable-type", "c not-fusable-type"]);
    let unknown = with("", "Expp");
    assert_eq!(unknown.findings[0].message, "no op of this graph is of type `Expp`; did you mean `Exp`?");
}

#[test]
fn a_compiled_graph_is_planned_as_it_is() {
    let mut builder = Builder::default();
    builder.op("a", 1, 1, "s");
    builder.unfusable("b", 2, 1, "s");
    let plan = plan_model(builder.graph.clone(), &Settings::default()).unwrap();
    assert!(plan.prediction.is_empty());
    assert_eq!(left_out(&plan), ["b no-support-flag", "a single-op"]);
}

#[test]
fn shapes_that_are_not_static_are_told_with_the_mistakes() {
    let mut graph = graph(&["x Data", "a Add s: x"]);
    graph.unknown_shape = true;
    graph.nodes[1].options = "split-mode=0".to_owned().into();
    let plan = plan_model(graph, &Settings::default()).unwrap();
    assert!(crate::scope::report::text(&plan).contains("the engine fuses nothing"));
    assert_eq!(plan.mistakes.len(), 1);
}

/// A chain of events is as good as one; none is a race.
#[test]
fn data_between_streams_must_be_waited_for() {
    let mut builder = Builder::default();
    builder.op("a", 1, 1, "s");
    builder.op("b", 2, 2, "s");
    builder.op("c", 3, 3, "s");
    builder.op("d", 4, 3, "s");
    builder.graph.data.push(super::super::graph::DataEdge {
        from: NodeIndex(0),
        output: 0,
        to: NodeIndex(3),
        input: 0,
    });
    let racing = builder.plan(Mode::Default).unwrap_err();
    assert!(
        matches!(&racing, ScopeError::UncoveredData { producer, consumer, .. } if producer == "a" && consumer == "d")
    );
    assert!(builder.plan(Mode::Compat).is_ok());
    builder.event(1, "a", "b");
    builder.event(2, "b", "c");
    assert!(builder.plan(Mode::Default).is_ok());
}
