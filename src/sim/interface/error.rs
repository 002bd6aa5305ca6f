//! Why a launch could not be made. What happens inside a launch is in its report, not here.

use std::path::PathBuf;

use crate::diagnostic::Diagnostic;
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
    #[error("the process of the kernel answered with something else than a report: {0}")]
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
    fn id(&self) -> &'static str {
        match self {
            Self::Request(_) => "SK0901",
            Self::Answer(_) => "SK0923",
            Self::Argument { .. } | Self::Choice { .. } => "SK0902",
            Self::Link { .. } => "SK0904",
            Self::Load { .. } => "SK0905",
            Self::MissingFunction { .. } => "SK0906",
            Self::Memory { .. } => "SK0907",
            Self::NestedLaunch { .. } => "SK0946",
            Self::ForkedInLaunch { .. } => "SK0956",
            Self::Stopped { .. } => "SK0957",
            Self::NoMain { .. } => "SK0947",
            Self::File(error) => error.id(),
            Self::Excess { source, .. } => source.id(),
            Self::Toolchain(error) => error.id(),
            Self::Store(error) => error.id(),
        }
    }

    fn solution(&self) -> String {
        match self {
            Self::Request(_) => "use the classes of superkernel.sim, which build the request".to_owned(),
            Self::Answer(_) => "look for a kernel that writes to files it did not open, and launch again".to_owned(),
            Self::Argument { .. } => "correct the argument".to_owned(),
            Self::Choice { argument, allowed, .. } => format!("`{argument}` is one of '{}'", allowed.join("', '")),
            Self::Link { .. } => {
                "build the kernel with the host toolchain (position independent, against the package's \
                 kernel_operator.h) and resolve the symbols named"
                    .to_owned()
            }
            Self::Load { .. } => "check that the kernel was built for this machine".to_owned(),
            Self::MissingFunction { .. } => "check the kernel's name and its JSON".to_owned(),
            Self::Memory { .. } => {
                "free memory, raise the limit of this process (`ulimit -v`), or use fewer or smaller buffers".to_owned()
            }
            Self::Stopped { .. } => "start it again when you want to".to_owned(),
            Self::ForkedInLaunch { .. } => {
                "use isolation=\"process\", in this process or in the one it was forked from".to_owned()
            }
            Self::NestedLaunch { .. } => "launch it from host code, or call a function of the device".to_owned(),
            Self::NoMain { .. } => "name the source that has it, and the others with `--source`".to_owned(),
            Self::File(error) => error.solution(),
            Self::Excess { source, .. } => source.solution(),
            Self::Toolchain(error) => error.solution(),
            Self::Store(error) => error.solution(),
        }
    }
}
