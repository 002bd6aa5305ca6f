//! What can go wrong between an operator's folder and its run.

use std::path::PathBuf;

use crate::diagnostic::Diagnostic;
use crate::fs::FileError;
use crate::model::ModelError;
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
    #[error("operator `{operator}` does not tell the shapes of its outputs{}", notes(left_out))]
    NoShapes { operator: String, left_out: Vec<String> },
    #[error("{step} of operator `{operator}` refused what it was asked{}", notes(log))]
    Refused { operator: String, step: &'static str, log: Vec<String> },
    #[error("the host code of operator `{operator}` crashed ({status}){}", notes(log))]
    Crashed { operator: String, status: String, log: Vec<String> },
    #[error("the host code of operator `{operator}` did not come to its end within {seconds} s{}", notes(log))]
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
    fn id(&self) -> &'static str {
        match self {
            Self::NotAnOperator { .. } => "SK0980",
            Self::OtherChip { .. } => "SK0981",
            Self::Compile { .. } => "SK0982",
            Self::MissingCall { .. } => "SK0983",
            Self::NoTiling { .. } => "SK0984",
            Self::NoShapes { .. } => "SK0985",
            Self::Refused { .. } => "SK0986",
            Self::Crashed { .. } => "SK0987",
            Self::TimedOut { .. } => "SK0988",
            Self::Argument { .. } => "SK0989",
            Self::Model(error) => error.id(),
            Self::File(error) => error.id(),
            Self::Store(error) => error.id(),
            Self::Toolchain(error) => error.id(),
        }
    }

    fn solution(&self) -> String {
        match self {
            Self::NotAnOperator { .. } => {
                "name the folder of one operator: the one with `op_host` (or its `*_def.cpp`) and `op_kernel`"
                    .to_owned()
            }
            Self::OtherChip { .. } => "choose another chip (`--soc`)".to_owned(),
            Self::Compile { .. } | Self::MissingCall { .. } => {
                format!(
                    "if a header of the operator's repository is missing, name its folder with `--include`; else {WAY_OUT}"
                )
            }
            Self::NoTiling { .. } => WAY_OUT.to_owned(),
            Self::NoShapes { .. } => "give the outputs with their shapes (`--output y=float16:16x1024`)".to_owned(),
            Self::Refused { .. } => {
                "look at the lines of the operator's host code; it names what it does not take".to_owned()
            }
            Self::Crashed { .. } => format!(
                "look for an input it needs and did not get (values of an input, an optional one); or {WAY_OUT}"
            ),
            Self::TimedOut { .. } => format!("raise `timeout`, or {WAY_OUT}"),
            Self::Argument { .. } => "change or leave out what the message names".to_owned(),
            Self::Model(error) => error.solution(),
            Self::File(error) => error.solution(),
            Self::Store(error) => error.solution(),
            Self::Toolchain(error) => error.solution(),
        }
    }
}
