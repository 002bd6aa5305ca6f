//! Graphs as TorchAir wrote them (`tests/graphs/torchair`): every form is read, and planned as its model says.

use std::path::Path;

use super::*;
use crate::scope::graph::Stage;
use crate::scope::{Order, Orders, read_graph};

fn graph(file: &str) -> Graph {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/graphs/torchair").join(file);
    read_graph(&std::fs::read(path).unwrap()).unwrap()
}

/// `name type scope options origin`, without sources.
fn ops(graph: &Graph) -> Vec<String> {
    let ops = graph.nodes.iter().filter(|node| node.role() == crate::scope::graph::Role::Ordinary);
    let origin = |node: &Node| node.origin.as_ref().map_or("-", |origin| &origin.torch_op).to_owned();
    ops.map(|node| format!("{} {} {:?} {:?} {}", node.name, node.op_type, node.scope, node.options, origin(node)))
        .collect()
}

#[test]
fn the_four_forms_of_one_graph_say_the_same() {
    let expected = [
        "QuantBatchMatmulV3 QuantBatchMatmulV3 \"sp1\" \"\" npu.npu_quant_matmul.default",
        "DequantSwigluQuant DequantSwigluQuant \"sp1\" \"\" npu.npu_dequant_swiglu_quant.default",
    ];
    let text = graph("quant_swiglu.txt");
    for form in ["txt", "pb", "pbtxt", "py"] {
        let graph = graph(&format!("quant_swiglu.{form}"));
        assert_eq!(ops(&graph)[..2], expected, "{form}");
        assert_eq!((graph.nodes.len(), graph.stage.clone()), (8, Stage::BeforeCompilation), "{form}");
        assert!(!graph.unknown_shape, "{form}");
        let named = |graph: &Graph| {
            let name = |index| graph.node(index).name.clone();
            let edges = graph.data.iter().map(|edge| (name(edge.from), edge.output, name(edge.to), edge.input));
            edges.collect::<Vec<_>>()
        };
        assert_eq!(named(&graph), named(&text), "{form}");
    }
    let lines: Vec<String> =
        graph("quant_swiglu.py").nodes.iter().filter_map(|node| Some(node.origin.as_ref()?.line.to_string())).collect();
    assert_eq!(lines, ["model.py:7", "model.py:8"], "only this form knows lines");
}

#[test]
fn names_and_options_are_unescaped() {
    let graph = graph("mistakes.pbtxt");
    let marks: Vec<(&str, &str)> = graph
        .nodes
        .iter()
        .filter(|node| node.is_marked())
        .map(|node| (node.scope.as_str(), node.options.as_str()))
        .collect();
    let twice = |mark| [mark, mark];
    let expected = [
        twice(("层 1", "stream-funsion=1")),
        twice(("b:c/d", "strict-scope-check=warn")),
        twice(("q\"uo'te\n", "feed-sync-all = 1")),
    ];
    assert_eq!(marks, expected.concat());
}

#[test]
fn streams_waits_and_limits_are_read() {
    let graph = graph("streams.pbtxt");
    let of = |name: &str| graph.nodes.iter().find(|node| node.name == name).unwrap();
    assert_eq!(
        (of("Exp").stream_label.as_str(), of("Exp").aicore_num, of("Exp").vectorcore_num),
        ("vec", Some(8), Some(16))
    );
    assert_eq!((of("Tanh").stream_label.as_str(), of("Tanh").aicore_num), ("vec", None));
    assert_eq!(of("MatMul").stream_label, "");
    assert!(of("Cast").same_type && of("Cast_1").same_type);
    let name = |index| graph.node(index).name.as_str();
    let waits: Vec<(&str, &str)> = graph.control.iter().map(|edge| (name(edge.from), name(edge.to))).collect();
    assert_eq!(waits, [("MatMul", "Identity")]);
}

fn planned(file: &str) -> ScopePlan {
    crate::scope::plan_model(&graph(file), &Settings::default(), &Cancel::new()).unwrap()
}

#[test]
fn every_graph_is_planned_as_its_model_says() {
    let six = ["sk1", "sk2", "sk3", "sk4", "sk5", "sk6"].map(|name| format!("{name}: 3"));
    let six: Vec<&str> = six.iter().map(String::as_str).collect();
    for (file, expected) in [
        ("quant_swiglu.txt", &["sp1: 2"][..]),
        ("quant_swiglu.pb", &["sp1: 2"]),
        ("quant_swiglu.pbtxt", &["sp1: 2"]),
        ("quant_swiglu.py", &["sp1: 2"]),
        ("nested.txt", &["inner: 2", "outer: 2"]),
        ("streams.pbtxt", &["ms: 6"]),
        ("six_fragments.txt", six.as_slice()),
        ("decoder.pbtxt", &["attn0: 19", "mlp0: 7", "attn1: 19", "mlp1: 7"]),
        ("mistakes.pbtxt", &["q\"uo'te\n: 2"]),
    ] {
        let plan = planned(file);
        let found: Vec<String> =
            plan.pieces.iter().map(|piece| format!("{}: {}", piece.scope, piece.ops.len())).collect();
        assert_eq!(found, expected, "{file}");
        assert!(plan.prediction[0].starts_with("prediction"), "{file}");
        assert_eq!(plan.mistakes.len(), if file.starts_with("mistakes") { 2 } else { 0 }, "{file}");
        assert!(plan.pieces.iter().all(|piece| piece.problems.is_empty() && piece.kernel_name.is_empty()), "{file}");
        assert!(plan.findings.is_empty(), "{file}: the engine's order cuts nothing here");
    }
}

#[test]
fn waits_casts_and_assignments_are_the_same_in_every_form() {
    for order in [Order::Program, Order::Engine] {
        let settings = Settings { orders: Orders::Only(order), ..Settings::default() };
        let planned = |form: &str| {
            let graph = graph(&format!("several_streams.{form}"));
            let plan = crate::scope::plan_model(&graph, &settings, &Cancel::new()).unwrap();
            let [piece] = &plan.pieces[..] else { panic!("{form}: one piece") };
            (lists(piece), piece.core_limits, piece.main_stream, plan.prediction.clone())
        };
        let text = planned("txt");
        assert_eq!(text.0.len(), 10);
        assert!(text.0.iter().any(|op| op.starts_with("Neg waits [")), "{:?}", text.0);
        for form in ["pb", "pbtxt", "py"] {
            assert_eq!(planned(form), text, "{form}");
        }
    }
}

#[test]
fn a_limit_of_one_op_is_told_where_it_limits_all() {
    let plan = planned("streams.pbtxt");
    assert_eq!(plan.pieces[0].core_limits, Some((8, 16)));
    assert!(
        plan.pieces[0].warnings[0].contains("`Sigmoid` and 1 more limit the whole kernel of 6 ops"),
        "{:?}",
        plan.pieces[0].warnings
    );
    assert_eq!(lists(&plan.pieces[0])[3], "Tanh waits [0] sends [1]", "the wait of the identity is the reader's");
}

#[test]
fn a_type_that_is_an_operator_of_torch_is_translated() {
    let types = ["npu_quant_matmul", "torch_npu.npu_quant_matmul", "npu.npu_quant_matmul.default", "Swiglu"];
    let settings = Settings { not_fusable: types.map(str::to_owned).to_vec(), ..Settings::default() };
    let plan = crate::scope::plan_model(&graph("quant_swiglu.txt"), &settings, &Cancel::new()).unwrap();
    let translated: Vec<bool> =
        plan.findings.iter().map(|finding| finding.message.ends_with("has become `QuantBatchMatmulV3`")).collect();
    assert_eq!(translated, [true, true, true, false]);
    assert!(plan.prediction[0].contains("except those of type npu_quant_matmul, torch_npu.npu_quant_matmul"));
    assert!(!plan.prediction[0].contains("--not-fusable"));
}
