//! Picks the graphs out of the fields of a binary dump.
//!
//! ```text
//! ModelDef = 7 graph: GraphDef                     the first is the root
//! GraphDef = 1 name, 6 op: OpDef, 11 attr: Entry
//! OpDef    = 1 name, 2 type, 5 input, 10 attr: Entry, 21 id, 22 stream_id, 33 input_desc: Tensor,
//!            34 output_desc: Tensor, 35 subgraph_name
//! Tensor   = 2 dtype, 3 shape: (1 dim, repeated), 5 attr: Entry
//! Entry    = 1 key, 2 value: AttrDef
//! AttrDef  = 2 s, 3 i, 5 b, or something else
//! ```

use super::wire::{Field, Slice, Value, fields, varints};
use crate::scope::attributes::{self, AttributeValue};
use crate::scope::dump::{DumpGraph, DumpOp, Input, Tensor, UNKNOWN_SHAPE, wrong};
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
            6 => read_op(&mut graph, &field)?,
            11 => {
                let (key, value) = read_attribute(&field)?;
                graph.unknown_shape |= key == UNKNOWN_SHAPE && value == AttributeValue::Switch(true);
            }
            _ => {}
        }
    }
    Ok(graph)
}

fn read_op(graph: &mut DumpGraph, op: &Field<'_>) -> Result<(), ScopeError> {
    let (mut name, mut op_type, mut id, mut stream) = ("", "", None, 0);
    let (mut inputs, mut attributes, mut subgraphs) = (Vec::new(), Vec::new(), Vec::new());
    let (mut input_tensors, mut output_tensors) = (Vec::new(), Vec::new());
    for field in fields(op.bytes("op")?) {
        let field = field?;
        match field.number {
            1 => name = field.text("name")?,
            2 => op_type = field.text("type")?,
            5 => inputs.push(Input { text: field.text("input")?.to_owned(), place: field.place() }),
            10 => attributes.push(read_attribute(&field)?),
            21 => id = Some(field.integer("id")?),
            22 => stream = field.integer("stream_id")?,
            33 => input_tensors.push(read_tensor(field.bytes("input_desc")?)?),
            34 => output_tensors.push(read_tensor(field.bytes("output_desc")?)?),
            35 => subgraphs.push(field.text("subgraph_name")?.to_owned()),
            _ => {}
        }
    }
    if op_type.is_empty() {
        return Err(wrong(op.place(), format!("op `{name}` has no `type`")));
    }
    let mut node = Node::new(name, op_type, id.unwrap_or(0), stream);
    for (key, value) in attributes {
        graph.is_compiled |= key == attributes::SUPPORT;
        attributes::apply(&mut node, key, || Ok(value.clone()))?;
    }
    graph.push(DumpOp { node, has_id: id.is_some(), inputs, subgraphs }, &input_tensors, &output_tensors);
    Ok(())
}

fn read_tensor(message: Slice<'_>) -> Result<Tensor, ScopeError> {
    let mut tensor = Tensor::default();
    for field in fields(message) {
        let field = field?;
        match field.number {
            2 => tensor.data_type = field.integer("dtype")?.to_string(),
            3 => tensor.has_unknown_dimension = has_negative_dimension(field.bytes("shape")?)?,
            5 => match read_attribute(&field)? {
                ("_meta", AttributeValue::Text(meta)) => tensor.meta = meta,
                ("_fx_tensor_name", AttributeValue::Text(name)) => tensor.fx_tensor = name,
                _ => {}
            },
            _ => {}
        }
    }
    Ok(tensor)
}

/// Dimensions are written one by one or packed into one field.
fn has_negative_dimension(shape: Slice<'_>) -> Result<bool, ScopeError> {
    let mut negative = false;
    for field in fields(shape) {
        let field = field?;
        match (field.number, field.value) {
            (1, Value::Bytes(packed)) => {
                for dimension in varints(packed) {
                    negative |= dimension?.cast_signed() < 0;
                }
            }
            (1, Value::Varint(dimension)) => negative |= dimension.cast_signed() < 0,
            (_, Value::Bytes(_) | Value::Varint(_) | Value::Other) => {}
        }
    }
    Ok(negative)
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

/// The numbers of a list, written one by one or packed; `None`: it holds something else.
fn read_integers(list: Slice<'_>) -> Result<Option<Vec<i64>>, ScopeError> {
    let mut numbers = None;
    for field in fields(list) {
        let field = field?;
        match (field.number, field.value) {
            (3, Value::Bytes(packed)) => {
                for number in varints(packed) {
                    numbers.get_or_insert_with(Vec::new).push(number?.cast_signed());
                }
            }
            (3, Value::Varint(number)) => numbers.get_or_insert_with(Vec::new).push(number.cast_signed()),
            (_, Value::Bytes(_) | Value::Varint(_) | Value::Other) => {}
        }
    }
    Ok(numbers)
}

/// Only one of the fields is set; should there be several, the last one counts.
fn read_value(message: Slice<'_>) -> Result<AttributeValue, ScopeError> {
    let mut value = AttributeValue::Other;
    for field in fields(message) {
        let field = field?;
        value = match (field.number, field.value) {
            // Bytes that are no text cannot be a name or an option; an attribute we read would then be refused.
            (1, Value::Bytes(list)) => read_integers(list)?.map_or(AttributeValue::Other, AttributeValue::Integers),
            (2, Value::Bytes(slice)) => std::str::from_utf8(slice.bytes)
                .map_or(AttributeValue::Other, |text| AttributeValue::Text(text.to_owned())),
            (3, Value::Varint(_)) => AttributeValue::Integer(field.integer("i")?),
            (5, Value::Varint(number)) => AttributeValue::Switch(number != 0),
            (_, Value::Bytes(_) | Value::Varint(_) | Value::Other) => AttributeValue::Other,
        };
    }
    Ok(value)
}
