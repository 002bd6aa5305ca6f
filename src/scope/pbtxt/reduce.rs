//! Picks the graphs out of the fields of a dump.
//!
//! ```text
//! ModelDef = { graph { GraphDef } }            nested graphs are flattened by topological id
//! GraphDef = { op { OpDef } } name attr
//! OpDef    = name type id stream_id { input: "source:output" } { attr { key value } } { subgraph_name }
//! value    = s | i | b | list | ...            `input` with output -1 is a control edge
//! ```

use super::message::{Field, Message, Value};
use crate::scope::attributes::{self, AttributeValue};
use crate::scope::dump::{DumpGraph, DumpOp, Input, UNKNOWN_SHAPE, wrong};
use crate::scope::error::DumpPlace;
use crate::scope::error::ScopeError;
use crate::scope::graph::Node;

/// The graphs of a `ModelDef`, or a `GraphDef` given alone.
pub(crate) fn graphs(model: &Message) -> Result<Vec<DumpGraph>, ScopeError> {
    let graphs: Vec<&Message> =
        model.all("graph").map(|field| message_of(field, "graph")).collect::<Result<_, ScopeError>>()?;
    let graphs = if graphs.is_empty() { vec![model] } else { graphs };
    graphs.into_iter().map(read_graph).collect()
}

fn read_graph(graph: &Message) -> Result<DumpGraph, ScopeError> {
    let unknown_shape = attribute_fields(graph)?
        .into_iter()
        .any(|(key, value)| key == UNKNOWN_SHAPE && value == AttributeValue::Switch(true));
    let ops = graph.all("op").map(|field| read_op(message_of(field, "op")?, field.line));
    Ok(DumpGraph {
        name: text_field(graph, "name")?.unwrap_or_default(),
        unknown_shape,
        ops: ops.collect::<Result<_, ScopeError>>()?,
    })
}

fn read_op(op: &Message, line: usize) -> Result<DumpOp, ScopeError> {
    let name = text_field(op, "name")?.unwrap_or_default();
    let op_type = text_field(op, "type")?.unwrap_or_default();
    let id = integer_field(op, "id")?.unwrap_or(0);
    let stream = integer_field(op, "stream_id")?.unwrap_or(0);
    if op_type.is_empty() {
        return Err(wrong(DumpPlace::Line(line), format!("op `{name}` has no `type`")));
    }
    let mut node = Node::new(name, op_type, id, stream);
    for (key, value) in attribute_fields(op)? {
        attributes::apply(&mut node, &key, &value)?;
    }
    let inputs = op
        .all("input")
        .map(|field| Ok(Input { text: text_of(field)?, place: DumpPlace::Line(field.line) }))
        .collect::<Result<_, ScopeError>>()?;
    let subgraphs = op.all("subgraph_name").map(text_of).collect::<Result<_, ScopeError>>()?;
    Ok(DumpOp { node, inputs, subgraphs })
}

/// The attributes of an op or graph that can matter: `attr { key: "k" value { ... } }`.
fn attribute_fields(owner: &Message) -> Result<Vec<(String, AttributeValue)>, ScopeError> {
    let mut attributes = Vec::new();
    for field in owner.all("attr") {
        let entry = message_of(field, "attr")?;
        let Some(key) = text_field(entry, "key")? else {
            return Err(wrong(DumpPlace::Line(field.line), "an `attr` has no `key`"));
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
    wrong(DumpPlace::Line(field.line), format!("`{}` is not {expected}", field.name))
}

fn message_of<'a>(field: &'a Field, name: &str) -> Result<&'a Message, ScopeError> {
    match &field.value {
        Value::Message(message) => Ok(message),
        Value::Text(_) | Value::Scalar(_) => {
            Err(wrong(DumpPlace::Line(field.line), format!("`{name}` is not a message")))
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
