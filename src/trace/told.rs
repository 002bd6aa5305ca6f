//! What the steps of a program do and why, in words: the same for pictures of every source.

use std::sync::Arc;

use super::{Slice, TracedOp, What};
use crate::model::OpPosition;
use crate::program::{Action, CoreId, Program, Step, Takers};

/// A program, ready to be told step by step.
pub(crate) struct Told<'a> {
    /// The program.
    pub program: &'a Program,
    takers: Takers,
    /// By step.
    words: Vec<StepWords>,
}

/// What a step does, and why.
#[derive(Debug, Clone)]
pub(crate) struct StepWords {
    /// Its fields.
    pub detail: Option<Arc<str>>,
    /// Why the program has it.
    pub reason: Option<Arc<str>>,
}

impl<'a> Told<'a> {
    pub(crate) fn new(program: &'a Program) -> Self {
        let words = |step: &Step| {
            let fields = step.action.fields(program);
            let text = fields.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ");
            StepWords {
                detail: (!text.is_empty()).then(|| Arc::from(text.as_str())),
                reason: step.reason.map(|reason| Arc::from(reason.to_string().as_str())),
            }
        };
        Self { program, takers: Takers::of(program), words: program.steps.iter().map(words).collect() }
    }

    /// The ops, called as `name` says.
    pub(crate) fn ops(&self, name: impl Fn(OpPosition) -> String) -> Vec<TracedOp> {
        let op = |(position, facts): (OpPosition, &crate::program::OpFacts)| TracedOp {
            index: facts.index.0,
            name: name(position),
            stream: Some(facts.stream_id.0),
        };
        self.program.ops.enumerate().map(op).collect()
    }

    /// Numbers of the steps that a core takes, in order.
    pub(crate) fn steps_of(&self, core: CoreId) -> impl Iterator<Item = usize> + '_ {
        self.takers.steps_of(core)
    }

    /// One step.
    pub(crate) fn step(&self, number: usize) -> &'a Step {
        &self.program.steps[number]
    }

    /// The op it belongs to.
    pub(crate) fn op(&self, number: usize) -> Option<usize> {
        self.step(number).op.map(|op| op.place())
    }

    /// What it does and why.
    pub(crate) fn words(&self, number: usize) -> &StepWords {
        &self.words[number]
    }

    /// A slice with what is told of its step.
    pub(crate) fn slice(&self, number: usize, start: f64, end: f64, what: What) -> Slice {
        let StepWords { detail, reason } = self.words(number).clone();
        Slice { op: self.op(number), detail, reason, ..Slice::new(start, end, what) }
    }

    /// How pictures call it; `None`: it takes no time worth a slice.
    pub(crate) fn what(&self, number: usize) -> Option<What> {
        match &self.step(number).action {
            Action::Call { .. } | Action::CallPicked { .. } => Some(What::Op),
            Action::Preload { .. } | Action::PreloadHere { .. } | Action::PreloadPicked { .. } => Some(What::Preload),
            Action::Barrier(_) => Some(What::Barrier),
            Action::SetFlag { .. } => Some(What::Set),
            Action::WaitFlag { .. } => Some(What::Wait),
            Action::EarlyStartSet { .. } | Action::EarlyStartWait { .. } => Some(What::HandOver),
            Action::Notify { .. } | Action::WaitEvent { .. } | Action::ClearEvent { .. } | Action::Switch { .. } => {
                Some(What::Event)
            }
            Action::ComplementSyncAll => Some(What::SyncAll),
            Action::Flush => Some(What::Flush),
            Action::ClearWorkspace { .. } => Some(What::Clear),
            Action::Record { .. } => Some(What::Record),
            Action::LoadParameters
            | Action::LoadWorkspace { .. }
            | Action::SetSyncAllBase
            | Action::InitDump { .. }
            | Action::InitProfiling { .. }
            | Action::SetFftsBase { .. }
            | Action::PipeBarrier
            | Action::EarlyStartConfig { .. }
            | Action::EnableSyncAll { .. }
            | Action::DisableSyncAll
            | Action::EndSyncAll
            | Action::ReleaseLock { .. } => None,
        }
    }
}
