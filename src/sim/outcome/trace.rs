//! A run as a picture: what its events tell about every core.
//!
//! Every call of the runtime takes a step of its own, so what an event ends began at least a step before it, and
//! slices of a core never overlap. What the program says about each step is told by [`follow`].

mod follow;
mod pipes;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::Arc;

use crate::model::CoreKind;
use crate::program::{CoreId, Program};
use crate::sim::interface::report::{CoreReport, Event, Happening, Report};
use crate::trace::{Arrow, Axis, Slice, Told, Trace, TracedOp, Track, What};
use follow::Follower;

impl Report {
    /// The timeline of the run of `kernel`; with its program also why cores wait.
    pub(crate) fn trace(&self, kernel: &str, program: Option<&Program>) -> Trace {
        let program = program.filter(|program| program.ops.len() == self.ops.len());
        let told = program.map(Told::new);
        let told = told.as_ref();
        let mut trace = Trace {
            kernel: kernel.to_owned(),
            axis: Axis::Steps,
            ops: self.traced_ops(told),
            tracks: Vec::new(),
            arrows: Vec::new(),
            notes: self.notes(),
        };
        let mut growing: HashMap<&str, usize> = HashMap::new();
        let mut cores: Vec<Growing<'_>> = Vec::new();
        for core in &self.cores {
            growing.insert(&core.core, cores.len());
            cores.push(Growing::of_core(core, told));
        }
        for event in &self.events {
            let place = *growing.entry(&event.core).or_insert_with(|| {
                cores.push(Growing::new(event.core.clone(), None));
                cores.len() - 1
            });
            cores[place].take(event);
        }
        let mut instructions = pipes::by_core(&self.instructions);
        // Where the track of each core is, and what ended its waits.
        let (mut places, mut all_heard) = (Vec::new(), Vec::new());
        for core in cores {
            let (track, heard) = core.finish(self.steps as f64);
            let own = instructions.remove(track.name.as_str()).unwrap_or_default();
            let below = pipes::tracks(&track, &own, self.steps as f64);
            places.push(trace.tracks.len());
            all_heard.push(heard);
            trace.tracks.push(track);
            trace.tracks.extend(below);
        }
        for (core, heard) in all_heard.into_iter().enumerate() {
            for (slice, (setter, step)) in heard {
                if let Some(from) = growing.get(setter.as_str()).filter(|from| **from != core) {
                    trace.arrows.push(Arrow { from: places[*from], at: step as f64, to: places[core], slice });
                }
            }
        }
        trace
    }

    fn traced_ops(&self, told: Option<&Told<'_>>) -> Vec<TracedOp> {
        let name = |position: usize| self.ops[position].name.clone();
        match told {
            Some(told) => told.ops(|position| name(position.place())),
            None => {
                let op = |position: usize| TracedOp {
                    index: position,
                    name: name(position),
                    stream: self.ops[position].stream,
                };
                (0..self.ops.len()).map(op).collect()
            }
        }
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
        if !self.instructions.is_empty() {
            notes.push(
                "pipes: the cycles that a rough model gives to instructions, stretched to the steps in which their core \
                 issues them"
                    .to_owned(),
            );
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
struct Growing<'a> {
    track: Track,
    /// Knows the program, if anybody does.
    follower: Option<Follower<'a>>,
    open: Vec<Open>,
    /// When it began to wait for a flag, with what is known of that wait.
    blocked: Option<Slice>,
    /// The end of what came last.
    last: f64,
    /// Waits that another core ended.
    heard: Vec<Heard>,
}

impl<'a> Growing<'a> {
    fn new(name: String, kind: Option<CoreKind>) -> Self {
        let track = Track { name, kind, slices: Vec::new() };
        Self { track, follower: None, open: Vec::new(), blocked: None, last: 0.0, heard: Vec::new() }
    }

    fn of_core(core: &CoreReport, told: Option<&'a Told<'a>>) -> Self {
        let kind = if core.kind == CoreKind::Aic.as_str() { CoreKind::Aic } else { CoreKind::Aiv };
        let follower = told.map(|told| {
            let (cubes, vectors) = told.program.kernel_type.task_ratio();
            let sub_blocks = match kind {
                CoreKind::Aic => cubes,
                CoreKind::Aiv => vectors,
            };
            let id = CoreId { kind, block: core.block, sub_block: core.sub_block, sub_blocks: sub_blocks.into() };
            Follower::new(told, id)
        });
        Self { follower, ..Self::new(core.core.clone(), Some(kind)) }
    }

    fn take(&mut self, event: &Event) {
        let now = event.step as f64;
        let before = (now - 1.0).max(self.last);
        let step = self.follower.as_mut().and_then(|follower| follower.step(event));
        let polled = self.follower.as_mut().map(Follower::polled).unwrap_or_default();
        if before > self.last {
            self.poll(&polled, before);
        }
        match event.what {
            Happening::OpBegin => self.begin(event, step, What::Op, Happening::OpEnd),
            Happening::SyncAll => self.begin(event, step, What::SyncAll, Happening::SyncAllEnd),
            Happening::WaitPreTask => self.begin(event, step, What::HandOver, Happening::WaitPreTaskEnd),
            Happening::Complement => self.begin(event, step, What::SyncAll, Happening::ComplementEnd),
            // The call tells of itself, and then sets.
            Happening::SetNextTask => self.begin(event, step, What::HandOver, Happening::Set),
            Happening::OpEnd | Happening::SyncAllEnd | Happening::WaitPreTaskEnd | Happening::ComplementEnd => {
                self.end(event.what, now);
            }
            Happening::Blocked => {
                if self.blocked.is_none() {
                    self.blocked = Some(self.slice(event, step, What::Wait, before, now));
                }
            }
            Happening::Waited => {
                let start = self.blocked.take().map_or(before, |blocked| blocked.start);
                if let Some(cause) = &event.cause {
                    self.heard.push((self.track.slices.len(), cause.clone()));
                }
                let slice = self.slice(event, step, What::Wait, start, now);
                self.track.slices.push(slice);
                self.end(Happening::Waited, now);
            }
            Happening::Set => {
                self.begin_meeting(step, before);
                self.push(event, step, What::Set, before, now);
                self.end(Happening::Set, now);
            }
            Happening::Flush => self.push(event, step, What::Flush, before, now),
            Happening::Preload => self.push(event, step, What::Preload, now, now),
            Happening::Failure => self.push(event, step, What::Failure, now, now),
            Happening::Agent => self.push(event, step, What::Agent, before, now),
        }
        self.last = self.last.max(now);
    }

    /// Up to now the core has looked at words in memory.
    fn poll(&mut self, steps: &[usize], now: f64) {
        let (Some(follower), Some(step)) = (&self.follower, steps.last()) else { return };
        let slice = follower.told().slice(*step, self.last, now, What::Event);
        self.track.slices.push(slice);
        self.last = now;
    }

    /// A slice with all that is known about it.
    fn slice(&self, event: &Event, step: Option<usize>, what: What, start: f64, end: f64) -> Slice {
        let unit = if what == What::Preload { " units of 2 KiB" } else { "" };
        let seen = event.detail.as_ref().map(|detail| format!("{detail}{unit}"));
        let mut slice = Slice { op: event.position, ..Slice::new(start, end, what) };
        let told = step.and_then(|step| Some((step, self.follower.as_ref()?.told())));
        let planned = told.and_then(|(step, told)| {
            let words = told.words(step);
            slice.op = slice.op.or(told.op(step));
            slice.reason.clone_from(&words.reason);
            words.detail.clone()
        });
        slice.detail = match (seen, planned) {
            (Some(seen), Some(planned)) => Some(Arc::from(format!("{seen}: {planned}").as_str())),
            (Some(seen), None) => Some(Arc::from(seen.as_str())),
            (None, planned) => planned,
        };
        slice
    }

    fn push(&mut self, event: &Event, step: Option<usize>, what: What, start: f64, end: f64) {
        let slice = self.slice(event, step, what, start, end);
        self.track.slices.push(slice);
    }

    fn begin(&mut self, event: &Event, step: Option<usize>, what: What, ends_with: Happening) {
        let start = event.step as f64;
        let mut slice = self.slice(&Event { detail: None, ..event.clone() }, step, what, start, start);
        match (&self.follower, step) {
            (Some(follower), Some(step)) => slice.what = follower.told().what(step).unwrap_or(what),
            (_, _) if what != What::Op => slice.detail = Some(Arc::from(event.what.as_str())),
            (_, _) => {}
        }
        self.open.push(Open { slice: self.track.slices.len(), ends_with });
        self.track.slices.push(slice);
    }

    /// A barrier that is made of a set and a wait is shown around the two.
    fn begin_meeting(&mut self, step: Option<usize>, start: f64) {
        let Some((follower, step)) = self.follower.as_ref().zip(step) else { return };
        if !follower.is_meeting(step) {
            return;
        }
        let slice = follower.told().slice(step, start, start, What::Barrier);
        self.open.push(Open { slice: self.track.slices.len(), ends_with: Happening::Waited });
        self.track.slices.push(slice);
    }

    fn end(&mut self, what: Happening, now: f64) {
        let Some(place) = self.open.iter().rposition(|open| open.ends_with == what) else { return };
        // What began inside it ends with it.
        for open in self.open.drain(place..) {
            self.track.slices[open.slice].end = now;
        }
    }

    fn finish(mut self, end: f64) -> (Track, Vec<Heard>) {
        let not_ended = |why: &Option<Arc<str>>| match why {
            Some(why) => Some(Arc::from(format!("{why}; it was not ended").as_str())),
            None => Some(Arc::from("it was not ended")),
        };
        let polls = self.follower.as_ref().and_then(Follower::polls);
        if let (Some(step), true) = (polls, self.open.is_empty() && self.blocked.is_none() && end > self.last) {
            self.poll(&[step], end);
            if let Some(slice) = self.track.slices.last_mut() {
                slice.reason = not_ended(&slice.reason);
            }
        }
        for open in self.open.drain(..) {
            let slice = &mut self.track.slices[open.slice];
            slice.end = end.max(slice.start);
            slice.reason = not_ended(&slice.reason);
        }
        if let Some(mut wait) = self.blocked.take() {
            wait.end = end.max(wait.start);
            wait.reason = not_ended(&wait.reason);
            self.track.slices.push(wait);
        }
        (self.track, self.heard)
    }
}
