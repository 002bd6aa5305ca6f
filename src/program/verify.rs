//! What must hold for every program.
//!
//! 1. Every synchronisation step says why it is there.
//! 2. No step is for a core kind that does not exist, no barrier is over one, and none is taken by cores of another kind
//!    than the one it names: its barrier's or its function's.
//! 3. Every core takes the steps that the model [requires](super::Requirements) of it: every call with its function
//!    and slot on exactly its cores, every outer event waited for, told and cleared once by the right core, every lock
//!    released, every early-start configuration stored before it is read.
//! 4. Played on the flags ([`launch`]): the k-th set of a flag is taken by the wait it is meant for, no core
//!    waits for ever, no counter runs over 15, nothing is left raised.
//! 5. Ops that must be ordered are ordered by chains of sets and waits, in every order of the cores and however the
//!    hardware counts; notifies come after their op has ended on all cores, ops after their outer events, the clearing
//!    of a dynamic op's lock after all have polled it and before any event that may start its next tiling. What a call
//!    writes counts as written when a set follows the pipe it leaves by, or all pipes have been waited for. No wait for
//!    the outside holds up an event that the outside may need first.
//! 6. What the debug options promise after every op is there ([`promises`]).

use std::collections::HashSet;

use super::classes::one_of_each_class;
use super::{FunctionId, Kinds, Program, RequiredCode, Step, Violation, duties, launch, promises};
use crate::model::CoreKind;

/// Checks a program; reports everything that is wrong with it.
///
/// Rules 1, 2 and 3 come first: what breaks them has no business on the flags.
pub fn verify(program: &Program) -> Result<(), Vec<Violation>> {
    let mut violations: Vec<Violation> = Vec::new();
    let calls = calls(program);
    for (number, step) in program.steps.iter().enumerate() {
        check_step(program, &calls, number, step, &mut violations);
    }
    let cores = one_of_each_class(program);
    violations.extend(duties::check(program, &cores));
    violations.extend(promises::check(program, &cores));
    if violations.is_empty() {
        violations = launch::check(program);
    }
    if violations.is_empty() { Ok(()) } else { Err(violations) }
}

/// Which functions cores of each kind are required to call.
fn calls(program: &Program) -> HashSet<(FunctionId, CoreKind)> {
    let mut calls = HashSet::new();
    let mut add = |function: Option<FunctionId>, kind| calls.extend(function.map(|function| (function, kind)));
    for required in &program.requires.ops {
        if let RequiredCode::Static { aic, aiv } = required.code {
            add(aic, CoreKind::Aic);
            add(aiv, CoreKind::Aiv);
        }
    }
    calls
}

fn check_step(
    program: &Program,
    calls: &HashSet<(FunctionId, CoreKind)>,
    number: usize,
    step: &Step,
    violations: &mut Vec<Violation>,
) {
    let action = step.action.name();
    if step.action.synchronises() && step.reason.is_none() {
        violations.push(Violation::NoReason { step: number, action });
    }
    for kind in CoreKind::BOTH.into_iter().filter(|kind| !program.kinds().contains(kind)) {
        if step.action.needs(kind) || step.cores.kinds == Kinds::Only(kind) {
            violations.push(Violation::NoSuchKind { step: number, action, kind });
        }
    }
    if let Some(cores) = step.action.not_for(calls)
        && program.kinds().contains(&cores)
        && step.cores.kinds.contain(cores)
    {
        violations.push(Violation::OtherKind { step: number, action, kind: cores.other(), cores });
    }
}
