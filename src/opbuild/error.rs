//! What can be wrong with an operator given to the builder.

use super::complaint::Complaint;
use crate::diagnostic::Diagnostic;
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

impl Diagnostic for OpBuildError {
    fn id(&self) -> &'static str {
        match self {
            Self::NoKernel { .. } => "SK0951",
            Self::ParameterCount { .. } => "SK0952",
            Self::Argument { .. } => "SK0953",
            Self::NoHeaders { .. } => "SK0954",
            Self::Launch { .. } => "SK0955",
            Self::Source(_) => "SK0958",
            Self::Model(error) => error.id(),
            Self::File(error) => error.id(),
            Self::Store(error) => error.id(),
            Self::Toolchain(error) => error.id(),
            Self::Elf(error) => error.id(),
            Self::Link(error) => error.id(),
        }
    }

    fn solution(&self) -> String {
        match self {
            Self::NoKernel { .. } => {
                "pass the name of an `extern \"C\" __global__ __aicore__ void` function of the source".to_owned()
            }
            Self::ParameterCount { .. } => {
                "name every parameter of the function in order, or leave `params` out to take its names".to_owned()
            }
            Self::Argument { argument, .. } => format!("change or leave out `{argument}`"),
            Self::NoHeaders { .. } => {
                "name an installed CANN toolkit or a checkout of its development kit with the setting `ascendc`, or take the \
                 setting back to use the built-in subset"
                    .to_owned()
            }
            Self::Launch { .. } => {
                "write a launch as `kernel<<<blocks, memory, stream>>>(arguments)`, all of it in one file".to_owned()
            }
            Self::Source(complaint) if complaint.missing => {
                "the built-in subset of AscendC has nothing of that name: name a toolkit or a checkout of its development kit \
                 with the setting `ascendc` (`--ascendc`, `SUPERKERNEL_ASCENDC`), or correct the source"
                    .to_owned()
            }
            Self::Source(_) => "correct the source at the place named".to_owned(),
            Self::Model(error) => error.solution(),
            Self::File(error) => error.solution(),
            Self::Store(error) => error.solution(),
            Self::Toolchain(error) => error.solution(),
            Self::Elf(error) => error.solution(),
            Self::Link(error) => error.solution(),
        }
    }
}
