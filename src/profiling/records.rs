//! What a buffer tells, read.

use super::Core;

/// What a buffer tells.
#[derive(Debug, Clone, Default)]
pub(crate) struct Decoded {
    /// The launches that wrote into it, in order.
    pub launches: Vec<Launch>,
    /// What could not be read, or is strange.
    pub problems: Vec<String>,
}

/// One launch.
#[derive(Debug, Clone)]
pub(crate) struct Launch {
    /// Its task id.
    pub task: u32,
    /// Its cores, vector cores first.
    pub cores: Vec<CoreLog>,
}

/// What one core recorded.
#[derive(Debug, Clone)]
pub(crate) struct CoreLog {
    /// The core.
    pub core: Core,
    /// The cycle of its first record.
    pub started: u64,
    /// What it did, by start.
    pub spans: Vec<Span>,
}

impl CoreLog {
    /// What it began and did not end.
    pub(super) fn open(&self) -> impl Iterator<Item = &Span> {
        self.spans.iter().filter(|span| span.end.is_none())
    }

    /// Did it stop in no op, and before the end?
    pub(super) fn stopped_between_ops(&self) -> bool {
        self.open().count() > 0 && self.open().all(|span| span.subject == Subject::SuperKernel)
    }
}

/// From an opening record to its closing one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    /// What.
    pub subject: Subject,
    /// Its first cycle.
    pub start: u64,
    /// Its last cycle; `None`: it was never closed.
    pub end: Option<u64>,
}

/// What a record is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Subject {
    /// The whole super kernel.
    SuperKernel,
    /// The op at this position.
    Op(usize),
    /// The notify of an event.
    Notify(u32),
    /// The wait for an event.
    Wait(u32),
}
