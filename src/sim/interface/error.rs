//! Why a launch could not be made. What happens inside a launch is in its report, not here.

use std::path::PathBuf;

use crate::diagnostic::{Advice, Diagnostic, advice};
use crate::elf::ElfError;
use crate::shortened::Shortened;
use crate::store::StoreError;
use crate::toolchain::ToolchainError;

/// A launch, or the load before it, that could not be carried out.
#[derive(Debug, thiserror::Error)]
pub enum SimError {
    /// The request is not what [`super::request`] describes.
    #[error("the launch request is malformed: {0}")]
    Request(String),
    /// The worker process said something that is no answer.
    #[error("the process of the kernel answered with something other than a report: {0}")]
    Answer(String),
    /// An argument of the launch makes no sense.
    #[error("launch of `{kernel}`: {problem}")]
    Argument {
        /// The kernel.
        kernel: String,
        /// What is wrong.
        problem: String,
    },
    /// An argument that takes one of a few values has another.
    #[error("{argument}='{}'", Shortened(name))]
    Choice {
        /// The argument.
        argument: &'static str,
        /// Its value.
        name: String,
        /// The values it may have.
        allowed: Vec<String>,
    },
    /// The kernel object could not be linked against the simulator.
    #[error("`{}` cannot be loaded into the simulator:\n{output}", object.display())]
    Link {
        /// The kernel object.
        object: PathBuf,
        /// What the linker said.
        output: String,
    },
    /// The dynamic loader refused the library.
    #[error("kernel `{kernel}` cannot be loaded: {reason}")]
    Load {
        /// The kernel.
        kernel: String,
        /// What the loader said.
        reason: String,
    },
    /// The kernel has no such function.
    #[error("kernel `{kernel}` has no function `{symbol}`")]
    MissingFunction {
        /// The kernel.
        kernel: String,
        /// The symbol.
        symbol: String,
    },
    /// Host code without a start.
    #[error("program `{program}` has no function `main`")]
    NoMain {
        /// The program.
        program: String,
    },
    /// A kernel launches a kernel.
    #[error("`{kernel}` is launched inside of a kernel, `{outer}`")]
    NestedLaunch {
        /// The inner one.
        kernel: String,
        /// The one that runs.
        outer: String,
    },
    /// The system refused memory.
    #[error("cannot map {bytes} bytes: {source}")]
    Memory {
        /// How many.
        bytes: u64,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// A file operation failed.
    #[error(transparent)]
    File(#[from] crate::fs::FileError),
    /// The kernel's file asks for too much.
    #[error("`{}`: {source}", object.display())]
    Excess {
        /// The kernel object.
        object: PathBuf,
        /// What it asks for.
        source: ElfError,
    },
    /// This process was forked while a launch ran in the one it comes from.
    #[error("launch of `{kernel}`: this process was forked while another thread ran a kernel in it")]
    ForkedInLaunch {
        /// The kernel.
        kernel: String,
    },
    /// The caller wants no report any more.
    #[error("the run of `{kernel}` was stopped before it was finished")]
    Stopped {
        /// The kernel.
        kernel: String,
    },
    /// The compiler is missing or did not do its job.
    #[error(transparent)]
    Toolchain(#[from] ToolchainError),
    /// The place of the simulator's own files could not be used.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Diagnostic for SimError {
    fn advice(&self) -> Advice {
        match self {
            Self::Request(_) => advice("SK0901", "use the classes of superkernel.sim, which build the request"),
            Self::Answer(_) => {
                advice("SK0923", "look for a kernel that writes to files it did not open, and launch again")
            }
            Self::Argument { .. } => advice("SK0902", "correct the argument"),
            Self::Choice { argument, allowed, .. } => {
                advice("SK0902", format!("`{argument}` is one of '{}'", allowed.join("', '")))
            }
            Self::Link { .. } => advice(
                "SK0904",
                "build the kernel with the host toolchain (position independent, against the package's \
                 kernel_operator.h) and resolve the symbols named",
            ),
            Self::Load { .. } => advice("SK0905", "check that the kernel was built for this machine"),
            Self::MissingFunction { .. } => advice("SK0906", "check the kernel's name and its JSON"),
            Self::Memory { .. } => advice(
                "SK0907",
                "free memory, raise the limit of this process (`ulimit -v`), or use fewer or smaller buffers",
            ),
            Self::Stopped { .. } => advice("SK0957", "run it again"),
            Self::ForkedInLaunch { .. } => {
                advice("SK0956", "use isolation=\"process\", in this process or in the one it was forked from")
            }
            Self::NestedLaunch { .. } => advice("SK0946", "launch it from host code, or call a function of the device"),
            Self::NoMain { .. } => advice("SK0947", "name the source that has it, and the others with `--source`"),
            Self::File(error) => error.advice(),
            Self::Excess { source, .. } => source.advice(),
            Self::Toolchain(error) => error.advice(),
            Self::Store(error) => error.advice(),
        }
    }
}
