//! A decoded buffer as traces. The records say when ops and events began and ended; what a core did between them, and why,
//! says its program.

use std::sync::Arc;

use super::records::{CoreLog, Decoded, Launch, Span, Subject};
use super::table::{begin, last};
use super::{Core, Profiled};
use crate::cost::profile::BufferSource;
use crate::program::{Action, RecordEdge, RecordSubject};
use crate::trace::{Axis, Slice, Told, Trace, TracedOp, Track, What};

/// A trace per launch.
pub(crate) fn traces(decoded: &Decoded, kernel: &Profiled, clock_mhz: Option<f64>) -> Vec<Trace> {
    let told = kernel.program.as_ref().map(Told::new);
    let several = decoded.launches.len() > 1;
    let traced = |launch: &Launch| Trace {
        kernel: match several {
            true => format!("{} task {}", kernel.name, launch.task),
            false => kernel.name.clone(),
        },
        axis: clock_mhz.map_or(Axis::Cycles, |clock_mhz| Axis::Measured { clock_mhz }),
        ops: ops(kernel, told.as_ref()),
        tracks: tracks(launch, kernel, told.as_ref(), clock_mhz.map_or(1.0, |clock| 1.0 / clock)),
        arrows: Vec::new(),
        notes: notes(decoded, kernel, told.is_some()),
    };
    decoded.launches.iter().map(traced).collect()
}

fn ops(kernel: &Profiled, told: Option<&Told<'_>>) -> Vec<TracedOp> {
    match told {
        Some(told) => told.ops(|position| kernel.ops[position.place()].name.clone()),
        None => {
            let ops = kernel.ops.iter().enumerate();
            ops.map(|(index, op)| TracedOp { index, name: op.name.clone(), stream: Some(op.stream) }).collect()
        }
    }
}

fn notes(decoded: &Decoded, kernel: &Profiled, is_told: bool) -> Vec<String> {
    let mut notes = decoded.problems.clone();
    match kernel.source {
        BufferSource::Simulator => {
            notes.push("recorded by the simulator: its cycles are steps, an order and not a time".to_owned());
        }
        BufferSource::Device => {}
    }
    if !is_told {
        notes.push(
            "no reasons: the object beside the kernel's JSON is not there, or does not contain its program".to_owned(),
        );
    }
    notes
}

fn tracks(launch: &Launch, kernel: &Profiled, told: Option<&Told<'_>>, scale: f64) -> Vec<Track> {
    let (begin, end) = (begin(launch), last(launch));
    let mut logs: Vec<&CoreLog> = launch.cores.iter().collect();
    logs.sort_by_key(|log| log.core);
    let track = |log: &CoreLog| {
        let drawn = Drawn {
            kernel,
            core: log.core,
            passed: told.map(|told| Passed::new(told, kernel, log.core)),
            track: Track::core(log.core.kind, log.core.number.into()),
            until: log.started,
            begin,
            end,
            scale,
        };
        drawn.draw(log)
    };
    logs.into_iter().map(track).collect()
}

/// The track of one core while it grows.
struct Drawn<'a> {
    kernel: &'a Profiled,
    core: Core,
    passed: Option<Passed<'a>>,
    track: Track,
    /// The end of what was drawn last, in cycles.
    until: u64,
    begin: u64,
    /// The last record of all cores.
    end: u64,
    scale: f64,
}

impl Drawn<'_> {
    fn draw(mut self, log: &CoreLog) -> Track {
        let last = log.spans.iter().map(|span| span.end.unwrap_or(span.start)).max().unwrap_or(log.started);
        let mut whole = last;
        for span in &log.spans {
            let end = span.end.unwrap_or(last).max(span.start);
            match span.subject {
                Subject::SuperKernel => {
                    whole = end;
                    self.until = self.until.max(span.start);
                    // What came before is not drawn.
                    if let Some(passed) = &mut self.passed {
                        passed.to(span.subject, RecordEdge::Start);
                    }
                }
                // It waits for others while it is in there.
                Subject::Op(op) if !self.kernel.runs(op, self.core) => {}
                Subject::Op(_) | Subject::Notify(_) | Subject::Wait(_) => self.span(span, end),
            }
        }
        if log.stopped_between_ops() {
            let rest = self.passed.as_ref().map(Passed::until_record);
            self.stuck(self.end, rest.unwrap_or_default());
            return self.track;
        }
        let rest = self.passed.as_mut().map(|passed| passed.to(Subject::SuperKernel, RecordEdge::End));
        self.between(whole.max(self.until), rest.unwrap_or_default());
        self.track
    }

    /// An op or an event, and what came before it.
    fn span(&mut self, span: &Span, end: u64) {
        let before = self.passed.as_mut().map(|passed| passed.to(span.subject, RecordEdge::Start));
        let start = span.start.max(self.until);
        self.between(start, before.unwrap_or_default());
        let inside = self.passed.as_mut().map(|passed| passed.to(span.subject, RecordEdge::End)).unwrap_or_default();
        let end = end.max(start);
        let event = |text: String| Slice { detail: Some(text.as_str().into()), ..self.slice(start, end, What::Event) };
        let mut slice = match span.subject {
            Subject::Op(op) => Slice { op: Some(op), ..self.slice(start, end, What::Op) },
            Subject::SuperKernel => self.slice(start, end, What::Between),
            Subject::Notify(id) => event(format!("notify event {id}")),
            Subject::Wait(id) => event(format!("wait for event {id}")),
        };
        if let Some(passed) = &self.passed {
            passed.explain(&mut slice, &inside);
        }
        if span.end.is_none() {
            slice.reason = not_ended(slice.reason.as_deref());
        }
        self.track.slices.push(slice);
        self.until = end;
    }

    /// From its last record to the last one of all cores.
    fn stuck(&mut self, to: u64, steps: Vec<usize>) {
        let before = self.track.slices.len();
        self.between(to, steps);
        for slice in &mut self.track.slices[before..] {
            slice.reason = not_ended(slice.reason.as_deref());
        }
    }

    /// What stands between two records.
    fn between(&mut self, to: u64, steps: Vec<usize>) {
        if to <= self.until {
            return;
        }
        let mut slice = self.slice(self.until, to, What::Between);
        if let Some(passed) = &self.passed {
            passed.explain(&mut slice, &steps);
        }
        self.track.slices.push(slice);
    }

    fn slice(&self, start: u64, end: u64, what: What) -> Slice {
        let time = |cycle: u64| self.scale * cycle.saturating_sub(self.begin) as f64;
        Slice::new(time(start), time(end), what)
    }
}

/// Goes along the steps of one core while its records come.
pub(super) struct Passed<'a> {
    pub(super) told: &'a Told<'a>,
    pub(super) steps: Vec<usize>,
    pub(super) next: usize,
}

impl<'a> Passed<'a> {
    pub(super) fn new(told: &'a Told<'a>, kernel: &Profiled, core: Core) -> Self {
        Self { told, steps: told.steps_of(kernel.core_id(core)).collect(), next: 0 }
    }

    /// The steps up to a record; none if the program has no such record from here on.
    pub(super) fn to(&mut self, wanted: Subject, wanted_edge: RecordEdge) -> Vec<usize> {
        let is_it = |number: &usize| {
            let action = &self.told.step(*number).action;
            matches!(action, Action::Record { subject, edge } if *edge == wanted_edge && is_about(*subject, wanted))
        };
        let Some(ahead) = self.steps[self.next..].iter().position(is_it) else { return Vec::new() };
        let passed = self.steps[self.next..self.next + ahead].to_vec();
        self.next += ahead + 1;
        passed
    }

    /// Tells what a core did in a slice, and why. A slice between ops in which it can have waited for one thing only is
    /// named after that.
    fn explain(&self, slice: &mut Slice, steps: &[usize]) {
        if slice.what == What::Op {
            let call = steps.iter().find(|number| self.told.what(**number) == Some(What::Op));
            slice.detail = call.and_then(|number| self.told.words(*number).detail.clone());
            return;
        }
        let synchronising: Vec<usize> =
            steps.iter().copied().filter(|number| self.told.step(*number).action.synchronises()).collect();
        let waits: Vec<usize> = synchronising.iter().copied().filter(|number| self.waits(*number)).collect();
        if let (What::Between, [only]) = (slice.what, waits.as_slice()) {
            slice.what = self.told.what(*only).unwrap_or(What::Between);
        }
        slice.op = waits.last().or(synchronising.last()).and_then(|number| self.told.op(*number));
        let mut reasons: Vec<&str> = Vec::new();
        for number in &synchronising {
            let reason = self.told.words(*number).reason.as_deref();
            reasons.extend(reason.filter(|reason| !reasons.contains(reason)));
        }
        let joined = |words: Vec<&str>| (!words.is_empty()).then(|| Arc::from(words.join("; ").as_str()));
        slice.reason = joined(reasons);
        if slice.detail.is_none() {
            let text = |number: &usize| {
                let name = self.told.step(*number).action.name();
                self.told.words(*number).detail.as_ref().map_or(name.to_owned(), |detail| format!("{name} {detail}"))
            };
            let texts: Vec<String> = synchronising.iter().map(text).collect();
            slice.detail = joined(texts.iter().map(String::as_str).collect());
        }
    }

    /// Can a core be held up there?
    pub(super) fn waits(&self, number: usize) -> bool {
        matches!(
            self.told.step(number).action,
            Action::Barrier(_)
                | Action::WaitFlag { .. }
                | Action::EarlyStartWait { .. }
                | Action::WaitEvent { .. }
                | Action::Switch { .. }
        )
    }
}

fn not_ended(reason: Option<&str>) -> Option<Arc<str>> {
    Some(match reason {
        Some(reason) => Arc::from(format!("{reason}; it was not ended").as_str()),
        None => Arc::from("it was not ended"),
    })
}

/// Records have 32 bits of an event.
fn is_about(subject: RecordSubject, wanted: Subject) -> bool {
    match (subject, wanted) {
        (RecordSubject::SuperKernel, Subject::SuperKernel) => true,
        (RecordSubject::Op(position), Subject::Op(wanted)) => position.place() == wanted,
        (RecordSubject::Notify(_), Subject::Notify(event)) | (RecordSubject::Wait(_), Subject::Wait(event)) => {
            subject.index() == event
        }
        (
            RecordSubject::SuperKernel | RecordSubject::Op(_) | RecordSubject::Notify(_) | RecordSubject::Wait(_),
            Subject::SuperKernel | Subject::Op(_) | Subject::Notify(_) | Subject::Wait(_),
        ) => false,
    }
}
