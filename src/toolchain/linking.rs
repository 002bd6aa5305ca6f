//! A step of linking, and the programs that may be able to take it.

use std::path::Path;

use super::command::{Command, Executed};
use super::error::ToolchainError;
use crate::cancel::Cancel;

/// One step of linking.
pub(crate) struct LinkStep {
    /// The same command with different programs, the preferred one first.
    alternatives: Vec<Command>,
    /// What to say when none of them links for the target.
    unusable: Unusable,
}

/// No program links for the target.
pub(crate) struct Unusable {
    /// The emulation that it must know.
    pub emulation: &'static str,
    /// The error.
    pub error: fn(Vec<String>) -> ToolchainError,
}

impl LinkStep {
    /// A step that one of several programs takes: the first that knows the target.
    pub(crate) fn first_of(alternatives: Vec<Command>, unusable: Unusable) -> Self {
        Self { alternatives, unusable }
    }

    /// Takes it; long command lines get a response file in `directory`.
    pub(crate) fn run(self, directory: &Path, cancel: &Cancel) -> Result<Executed, ToolchainError> {
        let mut tried = Vec::new();
        for command in self.alternatives {
            match command.shortened(directory)?.run(cancel) {
                Err(ToolchainError::Failed { program, stderr, .. })
                    if stderr.contains(self.unusable.emulation) && is_about_emulation(&stderr) =>
                {
                    log::info!(target: "superkernel.toolchain", "`{program}` does not link for the device");
                    tried.push(format!("`{program}`"));
                }
                done => return done,
            }
        }
        Err((self.unusable.error)(tried))
    }
}

/// `unknown emulation` (LLD), `unrecognised emulation mode` (GNU).
fn is_about_emulation(stderr: &str) -> bool {
    ["unknown emulation", "unrecognised emulation", "unrecognized emulation"].iter().any(|words| stderr.contains(words))
}
