//! Dumps in protobuf text form, and the JSON form, lead to the same plans.

use super::*;
use crate::scope::{json, pbtxt, read_graph};

const DUMP: &str = r#"
name: "ge_model"
version: 1
custom_version: "x"
graph {
  name: "g"
  op { name: "Data_0" type: "Data" id: 0 stream_id: 0 attr { key: "index" value { i: 0 } } output_desc { name: "y" shape { dim: 4 dim: 8 } } }
  op {
    name: "MatMul_1" type: "MatMulV2" input: "Data_0:0" input: "" input: "Data_0:0" id: 2 stream_id: 0
    attr { key: "_super_kernel_scope" value { s: "sp1" } }
    attr { key: "_super_kernel_options" value { s: "early-start=1" } }
    attr { key: "supportSuperKernel" value { i: 1 } }
    attr { key: "xs" value { list { val_type: VT_LIST_INT i: 1 i: 2 } } }
    attr { key: "blob" value { bt: "\377\000\001" } }
    attr { key: "superkernel_kernelname" value { s: "te_\x6dm" } }
  }
  # order in the file is not order of execution
  op { name: "AllReduce_2" type: "HcomAllReduce" input: "MatMul_1:0" input: "Recv_3:-1" id: 7 stream_id: 1
       attr { key: "_super_kernel_scope" value { s: "sp1" } } attr { key: "_hccl" value { b: true } } }
  op { name: "Send_3" type: "Send" input: "MatMul_1:-1" id: 3 stream_id: 0 attr { key: "event_id" value { i: 3 } } }
  op { name: "Recv_3" type: "Recv" id: 6 stream_id: 1 attr { key: "event_id" value { i: 3 } } }
}
"#;

#[test]
fn a_dump_is_reduced_to_a_graph() {
    let graph = pbtxt::read(DUMP.as_bytes()).unwrap();
    let names: Vec<&str> = graph.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["Data_0", "MatMul_1", "Send_3", "Recv_3", "AllReduce_2"]);
    let matmul = &graph.nodes[1];
    assert_eq!((matmul.scope.as_str(), matmul.options.as_str(), matmul.support), ("sp1", "early-start=1", 1));
    assert_eq!((matmul.id, matmul.stream, matmul.kernel_name.as_str()), (2, 0, "te_mm"));
    assert!(graph.nodes[4].hccl);
    let inputs: Vec<(usize, u32, u32)> = graph.data.iter().map(|edge| (edge.from.0, edge.output, edge.input)).collect();
    assert_eq!(inputs, [(0, 0, 0), (0, 0, 2), (1, 0, 0)], "an unconnected input keeps its number");
    assert_eq!(graph.control.len(), 2);
    assert!(!graph.unknown_shape);
    assert_eq!(graph.name, "g");
}

#[test]
fn dump_and_json_mean_the_same() {
    let from_dump = read_graph(DUMP.as_bytes()).unwrap();
    let from_json = read_graph(json::write(&from_dump).to_string().as_bytes()).unwrap();
    assert_eq!(from_dump, from_json);
    let settings = Settings::new(Mode::Compat);
    assert_eq!(plan(&from_dump, &settings).unwrap(), plan(&from_json, &settings).unwrap());
    assert_eq!(pieces(&plan(&from_dump, &settings).unwrap()), ["sp1: MatMul_1 AllReduce_2"]);
}

#[test]
fn nested_graphs_are_flattened_by_id() {
    let text = r#"
        graph { name: "root" attr { key: "_graph_unknown_flag" value { b: true } }
                op { name: "a" type: "A" id: 1 } op { name: "c" type: "C" id: 3 } }
        graph { name: "inner" op { name: "b" type: "B" id: 2 stream_id: -1 } }
    "#;
    let graph = pbtxt::read(text.as_bytes()).unwrap();
    let names: Vec<&str> = graph.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["a", "b", "c"]);
    assert_eq!(graph.nodes[1].stream, -1);
    assert!(graph.unknown_shape);
}

#[test]
fn a_graph_may_stand_alone() {
    let graph = pbtxt::read(b"name: 'g' op { name: 'a' type: 'A' }").unwrap();
    assert_eq!((graph.name.as_str(), graph.nodes.len()), ("g", 1));
}

#[test]
fn mistakes_are_named_with_their_line() {
    for (text, part) in [
        ("", "no `op`"),
        ("graph { name: 'g' }", "no `op`"),
        ("\nop: 3", "line 2: `op` is not a message"),
        ("op { name: 'a' }", "`a` has no `type`"),
        ("op {\n name: 'a' type: 'A' input: 'b:0' }", "line 2: input names `b`"),
        ("op { name: 'a' type: 'A' input: 'b' }", "`source:output`"),
        ("op { name: 'a' type: 'A' input: 'a:-2' }", "`source:output`"),
        ("op { name: 'a' type: 'A' id: 1.5 }", "`id` is not an integer"),
        ("op { name: '\\377' type: 'A' }", "not UTF-8"),
        ("op { name: 'a' type: 'A' attr { value { i: 1 } } }", "no `key`"),
        ("op { name: 'a' type: 'A' attr { key: '_hccl' value { b: maybe } } }", "`b` is not a truth value"),
        ("op { name: 'a' type: 'A' attr { key: '_super_kernel_scope' value { b: true } } }", "expected a string"),
        ("op { name: 'a' type: 'A' } op { name: 'a' type: 'A' id: 1 }", "two nodes are called `a`"),
        ("op { name: 'a' type: 'A' id: 1 } op { name: 'b' type: 'A' id: 1 }", "comes after"),
        ("ir_version: 7 graph { node { name: 'a' op_type: 'ge:A' } }", "ge_proto_*.txt"),
        ("node { name: 'a' }", "`a` has no `op`"),
        ("\nnode { name: 'a' op: 'A' attr { key: '_hccl' value { s: 'b: tr{' } } }", "line 2: the text of this value"),
        ("node { name: 'a' op: 'A' input: '^b' }", "input names `b`"),
        ("op { name: 'a", "line 1, column 12: this string has no end"),
    ] {
        let error = pbtxt::read(text.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
}
