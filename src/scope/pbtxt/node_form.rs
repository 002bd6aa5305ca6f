//! TorchAir's form `pbtxt`: a list of nodes as TensorFlow writes them, without a graph around it.
//!
//! ```text
//! node { name op { input: "source:output" | "^source" | "" } { attr { key value { s: TEXT } } } }
//! TEXT = the value as protobuf text once more: 's: "sp1"\n', 'b: true\n'
//! ```
//! Keys `[i]x` and `[o]y` are the descriptions of input `x` and output `y`.

use super::fields::{attribute_fields, attribute_value, message_of, read_tensor, text_field, text_of};
use super::message::{self, Field, Message, Value};
use crate::scope::attributes;
use crate::scope::dump::{DumpGraph, DumpOp, Input, Tensor, wrong};
use crate::scope::error::{DumpPlace, ScopeError};
use crate::scope::graph::Node;

/// The graph that a list of nodes is.
pub(super) fn graph(model: &Message) -> Result<DumpGraph, ScopeError> {
    let mut graph = DumpGraph::default();
    for field in model.all("node") {
        read_node(&mut graph, message_of(field, "node")?, field.line)?;
    }
    Ok(graph)
}

fn read_node(graph: &mut DumpGraph, message: &Message, line: usize) -> Result<(), ScopeError> {
    let name = text_field(message, "name")?.unwrap_or_default();
    let op_type = text_field(message, "op")?.unwrap_or_default();
    if op_type.is_empty() {
        return Err(wrong(DumpPlace::Line(line), format!("node `{name}` has no `op`")));
    }
    let mut node = Node::new(name, op_type, 0, 0);
    let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
    for (key, value) in attribute_fields(message)? {
        graph.is_compiled |= key == attributes::SUPPORT;
        // Descriptions of inputs matter for casts only.
        if key.starts_with("[o]") {
            outputs.push(tensor(value)?);
        } else if key.starts_with("[i]") && node.op_type == "Cast" {
            inputs.push(tensor(value)?);
        } else {
            attributes::apply(&mut node, &key, || match inner(value)? {
                Some(inner) => attribute_value(&inner),
                None => attribute_value(value),
            })?;
        }
    }
    let sources = message.all("input").map(source).collect::<Result<_, ScopeError>>()?;
    graph.push(DumpOp { node, has_id: false, inputs: sources, subgraphs: Vec::new() }, &inputs, &outputs);
    Ok(())
}

/// `^a` is a control input, `a` the first output of `a`.
fn source(field: &Field) -> Result<Input, ScopeError> {
    let text = text_of(field)?;
    let text = match text.strip_prefix('^') {
        Some(source) => format!("{source}:-1"),
        None if text.is_empty() || text.contains(':') => text,
        None => format!("{text}:0"),
    };
    Ok(Input { text, place: DumpPlace::Line(field.line) })
}

fn tensor(value: &Message) -> Result<Tensor, ScopeError> {
    inner(value)?.map_or_else(|| Ok(Tensor::default()), |inner| read_tensor(&inner))
}

/// The message that the text of a value is; `None`: it is no text.
fn inner(value: &Message) -> Result<Option<Message>, ScopeError> {
    let Some(Field { value: Value::Text(text), line, .. }) = value.last("s") else { return Ok(None) };
    let damaged = |error: ScopeError| {
        wrong(DumpPlace::Line(*line), format!("the text of this value is no protobuf text: {error}"))
    };
    message::parse(text).map(Some).map_err(damaged)
}
