//! The ops as tasks of their own: stream by stream, with events between streams, as many at once as there are cores.

use std::collections::BTreeMap;

use super::prices::{PerPrice, Price};
use crate::model::{ByPosition, CoreCounts, OpPosition, StreamId, SuperKernel};

/// What is known about one task.
#[derive(Debug, Clone, Copy)]
pub(super) struct TaskTime {
    /// From its start to its end.
    pub(super) us: f64,
    /// The gap in front of it, if it was measured.
    pub(super) gap: Option<f64>,
}

/// A run of all tasks.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Unfused {
    /// From the start of the first task to the end of the last.
    pub(super) total: f64,
    /// Tasks in the chain that decides about the total, in order.
    pub(super) chain: Vec<OpPosition>,
    /// Microseconds of gaps in that chain.
    pub(super) gaps: f64,
    /// Gaps in it that have the price and were not measured.
    pub(super) priced_gaps: f64,
}

/// Runs the tasks. A task starts when its stream and its events let it and its cores are free; of several the first.
pub(super) fn run(kernel: &SuperKernel, tasks: &ByPosition<TaskTime>, prices: &PerPrice) -> Unfused {
    let before = before(kernel);
    let gap = |task: OpPosition| tasks[task].gap.unwrap_or(prices[Price::LaunchGap as usize]);
    let need = |task: OpPosition| {
        let op = &kernel.ops[task];
        let kernel_type = op.kernel.kernel_type;
        // More blocks than cores run in turns: such a task has the device for itself.
        CoreCounts {
            aic: kernel_type.aic_cores(op.block_num).min(kernel.platform.cores.aic),
            aiv: kernel_type.aiv_cores(op.block_num).min(kernel.platform.cores.aiv),
        }
    };
    let count = tasks.len();
    let mut end: ByPosition<Option<f64>> = ByPosition::filled(count, None);
    let mut cause: ByPosition<Option<OpPosition>> = ByPosition::filled(count, None);
    let mut running: Vec<OpPosition> = Vec::new();
    let mut free = kernel.platform.cores;
    let mut waiting: Vec<OpPosition> = tasks.positions().collect();
    let mut now = 0.0;
    let mut last_ended = None;
    while !waiting.is_empty() || !running.is_empty() {
        let mut next = f64::INFINITY;
        let mut started = Vec::new();
        for &task in &waiting {
            let mut ready = 0.0;
            let mut by = None;
            let mut known = true;
            for &earlier in &before[task] {
                match end[earlier] {
                    Some(time) if !running.contains(&earlier) || time <= now => {
                        if time + gap(task) >= ready {
                            (ready, by) = (time + gap(task), Some(earlier));
                        }
                    }
                    _ => known = false,
                }
            }
            if !known {
                continue;
            }
            if ready > now {
                next = f64::min(next, ready);
                continue;
            }
            let wanted = need(task);
            if wanted.aic <= free.aic && wanted.aiv <= free.aiv {
                free = CoreCounts { aic: free.aic - wanted.aic, aiv: free.aiv - wanted.aiv };
                // Ready earlier than it started: it had to wait for cores, so for the task that gave them back.
                cause[task] = if ready < now { last_ended.or(by) } else { by };
                end[task] = Some(now + tasks[task].us);
                started.push(task);
            }
        }
        waiting.retain(|task| !started.contains(task));
        running.extend(started);
        let first = running.iter().filter_map(|task| end[*task]).fold(f64::INFINITY, f64::min);
        next = next.min(first);
        if !next.is_finite() {
            // Nothing runs and nothing can start: the order has a circle, which the model refuses earlier.
            break;
        }
        now = next;
        for &task in running.iter().filter(|task| end[**task].is_some_and(|time| time <= now)) {
            let back = need(task);
            free = CoreCounts { aic: free.aic + back.aic, aiv: free.aiv + back.aiv };
            last_ended = Some(task);
        }
        running.retain(|task| end[*task].is_some_and(|time| time > now));
    }
    let last = tasks.positions().max_by(|left, right| end[*left].unwrap_or(0.0).total_cmp(&end[*right].unwrap_or(0.0)));
    let mut found = Unfused { total: 0.0, chain: Vec::new(), gaps: 0.0, priced_gaps: 0.0 };
    found.total = last.and_then(|last| end[last]).unwrap_or(0.0);
    let mut at = last;
    while let Some(task) = at {
        found.chain.push(task);
        at = cause[task];
        if let Some(earlier) = at {
            let begin = end[task].unwrap_or(0.0) - tasks[task].us;
            let gap = begin - end[earlier].unwrap_or(0.0);
            found.gaps += gap;
            if gap > 0.0 && tasks[task].gap.is_none() {
                found.priced_gaps += 1.0;
            }
        }
    }
    found.chain.reverse();
    found
}

/// The tasks each task comes after: the one before it on its stream, and the senders of its events.
fn before(kernel: &SuperKernel) -> ByPosition<Vec<OpPosition>> {
    let mut last: BTreeMap<StreamId, OpPosition> = BTreeMap::new();
    let mut before = ByPosition::filled(kernel.ops.len(), Vec::new());
    for (position, op) in kernel.ops.enumerate() {
        before[position].extend(last.insert(op.stream_id, position));
    }
    for event in &kernel.inner_events {
        before[event.receiver].push(event.sender);
    }
    before
}
