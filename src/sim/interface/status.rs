//! How a run ended, and what went wrong first.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// A word of a fixed set, borrowed where it was written and owned where it was read.
pub(crate) type Word = Cow<'static, str>;

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Status {
    /// All cores finished, all flags are down, no two operators raced.
    Ok,
    /// Nobody can go on.
    Deadlock,
    /// A flag counter exceeded 15.
    Overflow,
    /// A flag stayed raised, or an arrival pending, at the end.
    Leak,
    /// `trap()`.
    Trap,
    /// An assertion of the kernel failed.
    Assert,
    /// A call broke a rule of the programming interface.
    Api,
    /// A null function pointer was called.
    NullCall,
    /// Kernel code crashed: a bad address, a division by zero, an abort.
    Crash,
    /// More steps than allowed.
    StepLimit,
    /// It did not come back in the time it had.
    Timeout,
    /// The run finished, but the order of two operators that share memory was luck.
    Hazard,
    /// An agent that had to act never could.
    Agent,
    /// The run finished, but a core's own instructions were in order by luck, or an event or a queue was left in use.
    Pipe,
    /// The run finished, but data stayed in a cache that others needed.
    Cache,
    /// Something was written behind the end of a buffer.
    Overrun,
}

/// The first thing that went wrong.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Failure {
    /// The core at fault, if it is one core.
    pub core: Option<String>,
    /// The operator it was in.
    pub op: Option<String>,
    /// What happened, in one sentence.
    pub text: String,
    /// Source line of the kernel, where known.
    pub file: Option<String>,
    /// Its number.
    pub line: Option<u32>,
    /// The function of the kernel, with how far behind its start, where known.
    pub function: Option<String>,
}
