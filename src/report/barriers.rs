//! Every barrier of a program: where it is, why, and what would do without it.

use std::collections::HashMap;

use serde::Serialize;

use crate::model::{CoreKind, OpIndex, OpPosition, SuperKernel};
use crate::program::{Action, Program, Reason, Step};

/// One barrier.
#[derive(Debug, Serialize)]
pub(super) struct ExplainedBarrier {
    op: Option<OpIndex>,
    place: BarrierPlace,
    /// Who meets.
    meets: String,
    reason: String,
    /// Could an event between the two ops take its place?
    event_could: bool,
    /// What would do without it, or why nothing does.
    instead: String,
}

#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "kebab-case")]
enum BarrierPlace {
    AtStart,
    Before,
    Behind,
}

/// All barriers, in the order of the steps.
pub(super) fn barriers(kernel: &SuperKernel, program: &Program) -> Vec<ExplainedBarrier> {
    // Where each kind of core last calls each op: a barrier in front of that is in front of the op.
    let mut calls: HashMap<(OpPosition, CoreKind), usize> = HashMap::new();
    let kinds_of = |step: &Step| {
        let cores = step.cores;
        program.kinds().iter().copied().filter(move |kind| cores.kinds.contain(*kind))
    };
    for (at, step) in program.steps.iter().enumerate() {
        if let (Some(op), Action::Call { .. } | Action::CallPicked { .. }) = (step.op, &step.action) {
            calls.extend(kinds_of(step).map(|kind| ((op, kind), at)));
        }
    }
    let mut found = Vec::new();
    for (at, step) in program.steps.iter().enumerate() {
        let (Action::Barrier(barrier), Some(reason)) = (&step.action, step.reason) else { continue };
        let place = match step.op {
            None => BarrierPlace::AtStart,
            Some(op) if kinds_of(step).any(|kind| calls.get(&(op, kind)).is_some_and(|call| *call > at)) => {
                BarrierPlace::Before
            }
            Some(_) => BarrierPlace::Behind,
        };
        let (event_could, instead) = remedy(kernel, reason, step.op);
        let op = step.op.map(|op| program.index(op));
        let (meets, reason) = (barrier.to_string(), reason.to_string());
        found.push(ExplainedBarrier { op, place, meets, reason, event_could, instead });
    }
    found
}

/// Could an event take the place of a barrier, and what else would?
fn remedy(kernel: &SuperKernel, reason: Reason, op: Option<OpPosition>) -> (bool, String) {
    let never = |why: &str| (false, why.to_owned());
    match reason {
        Reason::ListOrder => op.map_or_else(|| never(""), |op| instead_of_list_order(kernel, op)),
        Reason::SameStream(stream) => never(&format!(
            "an event would need it too; ops of stream {stream} that do not need each other can go to other streams"
        )),
        Reason::Event(_) => never("it is the event's own: its flag speaks for all cores of the side"),
        Reason::FlowControl => never("a flag counts to 15: with fewer events between the sides it is not needed"),
        Reason::BeforeNotify => never("nobody outside may be told before all cores have ended the op"),
        Reason::AfterOuterWait => never("one core waits for the event outside, the others wait for that core"),
        Reason::AfterSwitch => never("a tiling that is known when the kernel is built does without"),
        Reason::DebugSyncAll => never("debug-sync-all=0 does without"),
        Reason::WorkspaceCleared => never("feed-sync-all=0 does without"),
        // No barrier is there for these.
        Reason::OuterNotify(_)
        | Reason::OuterWait(_)
        | Reason::Tiling
        | Reason::DebugDcciAll
        | Reason::OwnWait
        | Reason::OwnSet
        | Reason::NextOnThisCore => never(""),
    }
}

fn instead_of_list_order(kernel: &SuperKernel, position: OpPosition) -> (bool, String) {
    let op = &kernel.ops[position];
    let Some(previous) = position.previous().map(|previous| &kernel.ops[previous]) else {
        return (false, String::new());
    };
    if op.class().kinds().iter().any(|kind| previous.class().runs_on(*kind)) {
        return (false, "the two ops share cores; early-start=1 puts a hand-over in its place".to_owned());
    }
    let text = "the two ops run on different kinds of core: on streams of their own (stream-fusion=1) an event between \
                them is one flag; early-start=1 puts a hand-over in its place";
    (true, text.to_owned())
}
