//! What can be wrong with an operator given to the builder.

use super::complaint::{Complaint, Remedy, about_source};
use super::scan::Foreign;
use crate::diagnostic::{Advice, Diagnostic, advice};
use crate::elf::ElfError;
use crate::fs::FileError;
use crate::link::LinkError;
use crate::model::ModelError;
use crate::store::StoreError;
use crate::toolchain::ToolchainError;

/// Why an operator could not be built.
#[derive(Debug, thiserror::Error)]
pub enum OpBuildError {
    /// The source does not define the function.
    #[error("the source defines no function `{kernel}`{}", suggestion.as_ref().map(|name| format!("; did you mean `{name}`?")).unwrap_or_default())]
    NoKernel {
        /// The function asked for.
        kernel: String,
        /// A function it does define.
        suggestion: Option<String>,
    },
    /// `params` and the function's parameters do not match.
    #[error("`{kernel}` takes {} parameters ({}), but `params` names {} ({})", source_names.len(), source_names.join(", "), given.len(), given.join(", "))]
    ParameterCount {
        /// The operator's function.
        kernel: String,
        /// From the source.
        source_names: Vec<String>,
        /// From the caller.
        given: Vec<String>,
    },
    /// An argument contradicts the source or another argument.
    #[error("`{argument}` cannot be `{value}` for operator `{kernel}`: {reason}")]
    Argument {
        /// The operator's function.
        kernel: String,
        /// The argument's name.
        argument: &'static str,
        /// Its value.
        value: String,
        /// Why not.
        reason: String,
    },
    /// A folder that should hold AscendC's headers does not.
    #[error("`{}` holds no AscendC headers (`include/kernel_operator.h` and `impl/basic_api/dav_c220`)", folder.display())]
    NoHeaders {
        /// The folder the user named.
        folder: std::path::PathBuf,
    },
    /// A launch in a program that cannot be understood.
    #[error("{place}: {reason}")]
    Launch {
        /// Where.
        place: super::scan::Place,
        /// What is wrong.
        reason: &'static str,
    },
    /// The source does not compile.
    #[error(transparent)]
    Source(Box<Complaint>),
    /// There is no such chip.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// Stored files are not as they must be.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The compiler failed.
    #[error(transparent)]
    Toolchain(#[from] ToolchainError),
    /// The object it made cannot be edited.
    #[error(transparent)]
    Elf(#[from] ElfError),
    /// The compiled functions cannot be joined.
    #[error(transparent)]
    Link(#[from] LinkError),
}

impl OpBuildError {
    /// A failure of the compiler, told by its place in the source where it is the source's.
    pub(crate) fn of_source(error: ToolchainError, foreign: &Foreign, subset: bool) -> Self {
        match about_source(error, foreign, subset) {
            Ok(complaint) => Self::Source(Box::new(complaint)),
            Err(error) => error.into(),
        }
    }
}

impl Diagnostic for OpBuildError {
    fn advice(&self) -> Advice {
        match self {
            Self::NoKernel { .. } => {
                advice("SK0951", "pass the name of an `extern \"C\" __global__ __aicore__ void` function of the source")
            }
            Self::ParameterCount { .. } => advice(
                "SK0952",
                "name every parameter of the function in order, or leave `params` out to take its names",
            ),
            Self::Argument { argument, .. } => advice("SK0953", format!("change or leave out `{argument}`")),
            Self::NoHeaders { .. } => advice(
                "SK0954",
                "name an installed CANN toolkit or a checkout of its development kit with the setting `ascendc`, or reset \
                 the setting to use the built-in subset",
            ),
            Self::Launch { .. } => advice(
                "SK0955",
                "write a launch as `kernel<<<blocks, memory, stream>>>(arguments)`, all of it in one file",
            ),
            Self::Source(complaint) => advice(
                "SK0958",
                match complaint.remedy {
                    Remedy::AscendC => {
                        "the built-in subset of AscendC has nothing of that name: name a toolkit or a checkout of its \
                         development kit with the setting `ascendc` (`--ascendc`, `SUPERKERNEL_ASCENDC`), or correct the \
                         source"
                    }
                    Remedy::NewerCompiler => {
                        "GCC takes this from version 14 on: set `CXX` to such a compiler, or define the member outside of \
                         its class"
                    }
                    Remedy::Source => "correct the source at the place named",
                },
            ),
            Self::Model(error) => error.advice(),
            Self::File(error) => error.advice(),
            Self::Store(error) => error.advice(),
            Self::Toolchain(error) => error.advice(),
            Self::Elf(error) => error.advice(),
            Self::Link(error) => error.advice(),
        }
    }
}
