//! The definition of an operator: what it takes, what it makes, and for which chips.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value as Json;

use crate::artifact::{DataType, Format};
use crate::model::Soc;
use crate::named::named;

named! {
    /// How many tensors a parameter is.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum Presence {
        /// One.
        Required = "required",
        /// One or none.
        Optional = "optional",
        /// Any number.
        Dynamic = "dynamic",
    }
}

named! {
    /// The type of an attribute.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum AttributeKind {
        /// A whole number.
        Int = "int",
        /// A number.
        Float = "float",
        /// Yes or no.
        Bool = "bool",
        /// A text.
        Text = "str",
        /// Whole numbers.
        Ints = "list_int",
        /// Numbers.
        Floats = "list_float",
        /// Several of yes and no.
        Bools = "list_bool",
        /// Texts.
        Texts = "list_str",
        /// Lists of whole numbers.
        IntLists = "list_list_int",
    }
}

/// The value of an attribute.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Int(i64),
    Float(f64),
    Bool(bool),
    Text(String),
    Ints(Vec<i64>),
    Floats(Vec<f64>),
    Bools(Vec<bool>),
    Texts(Vec<String>),
    IntLists(Vec<Vec<i64>>),
}

impl Value {
    /// The value that JSON says, if it is one of this kind.
    pub(crate) fn of(kind: AttributeKind, json: &Json) -> Option<Self> {
        fn list<T>(json: &Json, one: impl Fn(&Json) -> Option<T>) -> Option<Vec<T>> {
            json.as_array()?.iter().map(one).collect()
        }
        let int = Json::as_i64;
        let text = |json: &Json| json.as_str().map(str::to_owned);
        Some(match kind {
            AttributeKind::Int => Self::Int(int(json)?),
            AttributeKind::Float => Self::Float(json.as_f64()?),
            AttributeKind::Bool => Self::Bool(json.as_bool()?),
            AttributeKind::Text => Self::Text(text(json)?),
            AttributeKind::Ints => Self::Ints(list(json, int)?),
            AttributeKind::Floats => Self::Floats(list(json, Json::as_f64)?),
            AttributeKind::Bools => Self::Bools(list(json, Json::as_bool)?),
            AttributeKind::Texts => Self::Texts(list(json, text)?),
            AttributeKind::IntLists => Self::IntLists(list(json, |row| list(row, int))?),
        })
    }

    /// As JSON.
    pub(crate) fn to_json(&self) -> Json {
        match self {
            Self::Int(value) => Json::from(*value),
            Self::Float(value) => Json::from(*value),
            Self::Bool(value) => Json::from(*value),
            Self::Text(value) => Json::from(value.as_str()),
            Self::Ints(values) => Json::from(values.clone()),
            Self::Floats(values) => Json::from(values.clone()),
            Self::Bools(values) => Json::from(values.clone()),
            Self::Texts(values) => Json::from(values.clone()),
            Self::IntLists(values) => Json::from(values.clone()),
        }
    }
}

/// An input or an output.
#[derive(Debug, Clone)]
pub(crate) struct Parameter {
    /// Its name.
    pub(crate) name: String,
    /// How many tensors it is.
    pub(crate) presence: Presence,
    /// Its types: the n-th of all parameters go together.
    pub(crate) dtypes: Vec<DataType>,
    /// Its formats, in the same order.
    pub(crate) formats: Vec<Format>,
    /// Do shapes or tiling depend on its values?
    pub(crate) value_depend: bool,
}

/// An attribute.
#[derive(Debug, Clone)]
pub(crate) struct Attribute {
    /// Its name.
    pub(crate) name: String,
    /// Its type.
    pub(crate) kind: AttributeKind,
    /// Must the caller give it?
    pub(crate) required: bool,
    /// Its value when the caller gives none.
    pub(crate) default: Option<Value>,
}

/// The definition of an operator, for one chip.
#[derive(Debug, Clone)]
pub(crate) struct Definition {
    /// Its type: `RmsNorm`.
    pub(crate) op_type: String,
    /// What it takes, in the order of its kernel's parameters.
    pub(crate) inputs: Vec<Parameter>,
    /// What it makes.
    pub(crate) outputs: Vec<Parameter>,
    /// Its attributes, in the order its host code counts them.
    pub(crate) attributes: Vec<Attribute>,
    /// The chips it has a kernel for, as it writes them: `ascend910b`.
    pub(crate) socs: Vec<String>,
    /// Further settings for the chip: `opFile.value`, `opInterface.value`.
    pub(crate) values: BTreeMap<String, String>,
}

impl Definition {
    /// Is there a kernel for this chip?
    pub(crate) fn is_for(&self, soc: Soc) -> bool {
        self.socs.iter().any(|name| name.eq_ignore_ascii_case(soc.as_str()))
    }

    /// The file of its kernel, without `.cpp`.
    pub(crate) fn op_file(&self) -> String {
        self.values.get("opFile.value").cloned().unwrap_or_else(|| snake_case(&self.op_type))
    }

    /// The function of its kernel.
    pub(crate) fn op_interface(&self) -> String {
        self.values.get("opInterface.value").cloned().unwrap_or_else(|| snake_case(&self.op_type))
    }
}

/// `AddRmsNorm` as files and functions are called: `add_rms_norm`.
pub(crate) fn snake_case(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let mut result = String::with_capacity(name.len() + 8);
    for (index, letter) in letters.iter().enumerate() {
        let before = index.checked_sub(1).map(|before| letters[before]);
        let after = letters.get(index + 1);
        let begins_word = before.is_some_and(|before| !before.is_uppercase() && before != '_')
            || (before.is_some_and(char::is_uppercase) && after.is_some_and(|after| after.is_lowercase()));
        if letter.is_uppercase() && begins_word {
            result.push('_');
        }
        result.extend(letter.to_lowercase());
    }
    result
}

/// A definition as the host code's process writes it.
#[derive(Deserialize)]
pub(super) struct RawDefinition {
    op_type: String,
    inputs: Vec<RawParameter>,
    outputs: Vec<RawParameter>,
    attributes: Vec<RawAttribute>,
    socs: Vec<String>,
    values: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct RawParameter {
    name: String,
    presence: Presence,
    value_depend: bool,
    dtypes: Vec<u32>,
    formats: Vec<u32>,
}

#[derive(Deserialize)]
struct RawAttribute {
    name: String,
    kind: AttributeKind,
    required: bool,
    default: Json,
}

impl From<RawDefinition> for Definition {
    fn from(raw: RawDefinition) -> Self {
        let parameters = |side: Vec<RawParameter>| side.into_iter().map(Parameter::from).collect();
        Self {
            op_type: raw.op_type,
            inputs: parameters(raw.inputs),
            outputs: parameters(raw.outputs),
            attributes: raw.attributes.into_iter().map(Attribute::from).collect(),
            socs: raw.socs,
            values: raw.values,
        }
    }
}

impl From<RawParameter> for Parameter {
    fn from(raw: RawParameter) -> Self {
        // Numbers of types that came later than this table.
        let dtype = |code: &u32| DataType::from_code(*code).unwrap_or(DataType::Undefined);
        let format = |code: &u32| Format::from_code(*code & 0xff).unwrap_or(Format::Nd);
        Self {
            name: raw.name,
            presence: raw.presence,
            value_depend: raw.value_depend,
            dtypes: raw.dtypes.iter().map(dtype).collect(),
            formats: raw.formats.iter().map(format).collect(),
        }
    }
}

impl From<RawAttribute> for Attribute {
    fn from(raw: RawAttribute) -> Self {
        let default = Value::of(raw.kind, &raw.default);
        Self { name: raw.name, kind: raw.kind, required: raw.required, default }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_called_as_files_are() {
        for (name, file) in [
            ("RmsNorm", "rms_norm"),
            ("AddRMSNorm", "add_rms_norm"),
            ("MatMulV3", "mat_mul_v3"),
            ("Conv2D", "conv2_d"),
            ("Abs", "abs"),
            ("MoeGatingTopK", "moe_gating_top_k"),
        ] {
            assert_eq!(snake_case(name), file);
        }
    }

    #[test]
    fn a_value_must_be_of_its_kind() {
        assert_eq!(Value::of(AttributeKind::Int, &Json::from(3)), Some(Value::Int(3)));
        assert_eq!(Value::of(AttributeKind::Int, &Json::from(3.5)), None);
        assert_eq!(Value::of(AttributeKind::Float, &Json::from(3)), Some(Value::Float(3.0)));
        assert_eq!(Value::of(AttributeKind::Ints, &serde_json::json!([1, "a"])), None);
        let rows = serde_json::json!([[1, 2], []]);
        let value = Value::of(AttributeKind::IntLists, &rows).unwrap();
        assert_eq!(value, Value::IntLists(vec![vec![1, 2], vec![]]));
        assert_eq!(value.to_json(), rows);
    }
}
