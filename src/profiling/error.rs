//! Why nothing of a profiling buffer can be read.

use std::path::PathBuf;

use crate::diagnostic::{Advice, Diagnostic, advice};
use crate::fs::FileError;
use crate::json::JsonError;

/// Why nothing can be read. What is damaged but readable in part is no error.
#[derive(Debug, thiserror::Error)]
pub enum ProfilingError {
    /// A file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The kernel's JSON is wrong.
    #[error(transparent)]
    Json(#[from] JsonError),
    /// No profiling buffer.
    #[error("`{}` is not a readable profiling buffer: {problem}", path.display())]
    NoBuffer {
        /// The dump.
        path: PathBuf,
        /// Why not.
        problem: String,
    },
    /// Another kernel has written it.
    #[error("`{}` was not recorded by `{kernel}`: {problem}", path.display())]
    OtherKernel {
        /// The dump.
        path: PathBuf,
        /// The kernel that was named.
        kernel: String,
        /// What shows it.
        problem: String,
    },
}

impl Diagnostic for ProfilingError {
    fn advice(&self) -> Advice {
        match self {
            Self::File(error) => error.advice(),
            Self::Json(error) => error.advice(),
            Self::NoBuffer { .. } => {
                advice("SK0940", "dump the whole buffer whose address is in the profiling slot, from its first byte")
            }
            Self::OtherKernel { .. } => advice("SK0949", "name the JSON of the kernel that ran, of the same build"),
        }
    }
}
