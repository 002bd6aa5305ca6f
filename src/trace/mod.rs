//! What cores did when: one type for runs of the simulator, plays of the cost model and decoded profiling buffers.
//!
//! [`chrome`] writes it for Perfetto and `chrome://tracing`, [`gantt`] for a terminal; [`shrink`] merges what would be
//! too small to see. What steps of the program do and why is told by [`told`].

mod chrome;
mod gantt;
mod shrink;
mod told;

pub(crate) use chrome::{Written, write};
pub(crate) use gantt::gantt;
pub(crate) use told::Told;

use std::sync::Arc;

use crate::model::CoreKind;

/// One launch of one kernel.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Trace {
    /// The kernel.
    pub kernel: String,
    /// What times are counted in.
    pub axis: Axis,
    /// Its ops, by position.
    pub ops: Vec<TracedOp>,
    /// Its cores, each followed by its pipes where they are known.
    pub tracks: Vec<Track>,
    /// From sets to the waits that they ended.
    pub arrows: Vec<Arrow>,
    /// What a reader must know: what is assumed, missing or merged.
    pub notes: Vec<String>,
}

/// What times mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Axis {
    /// Microseconds of the cost model, from measured durations of the ops.
    Predicted,
    /// Microseconds of the cost model, with the same made-up duration for every op.
    Assumed {
        /// That duration.
        op_us: f64,
    },
    /// Steps of the simulator: an order, not a time.
    Steps,
    /// Cycles of the device's counter.
    Cycles,
    /// Cycles of the device's counter, turned into microseconds.
    Measured {
        /// Cycles per microsecond.
        clock_mhz: f64,
    },
}

impl Axis {
    /// One sentence for a reader of the picture.
    pub(crate) fn label(self) -> String {
        match self {
            Self::Predicted => "predicted us (cost model, not measured)".to_owned(),
            Self::Assumed { op_us } => format!("not to scale: every op is taken to last {op_us} us"),
            Self::Steps => "simulator steps, shown as us (an order, not a time)".to_owned(),
            Self::Cycles => "device cycles, shown as us".to_owned(),
            Self::Measured { clock_mhz } => format!("us (device cycles at {clock_mhz} MHz)"),
        }
    }

    /// What one unit is called.
    pub(crate) fn unit(self) -> &'static str {
        match self {
            Self::Predicted | Self::Assumed { .. } | Self::Measured { .. } => "us",
            Self::Steps => "steps",
            Self::Cycles => "cycles",
        }
    }
}

/// An op of the kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TracedOp {
    /// Its place in `op_list`, where known; otherwise its position.
    pub index: usize,
    /// Its kernel's name, or its own.
    pub name: String,
    /// Its stream, where known.
    pub stream: Option<i64>,
}

impl TracedOp {
    /// How pictures call it.
    pub(crate) fn label(&self) -> String {
        format!("{} {}", self.index, self.name)
    }
}

/// One core, or a pipe of one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Track {
    /// `AIC0`, `AIV3`, `AIV3 MTE2`.
    pub name: String,
    /// Its kind; `None`: not a core but a pipe of the one above, or somebody outside.
    pub kind: Option<CoreKind>,
    /// What it did, by start; of two that start at once the longer one first. They follow each other or stand inside
    /// each other, and never overlap otherwise.
    pub slices: Vec<Slice>,
}

impl Track {
    /// The core of a kind with this number among its kind.
    pub(crate) fn core(kind: CoreKind, number: u64) -> Self {
        let name = match kind {
            CoreKind::Aic => format!("AIC{number}"),
            CoreKind::Aiv => format!("AIV{number}"),
        };
        Self { name, kind: Some(kind), slices: Vec::new() }
    }
}

/// A stretch of a core's time.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Slice {
    /// When it began.
    pub start: f64,
    /// When it ended.
    pub end: f64,
    /// What it was.
    pub what: What,
    /// Its name, if that of its kind does not do.
    pub name: Option<Arc<str>>,
    /// The op it belongs to, by position.
    pub op: Option<usize>,
    /// What it did, in a few words: a function, an event, a flag.
    pub detail: Option<Arc<str>>,
    /// Why the program has it.
    pub reason: Option<Arc<str>>,
}

impl Slice {
    /// Something that took from `start` to `end`; more about it is filled in by who knows it.
    pub(crate) fn new(start: f64, end: f64, what: What) -> Self {
        Self { start, end, what, name: None, op: None, detail: None, reason: None }
    }
}

/// Kinds of slices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum What {
    /// An op's own code.
    Op,
    /// Until the cores of a task run.
    TaskStart,
    /// Code is preloaded.
    Preload,
    /// Code that is not there yet is fetched.
    CodeFetch,
    /// A barrier of the super kernel.
    Barrier,
    /// A hand-over of early start.
    HandOver,
    /// A set of a flag.
    Set,
    /// A wait for a flag.
    Wait,
    /// A `SyncAll`, or following one.
    SyncAll,
    /// The other half of a MIX op is waited for.
    OtherHalf,
    /// A lock word: an outer event, a tiling.
    Event,
    /// The data cache is flushed.
    Flush,
    /// The workspace is cleared.
    Clear,
    /// A profiling record is written.
    Record,
    /// Between two ops: what exactly, the source does not tell.
    Between,
    /// Something went wrong.
    Failure,
    /// Somebody outside the kernel acts.
    Agent,
    /// A pipe of a core carries out an instruction.
    Instruction,
    /// Several that are too short to see.
    Merged {
        /// How many.
        count: u32,
    },
}

impl What {
    /// Its name in pictures.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Op => "op",
            Self::TaskStart => "task start",
            Self::Preload => "preload",
            Self::CodeFetch => "code fetch",
            Self::Barrier => "barrier",
            Self::HandOver => "hand-over",
            Self::Set => "set",
            Self::Wait => "wait",
            Self::SyncAll => "SyncAll",
            Self::OtherHalf => "wait for the other half",
            Self::Event => "event",
            Self::Flush => "flush",
            Self::Clear => "clear workspace",
            Self::Record => "record",
            Self::Between => "between ops",
            Self::Failure => "failure",
            Self::Agent => "agent",
            Self::Instruction => "instruction",
            Self::Merged { .. } => "short steps",
        }
    }
}

/// A set ended a wait.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Arrow {
    /// The track of the core that set last.
    pub from: usize,
    /// When it did.
    pub at: f64,
    /// The track of the core that waited.
    pub to: usize,
    /// Its slice.
    pub slice: usize,
}

impl Trace {
    /// From the first start to the last end.
    pub(crate) fn span(&self) -> (f64, f64) {
        let slices = || self.tracks.iter().flat_map(|track| &track.slices);
        let start = slices().map(|slice| slice.start).fold(f64::INFINITY, f64::min);
        let end = slices().map(|slice| slice.end).fold(0.0, f64::max);
        if start <= end { (start, end) } else { (0.0, 0.0) }
    }
}
