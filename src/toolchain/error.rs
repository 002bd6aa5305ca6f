//! What can go wrong with an external tool.

use std::process::ExitStatus;
use std::time::Duration;

use crate::diagnostic::{Advice, Diagnostic, advice};
use crate::fs::FileError;

/// Why a tool did not do its job.
#[derive(Debug, thiserror::Error)]
pub enum ToolchainError {
    /// No such program.
    #[error("cannot find {what}; looked for {}", tried.join(", "))]
    NotFound {
        /// What was looked for: `a C++ compiler`.
        what: &'static str,
        /// The names and places that were tried, in order.
        tried: Vec<String>,
        /// How to get it.
        remedy: &'static str,
    },
    /// The objects are for a device, and there is no compiler for it.
    #[error(
        "`{object}` is for a device (machine {machine:#x}), and the device compiler `bisheng` was not found; looked for {}",
        tried.join(", ")
    )]
    NoDeviceCompiler {
        /// An object that needs it.
        object: String,
        /// Its `e_machine`.
        machine: u16,
        /// The places that were tried, in order.
        tried: Vec<String>,
    },
    /// The program exists but could not be started.
    #[error("cannot start `{program}` for {title}: {source}\n  command: {command_line}")]
    Start {
        /// As started.
        program: String,
        /// What was being made.
        title: String,
        /// Ready to paste into a shell.
        command_line: String,
        /// What the operating system said.
        #[source]
        source: std::io::Error,
    },
    /// The program ran and reported a failure.
    #[error("`{program}` failed ({status}) for {title}\n  command: {command_line}\n{stderr}")]
    Failed {
        /// As started.
        program: String,
        /// What was being made.
        title: String,
        /// Ready to paste into a shell.
        command_line: String,
        /// Exit code or signal.
        status: ExitStatus,
        /// The end of what it printed.
        stderr: String,
    },
    /// The program took too long and was killed, with everything it started.
    #[error("`{program}` took longer than {} s for {title}\n  command: {command_line}\n{stderr}", limit.as_secs_f64())]
    TimedOut {
        /// As started.
        program: String,
        /// What was being made.
        title: String,
        /// Ready to paste into a shell.
        command_line: String,
        /// The time it had.
        limit: Duration,
        /// The end of what it printed until then.
        stderr: String,
    },
    /// The caller asked to stop; the program was killed, with everything it started.
    #[error("interrupted while making {title}")]
    Cancelled {
        /// What was being made.
        title: String,
    },
    /// A response file among the user's arguments is not taken.
    #[error("response file `@{path}` in `compile-options`: {problem}")]
    ResponseFile {
        /// Its path, as written.
        path: String,
        /// Why not.
        problem: &'static str,
    },
    /// A file beside the tools could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
}

impl ToolchainError {
    /// The command that did not do its job, if one was run.
    pub fn command_line(&self) -> Option<&str> {
        match self {
            Self::Start { command_line, .. }
            | Self::Failed { command_line, .. }
            | Self::TimedOut { command_line, .. } => Some(command_line),
            Self::NotFound { .. }
            | Self::NoDeviceCompiler { .. }
            | Self::Cancelled { .. }
            | Self::ResponseFile { .. }
            | Self::File(_) => None,
        }
    }
}

impl Diagnostic for ToolchainError {
    fn advice(&self) -> Advice {
        match self {
            Self::NotFound { remedy, .. } => advice("SK0701", (*remedy).to_owned()),
            Self::NoDeviceCompiler { .. } => {
                advice("SK0701", "install the CANN toolkit and source its `set_env.sh`, or set `ASCEND_HOME_PATH`")
            }
            Self::Start { program, .. } => {
                advice("SK0702", format!("check that `{program}` is a program this user may run"))
            }
            Self::Failed { .. } => advice("SK0703", "read the tool's output in the message"),
            Self::TimedOut { .. } => advice(
                "SK0704",
                "raise the limit with `superkernel.configure(tool_timeout=…)`, or find out why the tool hangs",
            ),
            Self::ResponseFile { .. } => advice("SK0706", "write the arguments themselves into `compile-options`"),
            Self::Cancelled { .. } => advice("SK0705", "run it again"),
            Self::File(error) => error.advice(),
        }
    }
}
