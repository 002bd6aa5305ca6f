//! Why a program cannot be printed.

use crate::diagnostic::Diagnostic;
use crate::model::OpName;

/// Something the source needs is not known.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the fields are what the messages print")]
pub enum EmitError {
    #[error("the size of {op}'s code is not known, so it cannot be preloaded")]
    UnknownSize { op: OpName },
}

impl Diagnostic for EmitError {
    fn id(&self) -> &'static str {
        match self {
            Self::UnknownSize { .. } => "SK0502",
        }
    }

    fn solution(&self) -> String {
        match self {
            Self::UnknownSize { .. } => "give the op's object file under `bin_path`".to_owned(),
        }
    }
}
