//! What can go wrong between an operator's folder and its run.

use std::path::PathBuf;

use crate::diagnostic::{Advice, Diagnostic, advice};
use crate::fs::FileError;
use crate::model::{ModelError, Soc};
use crate::store::StoreError;
use crate::toolchain::ToolchainError;

/// The way out where an operator's own tiling cannot be asked.
const WAY_OUT: &str = "give the tiling yourself: `--tiling FILE --key K --blocks N`, or a Python function \
     (`sim.Operator(DIR, tiling=function)`)";

/// Why an operator could not be read, tiled or run.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the fields are what the messages print")]
pub enum OperatorError {
    #[error("`{}` holds no operator: {reason}", folder.display())]
    NotAnOperator { folder: PathBuf, reason: String },
    #[error("operator `{op_type}` has no kernel for {soc}; it has some for {}", socs.join(", "))]
    OtherChip { op_type: String, soc: String, socs: Vec<String> },
    #[error("{place}: the host code of operator `{operator}` does not compile: {problem}")]
    Compile { operator: String, place: String, problem: String },
    #[error("the host code of operator `{operator}` needs `{call}`, which is not there{}", notes(left_out))]
    MissingCall { operator: String, call: String, left_out: Vec<String> },
    #[error("operator `{operator}` registers no tiling{}", notes(left_out))]
    NoTiling { operator: String, left_out: Vec<String> },
    #[error("operator `{operator}` does not give the shapes of its outputs{}", notes(left_out))]
    NoShapes { operator: String, left_out: Vec<String> },
    #[error("{step} of operator `{operator}` refused the call{}", notes(log))]
    Refused { operator: String, step: &'static str, log: Vec<String> },
    #[error("the host code of operator `{operator}` crashed ({status}){}", notes(log))]
    Crashed { operator: String, status: String, log: Vec<String> },
    #[error("the host code of operator `{operator}` did not finish within {seconds} s{}", notes(log))]
    TimedOut { operator: String, seconds: f64, log: Vec<String> },
    #[error("operator `{operator}`: {what} cannot be `{value}`: {reason}")]
    Argument { operator: String, what: String, value: String, reason: String },
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Toolchain(#[from] ToolchainError),
}

/// Lines below a message.
fn notes(lines: &[String]) -> String {
    lines.iter().map(|line| format!("\n  {line}")).collect()
}

impl Diagnostic for OperatorError {
    fn advice(&self) -> Advice {
        match self {
            Self::NotAnOperator { .. } => advice(
                "SK0980",
                "name the folder of one operator: the one with `op_host` (or its `*_def.cpp`) and `op_kernel`",
            ),
            Self::OtherChip { socs, .. } => advice("SK0981", other_chips(socs)),
            Self::Compile { .. } => advice("SK0982", include_or_way_out()),
            Self::MissingCall { .. } => advice("SK0983", include_or_way_out()),
            Self::NoTiling { .. } => advice("SK0984", WAY_OUT),
            Self::NoShapes { .. } => {
                advice("SK0985", "give the outputs with their shapes (`--output y=float16:16x1024`)")
            }
            Self::Refused { .. } => {
                advice("SK0986", "look at the lines of the operator's host code; it names what it does not take")
            }
            Self::Crashed { .. } => advice(
                "SK0987",
                format!(
                    "look for an input it needs and did not get (values of an input, an optional one); or {WAY_OUT}"
                ),
            ),
            Self::TimedOut { .. } => advice("SK0988", format!("raise `timeout`, or {WAY_OUT}")),
            Self::Argument { .. } => advice("SK0989", "change or leave out what the message names"),
            Self::Model(error) => error.advice(),
            Self::File(error) => error.advice(),
            Self::Store(error) => error.advice(),
            Self::Toolchain(error) => error.advice(),
        }
    }
}

/// How to choose one of the chips that a definition names.
fn other_chips(named: &[String]) -> String {
    let is_named = |soc: &&Soc| named.iter().any(|name| name.eq_ignore_ascii_case(soc.as_str()));
    let known: Vec<String> = Soc::ALL.iter().filter(is_named).map(|soc| format!("`--soc {soc}`")).collect();
    if known.is_empty() {
        "none of these is simulated".to_owned()
    } else {
        format!("choose another chip: {}", known.join(" or "))
    }
}

fn include_or_way_out() -> String {
    format!("if a header of the operator's repository is missing, name its folder with `--include`; else {WAY_OUT}")
}
