//! A play with times as a picture: every stretch of every core, and which set ended which wait.

use super::account::Part;
use super::error::CostError;
use super::play::{Launch, Stretch, play_recorded};
use super::predict::Subject;
use super::prices::Prices;
use super::work::OpWork;
use crate::model::{ByPosition, OpPosition};
use crate::program::{Action, CoreIndex, Program};
use crate::trace::{Arrow, Axis, Slice, Told, Trace, Track, What};

/// What every op is taken to last where nothing tells it.
const ASSUMED_US: f64 = 5.0;

/// What every core does when, with the durations of the profiles; without any, all ops are taken to last the same.
pub(crate) fn trace(subject: &Subject, program: &Program, prices: &Prices) -> Result<Trace, CostError> {
    let (axis, work): (Axis, ByPosition<OpWork>) = if subject.is_measured() {
        (Axis::Predicted, subject.derive(prices).iter().map(|derived| derived.work.clone()).collect())
    } else {
        let even = ByPosition::filled(subject.keys.len(), OpWork::even(ASSUMED_US));
        (Axis::Assumed { op_us: ASSUMED_US }, even)
    };
    let launch = Launch { program, sizes: &subject.sizes, work: &work };
    let recorded = play_recorded(launch, prices.values())?;
    let mut order: Vec<usize> = (0..recorded.len()).collect();
    order.sort_by_key(|core| {
        let id = recorded[*core].0;
        (id.kind, id.index(CoreIndex::Core))
    });
    let mut place = vec![0; recorded.len()];
    for (track, core) in order.iter().enumerate() {
        place[*core] = track;
    }
    let told = Told::new(program);
    let mut traced = Trace {
        kernel: subject.name.clone(),
        axis,
        ops: told.ops(|position| subject.keys[position].label().to_owned()),
        tracks: Vec::with_capacity(recorded.len()),
        arrows: Vec::new(),
        notes: notes(subject, axis),
    };
    for core in order {
        let (id, stretches) = &recorded[core];
        let mut track = Track::core(id.kind, id.index(CoreIndex::Core));
        let mut drawn = Drawn { told: &told, slices: &mut track.slices, heard: Vec::new() };
        drawn.draw(stretches);
        let to = traced.tracks.len();
        for (slice, (from, at)) in drawn.heard {
            // The core that comes last to a meeting hears its own set.
            if from != core {
                traced.arrows.push(Arrow { from: place[from], at, to, slice });
            }
        }
        traced.tracks.push(track);
    }
    Ok(traced)
}

fn notes(subject: &Subject, axis: Axis) -> Vec<String> {
    let known = |op: OpPosition| {
        let duration = &subject.durations[op];
        duration.task.is_some() || duration.cores.is_some()
    };
    let unknown = subject.keys.positions().filter(|op| !known(*op)).count();
    match axis {
        Axis::Predicted if unknown > 0 => vec![format!("{unknown} ops are in no profile and count as nothing")],
        Axis::Predicted | Axis::Assumed { .. } | Axis::Steps | Axis::Cycles | Axis::Measured { .. } => Vec::new(),
    }
}

/// The slices of one core while they grow.
struct Drawn<'a> {
    told: &'a Told<'a>,
    slices: &'a mut Vec<Slice>,
    /// Slices that a set ended: which core's, and when.
    heard: Vec<(usize, (usize, f64))>,
}

impl Drawn<'_> {
    fn draw(&mut self, stretches: &[Stretch]) {
        let mut rest = stretches;
        while let Some((first, behind)) = rest.split_first() {
            let Some(number) = first.step.filter(|_| first.part == Part::Work) else {
                self.push(first);
                rest = behind;
                continue;
            };
            // An op's code goes on to the end of its step; what it waits for meanwhile stands inside it.
            let count = rest.iter().take_while(|stretch| stretch.step == Some(number)).count();
            let end = rest[count - 1].end;
            let (op, detail) = (self.told.op(number), self.told.words(number).detail.clone());
            self.slices.push(Slice { op, detail, ..Slice::new(first.start, end, What::Op) });
            for inner in &rest[..count] {
                if inner.part != Part::Work || inner.from.is_some() {
                    self.push(inner);
                }
            }
            rest = &rest[count..];
        }
    }

    fn push(&mut self, stretch: &Stretch) {
        let number = stretch.step.filter(|number| *number < self.told.program.steps.len());
        let what = kind(stretch.part, number.map(|number| &self.told.step(number).action));
        let mut slice = match number {
            Some(number) => self.told.slice(number, stretch.start, stretch.end, what),
            None => Slice::new(stretch.start, stretch.end, what),
        };
        if what == What::CodeFetch {
            slice.reason = None;
        }
        if let Some(from) = stretch.from {
            self.heard.push((self.slices.len(), from));
        }
        self.slices.push(slice);
    }
}

fn kind(part: Part, action: Option<&Action>) -> What {
    match part {
        Part::Work => What::OtherHalf,
        Part::TaskStart => What::TaskStart,
        Part::Code => match action {
            Some(Action::Preload { .. } | Action::PreloadHere { .. } | Action::PreloadPicked { .. }) => What::Preload,
            Some(_) | None => What::CodeFetch,
        },
        Part::Barrier => What::Barrier,
        Part::HandOver => What::HandOver,
        Part::CrossFlag => What::Wait,
        Part::SyncAll => What::SyncAll,
        Part::Event => What::Event,
        Part::Upkeep => match action {
            Some(Action::Flush) => What::Flush,
            Some(Action::ClearWorkspace { .. }) => What::Clear,
            Some(_) | None => What::Record,
        },
    }
}
