//! Picks a [`Graph`] out of the fields of a dump.
//!
//! ```text
//! ModelDef = { graph { GraphDef } }            nested graphs are flattened by topological id
//! GraphDef = { op { OpDef } } name attr
//! OpDef    = name type id stream_id { input: "source:output" } { attr { key value } }
//! value    = s | i | b | list | ...            `input` with output -1 is a control edge
//! ```

use std::collections::HashMap;

use super::message::{Field, Message, Value};
use crate::scope::attributes::{self, AttributeValue};
use crate::scope::error::ScopeError;
use crate::scope::graph::{ControlEdge, DataEdge, Graph, Node, NodeIndex};
use crate::scope::json::find;

/// Attribute of the root graph that says its shapes are not static.
const UNKNOWN_SHAPE: &str = "_graph_unknown_flag";

/// The graph of a `ModelDef`, or of a `GraphDef` given alone.
pub fn graph(model: &Message) -> Result<Graph, ScopeError> {
    let graphs: Vec<&Message> =
        model.all("graph").map(|field| message_of(field, "graph")).collect::<Result<_, ScopeError>>()?;
    let graphs = if graphs.is_empty() { vec![model] } else { graphs };
    let root = graphs[0];
    let mut ops = Vec::new();
    for graph in &graphs {
        for field in graph.all("op") {
            ops.push(read_op(message_of(field, "op")?, field.line)?);
        }
    }
    if ops.is_empty() {
        return Err(ScopeError::DumpField { line: 1, problem: "there is no `op` in this dump".to_owned() });
    }
    // The list is the execution order, and that is what topological ids count.
    ops.sort_by_key(|op| op.node.id);
    let unknown_shape = attribute_fields(root)?
        .into_iter()
        .any(|(key, value)| key == UNKNOWN_SHAPE && value == AttributeValue::Switch(true));
    let mut graph = Graph { name: text_field(root, "name")?.unwrap_or_default(), unknown_shape, ..Graph::default() };
    let inputs: Vec<Vec<Input>> = ops
        .into_iter()
        .map(|op| {
            graph.nodes.push(op.node);
            op.inputs
        })
        .collect();
    connect(&mut graph, &inputs)?;
    Ok(graph)
}

struct Op {
    node: Node,
    inputs: Vec<Input>,
}

/// One `input: "source:output"`; an empty string is an optional input that is not connected.
struct Input {
    text: String,
    line: usize,
}

fn read_op(op: &Message, line: usize) -> Result<Op, ScopeError> {
    let name = text_field(op, "name")?.unwrap_or_default();
    let op_type = text_field(op, "type")?.unwrap_or_default();
    let id = integer_field(op, "id")?.unwrap_or(0);
    let stream = integer_field(op, "stream_id")?.unwrap_or(0);
    if op_type.is_empty() {
        return Err(ScopeError::DumpField { line, problem: format!("op `{name}` has no `type`") });
    }
    let mut node = Node::new(name, op_type, id, stream);
    for (key, value) in attribute_fields(op)? {
        attributes::apply(&mut node, &key, &value)?;
    }
    let inputs = op
        .all("input")
        .map(|field| Ok(Input { text: text_of(field)?, line: field.line }))
        .collect::<Result<_, ScopeError>>()?;
    Ok(Op { node, inputs })
}

fn connect(graph: &mut Graph, inputs: &[Vec<Input>]) -> Result<(), ScopeError> {
    let names: HashMap<&str, NodeIndex> = graph.by_name();
    let (mut data, mut control) = (Vec::new(), Vec::new());
    for (position, inputs) in inputs.iter().enumerate() {
        let to = NodeIndex(position);
        let mut number = 0;
        for input in inputs {
            if input.text.is_empty() {
                number += 1;
                continue;
            }
            let wrong = || ScopeError::DumpField {
                line: input.line,
                problem: format!("input `{}` is not of the form `source:output`", input.text),
            };
            // Names contain colons now and then; the index is behind the last one.
            let (source, output) = input.text.rsplit_once(':').ok_or_else(wrong)?;
            let output: i64 = output.parse().map_err(|_| wrong())?;
            let from = find(&names, source, || format!("line {}: input", input.line))?;
            if output == -1 {
                control.push(ControlEdge { from, to });
            } else {
                let output = u32::try_from(output).map_err(|_| wrong())?;
                data.push(DataEdge { from, output, to, input: number });
                number += 1;
            }
        }
    }
    (graph.data, graph.control) = (data, control);
    Ok(())
}

/// The attributes of an op or graph that can matter: `attr { key: "k" value { ... } }`.
fn attribute_fields(owner: &Message) -> Result<Vec<(String, AttributeValue)>, ScopeError> {
    let mut attributes = Vec::new();
    for field in owner.all("attr") {
        let entry = message_of(field, "attr")?;
        let Some(key) = text_field(entry, "key")? else {
            return Err(ScopeError::DumpField { line: field.line, problem: "an `attr` has no `key`".to_owned() });
        };
        let value = match entry.last("value") {
            Some(value) => attribute_value(message_of(value, "value")?)?,
            None => AttributeValue::Other,
        };
        attributes.push((key, value));
    }
    Ok(attributes)
}

fn attribute_value(value: &Message) -> Result<AttributeValue, ScopeError> {
    let Some(field) = value.fields.last() else {
        return Ok(AttributeValue::Other);
    };
    match (field.name.as_str(), &field.value) {
        // Bytes that are no text cannot be a name or an option; an attribute we read would then be refused.
        ("s", Value::Text(bytes)) => {
            Ok(String::from_utf8(bytes.clone()).map_or(AttributeValue::Other, AttributeValue::Text))
        }
        ("i", Value::Scalar(_)) => integer_of(field).map(AttributeValue::Integer),
        ("b", Value::Scalar(text)) => match text.as_str() {
            "true" | "True" | "t" | "1" => Ok(AttributeValue::Switch(true)),
            "false" | "False" | "f" | "0" => Ok(AttributeValue::Switch(false)),
            _ => Err(wrong_kind(field, "a truth value")),
        },
        _ => Ok(AttributeValue::Other),
    }
}

fn wrong_kind(field: &Field, expected: &str) -> ScopeError {
    ScopeError::DumpField { line: field.line, problem: format!("`{}` is not {expected}", field.name) }
}

fn message_of<'a>(field: &'a Field, name: &str) -> Result<&'a Message, ScopeError> {
    match &field.value {
        Value::Message(message) => Ok(message),
        Value::Text(_) | Value::Scalar(_) => {
            Err(ScopeError::DumpField { line: field.line, problem: format!("`{name}` is not a message") })
        }
    }
}

fn text_of(field: &Field) -> Result<String, ScopeError> {
    match &field.value {
        Value::Text(bytes) => String::from_utf8(bytes.clone()).map_err(|_| wrong_kind(field, "UTF-8 text")),
        Value::Scalar(_) | Value::Message(_) => Err(wrong_kind(field, "a string")),
    }
}

fn text_field(message: &Message, name: &str) -> Result<Option<String>, ScopeError> {
    message.last(name).map(text_of).transpose()
}

fn integer_of(field: &Field) -> Result<i64, ScopeError> {
    let wrong = || wrong_kind(field, "an integer");
    let Value::Scalar(text) = &field.value else {
        return Err(wrong());
    };
    let (sign, digits) = text.strip_prefix('-').map_or(("", text.as_str()), |digits| ("-", digits));
    let (radix, digits) = if let Some(digits) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        (16, digits)
    } else if digits.len() > 1 && digits.starts_with('0') {
        (8, &digits[1..])
    } else {
        (10, digits)
    };
    i64::from_str_radix(&format!("{sign}{digits}"), radix).map_err(|_| wrong())
}

fn integer_field(message: &Message, name: &str) -> Result<Option<i64>, ScopeError> {
    message.last(name).map(integer_of).transpose()
}
