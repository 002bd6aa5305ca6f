//! What the builds of one model have in common.

use std::sync::Arc;

use super::copies::MadeCopies;
use super::toolchains::KnownTools;
use crate::model::KnownKernels;
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
    /// For builds that together run so many tools at the same time; `None`: one per processor. `kernels` has the JSONs
    /// that are known already.
    pub fn new(jobs: Option<u32>, kernels: &KnownKernels) -> Arc<Self> {
        let (tools, inputs) = (ToolSlots::new(parallel::count(jobs)), Inputs::from(kernels));
        let (copies, known_tools) = Default::default();
        Arc::new(Self { tools, inputs, copies, known_tools })
    }
}
