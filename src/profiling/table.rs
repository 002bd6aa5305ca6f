//! Figures of a launch: op by op, events, and times when nothing ran.

use serde::Serialize;

use super::records::{Launch, Subject};
use super::{Core, Profiled};

/// A launch in figures. Times are cycles from its first record on, or microseconds if the clock is known.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct LaunchTable {
    /// Its task id.
    pub task: u32,
    /// From its first record to its last.
    pub duration: f64,
    /// Its ops.
    pub ops: Vec<OpRow>,
    /// Its outer events.
    pub events: Vec<EventRow>,
    /// When no core was in any op.
    pub gaps: Vec<Gap>,
}

/// One op.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct OpRow {
    /// Its position.
    pub position: usize,
    /// Its kernel's name.
    pub name: String,
    /// Its stream.
    pub stream: Option<i64>,
    /// How many cores ran it.
    pub cores: usize,
    /// How many of them never came to its end.
    pub unfinished: usize,
    /// When the first core started it.
    pub first_start: f64,
    /// When the last core ended it.
    pub last_end: f64,
    /// Time of the fastest core.
    pub min: f64,
    /// Average over its cores.
    pub avg: f64,
    /// Time of the slowest core.
    pub max: f64,
    /// By how much the slowest core is behind the average.
    pub imbalance: f64,
    /// Share of its cores' time, from the end of what they did before to the end of the op, that they waited.
    pub wait_share: f64,
}

/// An outer event on one core.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct EventRow {
    /// Its id, of which the record has 32 bits.
    pub event: u32,
    /// `notify` or `wait`.
    pub kind: &'static str,
    /// The core.
    pub core: String,
    /// When it began.
    pub start: f64,
    /// When it ended.
    pub end: Option<f64>,
}

/// A time when no core was in any op.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Gap {
    /// Its start.
    pub start: f64,
    /// Its end.
    pub end: f64,
    /// The op that ended last before it.
    pub after: Option<usize>,
    /// The op that started first behind it.
    pub before: Option<usize>,
}

/// An op on one core that runs it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OpTime {
    pub(crate) op: usize,
    pub(crate) core: Core,
    pub(crate) start: u64,
    pub(crate) end: Option<u64>,
    /// When the core was done with what it did before.
    pub(crate) free: u64,
}

/// When the launch began: its first record.
pub(crate) fn begin(launch: &Launch) -> u64 {
    launch.cores.iter().map(|log| log.started).min().unwrap_or(0)
}

/// When it ended: its last record.
pub(crate) fn last(launch: &Launch) -> u64 {
    let ends = launch.cores.iter().flat_map(|log| &log.spans).map(|span| span.end.unwrap_or(span.start));
    ends.max().unwrap_or(0).max(begin(launch))
}

/// The ops on the cores that run them, core by core.
pub(crate) fn op_times(launch: &Launch, kernel: &Profiled) -> Vec<OpTime> {
    let mut found = Vec::new();
    for log in &launch.cores {
        let mut free = log.started;
        for span in &log.spans {
            match span.subject {
                Subject::SuperKernel => free = free.max(span.start),
                Subject::Op(op) if kernel.runs(op, log.core) => {
                    found.push(OpTime {
                        op,
                        core: log.core,
                        start: span.start,
                        end: span.end,
                        free: free.min(span.start),
                    });
                    free = free.max(span.end.unwrap_or(span.start));
                }
                // It waits for others while it is in there.
                Subject::Op(_) => {}
                Subject::Notify(_) | Subject::Wait(_) => free = free.max(span.end.unwrap_or(span.start)),
            }
        }
    }
    found
}

/// A launch in figures, with `scale` units per cycle.
pub(crate) fn table(launch: &Launch, kernel: &Profiled, scale: f64) -> LaunchTable {
    let begin = begin(launch);
    let time = |cycle: u64| scale * cycle.saturating_sub(begin) as f64;
    let times = op_times(launch, kernel);
    let events = launch.cores.iter().flat_map(|log| {
        log.spans.iter().filter_map(move |span| {
            let (event, kind) = match span.subject {
                Subject::Notify(event) => (event, "notify"),
                Subject::Wait(event) => (event, "wait"),
                Subject::SuperKernel | Subject::Op(_) => return None,
            };
            Some(EventRow { event, kind, core: log.core.to_string(), start: time(span.start), end: span.end.map(time) })
        })
    });
    LaunchTable {
        task: launch.task,
        duration: time(last(launch)),
        ops: rows(&times, kernel, &time, scale),
        events: events.collect(),
        gaps: gaps(&times, &time),
    }
}

fn rows(times: &[OpTime], kernel: &Profiled, time: &dyn Fn(u64) -> f64, scale: f64) -> Vec<OpRow> {
    let mut positions: Vec<usize> = times.iter().map(|time| time.op).collect();
    positions.sort_unstable();
    positions.dedup();
    let mut by_op = times.to_vec();
    by_op.sort_by_key(|time| time.op);
    let row = |position: usize| {
        let from = by_op.partition_point(|time| time.op < position);
        let to = by_op.partition_point(|time| time.op <= position);
        let own = &by_op[from..to];
        let lengths: Vec<f64> =
            own.iter().filter_map(|time| Some(scale * time.end?.saturating_sub(time.start) as f64)).collect();
        let sum: f64 = lengths.iter().sum();
        let avg = if lengths.is_empty() { 0.0 } else { sum / lengths.len() as f64 };
        let max = lengths.iter().copied().fold(0.0, f64::max);
        let waited: f64 =
            own.iter().filter(|time| time.end.is_some()).map(|time| scale * (time.start - time.free) as f64).sum();
        OpRow {
            position,
            name: kernel.ops.get(position).map_or_else(String::new, |op| op.name.clone()),
            stream: kernel.ops.get(position).map(|op| op.stream),
            cores: own.len(),
            unfinished: own.len() - lengths.len(),
            first_start: own.iter().map(|op| time(op.start)).fold(f64::INFINITY, f64::min),
            last_end: own.iter().map(|op| time(op.end.unwrap_or(op.start))).fold(0.0, f64::max),
            min: if lengths.is_empty() { 0.0 } else { lengths.iter().copied().fold(f64::INFINITY, f64::min) },
            avg,
            max,
            // An average of equal times may be rounded up.
            imbalance: (max - avg).max(0.0),
            wait_share: if waited + sum > 0.0 { waited / (waited + sum) } else { 0.0 },
        }
    };
    positions.into_iter().map(row).collect()
}

fn gaps(times: &[OpTime], time: &dyn Fn(u64) -> f64) -> Vec<Gap> {
    let mut ended: Vec<(u64, u64, usize)> =
        times.iter().map(|op| (op.start, op.end.unwrap_or(u64::MAX), op.op)).collect();
    ended.sort_unstable();
    let mut gaps = Vec::new();
    let mut last: Option<(u64, usize)> = None;
    for (start, end, op) in ended {
        if let Some((until, after)) = last
            && start > until
        {
            gaps.push(Gap { start: time(until), end: time(start), after: Some(after), before: Some(op) });
        }
        if last.is_none_or(|(until, _)| end > until) {
            last = Some((end, op));
        }
    }
    gaps
}
