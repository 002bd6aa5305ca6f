//! How a run ended, and what went wrong first.

use crate::named::named;
use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// A word of a fixed set, borrowed where it was written and owned where it was read.
pub(crate) type Word = Cow<'static, str>;

named! {
    /// How a run ended.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum Status {
        /// All cores finished, all flags are down, no two operators raced.
        Ok = "ok",
        /// No core can go on and no agent can act. Per core: flag or word, counters, operator, and who has not set the flag.
        Deadlock = "deadlock",
        /// A flag counter would exceed 15.
        Overflow = "overflow",
        /// A flag is still raised, or an arrival still pending, at the end.
        Leak = "leak",
        /// The kernel gave up by `trap()`: core, operator, source line where known.
        Trap = "trap",
        /// An assertion of the kernel failed: core, operator, source line where known.
        Assert = "assert",
        /// A call broke a rule (alignment, size, bounds, a queue used wrongly, flags in a launch without them): source line.
        Api = "api",
        /// A null function pointer was called: core, operator.
        NullCall = "null-call",
        /// Bad address, division by zero, abort, stack overflow: operator, and what the address is near to.
        Crash = "crash",
        /// It did not end within the steps it had.
        StepLimit = "step-limit",
        /// It did not end in the time it had.
        Timeout = "timeout",
        /// The run finished, but two operators that share memory were in order by luck only.
        Hazard = "hazard",
        /// An agent that had to act never could.
        Agent = "agent",
        /// The run finished, but instructions of a core were in order by luck only, or an event or a queue was left in use: see `findings`.
        Pipe = "pipe",
        /// The run finished, but data stayed in a cache that others needed: see `findings`.
        Cache = "cache",
        /// Something was written past the end of a buffer.
        Overrun = "overrun",
    }
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

impl Status {
    /// Id of the error that a run with this end is, and what to do about it; `None`: all went well.
    pub(crate) fn error(self) -> Option<(&'static str, &'static str)> {
        Some(match self {
            Self::Ok => return None,
            Self::Deadlock => ("SK0910", "set the flag or the word that the report names on every core that has to"),
            Self::Overflow => ("SK0911", "wait for the flag before it is set again"),
            Self::Leak => ("SK0912", "give every set of a flag its wait on every path of every core"),
            Self::Trap => ("SK0913", "find out why the kernel gave up at that line"),
            Self::Assert => ("SK0914", "find out why the assertion failed"),
            Self::Api => ("SK0915", "keep the rule that the report names"),
            Self::NullCall => {
                ("SK0916", "look where the function pointer comes from: a tiling key that was never selected?")
            }
            Self::Crash => {
                ("SK0917", "look at the address and the operator; debug with isolation='in-process' under a debugger")
            }
            Self::StepLimit => ("SK0918", "raise step_limit, or look for a loop that never ends"),
            Self::Hazard => {
                ("SK0919", "order the two operators by an event or a barrier, two cores of one by SyncAll or a flag")
            }
            Self::Agent => ("SK0920", "check the word that the agent waits for"),
            Self::Timeout => ("SK0921", "raise timeout, or look for a loop without any call of the device interface"),
            Self::Overrun => ("SK0922", "keep the kernel's writes inside its buffers"),
            Self::Pipe => ("SK0928", "put in what the report says is missing between the two instructions"),
            Self::Cache => ("SK0929", "call dcci where the report says: after the write, before the read"),
        })
    }
}
