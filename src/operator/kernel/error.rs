//! What can be wrong with the kernel of an operator's folder.

use std::path::PathBuf;

use crate::diagnostic::{Advice, Diagnostic, advice};
use crate::fs::FileError;

/// Why a kernel cannot be built from its folder.
#[derive(Debug, thiserror::Error)]
pub enum KernelError {
    /// No folder of kernels in it.
    #[error("`{}` is not an operator's folder: it has no folder `op_kernel`", folder.display())]
    NoKernels {
        /// The folder the user named.
        folder: PathBuf,
    },
    /// None of its sources has the operator's name.
    #[error("no source of `{}` has the operator's name; there are {}", folder.display(), if found.is_empty() { "none".to_owned() } else { found.join(", ") })]
    NoSource {
        /// The folder of its kernels.
        folder: PathBuf,
        /// Sources that are there, without ending.
        found: Vec<String>,
    },
    /// Its source defines no kernel.
    #[error("`{}` defines no kernel (`__global__ __aicore__ void`)", source_file.display())]
    NoFunction {
        /// The source.
        source_file: PathBuf,
    },
    /// Kernels have no type for these elements.
    #[error("`{tensor}` cannot be of type `{data_type}`: kernels have no such type")]
    DataType {
        /// Its name.
        tensor: String,
        /// Its type.
        data_type: &'static str,
    },
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
}

impl Diagnostic for KernelError {
    fn advice(&self) -> Advice {
        match self {
            Self::NoKernels { .. } => advice("SK0990", "name the folder that has `op_kernel`, `op_host` beside it"),
            Self::NoSource { .. } => {
                advice("SK0991", "name the source in the definition (`opFile.value`), or give the operator's name")
            }
            Self::NoFunction { .. } => advice("SK0992", "look for macros around it, or name another source"),
            Self::DataType { .. } => advice("SK0993", "choose one of the types in the operator's definition"),
            Self::File(error) => error.advice(),
        }
    }
}
