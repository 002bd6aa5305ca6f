//! The rules of [`verify`](super::verify()) as they are broken.

use std::fmt;

use super::CoreId;
use crate::model::{CoreKind, OpIndex};

/// A rule that a program breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are what the messages print")]
pub enum Violation {
    /// Rule 1.
    NoReason { step: usize, action: &'static str },
    /// Rule 2.
    NoSuchKind { step: usize, action: &'static str, kind: CoreKind },
    /// Rule 2: for one kind, taken by the other.
    OtherKind { step: usize, action: &'static str, kind: CoreKind, cores: CoreKind },
    /// Rule 3: a core lacks a step.
    Missing { core: CoreId, action: &'static str, op: Option<OpIndex> },
    /// Rule 3: a step that nobody asked for, in this form or once more.
    NotRequired { step: usize, action: &'static str, core: CoreId, op: Option<OpIndex> },
    /// Rule 3: a step before what it relies on.
    OutOfTurn { step: usize, action: &'static str, core: CoreId, lacks: &'static str },
    /// Rule 4: a wait takes a set that was meant for another.
    WrongPartner { core: CoreId, flag: u32, wait: String, set: String },
    /// Rule 4: a set that nobody can receive.
    NoPartner { core: CoreId, flag: u32 },
    /// Rule 4: a counter above 15.
    Overflow { core: CoreId, flag: u32 },
    /// Rule 4: a wait that never ends.
    Stuck { core: CoreId, flag: u32, wait: String, op: Option<OpIndex> },
    /// Rule 4: a flag is still raised at the end.
    LeftRaised { core: CoreId, flag: u32 },
    /// Rule 5: `second` can start before `first` has ended.
    Unordered { first: OpIndex, second: OpIndex },
    /// Rule 5: an event is told before its op has ended.
    EarlyNotify { op: OpIndex },
    /// Rule 5: an op can start before its outer event.
    EarlyStart { op: OpIndex },
    /// Rule 5: an op's records are used before all cores have cleared their share.
    EarlyWorkspace { op: OpIndex },
    /// Rule 5: a lock is cleared while a core may still poll it.
    EarlyRelease { op: OpIndex },
    /// Rule 5: an event is told while the lock of a dynamic op before it is not cleared yet.
    LockedNotify { op: OpIndex, locked: OpIndex },
    /// Rule 5: the cache is flushed for an op before all that it reads is written.
    EarlyFlush { first: OpIndex, op: OpIndex },
    /// Rule 6: what an option promises after every op is not there.
    BrokenPromise { op: OpIndex, option: &'static str, lacks: &'static str },
    /// Rule 5: the outside may wait for an event of an earlier op that is told only behind this wait.
    Unanswered { op: OpIndex },
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoReason { step, action } => write!(formatter, "step {step} ({action}) gives no reason"),
            Self::NoSuchKind { step, action, kind } => {
                write!(formatter, "step {step} ({action}) is over {} cores, which do not exist", kind.word())
            }
            Self::OtherKind { step, action, kind, cores } => {
                write!(
                    formatter,
                    "step {step} ({action}) is for {} cores, but {} cores take it",
                    kind.word(),
                    cores.word()
                )
            }
            Self::Missing { core, action, op } => {
                write!(formatter, "{core} lacks the step {action}")?;
                op.map_or(Ok(()), |op| write!(formatter, " of op {op}"))
            }
            Self::NotRequired { step, action, core, op } => {
                write!(formatter, "step {step} ({action}) is not required of {core}")?;
                op.map_or(Ok(()), |op| write!(formatter, " for op {op}"))?;
                formatter.write_str(", not in this form or not once more")
            }
            Self::OutOfTurn { step, action, core, lacks } => {
                write!(formatter, "step {step} ({action}) on {core} comes before {lacks}")
            }
            Self::WrongPartner { core, flag, wait, set } => {
                write!(formatter, "on {core} the wait of flag {flag} for the {wait} takes the set of the {set}")
            }
            Self::NoPartner { core, flag } => write!(formatter, "{core} sets flag {flag}, which no core receives"),
            Self::Overflow { core, flag } => write!(formatter, "flag {flag} of {core} counts beyond 15"),
            Self::Stuck { core, flag, wait, op } => {
                write!(formatter, "{core} waits for ever for flag {flag} of the {wait}")?;
                op.map_or(Ok(()), |op| write!(formatter, " at op {op}"))
            }
            Self::LeftRaised { core, flag } => write!(formatter, "flag {flag} of {core} is still raised at the end"),
            Self::Unordered { first, second } => write!(formatter, "op {second} can start before op {first} has ended"),
            Self::EarlyNotify { op } => write!(formatter, "an event of op {op} is sent before all cores have ended it"),
            Self::EarlyStart { op } => write!(formatter, "op {op} can start before its outer event has come"),
            Self::EarlyWorkspace { op } => {
                write!(formatter, "op {op} can use the workspace before all cores have cleared it")
            }
            Self::EarlyRelease { op } => {
                write!(formatter, "the lock of dynamic op {op} is cleared while a core may still poll it")
            }
            Self::LockedNotify { op, locked } => {
                write!(formatter, "an event of op {op} is sent before the lock of dynamic op {locked} is cleared")
            }
            Self::EarlyFlush { first, op } => {
                write!(formatter, "the cache is flushed for op {op} before op {first} has ended")
            }
            Self::BrokenPromise { op, option, lacks } => {
                write!(formatter, "option `{option}` promises {lacks} after op {op}")
            }
            Self::Unanswered { op } => {
                write!(formatter, "op {op} waits for the outside while an event of an op before it is not sent yet")
            }
        }
    }
}
