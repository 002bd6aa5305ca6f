//! What can go wrong between the op list and the published kernel.

use std::path::PathBuf;

use crate::diagnostic::{Advice, Diagnostic, advice};
use crate::fs::FileError;
use crate::json::JsonError;
use crate::link::LinkError;
use crate::objects::ObjectError;
use crate::phases::PhaseError;
use crate::store::StoreError;
use crate::toolchain::ToolchainError;

/// Why a build did not produce a kernel.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// Nothing can be written where the result belongs.
    #[error("cannot write in the output directory `{}`: {source}", path.display())]
    OutputDirectory {
        /// The `kernel_meta` directory.
        path: PathBuf,
        /// What exactly failed.
        #[source]
        source: FileError,
    },
    /// A file of the build itself could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// Stored files are not as they must be.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// There is no source to build.
    #[error(transparent)]
    Phase(#[from] PhaseError),
    /// A sub-kernel's object file is wrong.
    #[error(transparent)]
    Objects(#[from] ObjectError),
    /// No toolchain, or one of its tools failed before there was a log.
    #[error(transparent)]
    Toolchain(#[from] ToolchainError),
    /// A compiler or linker failed.
    #[error("{source}\n  log: {}", log.display())]
    Tool {
        /// Which, and how.
        #[source]
        source: Box<ToolchainError>,
        /// Everything the build did until then.
        log: PathBuf,
    },
    /// A tool reported success, but what it should have written is missing or no object file.
    #[error("{tool} reported success, but its output is unusable for {title}: {problem}")]
    BadToolOutput {
        /// `the compiler` or `the linker`.
        tool: &'static str,
        /// What was being made.
        title: String,
        /// What is wrong with the file.
        problem: String,
    },
    /// The planner of a model has found what a build would refuse.
    #[error("super kernel `{piece}` cannot be built: {}",
        problems.iter().map(|(message, id, _)| format!("{message} [{id}]")).collect::<Vec<_>>().join("; "))]
    Planned {
        /// The super kernel, as the plan calls it.
        piece: String,
        /// Message, id and solution of each.
        problems: Vec<(String, &'static str, String)>,
    },
    /// Two kernels of a model have one name.
    #[error("two different super kernels are called `{kernel}`")]
    SameName {
        /// The name.
        kernel: String,
    },
    /// The objects cannot be linked in process.
    #[error("super kernel `{kernel}` cannot be linked: {source}")]
    Link {
        /// The kernel's name.
        kernel: String,
        /// Why not.
        #[source]
        source: Box<LinkError>,
    },
    /// Checks by the sanitizer were asked for.
    #[error("super kernel `{kernel}` cannot be built with the sanitizer, which {asked} asks for")]
    Sanitizer {
        /// The kernel's name.
        kernel: String,
        /// Who asks.
        asked: &'static str,
    },
    /// A file that was to be kept would replace another kernel's.
    #[error(
        "keeping the intermediate files of `{kernel}` would replace `{}`, which `{}` describes",
        file.display(),
        description.display()
    )]
    ByProduct {
        /// The kernel's name.
        kernel: String,
        /// The file that both would have.
        file: PathBuf,
        /// Whose it is.
        description: PathBuf,
    },
    /// The linked kernel is not what it must be; it was not published.
    #[error("the linked kernel `{kernel}` failed its check:\n  {}", problems.join("\n  "))]
    Check {
        /// The kernel's name.
        kernel: String,
        /// Everything that is wrong with it.
        problems: Vec<String>,
    },
    /// There is no record of a build.
    #[error("there is no usable build record of `{kernel}`: {source}")]
    NoRecord {
        /// The kernel's name.
        kernel: String,
        /// What is wrong with the file.
        #[source]
        source: Box<JsonError>,
    },
    /// A reproducer's record cannot be used.
    #[error("`{}` is not a reproducer: {source}", path.display())]
    Reproducer {
        /// The reproducer.
        path: PathBuf,
        /// What is wrong with its record.
        #[source]
        source: Box<JsonError>,
    },
}

impl Diagnostic for BuildError {
    fn advice(&self) -> Advice {
        match self {
            Self::OutputDirectory { .. } => advice(
                "SK0801",
                "check permissions and free space, or choose another place with `superkernel.configure(kernel_meta_parent_dir=…)`",
            ),
            Self::File(error) => error.advice(),
            Self::Store(error) => error.advice(),
            Self::Phase(error) => error.advice(),
            Self::Objects(error) => error.advice(),
            Self::Toolchain(error) => error.advice(),
            Self::Link { source, .. } => source.advice(),
            Self::Tool { source, .. } => source.advice(),
            Self::BadToolOutput { .. } => {
                advice("SK0802", "check the tool's version and whether the disk is full; the build log has the command")
            }
            Self::ByProduct { .. } => advice(
                "SK0810",
                "build without `dump_cce` and `--keep`, or one of the two kernels into another directory",
            ),
            Self::Planned { problems, .. } => advice(
                "SK1016",
                problems.iter().map(|(_, _, solution)| solution.as_str()).collect::<Vec<_>>().join("; "),
            ),
            Self::SameName { .. } => {
                advice("SK1019", "rename one of them, or report this if the names were made by the planner")
            }
            Self::Sanitizer { .. } => {
                advice("SK0808", "leave it out, or check the operators one by one, outside a super kernel")
            }
            Self::Check { .. } => advice(
                "SK0803",
                "check the sub-kernels' objects named above; if they are right, please report this with `superkernel compile --save-reproducer`",
            ),
            Self::NoRecord { .. } => advice("SK0805", "check the name and the directory (`--kernel-meta-parent-dir`)"),
            Self::Reproducer { .. } => advice("SK0807", "make it again with --save-reproducer"),
        }
    }
}
