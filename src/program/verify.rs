//! What must hold for every program.
//!
//! 1. Every synchronisation step says why it is there.
//! 2. No step is for a core kind that does not exist, and no barrier is over one.
//! 3. Played on the flags ([`launch`]): the k-th set of a flag is taken by the wait it is meant for, no core
//!    waits for ever, no counter runs over 15, nothing is left raised.
//! 4. Ops that must be ordered are ordered by chains of sets and waits; notifies come after their op has ended on all
//!    cores, ops after their outer events, the clearing of a dynamic op's lock after all have polled it.

use std::fmt;

use super::launch::{self, Accounting, Schedule};
use super::{CoreId, CoreIndex, Cores, Kinds, Part, Program, Step};
use crate::model::{CoreKind, OpIndex};

/// A rule that a program breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are what the messages print")]
pub enum Violation {
    /// Rule 1.
    NoReason { step: usize, action: &'static str },
    /// Rule 2.
    NoSuchKind { step: usize, action: &'static str, kind: CoreKind },
    /// Rule 3: a wait takes a set that was meant for another.
    WrongPartner { core: CoreId, flag: u32, wait: String, set: String },
    /// Rule 3: a set that nobody can receive.
    NoPartner { core: CoreId, flag: u32 },
    /// Rule 3: a counter above 15.
    Overflow { core: CoreId, flag: u32 },
    /// Rule 3: a wait that never ends.
    Stuck { core: CoreId, flag: u32, wait: String, op: Option<OpIndex> },
    /// Rule 3: a flag is still raised at the end.
    LeftRaised { core: CoreId, flag: u32 },
    /// Rule 4: `second` can start before `first` has ended.
    Unordered { first: OpIndex, second: OpIndex },
    /// Rule 4: an event is told before its op has ended.
    EarlyNotify { op: OpIndex },
    /// Rule 4: an op can start before its outer event.
    EarlyStart { op: OpIndex },
    /// Rule 4: an op's records are used before all cores have cleared their share.
    EarlyWorkspace { op: OpIndex },
    /// Rule 4: a lock is cleared while a core may still poll it.
    EarlyRelease { op: OpIndex },
}

impl fmt::Display for CoreId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}.{}", self.kind, self.block, self.sub_block)
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoReason { step, action } => write!(formatter, "step {step} ({action}) gives no reason"),
            Self::NoSuchKind { step, action, kind } => {
                write!(formatter, "step {step} ({action}) is over {kind} cores, which do not exist")
            }
            Self::WrongPartner { core, flag, wait, set } => {
                write!(formatter, "on {core} the wait of flag {flag} for the {wait} takes the set of the {set}")
            }
            Self::NoPartner { core, flag } => write!(formatter, "{core} sets flag {flag}, which nobody receives"),
            Self::Overflow { core, flag } => write!(formatter, "flag {flag} of {core} counts beyond 15"),
            Self::Stuck { core, flag, wait, op } => {
                write!(formatter, "{core} waits for ever for flag {flag} of the {wait}")?;
                op.map_or(Ok(()), |op| write!(formatter, " at op {op}"))
            }
            Self::LeftRaised { core, flag } => write!(formatter, "flag {flag} of {core} is still raised at the end"),
            Self::Unordered { first, second } => write!(formatter, "op {second} can start before op {first} has ended"),
            Self::EarlyNotify { op } => write!(formatter, "an event of op {op} is told before all cores have ended it"),
            Self::EarlyStart { op } => write!(formatter, "op {op} can start before its outer event has come"),
            Self::EarlyWorkspace { op } => {
                write!(formatter, "op {op} can use the workspace before all cores have cleared it")
            }
            Self::EarlyRelease { op } => {
                write!(formatter, "the lock of dynamic op {op} is cleared while a core may still poll it")
            }
        }
    }
}

/// Checks a program; reports everything that is wrong with it.
pub fn verify(program: &Program) -> Result<(), Vec<Violation>> {
    let mut violations: Vec<Violation> = Vec::new();
    for (number, step) in program.steps.iter().enumerate() {
        check_step(program, number, step, &mut violations);
    }
    if violations.is_empty() {
        let blocks = representative_blocks(program);
        for (kind, accounting) in [
            // Each kind running ahead shows how far the flags towards the other one can count.
            (CoreKind::Aic, Accounting::PerCore),
            (CoreKind::Aiv, Accounting::PerCore),
            (CoreKind::Aiv, Accounting::Summed),
        ] {
            if let Err(found) = launch::play(program, &blocks, Schedule::Eager(kind), accounting) {
                for violation in found {
                    if !violations.contains(&violation) {
                        violations.push(violation);
                    }
                }
            }
        }
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
}

/// Blocks that behave differently: block 0, and two of each group that the conditions of the steps tell apart.
///
/// Blocks of a group do the same, so a launch of these alone meets, waits and counts like the whole one; two, because
/// order inside a group matters as well.
pub(crate) fn representative_blocks(program: &Program) -> Vec<u32> {
    /// More groups than this are sampled: a real chip has not that many cores.
    const MOST: usize = 64;
    let per_block = u32::from(program.kernel_type.task_ratio().1).max(1);
    let mut blocks = vec![0, 1];
    let mut seen: Option<Cores> = None;
    for step in &program.steps {
        if seen.replace(step.cores) == Some(step.cores) {
            continue;
        }
        match step.cores.part {
            Part::Below(CoreIndex::Block, count) | Part::From(CoreIndex::Block, count) => {
                blocks.extend([count, count.saturating_add(1)]);
            }
            Part::Below(CoreIndex::Core, count) | Part::From(CoreIndex::Core, count) => {
                // On cube cores this index is the block; on vector cores a block may be cut in two.
                let whole = count.div_ceil(per_block);
                blocks.extend([count, count.saturating_add(1), count / per_block, whole, whole.saturating_add(1)]);
            }
            Part::All | Part::First => {}
        }
        if blocks.len() > 4 * MOST {
            tidy(&mut blocks, program.block_num);
        }
    }
    tidy(&mut blocks, program.block_num);
    if blocks.len() > MOST {
        let stride = blocks.len().div_ceil(MOST);
        blocks = blocks.into_iter().step_by(stride).collect();
    }
    blocks
}

fn tidy(blocks: &mut Vec<u32>, count: u32) {
    blocks.retain(|block| *block < count);
    blocks.sort_unstable();
    blocks.dedup();
}
