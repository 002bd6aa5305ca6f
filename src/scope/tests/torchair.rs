//! Graphs as TorchAir wrote them (`tests/graphs/torchair`): every form is read, and planned as its model says.

use std::path::Path;

use super::*;
use crate::scope::graph::Stage;
use crate::scope::read_graph;

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
        graph("quant_swiglu.py").nodes.iter().filter_map(|node| Some(node.origin.as_ref()?.line.clone())).collect();
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
