//! Every step of a program that synchronises: where it is, why, what it costs, and what would do without it.

use std::collections::HashMap;

use serde::Serialize;

use crate::model::{CoreKind, OpIndex, OpPosition, StreamForm, SuperKernel, SyncMode};
use crate::program::{Action, Program, Reason, Remedy, Step};

/// What a step costs, in microseconds.
pub(crate) type StepPrice<'a> = &'a dyn Fn(&Program, &Step) -> f64;

/// One step.
#[derive(Debug, Serialize)]
pub(super) struct Synchronisation {
    op: Option<OpIndex>,
    place: Place,
    /// What is done.
    action: &'static str,
    /// Who does it; of a barrier, who meets.
    cores: String,
    reason: String,
    /// From the cost model, once all others are there.
    price_us: f64,
    /// Each of these would do without it.
    remedies: Vec<OfferedRemedy>,
}

/// A change that makes a step superfluous.
#[derive(Debug, Serialize)]
pub(super) struct OfferedRemedy {
    kind: &'static str,
    text: &'static str,
}

#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Place {
    AtStart,
    Before,
    After,
}

/// All of them, in the order of the steps.
pub(super) fn synchronisation(kernel: &SuperKernel, program: &Program, price: StepPrice<'_>) -> Vec<Synchronisation> {
    // Where each kind of core last calls each op: a step in front of that is in front of the op.
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
    let is_called_later = |op, at, step: &Step| {
        let mut later = CoreKind::BOTH.into_iter().filter_map(|kind| Some((kind, *calls.get(&(op, kind))?)));
        let mut here = kinds_of(step).filter_map(|kind| calls.get(&(op, kind)));
        match here.next() {
            Some(first) => std::iter::once(first).chain(here).any(|call| *call > at),
            // Cores of another kind take part in what stands around the op.
            None => later.any(|(_, call)| call > at),
        }
    };
    let steps = program.steps.iter().enumerate().filter(|(_, step)| step.action.synchronises());
    steps
        .filter_map(|(at, step)| {
            let place = match step.op {
                None => Place::AtStart,
                Some(op) if is_called_later(op, at, step) => Place::Before,
                Some(_) => Place::After,
            };
            let cores =
                if let Action::Barrier(over) = &step.action { over.to_string() } else { step.cores.to_string() };
            Some(Synchronisation {
                op: step.op.map(|op| program.index(op)),
                place,
                action: step.action.name(),
                cores,
                reason: step.reason?.to_string(),
                price_us: price(program, step),
                remedies: remedies(kernel, program, step),
            })
        })
        .collect()
}

/// What would do without the step, here.
pub(super) fn remedies(kernel: &SuperKernel, program: &Program, step: &Step) -> Vec<OfferedRemedy> {
    let applies = |remedy: &&Remedy| match remedy {
        Remedy::EarlyStart => kernel.form == StreamForm::One && !kernel.has_early_start(),
        Remedy::Proven => program.sync == SyncMode::Contract,
        Remedy::Streams => can_have_own_streams(kernel, step),
        Remedy::Regions => can_have_regions(kernel, program, step),
        Remedy::NoEvent
        | Remedy::InnerEvent
        | Remedy::FewerEvents
        | Remedy::StaticTiling
        | Remedy::NoDebugSyncAll
        | Remedy::NoDebugDcciAll
        | Remedy::NoFeedSyncAll
        | Remedy::PlainCode => true,
    };
    let known = step.reason.map_or(&[][..], Reason::remedies).iter();
    known.filter(applies).map(|remedy| OfferedRemedy { kind: remedy.as_str(), text: remedy.text() }).collect()
}

/// Do the ops on both sides of the step run on different kinds, or are they on streams already?
fn can_have_own_streams(kernel: &SuperKernel, step: &Step) -> bool {
    let neighbours = step.op.and_then(|op| Some((&kernel.ops[op], &kernel.ops[op.previous()?])));
    match (kernel.form, neighbours) {
        (StreamForm::Several, _) => true,
        (StreamForm::One, Some((op, previous))) => {
            let codes = [op, previous].map(|op| op.kernel.early_start.is_empty());
            codes == [true, true] && !op.class().kinds().iter().any(|kind| previous.class().runs_on(*kind))
        }
        (StreamForm::One, None) => false,
    }
}

/// Is it the ops' memory that is not known, and would it help to know it?
fn can_have_regions(kernel: &SuperKernel, program: &Program, step: &Step) -> bool {
    let Some(op) = step.op.filter(|_| program.sync == SyncMode::Proven) else { return false };
    // With several streams a step stands behind the first op of a pair, otherwise in front of the second.
    let mut pairs = program.requires.ops.enumerate().flat_map(|(later, required)| {
        let pair = move |first: &OpPosition| (*first, later);
        required.after.iter().map(pair).collect::<Vec<_>>()
    });
    pairs.any(|(first, later)| {
        let is_here = match kernel.form {
            StreamForm::One => later == op,
            StreamForm::Several => first == op || later == op,
        };
        is_here && kernel.ops[first].regions_would_help(&kernel.ops[later])
    })
}
