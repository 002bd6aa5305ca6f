//! A decoded buffer in its other forms: the profile that the cost model reads, and traces.

use std::sync::Arc;

use serde_json::{Value, json};

use super::decode::{Decoded, Launch, Subject};
use super::table::{begin, op_times, table};
use super::{Core, Profiled};
use crate::cost::profile::{BufferFormat, BufferKind, BufferOp, BufferProfile, CoreTime, TimeUnit};
use crate::model::CoreKind;
use crate::trace::{Axis, Slice, Trace, TracedOp, Track, What};

/// Everything as JSON: a profile as the cost model reads it, with figures and problems beside.
pub(crate) fn profile_json(decoded: &Decoded, kernel: &Profiled, clock_mhz: Option<f64>) -> Value {
    let mut document = serde_json::to_value(profile(decoded, kernel, clock_mhz)).unwrap_or(Value::Null);
    let scale = clock_mhz.map_or(1.0, |clock| 1.0 / clock);
    let tables: Vec<_> = decoded.launches.iter().map(|launch| table(launch, kernel, scale)).collect();
    document["figures_in"] = json!(if clock_mhz.is_some() { "us" } else { "cycles" });
    document["launches"] = json!(tables);
    document["problems"] = json!(decoded.problems);
    document
}

/// What the cost model reads: every op on every core that ran it to its end.
fn profile(decoded: &Decoded, kernel: &Profiled, clock_mhz: Option<f64>) -> BufferProfile {
    let name = |position: usize| kernel.ops.get(position).map_or_else(String::new, |op| op.name.clone());
    let mut ops: Vec<BufferOp> = Vec::new();
    for launch in &decoded.launches {
        let begin = begin(launch);
        for time in op_times(launch, kernel) {
            let Some(end) = time.end else { continue };
            if ops.len() <= time.op {
                let known = ops.len();
                ops.extend((known..=time.op).map(|position| BufferOp {
                    position,
                    name: name(position),
                    cores: Vec::new(),
                }));
            }
            ops[time.op].cores.push(CoreTime {
                kind: kind(time.core),
                number: time.core.number as usize,
                start: time.start.saturating_sub(begin) as f64,
                end: end.saturating_sub(begin) as f64,
            });
        }
    }
    ops.retain(|op| !op.cores.is_empty());
    BufferProfile {
        format: BufferFormat::V1,
        kernel: kernel.name.clone(),
        source: kernel.source,
        unit: TimeUnit::Cycles,
        clock_mhz,
        ops,
    }
}

fn kind(core: Core) -> BufferKind {
    match core.kind {
        CoreKind::Aic => BufferKind::Aic,
        CoreKind::Aiv => BufferKind::Aiv,
    }
}

/// A trace per launch.
pub(crate) fn traces(decoded: &Decoded, kernel: &Profiled, clock_mhz: Option<f64>) -> Vec<Trace> {
    let several = decoded.launches.len() > 1;
    let named = |launch: &Launch| match several {
        true => format!("{} task {}", kernel.name, launch.task),
        false => kernel.name.clone(),
    };
    decoded.launches.iter().map(|launch| trace(launch, kernel, named(launch), clock_mhz, &decoded.problems)).collect()
}

fn trace(launch: &Launch, kernel: &Profiled, name: String, clock_mhz: Option<f64>, problems: &[String]) -> Trace {
    let begin = begin(launch);
    let scale = clock_mhz.map_or(1.0, |clock| 1.0 / clock);
    let time = |cycle: u64| scale * cycle.saturating_sub(begin) as f64;
    let ops = kernel.ops.iter().enumerate();
    let ops = ops.map(|(index, op)| TracedOp { index, name: op.name.clone(), stream: Some(op.stream) }).collect();
    let mut logs: Vec<_> = launch.cores.iter().collect();
    logs.sort_by_key(|log| log.core);
    let tracks = logs.into_iter().map(|log| {
        let mut track = Track::core(log.core.kind, log.core.number.into());
        let last = log.spans.iter().map(|span| span.end.unwrap_or(span.start)).max().unwrap_or(log.started);
        // The end of what was drawn last.
        let mut drawn = log.started;
        let mut whole = (log.started, last);
        for span in &log.spans {
            let end = span.end.unwrap_or(last).max(span.start);
            let (what, op, detail) = match span.subject {
                Subject::SuperKernel => {
                    whole = (span.start, end);
                    drawn = drawn.max(span.start);
                    continue;
                }
                Subject::Op(op) if kernel.runs(op, log.core) => (What::Op, Some(op), None),
                Subject::Op(_) => continue,
                Subject::Notify(event) => {
                    (What::Event, None, Some(Arc::from(format!("notify event {event}").as_str())))
                }
                Subject::Wait(event) => {
                    (What::Event, None, Some(Arc::from(format!("wait for event {event}").as_str())))
                }
            };
            let start = span.start.max(drawn);
            between(&mut track, drawn, start, &time);
            let reason = span.end.is_none().then(|| Arc::from("it was not ended"));
            track.slices.push(Slice { start: time(start), end: time(end.max(start)), what, op, detail, reason });
            drawn = end.max(start);
        }
        between(&mut track, drawn, whole.1.max(drawn), &time);
        track
    });
    Trace {
        kernel: name,
        axis: clock_mhz.map_or(Axis::Cycles, |clock_mhz| Axis::Measured { clock_mhz }),
        ops,
        tracks: tracks.collect(),
        arrows: Vec::new(),
        notes: problems.to_vec(),
    }
}

/// What stands between two records.
fn between(track: &mut Track, from: u64, to: u64, time: &dyn Fn(u64) -> f64) {
    if to > from {
        let (start, end) = (time(from), time(to));
        track.slices.push(Slice { start, end, what: What::Between, op: None, detail: None, reason: None });
    }
}
