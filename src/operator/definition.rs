//! The definition of an operator: what it takes, what it makes, and for which chips.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value as Json;

use crate::model::Soc;
use crate::named::named;

/// An enum whose values have a number in the host interface and a name.
macro_rules! numbered {
    ($(#[$attribute:meta])* $name:ident { $($variant:ident = $number:literal $text:literal,)+ }) => {
        named! {
            $(#[$attribute])*
            #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
            pub(crate) enum $name { $(#[doc = $text] $variant = $text,)+ }
        }

        impl $name {
            /// Its number in the host interface.
            pub(crate) fn code(self) -> u32 {
                match self { $(Self::$variant => $number,)+ }
            }

            /// The one with this number.
            pub(crate) fn from_code(code: u32) -> Option<Self> {
                match code { $($number => Some(Self::$variant),)+ _ => None }
            }
        }
    };
}

numbered! {
    /// The type of an element.
    DataType {
        Float32 = 0 "float32", Float16 = 1 "float16", Int8 = 2 "int8", Int32 = 3 "int32", Uint8 = 4 "uint8",
        Int16 = 6 "int16", Uint16 = 7 "uint16", Uint32 = 8 "uint32", Int64 = 9 "int64", Uint64 = 10 "uint64",
        Float64 = 11 "float64", Bool = 12 "bool", String = 13 "string", Complex64 = 16 "complex64",
        Complex128 = 17 "complex128", Qint8 = 18 "qint8", Qint16 = 19 "qint16", Qint32 = 20 "qint32",
        Quint8 = 21 "quint8", Quint16 = 22 "quint16", BFloat16 = 27 "bfloat16", Undefined = 28 "undefined",
        Int4 = 29 "int4", Uint1 = 30 "uint1", Int2 = 31 "int2", Uint2 = 32 "uint2", Complex32 = 33 "complex32",
        HiFloat8 = 34 "hifloat8", Float8E5M2 = 35 "float8_e5m2", Float8E4M3Fn = 36 "float8_e4m3fn",
        Float8E8M0 = 37 "float8_e8m0", Float6E3M2 = 38 "float6_e3m2", Float6E2M3 = 39 "float6_e2m3",
        Float4E2M1 = 40 "float4_e2m1", Float4E1M2 = 41 "float4_e1m2", HiFloat4 = 42 "hifloat4",
    }
}

impl DataType {
    /// Bits of an element; 0 where it has no size of its own.
    pub(crate) fn bits(self) -> u64 {
        match self {
            Self::String | Self::Undefined => 0,
            Self::Uint1 => 1,
            Self::Int2 | Self::Uint2 => 2,
            Self::Int4 | Self::Float4E2M1 | Self::Float4E1M2 | Self::HiFloat4 => 4,
            Self::Float6E3M2 | Self::Float6E2M3 => 6,
            Self::Int8
            | Self::Uint8
            | Self::Bool
            | Self::Qint8
            | Self::Quint8
            | Self::HiFloat8
            | Self::Float8E5M2
            | Self::Float8E4M3Fn
            | Self::Float8E8M0 => 8,
            Self::Float16 | Self::BFloat16 | Self::Int16 | Self::Uint16 | Self::Qint16 | Self::Quint16 => 16,
            Self::Float32 | Self::Int32 | Self::Uint32 | Self::Qint32 | Self::Complex32 => 32,
            Self::Float64 | Self::Int64 | Self::Uint64 | Self::Complex64 => 64,
            Self::Complex128 => 128,
        }
    }

    /// Its name in C++, in host code and in kernels.
    #[allow(dead_code, reason = "kernels are told their types by it")]
    pub(crate) fn macro_name(self) -> String {
        // The others are called there as they are here.
        let own = [(Self::Float32, "FLOAT"), (Self::Float64, "DOUBLE"), (Self::BFloat16, "BF16")];
        let own = own.iter().find(|(dtype, _)| *dtype == self).map(|(_, name)| (*name).to_owned());
        format!("DT_{}", own.unwrap_or_else(|| self.as_str().to_uppercase()))
    }
}

numbered! {
    /// How the elements of a tensor are arranged.
    Format {
        Nchw = 0 "NCHW", Nhwc = 1 "NHWC", Nd = 2 "ND", Nc1hwc0 = 3 "NC1HWC0", FractalZ = 4 "FRACTAL_Z",
        Nc1c0hwPad = 5 "NC1C0HWPAD", Nhwc1c0 = 6 "NHWC1C0", FsrNchw = 7 "FSR_NCHW", FractalDeconv = 8 "FRACTAL_DECONV",
        C1hwnc0 = 9 "C1HWNC0", Nc1hwc0C04 = 12 "NC1HWC0_C04", FractalZC04 = 13 "FRACTAL_Z_C04", Chwn = 14 "CHWN",
        Hwcn = 16 "HWCN", BnWeight = 18 "BN_WEIGHT", FilterHwck = 19 "FILTER_HWCK", C1hwncoc0 = 25 "C1HWNCoC0",
        Md = 26 "MD", Ndhwc = 27 "NDHWC", FractalZz = 28 "FRACTAL_ZZ", FractalNz = 29 "FRACTAL_NZ", Ncdhw = 30 "NCDHW",
        Dhwcn = 31 "DHWCN", Ndc1hwc0 = 32 "NDC1HWC0", FractalZ3d = 33 "FRACTAL_Z_3D", Cn = 34 "CN", Nc = 35 "NC",
        Dhwnc = 36 "DHWNC", FractalZ3dTranspose = 37 "FRACTAL_Z_3D_TRANSPOSE", FractalZnLstm = 38 "FRACTAL_ZN_LSTM",
        FractalZG = 39 "FRACTAL_Z_G", Reserved = 40 "RESERVED", All = 41 "ALL", Null = 42 "NULL",
        NdRnnBias = 43 "ND_RNN_BIAS", FractalZnRnn = 44 "FRACTAL_ZN_RNN", Nyuv = 45 "NYUV", NyuvA = 46 "NYUV_A",
        Ncl = 47 "NCL", FractalZWino = 48 "FRACTAL_Z_WINO", C1hwc0 = 49 "C1HWC0", FractalNzC016 = 50 "FRACTAL_NZ_C0_16",
        FractalNzC032 = 51 "FRACTAL_NZ_C0_32", FractalNzC02 = 52 "FRACTAL_NZ_C0_2", FractalNzC04 = 53 "FRACTAL_NZ_C0_4",
        FractalNzC08 = 54 "FRACTAL_NZ_C0_8",
    }
}

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
    fn numbers_of_types_and_formats_are_unique() {
        for dtype in DataType::ALL {
            assert_eq!(DataType::from_code(dtype.code()), Some(dtype));
        }
        for format in Format::ALL {
            assert_eq!(Format::from_code(format.code()), Some(format));
        }
        assert_eq!(DataType::from_code(5), None);
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
