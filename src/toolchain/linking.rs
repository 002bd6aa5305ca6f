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
    unusable: Option<Unusable>,
}

/// No program links for the target.
pub(crate) struct Unusable {
    /// The emulation that it must know.
    pub emulation: &'static str,
    /// The error.
    pub error: fn(Vec<String>) -> ToolchainError,
}

impl LinkStep {
    /// A step that one program takes.
    pub(crate) fn of(command: Command) -> Self {
        Self { alternatives: vec![command], unusable: None }
    }

    /// A step that one of several programs takes: the first that knows the target.
    pub(crate) fn first_of(alternatives: Vec<Command>, unusable: Unusable) -> Self {
        Self { alternatives, unusable: Some(unusable) }
    }

    /// How people would take it.
    pub(crate) fn line(&self) -> String {
        self.alternatives.first().map_or_else(String::new, Command::line)
    }

    /// Takes it; long command lines get a response file in `directory`.
    pub(crate) fn run(self, directory: &Path, cancel: &Cancel) -> Result<Executed, ToolchainError> {
        let mut tried = Vec::new();
        for command in self.alternatives {
            match (command.shortened(directory)?.run(cancel), &self.unusable) {
                (Err(ToolchainError::Failed { program, stderr, .. }), Some(unusable))
                    if stderr.contains(unusable.emulation) && is_about_emulation(&stderr) =>
                {
                    log::info!(target: "superkernel.toolchain", "`{program}` does not link for the device");
                    tried.push(format!("`{program}`"));
                }
                (done, _) => return done,
            }
        }
        let unusable = self.unusable.as_ref().expect("only a step with alternatives goes on after a failure");
        Err((unusable.error)(tried))
    }
}

/// `unknown emulation` (LLD), `unrecognised emulation mode` (GNU).
fn is_about_emulation(stderr: &str) -> bool {
    ["unknown emulation", "unrecognised emulation", "unrecognized emulation"].iter().any(|words| stderr.contains(words))
}
