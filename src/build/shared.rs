//! What the builds of one model have in common.

use std::sync::Arc;

use super::copies::MadeCopies;
use super::toolchains::KnownTools;
use crate::parallel;
use crate::phases::Inputs;
use crate::toolchain::ToolSlots;

/// Tools that take turns, inputs that are read once, copies that are made once. A build by itself shares with nobody.
#[derive(Debug)]
pub struct Shared {
    /// Who may run a tool.
    pub(super) tools: ToolSlots,
    /// The sub-kernels' files.
    pub(super) inputs: Inputs,
    /// Their copies.
    pub(super) copies: MadeCopies,
    /// What is known about tools.
    pub(super) known_tools: KnownTools,
}

impl Shared {
    /// For builds that together run so many tools at the same time; `None`: one per processor.
    pub fn with_jobs(jobs: Option<u32>) -> Arc<Self> {
        let tools = ToolSlots::new(parallel::count(jobs));
        let (inputs, copies, known_tools) = Default::default();
        Arc::new(Self { tools, inputs, copies, known_tools })
    }
}
