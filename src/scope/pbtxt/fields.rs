//! What fields of a message mean: texts, numbers, attributes, descriptions of tensors.

use super::message::{Field, Message, Value};
use crate::scope::attributes::AttributeValue;
use crate::scope::dump::{Tensor, wrong};
use crate::scope::error::{DumpPlace, ScopeError};

/// `name dtype shape { dim* } attr*`
pub(super) fn read_tensor(message: &Message) -> Result<Tensor, ScopeError> {
    let mut tensor = Tensor::default();
    if let Some(Field { value: Value::Scalar(data_type), .. }) = message.last("dtype") {
        tensor.data_type.clone_from(data_type);
    }
    if let Some(shape) = message.last("shape") {
        for dimension in message_of(shape, "shape")?.all("dim") {
            tensor.has_unknown_dimension |= integer_of(dimension)? < 0;
        }
    }
    for (key, value) in attribute_fields(message)? {
        let target = match key.as_str() {
            "_meta" => &mut tensor.meta,
            "_fx_tensor_name" => &mut tensor.fx_tensor,
            _ => continue,
        };
        if let AttributeValue::Text(text) = attribute_value(value)? {
            *target = text;
        }
    }
    Ok(tensor)
}

/// The attributes of an op, a tensor or a graph: `attr { key: "k" value { ... } }`.
pub(super) fn attribute_fields(owner: &Message) -> Result<Vec<(String, &Message)>, ScopeError> {
    static NOTHING: Message = Message { fields: Vec::new() };
    let mut attributes = Vec::new();
    for field in owner.all("attr") {
        let entry = message_of(field, "attr")?;
        let Some(key) = text_field(entry, "key")? else {
            return Err(wrong(DumpPlace::Line(field.line), "an `attr` has no `key`"));
        };
        let value = match entry.last("value") {
            Some(value) => message_of(value, "value")?,
            None => &NOTHING,
        };
        attributes.push((key, value));
    }
    Ok(attributes)
}

pub(super) fn attribute_value(value: &Message) -> Result<AttributeValue, ScopeError> {
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
        ("list", Value::Message(list)) if list.last("i").is_some() => {
            list.all("i").map(integer_of).collect::<Result<_, _>>().map(AttributeValue::Integers)
        }
        _ => Ok(AttributeValue::Other),
    }
}

fn wrong_kind(field: &Field, expected: &str) -> ScopeError {
    wrong(DumpPlace::Line(field.line), format!("`{}` is not {expected}", field.name))
}

pub(super) fn message_of<'a>(field: &'a Field, name: &str) -> Result<&'a Message, ScopeError> {
    match &field.value {
        Value::Message(message) => Ok(message),
        Value::Text(_) | Value::Scalar(_) => {
            Err(wrong(DumpPlace::Line(field.line), format!("`{name}` is not a message")))
        }
    }
}

pub(super) fn text_of(field: &Field) -> Result<String, ScopeError> {
    match &field.value {
        Value::Text(bytes) => String::from_utf8(bytes.clone()).map_err(|_| wrong_kind(field, "UTF-8 text")),
        Value::Scalar(_) | Value::Message(_) => Err(wrong_kind(field, "a string")),
    }
}

pub(super) fn text_field(message: &Message, name: &str) -> Result<Option<String>, ScopeError> {
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

pub(super) fn integer_field(message: &Message, name: &str) -> Result<Option<i64>, ScopeError> {
    message.last(name).map(integer_of).transpose()
}
