//! What the debug options promise after every op: a cache that is flushed, and a meeting of all cores.
//!
//! Both are for people who look for a mistake in an op. They change no order between right ops, so neither the duties of a
//! core nor the flags miss them.

use super::{Action, Barrier, CoreId, Program, Reason, Step, Violation};
use crate::model::{CoreClass, CoreKind, OpPosition, StreamForm};

/// `cores`: one of each class.
pub(super) fn check(program: &Program, cores: &[CoreId]) -> Vec<Violation> {
    let mut broken = Vec::new();
    match program.form {
        StreamForm::One => check_side(program, None, cores, &mut broken),
        StreamForm::Several => {
            for &kind in program.kinds() {
                let of_side: Vec<CoreId> = cores.iter().copied().filter(|core| core.kind == kind).collect();
                check_side(program, Some(kind), &of_side, &mut broken);
            }
        }
    }
    broken.dedup();
    broken
}

/// Checks the steps of one side, which has these cores; `None`: of all.
fn check_side(program: &Program, side: Option<CoreKind>, cores: &[CoreId], broken: &mut Vec<Violation>) {
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
        // Only what all of them do is worth something.
        let is_for_all = |step: &Step| cores.iter().all(|core| step.cores.contain(*core));
        let after = &steps[call + 1..end];
        let op_index = program.index(*op);
        if requires.debug_flush && !flushes(after, is_for_all) {
            let lacks = "a wait for all pipes and a flushed cache";
            broken.push(Violation::BrokenPromise { op: op_index, option: "debug-dcci-all", lacks });
        }
        if requires.debug_meeting && !meet(program, after.iter().copied().filter(|step| is_for_all(step)), side) {
            let lacks = "a meeting of all cores";
            broken.push(Violation::BrokenPromise { op: op_index, option: "debug-sync-all", lacks });
        }
    }
}

fn is_call(action: &Action) -> bool {
    matches!(action, Action::Call { .. } | Action::CallPicked { .. })
}

/// Are pipes waited for, and then the cache flushed, before anybody can learn that the op has ended?
fn flushes(after: &[&Step], is_for_all: impl Fn(&Step) -> bool) -> bool {
    let tells = |step: &Step| {
        matches!(
            step.action,
            Action::Barrier(_) | Action::SetFlag { .. } | Action::EarlyStartSet { .. } | Action::Notify { .. }
        )
    };
    let mut silent = after.iter().take_while(|step| !tells(step)).filter(|step| is_for_all(step));
    silent.any(|step| step.action == Action::PipeBarrier)
        && silent.any(|step| step.action == Action::Flush && step.reason == Some(Reason::DebugDcciAll))
}

/// Is there a barrier over all cores that is there for this?
fn meet<'a>(program: &Program, mut by_all: impl Iterator<Item = &'a Step>, side: Option<CoreKind>) -> bool {
    let is_whole = |barrier: Barrier| match (side, program.kernel_type.class()) {
        (None, CoreClass::Aic) => barrier == Barrier::Aic,
        (None, CoreClass::Aiv) => barrier == Barrier::Aiv,
        (None, CoreClass::Mix) => barrier == Barrier::All,
        (Some(CoreKind::Aic), _) => matches!(barrier, Barrier::Aic | Barrier::AicAfterMte3),
        (Some(CoreKind::Aiv), _) => barrier == Barrier::Aiv,
    };
    let is_meeting = |step: &Step| {
        step.reason == Some(Reason::DebugSyncAll)
            && matches!(step.action, Action::Barrier(barrier) if is_whole(barrier))
    };
    // A side's barrier says nothing about the pipes by itself.
    (side.is_none() || by_all.any(|step| step.action == Action::PipeBarrier)) && by_all.any(is_meeting)
}
