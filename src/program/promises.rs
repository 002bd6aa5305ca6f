//! What the debug options promise after every op: a cache that is flushed, and a meeting of all cores.
//!
//! Both are for people who look for a mistake in an op. They change no order between right ops, so neither the duties of a
//! core nor the flags miss them.

use super::{Action, Barrier, Cores, Kinds, Part, Program, Reason, Step, Violation};
use crate::model::{CoreClass, CoreKind, OpPosition, StreamForm};

pub(super) fn check(program: &Program) -> Vec<Violation> {
    let mut broken = Vec::new();
    match program.form {
        StreamForm::One => check_side(program, None, &mut broken),
        StreamForm::Several => {
            program.kinds().iter().for_each(|kind| check_side(program, Some(*kind), &mut broken));
        }
    }
    broken.dedup();
    broken
}

/// Checks the steps of one side; `None`: of all cores.
fn check_side(program: &Program, side: Option<CoreKind>, broken: &mut Vec<Violation>) {
    let requires = &program.requires;
    if !requires.debug_flush && !requires.debug_meeting {
        return;
    }
    let is_of_side = |step: &&Step| side.is_none_or(|kind| step.cores.kinds.contain(kind));
    let steps: Vec<&Step> = program.steps.iter().filter(is_of_side).collect();
    let mut calls: Vec<(OpPosition, usize)> = Vec::new();
    for (place, step) in steps.iter().enumerate().filter(|(_, step)| is_call(&step.action)) {
        let Some(op) = step.op else { continue };
        match calls.last_mut() {
            // Both halves of a mixed op.
            Some((last, at)) if *last == op => *at = place,
            Some(_) | None => calls.push((op, place)),
        }
    }
    for (number, (op, call)) in calls.iter().enumerate() {
        let end = calls[number + 1..].iter().map(|(_, place)| *place).next().unwrap_or(steps.len());
        let after = &steps[call + 1..end];
        let op_index = program.index(*op);
        if requires.debug_flush && !flushes(after, side) {
            let lacks = "a wait for all pipes and a flushed cache";
            broken.push(Violation::BrokenPromise { op: op_index, option: "debug-dcci-all", lacks });
        }
        if requires.debug_meeting && !meet(program, after, side) {
            let lacks = "a meeting of all cores";
            broken.push(Violation::BrokenPromise { op: op_index, option: "debug-sync-all", lacks });
        }
    }
}

fn is_call(action: &Action) -> bool {
    matches!(action, Action::Call { .. } | Action::CallPicked { .. })
}

/// Do all cores take the step?
fn is_for_all(step: &Step, side: Option<CoreKind>) -> bool {
    step.cores == side.map_or(Cores::EVERY, Cores::all_of)
        || (step.cores.part == Part::All && step.cores.kinds == Kinds::Every)
}

/// Are pipes waited for, and then the cache flushed, before anybody can learn that the op has ended?
fn flushes(after: &[&Step], side: Option<CoreKind>) -> bool {
    let tells = |step: &Step| {
        matches!(
            step.action,
            Action::Barrier(_) | Action::SetFlag { .. } | Action::EarlyStartSet { .. } | Action::Notify { .. }
        )
    };
    let mut silent = after.iter().take_while(|step| !tells(step)).filter(|step| is_for_all(step, side));
    silent.any(|step| step.action == Action::PipeBarrier)
        && silent.any(|step| step.action == Action::Flush && step.reason == Some(Reason::DebugDcciAll))
}

/// Is there a barrier over all cores that is there for this?
fn meet(program: &Program, after: &[&Step], side: Option<CoreKind>) -> bool {
    let is_whole = |barrier: Barrier| match (side, program.kernel_type.class()) {
        (None, CoreClass::Aic) => barrier == Barrier::Aic,
        (None, CoreClass::Aiv) => barrier == Barrier::Aiv,
        (None, CoreClass::Mix) => barrier == Barrier::All,
        (Some(CoreKind::Aic), _) => matches!(barrier, Barrier::Aic | Barrier::AicAfterMte3),
        (Some(CoreKind::Aiv), _) => barrier == Barrier::Aiv,
    };
    let is_meeting = |step: &&Step| {
        step.reason == Some(Reason::DebugSyncAll)
            && matches!(step.action, Action::Barrier(barrier) if is_whole(barrier))
    };
    let mut steps = after.iter().copied().filter(|step| is_for_all(step, side));
    // A side's barrier says nothing about the pipes by itself.
    (side.is_none() || steps.any(|step| step.action == Action::PipeBarrier)) && steps.any(|step| is_meeting(&step))
}
