//! What can be wrong with the inputs of a prediction.

use std::path::PathBuf;

use crate::cancel::Cancelled;
use crate::diagnostic::{Advice, Diagnostic, advice};
use crate::fs::FileError;
use crate::model::ModelError;
use crate::plan::PlanError;
use crate::scope::ScopeError;

/// Why nothing can be predicted.
#[derive(Debug, thiserror::Error)]
pub enum CostError {
    /// A file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The op list is wrong.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// No program can be made.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The graph is wrong.
    #[error(transparent)]
    Scope(#[from] ScopeError),
    /// A prices file is wrong.
    #[error("the prices in `{origin}` cannot be used: {problem}")]
    BadPrices {
        /// The file.
        origin: String,
        /// What is wrong.
        problem: String,
    },
    /// A profile is wrong.
    #[error("`{}` is not a readable profile: {problem}", path.display())]
    BadProfile {
        /// The file.
        path: PathBuf,
        /// What is wrong, with the row.
        problem: String,
    },
    /// No profile says anything about any op.
    #[error("no row of {profiles} is about any of the {ops} ops")]
    NothingMeasured {
        /// The files.
        profiles: String,
        /// How many ops.
        ops: usize,
    },
    /// Profiles of fused runs that belong to nothing.
    #[error("no super kernel of the model is in the fused profiles: {problem}")]
    NothingToFit {
        /// What was looked for.
        problem: String,
    },
    /// The caller wants no prediction any more.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// The program does not come to its end.
    #[error("the program of `{kernel}` stops when it is simulated with times: {problem}")]
    Stuck {
        /// The super kernel.
        kernel: String,
        /// What the launch model says.
        problem: String,
    },
}

impl Diagnostic for CostError {
    fn advice(&self) -> Advice {
        match self {
            Self::File(error) => error.advice(),
            Self::Model(error) => error.advice(),
            Self::Plan(error) => error.advice(),
            Self::Scope(error) => error.advice(),
            Self::BadPrices { .. } => advice("SK1101", "correct the file; docs/cost-model.md lists the prices"),
            Self::BadProfile { .. } => advice(
                "SK1102",
                "give an op_summary*.csv or op_statistic.csv of the profiler, or the JSON of `superkernel profile`",
            ),
            Self::NothingMeasured { .. } => {
                advice("SK1103", "give the profile of a run of this model without super kernels")
            }
            Self::NothingToFit { .. } => {
                advice("SK1104", "give the profiles of runs of this model without and with super kernels")
            }
            Self::Cancelled(_) => advice("SK1106", "run it again"),
            Self::Stuck { .. } => advice("SK1105", "report this with the output of `superkernel plan --text`"),
        }
    }
}
