//! Types of results, as far as calls and traced operators tell them: this form has no descriptions of tensors, and a cast
//! to the type that a value has already is none.

use super::call::{Argument, Call};

/// The engine's number of a type, as calls write it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ElementType(String);

/// Types of torch by the engine's numbers.
const TORCH: [(&str, &str); 15] = [
    ("float32", "0"),
    ("float16", "1"),
    ("int8", "2"),
    ("int32", "3"),
    ("uint8", "4"),
    ("int16", "6"),
    ("uint16", "7"),
    ("uint32", "8"),
    ("int64", "9"),
    ("uint64", "10"),
    ("float64", "11"),
    ("bool", "12"),
    ("complex64", "16"),
    ("complex128", "17"),
    ("bfloat16", "27"),
];

/// What begins the types of ops whose result has the type of their inputs. Others may: then a cast stays that could go.
const KEEPING: [&str; 44] = [
    "Abs",
    "Add",
    "Atan",
    "BroadcastTo",
    "Ceil",
    "Clip",
    "Concat",
    "Cos",
    "Cumsum",
    "Div",
    "Erf",
    "Exp",
    "Expand",
    "Fill",
    "Floor",
    "FusedMulAdd",
    "Gelu",
    "Identity",
    "LeakyRelu",
    "Log",
    "MaskedFill",
    "Maximum",
    "Minimum",
    "Mul",
    "Neg",
    "Pack",
    "Pad",
    "Pow",
    "RealDiv",
    "Reciprocal",
    "Reduce",
    "Relu",
    "Reshape",
    "Round",
    "Rsqrt",
    "Scatter",
    "Sigmoid",
    "Sin",
    "Slice",
    "Softmax",
    "Split",
    "Square",
    "Squeeze",
    "Sub",
];
/// More of them, to the letter: what begins like them is something else.
const KEEPING_EXACTLY: [&str; 15] = [
    "Cast",
    "Gather",
    "Sqrt",
    "StridedSlice",
    "StridedSliceV2",
    "Swish",
    "SwiGlu",
    "Tan",
    "Tanh",
    "Tile",
    "Transpose",
    "TransposeD",
    "Unpack",
    "Unsqueeze",
    "ZerosLike",
];
/// What begins like one of `KEEPING` and is of another type.
const OTHERS: [&str; 8] =
    ["LogicalAnd", "LogicalNot", "LogicalOr", "LogicalXor", "ReduceAll", "ReduceAny", "AddRmsNormQuant", "SigmoidGrad"];

impl ElementType {
    /// Of `torch.float32[8, 16]cpu`, as traced operators announce their result.
    pub(super) fn of_traced(annotation: &str) -> Option<Self> {
        let name = annotation.trim().strip_prefix("torch.")?.split('[').next()?;
        let (_, number) = TORCH.iter().find(|(torch, _)| *torch == name)?;
        Some(Self((*number).to_owned()))
    }

    /// That an argument `name=number` of a call says.
    pub(super) fn named(call: &Call<'_>, name: &str) -> Option<Self> {
        call.arguments.iter().find_map(|argument| match argument {
            Argument::Named(given, number) if *given == name => Some(Self((*number).to_owned())),
            Argument::Named(..) | Argument::Input(_) => None,
        })
    }

    /// Of a constant that is written among the inputs: `ge.Const(2, dtype=0)`.
    pub(super) fn of_constant(value: &str) -> Option<Self> {
        let (_, number) = value.strip_prefix("ge.Const(")?.strip_suffix(')')?.rsplit_once("dtype=")?;
        Some(Self(number.trim().to_owned()))
    }

    /// Of the results of a call with these inputs, where that follows from them.
    pub(super) fn of_result(call: &Call<'_>, inputs: &[Self]) -> Option<Self> {
        if let Some(said) = Self::named(call, "dst_type").or_else(|| Self::named(call, "dtype")) {
            return Some(said);
        }
        let op_type = call.op_type;
        let keeps = KEEPING.iter().any(|start| op_type.starts_with(start)) && !OTHERS.contains(&op_type);
        let (first, others) = inputs.split_first()?;
        let agree = others.iter().all(|other| other == first);
        ((keeps || KEEPING_EXACTLY.contains(&op_type)) && agree).then(|| first.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> ElementType {
        ElementType(text.to_owned())
    }

    fn result(statement: &str, inputs: &[&str]) -> Option<String> {
        let inputs: Vec<ElementType> = inputs.iter().map(|text| number(text)).collect();
        ElementType::of_result(&Call::parse(statement).unwrap(), &inputs).map(|found| found.0)
    }

    #[test]
    fn a_traced_operator_announces_its_type() {
        assert_eq!(ElementType::of_traced(" torch.bfloat16[8, 1]cpu"), Some(number("27")));
        for other in ["torch.float8_e5m2[1]npu:0", "t", ""] {
            assert_eq!(ElementType::of_traced(other), None, "{other}");
        }
    }

    #[test]
    fn results_keep_the_type_of_inputs_that_agree() {
        assert_eq!(result("a_0 = ge.Mul(x_0, y_0)", &["0", "0"]).as_deref(), Some("0"));
        assert_eq!(result("a_0 = ge.Mul(x_0, y_0)", &["0", "1"]), None);
        assert_eq!(result("a_0 = ge.Greater(x_0, y_0)", &["0", "0"]), None);
        assert_eq!(result("a_0 = ge.LogicalNot(x_0)", &["12"]), None);
        assert_eq!(result("a_0 = ge.Cast(x_0, dst_type=9)", &["0"]).as_deref(), Some("9"));
        assert_eq!(result("a_0 = ge.Data(index=0, dtype=27, shape=[1])", &[]).as_deref(), Some("27"));
        assert_eq!(ElementType::of_constant("ge.Const([1, 2], dtype=3)"), Some(number("3")));
    }
}
