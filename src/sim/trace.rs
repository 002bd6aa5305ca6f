//! A run as a picture: what its events tell about every core.
//!
//! Every call of the runtime takes a step of its own, so what an event ends began at least a step before it, and
//! slices of a core never overlap.

use std::collections::HashMap;
use std::sync::Arc;

use super::report::{Event, Happening, Report};
use crate::model::CoreKind;
use crate::trace::{Arrow, Axis, Slice, Trace, TracedOp, Track, What};

impl Report {
    /// The timeline of the run of `kernel`.
    pub(crate) fn trace(&self, kernel: &str) -> Trace {
        let op = |(index, op): (usize, &super::report::ReportedOp)| TracedOp {
            index,
            name: op.name.clone(),
            stream: op.stream,
        };
        let mut trace = Trace {
            kernel: kernel.to_owned(),
            axis: Axis::Steps,
            ops: self.ops.iter().enumerate().map(op).collect(),
            tracks: Vec::new(),
            arrows: Vec::new(),
            notes: self.notes(),
        };
        let mut growing: HashMap<&str, usize> = HashMap::new();
        let mut cores: Vec<Growing> = Vec::new();
        for core in &self.cores {
            let kind = if core.kind == CoreKind::Aic.as_str() { CoreKind::Aic } else { CoreKind::Aiv };
            growing.insert(&core.core, cores.len());
            cores.push(Growing::new(core.core.clone(), Some(kind)));
        }
        for event in &self.events {
            let place = *growing.entry(&event.core).or_insert_with(|| {
                cores.push(Growing::new(event.core.clone(), None));
                cores.len() - 1
            });
            cores[place].take(event);
        }
        for (to, core) in cores.into_iter().enumerate() {
            let (track, heard) = core.finish(self.steps as f64);
            for (slice, (setter, step)) in heard {
                if let Some(from) = growing.get(setter.as_str()).filter(|from| **from != to) {
                    trace.arrows.push(Arrow { from: *from, at: step as f64, to, slice });
                }
            }
            trace.tracks.push(track);
        }
        trace
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if !self.message.is_empty() {
            notes.push(self.message.clone());
        }
        if self.events_dropped > 0 {
            let dropped = self.events_dropped;
            notes.push(format!("{dropped} events are missing: there were more than `event_limit` of them"));
        }
        let only_ops = |event: &Event| match event.what {
            Happening::OpBegin | Happening::OpEnd | Happening::Failure | Happening::Agent => true,
            Happening::Set
            | Happening::Blocked
            | Happening::Waited
            | Happening::SyncAll
            | Happening::SyncAllEnd
            | Happening::SetNextTask
            | Happening::WaitPreTask
            | Happening::WaitPreTaskEnd
            | Happening::Complement
            | Happening::ComplementEnd
            | Happening::Preload
            | Happening::Flush => false,
        };
        if self.events.iter().all(only_ops) {
            notes.push("ops only: launch with events='sync' for waits, barriers, preloads and flushes".to_owned());
        }
        notes
    }
}

/// The number of a wait's slice; the core whose set ended it, and when that was.
type Heard = (usize, (String, u64));

/// Something that has begun.
struct Open {
    slice: usize,
    ends_with: Happening,
}

/// The slices of one core while they grow.
struct Growing {
    track: Track,
    open: Vec<Open>,
    /// When it began to wait for a flag.
    blocked: Option<f64>,
    /// The end of what came last.
    last: f64,
    /// Waits that another core ended.
    heard: Vec<Heard>,
}

impl Growing {
    fn new(name: String, kind: Option<CoreKind>) -> Self {
        let track = Track { name, kind, slices: Vec::new() };
        Self { track, open: Vec::new(), blocked: None, last: 0.0, heard: Vec::new() }
    }

    fn take(&mut self, event: &Event) {
        let now = event.step as f64;
        let before = (now - 1.0).max(self.last);
        match event.what {
            Happening::OpBegin => self.begin(event, What::Op, Happening::OpEnd),
            Happening::SyncAll => self.begin(event, What::SyncAll, Happening::SyncAllEnd),
            Happening::WaitPreTask => self.begin(event, What::HandOver, Happening::WaitPreTaskEnd),
            Happening::Complement => self.begin(event, What::SyncAll, Happening::ComplementEnd),
            Happening::OpEnd | Happening::SyncAllEnd | Happening::WaitPreTaskEnd | Happening::ComplementEnd => {
                self.end(event.what, now);
            }
            Happening::Blocked => {
                self.blocked.get_or_insert(before);
            }
            Happening::Waited => {
                let start = self.blocked.take().unwrap_or(before);
                if let Some(cause) = &event.cause {
                    self.heard.push((self.track.slices.len(), cause.clone()));
                }
                self.push(event, What::Wait, start, now);
            }
            Happening::Set => self.push(event, What::Set, before, now),
            Happening::Flush => self.push(event, What::Flush, before, now),
            Happening::SetNextTask => self.push(event, What::HandOver, now, now),
            Happening::Preload => self.push(event, What::Preload, now, now),
            Happening::Failure => self.push(event, What::Failure, now, now),
            Happening::Agent => self.push(event, What::Agent, before, now),
        }
        self.last = self.last.max(now);
    }

    fn push(&mut self, event: &Event, what: What, start: f64, end: f64) {
        let detail = if what == What::Preload {
            event.detail.as_ref().map(|units| format!("{units} units of 2 KiB"))
        } else if event.what == Happening::SetNextTask {
            Some("SetNextTaskStart".to_owned())
        } else {
            event.detail.clone()
        };
        let detail = detail.map(|detail| Arc::from(detail.as_str()));
        self.track.slices.push(Slice { start, end, what, op: event.position, detail, reason: None });
    }

    fn begin(&mut self, event: &Event, what: What, ends_with: Happening) {
        self.open.push(Open { slice: self.track.slices.len(), ends_with });
        let start = event.step as f64;
        let detail = (what != What::Op).then(|| Arc::from(event.what.as_str()));
        self.track.slices.push(Slice { start, end: start, what, op: event.position, detail, reason: None });
    }

    fn end(&mut self, what: Happening, now: f64) {
        let Some(place) = self.open.iter().rposition(|open| open.ends_with == what) else { return };
        // What began inside it ends with it.
        for open in self.open.drain(place..) {
            self.track.slices[open.slice].end = now;
        }
    }

    fn finish(mut self, end: f64) -> (Track, Vec<Heard>) {
        let waits = self.blocked.take();
        for open in self.open.drain(..) {
            let slice = &mut self.track.slices[open.slice];
            slice.end = end.max(slice.start);
            slice.reason = Some(Arc::from("it was not ended"));
        }
        if let Some(start) = waits {
            let op = self.track.slices.last().and_then(|slice| slice.op);
            let reason = Some(Arc::from("it was not ended"));
            let end = end.max(start);
            self.track.slices.push(Slice { start, end, what: What::Wait, op, detail: None, reason });
        }
        (self.track, self.heard)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::report::{CoreReport, Counts, ReportedOp, Status};

    fn event(step: u64, what: Happening, cause: Option<(&str, u64)>) -> Event {
        let cause = cause.map(|(core, step)| (core.to_owned(), step));
        Event { step, core: "AIV0".to_owned(), what, op: Some("k".to_owned()), detail: None, position: Some(0), cause }
    }

    fn core(name: &str) -> CoreReport {
        CoreReport {
            core: name.to_owned(),
            kind: "aiv".into(),
            block: 0,
            sub_block: 0,
            state: "finished".into(),
            op: None,
            last_op: None,
            activity: None,
            flag: None,
            polls: None,
            counters: Default::default(),
            in_block_counters: Default::default(),
            pending: Default::default(),
            why: None,
            counts: Counts::default(),
        }
    }

    fn report(events: Vec<Event>) -> Report {
        Report {
            status: Status::Ok,
            message: String::new(),
            failure: None,
            steps: 100,
            switches: 0,
            counts: Counts::default(),
            cores: vec![core("AIV0"), core("AIV1")],
            events,
            events_dropped: 3,
            ops: vec![ReportedOp { name: "k".to_owned(), stream: Some(2) }],
            hazards: Vec::new(),
            findings: Vec::new(),
            pipes: Default::default(),
            unchecked: Vec::new(),
            cache: Default::default(),
            instructions: Vec::new(),
            warnings: Vec::new(),
            output: Vec::new(),
            agents: Vec::new(),
        }
    }

    #[test]
    fn waits_stand_inside_what_they_belong_to_and_know_their_set() {
        let trace = report(vec![
            event(3, Happening::OpBegin, None),
            event(3, Happening::Preload, None),
            event(5, Happening::SyncAll, None),
            event(6, Happening::Set, None),
            event(8, Happening::Blocked, None),
            event(20, Happening::Waited, Some(("AIV1", 19))),
            event(20, Happening::SyncAllEnd, None),
            event(30, Happening::OpEnd, None),
        ])
        .trace("kernel");
        let told: Vec<_> = trace.tracks[0].slices.iter().map(|slice| (slice.what, slice.start, slice.end)).collect();
        assert_eq!(
            told,
            [
                (What::Op, 3.0, 30.0),
                (What::Preload, 3.0, 3.0),
                (What::SyncAll, 5.0, 20.0),
                (What::Set, 5.0, 6.0),
                (What::Wait, 7.0, 20.0)
            ]
        );
        assert_eq!(trace.arrows, [Arrow { from: 1, at: 19.0, to: 0, slice: 4 }]);
        assert!(trace.notes[0].contains("3 events are missing"));
    }

    #[test]
    fn what_never_ends_ends_with_the_run() {
        let trace =
            report(vec![event(3, Happening::OpBegin, None), event(9, Happening::Blocked, None)]).trace("kernel");
        let ends: Vec<f64> = trace.tracks[0].slices.iter().map(|slice| slice.end).collect();
        assert_eq!(ends, [100.0, 100.0]);
        assert!(trace.tracks[0].slices.iter().all(|slice| slice.reason.is_some()));
    }
}
