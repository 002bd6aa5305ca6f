//! Template arguments of an operator: declared by its source (`ASCENDC_TPL_ARGS_DECL`), chosen by its tiling key.
//!
//! A key holds one value beside the other, the first declared in the lowest bits.

use super::expression::{self, Names};
use crate::artifact::{DataType, KernelType};

/// What the parameters of a kernel's template are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Template {
    /// The name it is declared for.
    pub name: String,
    parameters: Vec<Parameter>,
    selections: Vec<Selection>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Parameter {
    name: String,
    kind: Kind,
    width: u32,
    /// Only those of kind `Listed` are found by their place in it.
    values: Vec<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The key holds the place of the value in the list.
    Listed,
    Bool,
    Number,
    /// A data type by its number; the template takes a type.
    Type,
    /// A number that is also the type of the kernel.
    KernelType,
}

/// Values that belong together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Selection {
    kernel_type: Option<KernelType>,
    tiling_struct: Option<String>,
    values: Vec<(String, Vec<u64>)>,
}

/// What a key chooses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chosen {
    /// As they are written between `<` and `>`.
    pub arguments: String,
    /// The type of the kernel, if that is declared.
    pub kernel_type: Option<KernelType>,
    /// The struct of its tiling data, if that is declared.
    pub tiling_struct: Option<String>,
}

/// Bits of what has no width of its own.
const BYTE: u32 = 8;

impl Template {
    /// From the arguments of `sk_look_template`.
    pub(crate) fn declared(arguments: &[String], names: &impl Names) -> Option<Self> {
        let (name, parameters) = arguments.split_first()?;
        let parameters = parameters.iter().map(|text| parameter(text, names)).collect::<Option<_>>()?;
        Some(Self { name: name.clone(), parameters, selections: Vec::new() })
    }

    /// Takes over the arguments of `sk_look_selections`.
    pub(crate) fn select(&mut self, arguments: &[String], names: &impl Names) {
        self.selections.extend(arguments.iter().filter_map(|text| {
            let (word, inner) = call(text)?;
            (word == "sk_look_selection").then(|| selection(&inner, names))
        }));
    }

    /// What `key` chooses; what is wrong with it otherwise.
    pub(crate) fn chosen(&self, key: u64) -> Result<Chosen, String> {
        let mut rest = key;
        let mut values = Vec::with_capacity(self.parameters.len());
        for parameter in &self.parameters {
            let mask = 1_u64.checked_shl(parameter.width).map_or(u64::MAX, |bit| bit - 1);
            let held = rest & mask;
            rest = rest.checked_shr(parameter.width).unwrap_or(0);
            values.push(parameter.value(held).ok_or_else(|| {
                format!(
                    "its value {held} of `{}` is not one of the {} declared",
                    parameter.name.trim_start_matches("sk_"),
                    parameter.values.len()
                )
            })?);
        }
        if rest != 0 {
            return Err(format!("it has more bits than the {} declared template arguments", self.parameters.len()));
        }
        let selection = self.selections.iter().find(|selection| self.agrees(selection, &values));
        let shared = self.parameters.iter().zip(&values).find(|(parameter, _)| parameter.kind == Kind::KernelType);
        let arguments: Vec<String> =
            self.parameters.iter().zip(&values).map(|(parameter, value)| parameter.argument(*value)).collect();
        Ok(Chosen {
            arguments: arguments.join(", "),
            kernel_type: selection.and_then(|it| it.kernel_type).or(shared.and_then(|(_, value)| kernel_type(*value))),
            tiling_struct: selection.and_then(|it| it.tiling_struct.clone()),
        })
    }

    fn agrees(&self, selection: &Selection, values: &[u64]) -> bool {
        self.parameters.iter().zip(values).all(|(parameter, value)| {
            selection
                .values
                .iter()
                .filter(|(name, _)| *name == parameter.name)
                .all(|(_, allowed)| allowed.contains(value))
        })
    }
}

impl Parameter {
    fn value(&self, held: u64) -> Option<u64> {
        match self.kind {
            Kind::Listed => self.values.get(usize::try_from(held).ok()?).copied(),
            Kind::Bool | Kind::Number | Kind::Type | Kind::KernelType => Some(held),
        }
    }

    fn argument(&self, value: u64) -> String {
        match self.kind {
            Kind::Bool => (value != 0).to_string(),
            Kind::Type => type_name(value).map_or_else(|| value.to_string(), str::to_owned),
            Kind::Listed | Kind::Number | Kind::KernelType => value.to_string(),
        }
    }
}

fn parameter(text: &str, names: &impl Names) -> Option<Parameter> {
    let (word, inner) = call(text)?;
    let (name, values) = inner.split_first()?;
    let (kind, width, values) = match word {
        "sk_look_uint" => {
            let (width, values) = values.split_first()?;
            let width = u32::try_from(expression::evaluate(width, names)?).ok().filter(|width| *width <= 64)?;
            (Kind::Listed, width, expanded(&numbers(values, names)?)?)
        }
        "sk_look_bool" => (Kind::Bool, 1, Vec::new()),
        "sk_look_number" => (Kind::Number, BYTE, Vec::new()),
        "sk_look_type" => (Kind::Type, BYTE, Vec::new()),
        "sk_look_shared_type" => (Kind::KernelType, BYTE, Vec::new()),
        _ => return None,
    };
    Some(Parameter { name: name.clone(), kind, width, values })
}

fn selection(parts: &[String], names: &impl Names) -> Selection {
    let mut selection = Selection::default();
    for (word, inner) in parts.iter().filter_map(|part| call(part)) {
        match (word, inner.split_first()) {
            ("sk_look_kernel_type", Some((value, _))) => {
                let value = expression::evaluate(value, names).and_then(|value| u64::try_from(value).ok());
                selection.kernel_type = value.and_then(kernel_type);
            }
            ("sk_look_struct", Some((name, _))) => selection.tiling_struct = Some(name.clone()),
            ("sk_look_numbers", Some((name, values))) => {
                let values = numbers(values, names).and_then(|values| expanded(&values));
                selection.values.extend(values.map(|values| (name.clone(), values)));
            }
            ("sk_look_values", Some((name, values))) => {
                selection.values.extend(numbers(values, names).map(|values| (name.clone(), values)));
            }
            _ => {}
        }
    }
    selection
}

fn numbers(texts: &[String], names: &impl Names) -> Option<Vec<u64>> {
    texts.iter().map(|text| u64::try_from(expression::evaluate(text, names)?).ok()).collect()
}

/// The values of a list that begins with its form: values, ranges (their number, then first and last of each), or ranges
/// and then values.
fn expanded(list: &[u64]) -> Option<Vec<u64>> {
    /// A range of more than any key could tell apart is a mistake.
    const MOST: u64 = 1 << 16;
    const LIST: u64 = 1;
    let (form, rest) = list.split_first()?;
    if *form == LIST {
        return Some(rest.to_vec());
    }
    let (count, rest) = rest.split_first()?;
    let ends = usize::try_from(*count).ok()?.checked_mul(2)?;
    let mut values = Vec::new();
    for pair in rest.get(..ends)?.chunks(2) {
        let (first, last) = (pair[0], pair[1]);
        if last.checked_sub(first).is_none_or(|more| more > MOST) {
            return None;
        }
        values.extend(first..=last);
    }
    values.extend(rest.get(ends..)?);
    Some(values)
}

/// `word(a, b(c, d))`: the word and its arguments.
pub(crate) fn call(text: &str) -> Option<(&str, Vec<String>)> {
    let (word, rest) = text.split_once('(')?;
    let inside = rest.trim_end().strip_suffix(')')?;
    Some((word.trim(), arguments(inside)))
}

/// What commas outside of brackets separate.
pub(crate) fn arguments(inside: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut depth = 0_usize;
    for letter in inside.chars() {
        match letter {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        match (letter, parts.last_mut()) {
            (',', _) if depth == 0 => parts.push(String::new()),
            (letter, Some(last)) => last.push(letter),
            (_, None) => {}
        }
    }
    // A list may end with a comma.
    parts.into_iter().map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
}

/// Kernel types are numbered as everywhere.
fn kernel_type(value: u64) -> Option<KernelType> {
    KernelType::ALL.iter().copied().find(|known| u64::from(known.number()) == value)
}

/// The C++ type of a data type's number.
fn type_name(value: u64) -> Option<&'static str> {
    DataType::from_code(u32::try_from(value).ok()?).and_then(DataType::kernel_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made() -> Template {
        let names = |name: &str| (name == "TWO").then_some(2_i128);
        let declared = "Op, sk_look_type(sk_T, 0, 1, 27), sk_look_uint(sk_M, 4, 1, 0, 1, TWO, 30), sk_look_bool(sk_B, 0, 1), \
                        sk_look_uint(sk_N, 8, 2, 1, 5, 7, 100,)";
        let mut template = Template::declared(&arguments(declared), &names).unwrap();
        let selections = "sk_look_selection(sk_look_kernel_type(7), sk_look_values(sk_T, 1), sk_look_numbers(sk_M, 1, 30)), \
                          sk_look_selection(sk_look_kernel_type(0), sk_look_struct(Small), sk_look_values(sk_B, 1)),";
        template.select(&arguments(selections), &names);
        template
    }

    #[test]
    fn keys_hold_values_from_the_lowest_bits_on() {
        let key = 27 | 3 << 8 | 1 << 12 | 3 << 13;
        let chosen = made().chosen(key).unwrap();
        assert_eq!(chosen.arguments, "bfloat16_t, 30, true, 100");
        assert_eq!(chosen.kernel_type, Some(KernelType::AivOnly));
        assert_eq!(chosen.tiling_struct.as_deref(), Some("Small"));
        let mixed = made().chosen(1 | 3 << 8).unwrap();
        assert_eq!((mixed.arguments.as_str(), mixed.kernel_type), ("half, 30, false, 5", Some(KernelType::MixAic1_2)));
    }

    #[test]
    fn keys_that_choose_nothing_are_told_why() {
        assert!(made().chosen(9 << 8).unwrap_err().contains("its value 9 of `M` is not one of the 4 declared"));
        assert!(made().chosen(1 << 30).unwrap_err().contains("more bits than the 4 declared"));
    }
}
