//! The JSON form that Perfetto and `chrome://tracing` read: a process per kernel, a thread per core.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use serde_json::{Value, json};

use super::shrink::shrunk;
use super::{Arrow, Slice, Trace, Track, What};
use crate::model::CoreKind;

/// Most changes of the counter of busy cores that are written.
const MOST_COUNTS: usize = 20_000;

/// A file, and what it says about each kernel.
pub(crate) struct Written {
    /// The file.
    pub bytes: Vec<u8>,
    /// By kernel: what its readers must know, also of what was merged in the file.
    pub notes: Vec<Vec<String>>,
}

/// The traces as one file. Everything is written to memory first: a file is there whole or not at all.
pub(crate) fn write(traces: &[Trace]) -> Written {
    let mut events = Events { out: br#"{"traceEvents":["#.to_vec(), is_first: true, flows: 0 };
    let (mut described, mut notes) = (Vec::new(), Vec::new());
    for (number, trace) in traces.iter().enumerate() {
        let shown = shrunk(trace);
        events.trace(number + 1, &shown);
        described.push(json!({
            "kernel": shown.kernel,
            "axis": shown.axis.label(),
            "unit": shown.axis.unit(),
            "notes": shown.notes,
        }));
        notes.push(shown.notes.clone());
    }
    let mut out = events.out;
    let other = json!({"producer": concat!("superkernel ", env!("CARGO_PKG_VERSION")), "kernels": described});
    out.extend_from_slice(b"\n],\"displayTimeUnit\":\"ns\",\"otherData\":");
    out.extend_from_slice(other.to_string().as_bytes());
    out.extend_from_slice(b"}\n");
    Written { bytes: out, notes }
}

/// Events that have been written.
struct Events {
    out: Vec<u8>,
    is_first: bool,
    flows: u64,
}

impl Events {
    fn trace(&mut self, process: usize, trace: &Trace) {
        let (begin, _) = trace.span();
        let title = format!("{} [{}]", trace.kernel, trace.axis.label());
        self.named(process, 0, "process_name", &json!({"name": title}));
        if !trace.notes.is_empty() {
            self.named(process, 0, "process_labels", &json!({"labels": trace.notes.join("; ")}));
        }
        self.named(process, 0, "process_sort_index", &json!({"sort_index": process}));
        for (number, track) in trace.tracks.iter().enumerate() {
            self.named(process, number + 1, "thread_name", &json!({"name": track.name}));
            self.named(process, number + 1, "thread_sort_index", &json!({"sort_index": number}));
        }
        let labels: Vec<String> = trace.ops.iter().map(|op| json!(op.label()).to_string()).collect();
        let flights = flights(trace, begin);
        let marks = marks(trace, &flights, begin);
        for (number, track) in trace.tracks.iter().enumerate() {
            let mut marked = marks.range((number, i64::MIN)..=(number, i64::MAX)).map(|(_, at)| *at).peekable();
            for (place, slice) in track.slices.iter().enumerate() {
                while let Some(at) = marked.next_if(|at| *at < nanos(slice.start - begin)) {
                    self.mark(process, number + 1, at);
                }
                self.slice(process, number + 1, slice, trace, &labels, begin);
                if let Some(flight) = flights.get(&(number, place)) {
                    self.release(process, number + 1, flight, trace);
                }
            }
            for at in marked {
                self.mark(process, number + 1, at);
            }
        }
        for ((to, _), flight) in &flights {
            self.arrow(process, *to, flight);
        }
        self.busy_cores(process, trace, begin);
    }

    fn event(&mut self, arguments: std::fmt::Arguments<'_>) {
        self.out.extend_from_slice(if self.is_first { b"\n" } else { b",\n" });
        self.is_first = false;
        self.out.write_fmt(arguments).expect("writing to memory cannot fail");
    }

    fn named(&mut self, process: usize, thread: usize, what: &str, arguments: &Value) {
        self.event(format_args!(r#"{{"ph":"M","pid":{process},"tid":{thread},"name":"{what}","args":{arguments}}}"#));
    }

    fn slice(&mut self, process: usize, thread: usize, slice: &Slice, trace: &Trace, labels: &[String], begin: f64) {
        let (start, end) = (nanos(slice.start - begin), nanos(slice.end - begin));
        let op = slice.op.and_then(|op| Some((op, trace.ops.get(op)?)));
        let plain = || json!(slice.name.as_deref().unwrap_or(slice.what.name())).to_string();
        let name = match (slice.what, op) {
            (What::Op, Some((position, _))) => labels[position].clone(),
            (What::Merged { count }, _) => json!(format!("{count} short steps")).to_string(),
            (_, _) => plain(),
        };
        self.event(format_args!(
            r#"{{"ph":"X","pid":{process},"tid":{thread},"ts":{},"dur":{},"name":{name},"cat":"{}""#,
            Micros(start),
            Micros(end - start),
            slice.what.name(),
        ));
        let mut separator = r#","args":{"#;
        let mut argument = |key: &str, value: &dyn std::fmt::Display| {
            write!(self.out, r#"{separator}"{key}":{value}"#).expect("writing to memory cannot fail");
            separator = ",";
        };
        if let Some((position, op)) = op {
            argument("op", &op.index);
            if slice.what != What::Op {
                argument("of", &labels[position]);
            }
            if let Some(stream) = op.stream {
                argument("stream", &stream);
            }
        }
        if let Some(detail) = &slice.detail {
            argument("detail", &json!(&**detail));
        }
        if let Some(reason) = &slice.reason {
            argument("reason", &json!(&**reason));
        }
        let has_arguments = separator == ",";
        self.out.extend_from_slice(if has_arguments { b"}}" } else { b"}" });
    }

    /// The end of a wait, from the set on that ended it: what an arrow leads to.
    fn release(&mut self, process: usize, thread: usize, flight: &Flight, trace: &Trace) {
        let name = json!(format!("released by {}", trace.tracks[flight.from].name));
        self.event(format_args!(
            r#"{{"ph":"X","pid":{process},"tid":{thread},"ts":{},"dur":{},"name":{name},"cat":"released"}}"#,
            Micros(flight.lands),
            Micros(flight.until - flight.lands),
        ));
    }

    /// The moment of a set that no slice of its own tells.
    fn mark(&mut self, process: usize, thread: usize, at: i64) {
        let at = Micros(at);
        self.event(format_args!(
            r#"{{"ph":"X","pid":{process},"tid":{thread},"ts":{at},"dur":0.001,"name":"sets","cat":"sets"}}"#
        ));
    }

    fn arrow(&mut self, process: usize, to: usize, flight: &Flight) {
        self.flows += 1;
        let (id, from, to) = (self.flows, flight.from + 1, to + 1);
        let (starts, lands) = (Micros(flight.starts), Micros(flight.lands));
        self.event(format_args!(
            r#"{{"ph":"s","pid":{process},"tid":{from},"ts":{starts},"id":{id},"name":"set to wait","cat":"sync"}}"#
        ));
        self.event(format_args!(
            r#"{{"ph":"f","bp":"e","pid":{process},"tid":{to},"ts":{lands},"id":{id},"name":"set to wait","cat":"sync"}}"#
        ));
    }

    /// How many cores of each kind are inside an op.
    fn busy_cores(&mut self, process: usize, trace: &Trace, begin: f64) {
        let mut changes: BTreeMap<i64, [i64; 2]> = BTreeMap::new();
        let kinds: Vec<CoreKind> =
            CoreKind::BOTH.into_iter().filter(|kind| trace.tracks.iter().any(|t| t.kind == Some(*kind))).collect();
        for track in &trace.tracks {
            let Some(place) = CoreKind::BOTH.iter().position(|kind| track.kind == Some(*kind)) else { continue };
            for slice in track.slices.iter().filter(|slice| slice.what == What::Op) {
                changes.entry(nanos(slice.start - begin)).or_default()[place] += 1;
                changes.entry(nanos(slice.end - begin)).or_default()[place] -= 1;
            }
        }
        // Of very many changes only some are written; the last of each stretch, so that the count stays true.
        let stride = changes.len().div_ceil(MOST_COUNTS).max(1);
        let last = changes.len().saturating_sub(1);
        let mut busy = [0_i64; 2];
        for (number, (time, change)) in changes.into_iter().enumerate() {
            busy[0] += change[0];
            busy[1] += change[1];
            if number % stride != 0 && number != last {
                continue;
            }
            let mut counts = serde_json::Map::new();
            for (place, kind) in CoreKind::BOTH.iter().enumerate().filter(|(_, kind)| kinds.contains(kind)) {
                counts.insert(kind.as_str().to_owned(), json!(busy[place]));
            }
            let (time, counts) = (Micros(time), Value::Object(counts));
            self.event(format_args!(
                r#"{{"ph":"C","pid":{process},"tid":0,"ts":{time},"name":"busy cores","args":{counts}}}"#
            ));
        }
    }
}

/// An arrow in nanoseconds. Both its ends lie inside slices, not on their ends: viewers bind them to what is open then.
///
/// A wait begins before the set that ends it, and Perfetto turns arrows round that lead to a slice which began earlier
/// than the one they come from. So the arrow leads to a slice of its own inside the wait, which begins with the set.
struct Flight {
    /// The track it comes from.
    from: usize,
    starts: i64,
    lands: i64,
    /// When the wait ends.
    until: i64,
}

/// The arrows that can be drawn, by track and place of the wait.
fn flights(trace: &Trace, begin: f64) -> BTreeMap<(usize, usize), Flight> {
    let flight = |arrow: &Arrow| {
        let wait = &trace.tracks[arrow.to].slices[arrow.slice];
        let from = setting(&trace.tracks[arrow.from], arrow.at)?;
        let (set, opens) = (nanos(arrow.at - begin), nanos(from.start - begin));
        let starts = set.min(nanos(from.end - begin) - 1).max(opens);
        let (waits, until) = (nanos(wait.start - begin), nanos(wait.end - begin));
        let lands = set.min(until - 1).max(waits).max(starts);
        (lands < until).then_some(((arrow.to, arrow.slice), Flight { from: arrow.from, starts, lands, until }))
    };
    trace.arrows.iter().filter_map(flight).collect()
}

/// Moments of sets that need a slice, by track: Perfetto binds an arrow to the slice that was opened last, also if that has
/// ended and another one around it goes on.
fn marks(trace: &Trace, flights: &BTreeMap<(usize, usize), Flight>, begin: f64) -> BTreeSet<(usize, i64)> {
    let is_hidden = |flight: &&Flight| {
        let slices = &trace.tracks[flight.from].slices;
        let behind = slices.partition_point(|slice| nanos(slice.start - begin) <= flight.starts);
        let Some(last) = behind.checked_sub(1) else { return false };
        let has_ended = nanos(slices[last].end - begin) <= flight.starts;
        has_ended || flights.get(&(flight.from, last)).is_some_and(|other| other.lands <= flight.starts)
    };
    flights.values().filter(is_hidden).map(|flight| (flight.from, flight.starts)).collect()
}

/// The innermost slice in which a core set at that moment: at its end, as a rule.
fn setting(track: &Track, time: f64) -> Option<&Slice> {
    let behind = track.slices.partition_point(|slice| slice.start <= time);
    let holds = |slice: &&Slice| slice.end >= time && slice.end > slice.start;
    let near = || track.slices[..behind].iter().rev().take(64).filter(holds);
    near().find(|slice| slice.start < time).or_else(|| near().next())
}

/// Whole nanoseconds: starts and ends are rounded alike, so that slices that follow each other still do.
fn nanos(micros: f64) -> i64 {
    (micros * 1000.0).round() as i64
}

/// Nanoseconds, printed as microseconds.
struct Micros(i64);

impl std::fmt::Display for Micros {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 % 1000 {
            0 => write!(formatter, "{}", self.0 / 1000),
            rest => write!(formatter, "{}.{:03}", self.0 / 1000, rest.abs()),
        }
    }
}
