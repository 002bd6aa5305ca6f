//! Why a program cannot be printed.

use crate::diagnostic::{Advice, Diagnostic, advice};
use crate::model::OpName;

/// Something the source needs is not known.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the fields are what the messages print")]
pub enum EmitError {
    #[error("the size of {op}'s code is not known, so it cannot be preloaded")]
    UnknownSize { op: OpName },
}

impl Diagnostic for EmitError {
    fn advice(&self) -> Advice {
        match self {
            Self::UnknownSize { .. } => advice("SK0502", "give the op's object file under `bin_path`"),
        }
    }
}
