//! Picks the graphs out of the fields of a binary dump.
//!
//! ```text
//! ModelDef = 7 graph: GraphDef                     the first is the root
//! GraphDef = 1 name, 6 op: OpDef, 11 attr: Entry
//! OpDef    = 1 name, 2 type, 5 input, 10 attr: Entry, 21 id, 22 stream_id, 35 subgraph_name
//! Entry    = 1 key, 2 value: AttrDef
//! AttrDef  = 2 s, 3 i, 5 b, or something else
//! ```

use super::wire::{Field, Slice, Value, fields};
use crate::scope::attributes::{self, AttributeValue};
use crate::scope::dump::{DumpGraph, DumpOp, Input, UNKNOWN_SHAPE, wrong};
use crate::scope::error::ScopeError;
use crate::scope::graph::Node;

/// The graphs of a `ModelDef`, or a `GraphDef` given alone.
pub(crate) fn graphs(bytes: &[u8]) -> Result<Vec<DumpGraph>, ScopeError> {
    let whole = Slice { bytes, offset: 0 };
    let mut graphs = Vec::new();
    for field in fields(whole) {
        let field = field?;
        if field.number == 7 {
            graphs.push(read_graph(field.bytes("graph")?)?);
        }
    }
    if graphs.is_empty() {
        graphs.push(read_graph(whole)?);
    }
    Ok(graphs)
}

fn read_graph(message: Slice<'_>) -> Result<DumpGraph, ScopeError> {
    let mut graph = DumpGraph::default();
    for field in fields(message) {
        let field = field?;
        match field.number {
            1 => field.text("name")?.clone_into(&mut graph.name),
            6 => graph.ops.push(read_op(&field)?),
            11 => {
                let (key, value) = read_attribute(&field)?;
                graph.unknown_shape |= key == UNKNOWN_SHAPE && value == AttributeValue::Switch(true);
            }
            _ => {}
        }
    }
    Ok(graph)
}

fn read_op(op: &Field<'_>) -> Result<DumpOp, ScopeError> {
    let (mut name, mut op_type, mut id, mut stream) = ("", "", 0, 0);
    let (mut inputs, mut attributes, mut subgraphs) = (Vec::new(), Vec::new(), Vec::new());
    for field in fields(op.bytes("op")?) {
        let field = field?;
        match field.number {
            1 => name = field.text("name")?,
            2 => op_type = field.text("type")?,
            5 => inputs.push(Input { text: field.text("input")?.to_owned(), place: field.place() }),
            10 => attributes.push(read_attribute(&field)?),
            21 => id = field.integer("id")?,
            22 => stream = field.integer("stream_id")?,
            35 => subgraphs.push(field.text("subgraph_name")?.to_owned()),
            _ => {}
        }
    }
    if op_type.is_empty() {
        return Err(wrong(op.place(), format!("op `{name}` has no `type`")));
    }
    let mut node = Node::new(name, op_type, id, stream);
    for (key, value) in attributes {
        attributes::apply(&mut node, key, &value)?;
    }
    Ok(DumpOp { node, inputs, subgraphs })
}

fn read_attribute<'a>(entry: &Field<'a>) -> Result<(&'a str, AttributeValue), ScopeError> {
    let (mut key, mut value) = ("", AttributeValue::Other);
    for field in fields(entry.bytes("attr")?) {
        let field = field?;
        match field.number {
            1 => key = field.text("key")?,
            2 => value = read_value(field.bytes("value")?)?,
            _ => {}
        }
    }
    Ok((key, value))
}

/// Only one of the fields is set; should there be several, the last one counts.
fn read_value(message: Slice<'_>) -> Result<AttributeValue, ScopeError> {
    let mut value = AttributeValue::Other;
    for field in fields(message) {
        let field = field?;
        value = match (field.number, field.value) {
            // Bytes that are no text cannot be a name or an option; an attribute we read would then be refused.
            (2, Value::Bytes(slice)) => std::str::from_utf8(slice.bytes)
                .map_or(AttributeValue::Other, |text| AttributeValue::Text(text.to_owned())),
            (3, Value::Varint(_)) => AttributeValue::Integer(field.integer("i")?),
            (5, Value::Varint(number)) => AttributeValue::Switch(number != 0),
            (_, Value::Bytes(_) | Value::Varint(_) | Value::Other) => AttributeValue::Other,
        };
    }
    Ok(value)
}
