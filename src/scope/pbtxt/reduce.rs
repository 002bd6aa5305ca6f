//! Picks the graphs out of the fields of a dump.
//!
//! ```text
//! ModelDef = { graph { GraphDef } }            nested graphs are flattened by topological id
//! GraphDef = { op { OpDef } } name attr
//! OpDef    = name type id stream_id { input: "source:output" } { attr { key value } } { subgraph_name }
//! value    = s | i | b | list | ...            `input` with output -1 is a control edge
//! ```

use super::fields::{attribute_fields, attribute_value, integer_field, message_of, read_tensor, text_field, text_of};
use super::message::Message;
use super::node_form;
use crate::scope::attributes::{self, AttributeValue};
use crate::scope::dump::{DumpGraph, DumpOp, Input, UNKNOWN_SHAPE, wrong};
use crate::scope::error::DumpPlace;
use crate::scope::error::ScopeError;
use crate::scope::graph::Node;

/// The graphs of a `ModelDef`, a `GraphDef` given alone, or one written as a list of nodes.
pub(crate) fn graphs(model: &Message) -> Result<Vec<DumpGraph>, ScopeError> {
    let graphs: Vec<&Message> =
        model.all("graph").map(|field| message_of(field, "graph")).collect::<Result<_, ScopeError>>()?;
    if model.last("ir_version").is_some() || graphs.iter().any(|graph| graph.last("node").is_some()) {
        return Err(wrong(
            DumpPlace::Line(1),
            "this is an ONNX view of a graph (ge_onnx_*.pbtxt), which does not have what a plan needs; give the \
             ge_proto_*.txt of the same stage, or what TorchAir dumped (dynamo_optimized_*)",
        ));
    }
    if model.last("node").is_some() && model.last("op").is_none() {
        return Ok(vec![node_form::graph(model)?]);
    }
    let graphs = if graphs.is_empty() { vec![model] } else { graphs };
    graphs.into_iter().map(read_graph).collect()
}

fn read_graph(message: &Message) -> Result<DumpGraph, ScopeError> {
    let mut graph = DumpGraph { name: text_field(message, "name")?.unwrap_or_default(), ..DumpGraph::default() };
    for (key, value) in attribute_fields(message)? {
        graph.unknown_shape |= key == UNKNOWN_SHAPE && attribute_value(value)? == AttributeValue::Switch(true);
    }
    for field in message.all("op") {
        read_op(&mut graph, message_of(field, "op")?, field.line)?;
    }
    Ok(graph)
}

fn read_op(graph: &mut DumpGraph, op: &Message, line: usize) -> Result<(), ScopeError> {
    let name = text_field(op, "name")?.unwrap_or_default();
    let op_type = text_field(op, "type")?.unwrap_or_default();
    let id = integer_field(op, "id")?;
    let stream = integer_field(op, "stream_id")?.unwrap_or(0);
    if op_type.is_empty() {
        return Err(wrong(DumpPlace::Line(line), format!("op `{name}` has no `type`")));
    }
    let mut node = Node::new(name, op_type, id.unwrap_or(0), stream);
    for (key, value) in attribute_fields(op)? {
        graph.is_compiled |= key == attributes::SUPPORT;
        attributes::apply(&mut node, &key, || attribute_value(value))?;
    }
    let inputs = op
        .all("input")
        .map(|field| Ok(Input { text: text_of(field)?, place: DumpPlace::Line(field.line) }))
        .collect::<Result<_, ScopeError>>()?;
    let subgraphs = op.all("subgraph_name").map(text_of).collect::<Result<_, ScopeError>>()?;
    let tensors = |name| op.all(name).map(|field| read_tensor(message_of(field, name)?)).collect();
    let (input_tensors, output_tensors): (Result<Vec<_>, _>, Result<Vec<_>, _>) =
        (tensors("input_desc"), tensors("output_desc"));
    graph.push(DumpOp { node, has_id: id.is_some(), inputs, subgraphs }, &input_tensors?, &output_tensors?);
    Ok(())
}
