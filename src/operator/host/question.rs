//! What the process of the host code is asked, in the form `sk_op_host/question.h` reads, and what it answers.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use super::super::definition::{Definition, RawDefinition, Value};
use crate::aicore::Pipe;
use crate::artifact::{DataType, Format};
use crate::model::{Chip, CoreCounts, Soc};
use crate::sim::machine::core_state::memory_sizes;
use crate::sim::machine::memory::SystemWorkspace;

/// One tensor of an invocation.
#[derive(Debug, Clone)]
pub(crate) struct Tensor {
    /// The type of its elements.
    pub(crate) dtype: DataType,
    /// How its elements are arranged.
    pub(crate) format: Format,
    /// How they were before the framework rearranged them.
    pub(crate) origin_format: Format,
    /// Its shape in memory.
    pub(crate) shape: Vec<i64>,
    /// Its shape before.
    pub(crate) origin_shape: Vec<i64>,
    /// Its values, where shapes or tiling depend on them.
    pub(crate) data: Option<Vec<u8>>,
}

/// What an operator is to be run with.
#[derive(Debug, Clone)]
pub(crate) struct Invocation {
    /// The chip.
    pub(crate) soc: Soc,
    /// Its cores.
    pub(crate) cores: CoreCounts,
    /// For every parameter of the definition its tensors: none, one, or several of a dynamic one.
    pub(crate) inputs: Vec<Vec<Tensor>>,
    /// The same for outputs.
    pub(crate) outputs: Vec<Vec<Tensor>>,
    /// Attributes that were given; the others have their defaults.
    pub(crate) attributes: BTreeMap<String, Value>,
    /// Must every run give the same bytes?
    pub(crate) deterministic: bool,
}

/// What the process is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Definitions,
    Shapes,
    Tiling,
}

impl Step {
    /// As messages call it.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Definitions => "the definition",
            Self::Shapes => "the inference of shapes",
            Self::Tiling => "the tiling",
        }
    }
}

/// The question for all definitions as they are for `soc`.
pub(super) fn definitions(soc: Soc) -> String {
    format!("definitions {}\n", soc.as_str().to_lowercase())
}

/// The question for shapes or tiling.
pub(super) fn invocation(step: Step, definition: &Definition, call: &Invocation) -> Vec<u8> {
    let mut out = Writer(Vec::new());
    out.words(match step {
        Step::Shapes => "shapes",
        Step::Definitions | Step::Tiling => "tiling",
    });
    out.text(definition.op_type.as_bytes());
    out.platform(call.soc, call.cores);
    out.words(u8::from(call.deterministic));
    out.side(&call.inputs);
    out.side(&call.outputs);
    out.words(definition.attributes.len());
    for attribute in &definition.attributes {
        match call.attributes.get(&attribute.name).or(attribute.default.as_ref()) {
            Some(value) => out.value(value),
            None => out.words("none"),
        }
    }
    out.0
}

struct Writer(Vec<u8>);

impl Writer {
    fn words(&mut self, words: impl std::fmt::Display) {
        self.0.extend(format!("{words}\n").as_bytes());
    }

    fn text(&mut self, bytes: &[u8]) {
        self.0.extend(format!("{}:", bytes.len()).as_bytes());
        self.0.extend(bytes);
        self.0.push(b'\n');
    }

    fn numbers<T: std::fmt::Display>(&mut self, values: impl ExactSizeIterator<Item = T>) {
        let mut line = values.len().to_string();
        for value in values {
            let _ = write!(line, " {value}");
        }
        self.words(line);
    }

    fn side(&mut self, parameters: &[Vec<Tensor>]) {
        self.words(parameters.len());
        for tensors in parameters {
            self.words(tensors.len());
            for tensor in tensors {
                let Tensor { dtype, format, origin_format, .. } = tensor;
                self.words(format_args!("{} {} {}", dtype.code(), format.code(), origin_format.code()));
                self.numbers(tensor.shape.iter());
                self.numbers(tensor.origin_shape.iter());
                match &tensor.data {
                    None => self.words("none"),
                    Some(bytes) => {
                        self.words("data");
                        self.text(bytes);
                    }
                }
            }
        }
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Int(number) => self.words(format_args!("int {number}")),
            Value::Float(number) => self.words(format_args!("float {number:e}")),
            Value::Bool(yes) => self.words(format_args!("bool {}", u8::from(*yes))),
            Value::Text(text) => {
                self.words("str");
                self.text(text.as_bytes());
            }
            Value::Ints(numbers) => {
                self.words("list_int");
                self.numbers(numbers.iter());
            }
            Value::Floats(numbers) => {
                self.words("list_float");
                self.numbers(numbers.iter().map(|number| format!("{number:e}")));
            }
            Value::Bools(values) => {
                self.words("list_bool");
                self.numbers(values.iter().map(|yes| u8::from(*yes)));
            }
            Value::Texts(texts) => {
                self.words(format_args!("list_str {}", texts.len()));
                texts.iter().for_each(|text| self.text(text.as_bytes()));
            }
            Value::IntLists(rows) => {
                self.words(format_args!("list_list_int {}", rows.len()));
                rows.iter().for_each(|row| self.numbers(row.iter()));
            }
        }
    }

    /// What host code is told about the chip: the sizes of the simulated core, and its description by name.
    fn platform(&mut self, soc: Soc, cores: CoreCounts) {
        let [ub, l1, l0a, l0b, l0c, bt, fb] = memory_sizes(soc.chip());
        // L2 and HBM belong to the device; nothing here runs out of them.
        let (l2, hbm) = (192 << 20, 64_u64 << 30);
        self.words(format_args!("{l0a} {l0b} {l0c} {l1} {l2} {ub} {hbm} {fb} {bt}"));
        // Bytes per cycle inside the core, and from and to the device's memory.
        let [inside, outside] = [Pipe::V, Pipe::Mte2].map(|pipe| pipe.price().1);
        self.words(format_args!("{inside} {outside}"));
        let facts = [
            ("version", "SoC_version", soc.as_str().to_owned()),
            ("version", "Short_SoC_version", soc.as_str().to_owned()),
            ("version", "NpuArch", soc.chip().npu_arch().to_string()),
            ("SoCInfo", "core_type_list", "CubeCore,VectorCore".to_owned()),
            ("SoCInfo", "ai_core_cnt", cores.aic.to_string()),
            ("SoCInfo", "cube_core_cnt", cores.aic.to_string()),
            ("SoCInfo", "vector_core_cnt", cores.aiv.to_string()),
            ("SoCInfo", "l2_size", l2.to_string()),
            ("AICoreSpec", "ub_size", ub.to_string()),
            ("AICoreSpec", "l1_size", l1.to_string()),
            ("AICoreSpec", "l0_a_size", l0a.to_string()),
            ("AICoreSpec", "l0_b_size", l0b.to_string()),
            ("AICoreSpec", "l0_c_size", l0c.to_string()),
            ("AICoreSpec", "bt_size", bt.to_string()),
            ("AICoreSpec", "fb0_size", fb.to_string()),
            ("AICoreSpec", "cube_vector_split", "1".to_owned()),
            ("AICoreSpec", "vector_reg_width", vector_register_bytes(soc.chip()).to_string()),
            ("SkChip", "messages", SystemWorkspace::BYTES.to_string()),
        ];
        let moves =
            cube_instructions(soc.chip()).map(|(key, value)| ("AICoreintrinsicDtypeMap", key, value.to_owned()));
        let all: Vec<_> = facts.into_iter().chain(moves).collect();
        self.words(all.len());
        for (group, key, value) in all {
            self.words(format_args!("{group} {key}"));
            self.text(value.as_bytes());
        }
    }
}

/// Bytes of a vector register; the older generation's vector unit works on memory.
fn vector_register_bytes(chip: Chip) -> u32 {
    match chip {
        Chip::C220 => 0,
        Chip::C310 => 256,
    }
}

/// Instructions host code asks for by name: what the cube unit's moves and multiplication can do.
fn cube_instructions(chip: Chip) -> [(&'static str, &'static str); 4] {
    let to_bias_table = match chip {
        Chip::C220 => "f322f32,s322s32",
        Chip::C310 => "bf162f32,f162f32,f322f32,s322s32",
    };
    [
        ("Intrinsic_fix_pipe_l0c2out", "f322f32,f322f16,f322bf16,f322s8,s322s32,s322f16,s322s8"),
        ("Intrinsic_data_move_l12bt", to_bias_table),
        ("Intrinsic_data_move_out2l1_nd2nz", "f16,bf16,f32,s8,s32"),
        ("Intrinsic_mmad", "f162f32,bf162f32,f322f32,s82s32,s42s32"),
    ]
}

/// The answer about definitions.
#[derive(Deserialize)]
pub(super) struct DefinitionsAnswer {
    pub(super) definitions: Vec<RawDefinition>,
    /// Types of operators with a registered tiling.
    pub(super) tiled: Vec<String>,
}

/// The answer about shapes.
#[derive(Deserialize)]
pub(super) struct ShapesAnswer {
    /// Was there a function to ask?
    pub(super) known: bool,
    pub(super) status: u32,
    pub(super) outputs: Vec<OutputAnswer>,
    pub(super) log: Vec<String>,
}

#[derive(Deserialize)]
pub(super) struct OutputAnswer {
    pub(super) shape: Vec<i64>,
    pub(super) dtype: u32,
}

/// The answer about tiling.
#[derive(Deserialize)]
pub(super) struct TilingAnswer {
    /// Was there a function to ask?
    pub(super) known: bool,
    #[serde(default)]
    pub(super) parsed: bool,
    #[serde(default)]
    pub(super) status: u32,
    #[serde(default)]
    pub(super) key: u64,
    #[serde(default)]
    pub(super) blocks: u32,
    #[serde(default)]
    pub(super) schedule_mode: u32,
    #[serde(default)]
    pub(super) local_memory: u32,
    #[serde(default)]
    pub(super) workspaces: Vec<u64>,
    #[serde(default, deserialize_with = "from_hex")]
    pub(super) bytes: Vec<u8>,
    #[serde(default)]
    pub(super) log: Vec<String>,
}

/// Bytes written as two digits each.
fn from_hex<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let digit = |letter: u8| char::from(letter).to_digit(16);
    let byte = |pair: &[u8]| match pair {
        [high, low] => u8::try_from(digit(*high)? << 4 | digit(*low)?).ok(),
        _ => None,
    };
    let bytes = text.as_bytes().chunks(2).enumerate().map(|(at, pair)| {
        byte(pair).ok_or_else(|| D::Error::custom(format_args!("byte {at} of the tiling data is not two digits")))
    });
    bytes.collect()
}

#[cfg(test)]
mod tests {
    use super::TilingAnswer;

    fn bytes(text: &str) -> Result<Vec<u8>, String> {
        let answer = format!("{{\"known\": true, \"bytes\": \"{text}\"}}");
        serde_json::from_str::<TilingAnswer>(&answer).map(|answer| answer.bytes).map_err(|error| error.to_string())
    }

    #[test]
    fn damaged_tiling_data_is_an_error() {
        assert_eq!(bytes("00ff1A"), Ok(vec![0, 255, 26]));
        assert_eq!(bytes(""), Ok(vec![]));
        for (damaged, at) in [("00f", 1), ("0g", 0), ("+1", 0), ("00 1", 1)] {
            let error = bytes(damaged).expect_err(damaged);
            assert!(error.contains(&format!("byte {at} of the tiling data")), "{error}");
        }
    }
}
