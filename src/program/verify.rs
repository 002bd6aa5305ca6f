//! What must hold for every program.
//!
//! 1. Every synchronisation step says why it is there.
//! 2. No step is for a core kind that does not exist, no barrier is over one, and none is taken by cores of another kind
//!    than the one its barrier is over.
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

use super::classes::one_of_each_class;
use super::{Kinds, Program, Step, Violation, duties, launch, promises};
use crate::model::CoreKind;

/// Checks a program; reports everything that is wrong with it.
///
/// Rules 1, 2 and 3 come first: what breaks them has no business on the flags.
pub fn verify(program: &Program) -> Result<(), Vec<Violation>> {
    let mut violations: Vec<Violation> = Vec::new();
    for (number, step) in program.steps.iter().enumerate() {
        check_step(program, number, step, &mut violations);
    }
    violations.extend(duties::check(program, &one_of_each_class(program)));
    violations.extend(promises::check(program));
    if violations.is_empty() {
        violations = launch::check(program);
    }
    if violations.is_empty() { Ok(()) } else { Err(violations) }
}

fn check_step(program: &Program, number: usize, step: &Step, violations: &mut Vec<Violation>) {
    let action = step.action.name();
    if step.action.synchronises() && step.reason.is_none() {
        violations.push(Violation::NoReason { step: number, action });
    }
    for kind in CoreKind::BOTH.into_iter().filter(|kind| !program.kinds().contains(kind)) {
        if step.action.needs(kind) || step.cores.kinds == Kinds::Only(kind) {
            violations.push(Violation::NoSuchKind { step: number, action, kind });
        }
    }
    let takers = program.kinds().iter().copied().filter(|kind| step.cores.kinds.contain(*kind));
    if let Some(kind) = step.action.only_for() {
        let others = takers.filter(|cores| *cores != kind);
        violations.extend(others.map(|cores| Violation::OtherKind { step: number, action, kind, cores }));
    }
}
