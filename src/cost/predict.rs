//! What fusing gains: the same ops as tasks of their own and as one super kernel.

use std::sync::Arc;

use serde::Serialize;

use super::account::Part;
use super::durations::{Derived, Duration, Durations, OpKey, Source, code_of, derive};
use super::error::CostError;
use super::play::{Launch, Played, Timeline, play};
use super::prices::{PerPrice, Price, Prices};
use super::unfused::{self, TaskTime, Unfused};
use super::work::OpWork;
use crate::model::{ByPosition, CoreClass, CoreKind, OpPosition, SuperKernel};
use crate::objects::TextSizes;
use crate::options::Options;
use crate::program::{Action, Program};

/// A range meant to hold in 95 of 100 cases, in standard errors. More than the 1.96 of a normal distribution: the
/// critical path changes with the prices, which their errors at one point do not show.
const DEVIATIONS: f64 = 2.5;

/// A super kernel with the durations of its ops.
#[derive(Debug, Clone)]
pub struct Subject {
    /// How reports call it: the scope's piece, or the kernel.
    pub name: String,
    /// The checked inputs.
    pub kernel: Arc<SuperKernel>,
    /// Code sizes.
    pub sizes: Arc<TextSizes>,
    /// Its ops.
    pub keys: ByPosition<OpKey>,
    /// Their durations.
    pub durations: ByPosition<Duration>,
}

impl Subject {
    /// Looks the durations up. Ops about which nothing at all is known get none: they are named in the notes.
    pub fn new(name: &str, kernel: SuperKernel, sizes: TextSizes, names: &[String], durations: &Durations<'_>) -> Self {
        let keys = OpKey::of(&kernel, names);
        let found = keys
            .enumerate()
            .map(|(position, key)| {
                durations.of(key, position, &kernel.name).unwrap_or(Duration {
                    task: None,
                    halves: None,
                    cores: None,
                    wait: None,
                    source: Source::SameCores,
                })
            })
            .collect();
        Self { name: name.to_owned(), kernel: Arc::new(kernel), sizes: Arc::new(sizes), keys, durations: found }
    }

    /// Does anything say how long any op takes?
    pub(crate) fn is_measured(&self) -> bool {
        self.durations.iter().any(|duration| duration.task.is_some() || duration.cores.is_some())
    }

    /// The work of every op under these prices.
    pub(crate) fn derive(&self, prices: &Prices) -> ByPosition<Derived> {
        let ops = self.durations.enumerate().zip(self.keys.iter());
        ops.map(|((position, duration), key)| derive(duration, key, position, &self.sizes, prices)).collect()
    }
}

/// A time or a difference of times, with its range.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// The most likely value, in microseconds.
    pub us: f64,
    /// Lower end of the range.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Estimate {
    fn new(us: f64, variance: f64) -> Self {
        let half = DEVIATIONS * variance.max(0.0).sqrt();
        Self { us, low: us - half, high: us + half }
    }

    /// Is a value in the range?
    pub fn contains(&self, us: f64) -> bool {
        self.low <= us && us <= self.high
    }
}

/// Why fusing gains or loses.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reason {
    /// Where the time goes.
    pub what: String,
    /// Microseconds gained there; negative: lost.
    pub us: f64,
}

/// One op of a prediction.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OpPrediction {
    /// Its name in the graph, or that of its kernel.
    pub name: String,
    /// Its type.
    pub op_type: String,
    /// Where its duration comes from.
    pub source: Source,
    /// As a task of its own.
    pub unfused: Estimate,
    /// When its first core starts it inside the super kernel.
    pub start: f64,
    /// When its last core ends it.
    pub end: f64,
    /// By how much its slowest core is behind the average.
    pub imbalance: f64,
    /// Is it in the chain that decides about the time of the super kernel?
    pub decides: bool,
}

/// One core of a prediction.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CorePrediction {
    /// `aic 3.0`: kind, block, number in the block.
    pub core: String,
    /// Microseconds of the ops' own code.
    pub work: f64,
    /// Microseconds of everything a super kernel adds.
    pub overhead: f64,
    /// Microseconds of standing still.
    pub waiting: f64,
}

/// What fusing some ops gains. All of it predicted.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Prediction {
    /// The scope's piece, or the kernel.
    pub name: String,
    /// The option string that was predicted.
    pub options: String,
    /// As tasks of their own, gaps between them included.
    pub unfused: Estimate,
    /// As one super kernel.
    pub fused: Estimate,
    /// The difference.
    pub gain: Estimate,
    /// The gain in percent of the unfused time.
    pub gain_percent: f64,
    /// Why, the largest first.
    pub reasons: Vec<Reason>,
    /// Microseconds of the super kernel by part.
    pub parts: Vec<(String, f64)>,
    /// Microseconds during which ops on cube cores and other ops on vector cores run side by side.
    pub cube_vector_overlap: f64,
    /// By how much slowest cores are behind the average, summed over the ops.
    pub imbalance: f64,
    /// Share of all cores' time that they stand still, in percent.
    pub waiting_percent: f64,
    /// Its ops, in order.
    pub ops: Vec<OpPrediction>,
    /// Its cores.
    pub cores: Vec<CorePrediction>,
    /// What is assumed, estimated or not known.
    pub notes: Vec<String>,
}

/// A sum of prices and measured durations.
pub(super) struct Form {
    /// Counts of prices.
    pub(super) counts: PerPrice,
    /// How often each op's measured duration is in the sum.
    pub(super) ops: ByPosition<f64>,
}

impl Form {
    fn new(ops: usize) -> Self {
        Self { counts: [0.0; Price::COUNT], ops: ByPosition::filled(ops, 0.0) }
    }

    /// Adds `times` the work of an op, which is its measured duration without some prices.
    fn add_work(&mut self, op: OpPosition, times: f64, derived: &Derived) {
        self.ops[op] += times;
        for (sum, count) in self.counts.iter_mut().zip(&derived.counts) {
            *sum -= times * count;
        }
    }

    fn minus(&self, other: &Self) -> Self {
        let counts = std::array::from_fn(|place| self.counts[place] - other.counts[place]);
        Self { counts, ops: self.ops.iter().zip(other.ops.iter()).map(|(mine, theirs)| mine - theirs).collect() }
    }

    pub(super) fn variance(&self, derived: &ByPosition<Derived>, prices: &Prices) -> f64 {
        let measured: f64 =
            self.ops.iter().zip(derived.iter()).map(|(times, derived)| (times * derived.error).powi(2)).sum();
        measured + prices.variance(&self.counts)
    }
}

/// The fused time as a sum of prices and measured durations.
pub(super) fn fused_form(timeline: &Timeline, derived: &ByPosition<Derived>) -> Form {
    let mut form = Form::new(derived.len());
    form.counts = timeline.path.counts;
    for &(op, times) in &timeline.path.ops {
        form.add_work(op, times, &derived[op]);
    }
    form
}

/// Predicts one super kernel.
pub fn predict(subject: &Subject, program: &Program, prices: &Prices, played: Played) -> Result<Prediction, CostError> {
    let derived = subject.derive(prices);
    let work: ByPosition<OpWork> = derived.iter().map(|derived| derived.work.clone()).collect();
    let timeline = play(Launch { program, sizes: &subject.sizes, work: &work }, prices.values(), played)?;
    let alone = run_alone(subject, &derived, prices);
    let fused_form = fused_form(&timeline, &derived);
    let unfused_form = unfused_form(subject, &alone, &derived);
    let model = (prices.model_error * timeline.total).powi(2);
    // Gaps that were measured are known as well as they were measured.
    let wait_error = |op: &OpPosition| subject.durations[*op].wait.map_or(0.0, |wait| wait.error);
    let gaps: f64 = alone.chain.iter().skip(1).map(|op| wait_error(op).powi(2)).sum();
    let gain = unfused_form.minus(&fused_form);
    let [unfused_variance, fused_variance, gain_variance] =
        [&unfused_form, &fused_form, &gain].map(|form| form.variance(&derived, prices));
    let saved = alone.total - timeline.total;
    Ok(Prediction {
        name: subject.name.clone(),
        options: option_text(&subject.kernel.options),
        unfused: Estimate::new(alone.total, unfused_variance + gaps),
        fused: Estimate::new(timeline.total, fused_variance + model),
        gain: Estimate::new(saved, gain_variance + model + gaps),
        gain_percent: if alone.total > 0.0 { 100.0 * saved / alone.total } else { 0.0 },
        reasons: reasons(subject, &alone, &timeline, prices),
        parts: Part::ALL.iter().map(|part| (part.name().to_owned(), timeline.path.part(*part))).collect(),
        cube_vector_overlap: side_by_side(subject, &timeline),
        imbalance: timeline.ops.iter().map(|span| span.imbalance()).sum(),
        waiting_percent: {
            let waiting: f64 = timeline.cores.iter().map(|(_, account)| account.waiting).sum();
            let all = timeline.total * timeline.cores.len() as f64;
            if all > 0.0 { 100.0 * waiting / all } else { 0.0 }
        },
        ops: ops(subject, &timeline, &derived, prices),
        cores: cores(&timeline),
        notes: notes(subject, program, &derived),
    })
}

fn run_alone(subject: &Subject, derived: &ByPosition<Derived>, prices: &Prices) -> Unfused {
    let tasks: ByPosition<TaskTime> = derived
        .iter()
        .zip(subject.durations.iter())
        .map(|(derived, duration)| TaskTime { us: derived.alone, gap: duration.wait.map(|wait| wait.us) })
        .collect();
    unfused::run(&subject.kernel, &tasks, prices.values())
}

fn unfused_form(subject: &Subject, alone: &Unfused, derived: &ByPosition<Derived>) -> Form {
    let mut form = Form::new(subject.keys.len());
    form.counts[Price::LaunchGap as usize] = alone.priced_gaps;
    for &op in &alone.chain {
        form.ops[op] += 1.0;
        for (sum, count) in form.counts.iter_mut().zip(&derived[op].alone_counts) {
            *sum += count;
        }
    }
    form
}

/// The two times side by side, part by part: the differences add up to the gain.
fn reasons(subject: &Subject, alone: &Unfused, timeline: &Timeline, prices: &Prices) -> Vec<Reason> {
    let values = prices.values();
    let start = values[Price::TaskStart as usize];
    let code_of = |op: OpPosition| code_of(&subject.keys[op], op, &subject.sizes).time(values);
    let derived = subject.derive(prices);
    let (mut starts, mut code, mut work) = (0.0, 0.0, 0.0);
    for &op in &alone.chain {
        // A task shorter than its overhead is all overhead.
        let task = derived[op].alone;
        starts += start.min(task);
        code += code_of(op).min((task - start).max(0.0));
        work += (task - start - code_of(op)).max(0.0);
    }
    let path = |part: Part| timeline.path.part(part);
    let overlap = work - path(Part::Work);
    let overlap_name = if overlap >= 0.0 { "ops that overlap" } else { "ops that wait for each other's halves" };
    let saved = |name: &str, us: f64| Reason { what: name.to_owned(), us };
    let mut reasons = vec![
        saved("gaps between tasks", alone.gaps),
        saved("task starts", starts - path(Part::TaskStart)),
        saved("code misses", code - path(Part::Code)),
        saved(overlap_name, overlap),
    ];
    for part in [Part::Barrier, Part::HandOver, Part::CrossFlag, Part::SyncAll, Part::Event, Part::Upkeep] {
        reasons.push(saved(part.name(), -path(part)));
    }
    reasons.retain(|reason| reason.us.abs() > 1e-9);
    reasons.sort_by(|left, right| right.us.abs().total_cmp(&left.us.abs()));
    reasons
}

fn ops(subject: &Subject, timeline: &Timeline, derived: &ByPosition<Derived>, prices: &Prices) -> Vec<OpPrediction> {
    let decides: std::collections::HashSet<OpPosition> = timeline.path.ops.iter().map(|(op, _)| *op).collect();
    subject
        .keys
        .enumerate()
        .map(|(position, key)| {
            let (span, derived) = (&timeline.ops[position], &derived[position]);
            let variance = derived.error.powi(2) + prices.variance(&derived.alone_counts);
            OpPrediction {
                name: key.label().to_owned(),
                op_type: key.op_type.clone(),
                source: subject.durations[position].source,
                unfused: Estimate::new(derived.alone, variance),
                start: if span.cores == 0 { 0.0 } else { span.start },
                end: span.end,
                imbalance: span.imbalance(),
                decides: decides.contains(&position),
            }
        })
        .collect()
}

/// How long ops of different kinds of core run at the same time.
fn side_by_side(subject: &Subject, timeline: &Timeline) -> f64 {
    let mut changes: Vec<(f64, CoreClass, i32)> = Vec::new();
    for (position, span) in timeline.ops.enumerate().filter(|(_, span)| span.cores > 0) {
        let class = subject.keys[position].kernel_type.class();
        changes.extend([(span.start, class, 1), (span.end, class, -1)]);
    }
    changes.sort_by(|left, right| left.0.total_cmp(&right.0));
    let (mut aic, mut aiv, mut mix) = (0, 0, 0);
    let (mut since, mut sum) = (0.0, 0.0);
    for (time, class, change) in changes {
        if (aic > 0 && (aiv > 0 || mix > 0)) || (aiv > 0 && mix > 0) {
            sum += time - since;
        }
        since = time;
        match class {
            CoreClass::Aic => aic += change,
            CoreClass::Aiv => aiv += change,
            CoreClass::Mix => mix += change,
        }
    }
    sum
}

fn cores(timeline: &Timeline) -> Vec<CorePrediction> {
    let account = |(id, account): &(crate::program::CoreId, super::account::CoreAccount)| {
        let all: f64 = account.parts.iter().sum();
        let work = account.parts[Part::Work as usize];
        CorePrediction { core: id.to_string(), work, overhead: all - work, waiting: account.waiting }
    };
    timeline.cores.iter().map(account).collect()
}

/// What the numbers rest on.
fn notes(subject: &Subject, program: &Program, derived: &ByPosition<Derived>) -> Vec<String> {
    let mut notes = Vec::new();
    let mut list = |text: &str, ops: Vec<String>| {
        if !ops.is_empty() {
            notes.push(format!("{text}: {}", listed(&ops)));
        }
    };
    let of = |wanted: &dyn Fn(OpPosition) -> Option<String>| -> Vec<String> {
        subject.keys.positions().filter_map(wanted).collect()
    };
    let label = |op: OpPosition| format!("`{}`", subject.keys[op].label());
    let known = |op: OpPosition| {
        let duration = &subject.durations[op];
        duration.task.is_some() || duration.cores.is_some()
    };
    list("it is not known how long these take, so they count as nothing", of(&|op| (!known(op)).then(|| label(op))));
    list(
        "not in the profile, estimated from other ops",
        of(&|op| {
            let duration = &subject.durations[op];
            let task = duration.task.filter(|_| !duration.source.is_own())?;
            Some(format!("{} {:.2} us +-{:.0} %", label(op), task.us, 100.0 * task.error / task.us.max(1e-9)))
        }),
    );
    list(
        "shorter than the prices of a task's start and code, so their work counts as nothing",
        of(&|op| (known(op) && derived[op].work.most(&CoreKind::BOTH) <= 0.0).then(|| label(op))),
    );
    list(
        "no code size, taken to be 8 KiB",
        of(&|op| {
            let kinds = subject.keys[op].kernel_type.class().kinds();
            kinds.iter().any(|kind| subject.sizes.get(op, *kind).is_none()).then(|| label(op))
        }),
    );
    let has = |wanted: fn(&Action) -> bool| program.steps.iter().any(|step| wanted(&step.action));
    if has(|action| matches!(action, Action::WaitEvent { .. })) {
        notes.push("outer events are taken to have come already: when they do, the model cannot know".to_owned());
    }
    if has(|action| matches!(action, Action::Switch { .. })) {
        notes.push("tiling of dynamic ops is taken to be done already: when it is, the model cannot know".to_owned());
    }
    if has(|action| matches!(action, Action::PreloadHere { .. })) {
        notes.push("preload-code=max: the code after the entry is taken to be in the order of the calls".to_owned());
    }
    notes
}

/// The first few of a list.
fn listed(names: &[String]) -> String {
    const SHOWN: usize = 6;
    let shown = names.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    match names.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        Some(more) => format!("{shown} and {more} more"),
        None => shown,
    }
}

/// The options that are not at their defaults, as an option string.
pub(crate) fn option_text(options: &Options) -> String {
    let differs = options.texts().filter(|(name, text)| *text != name.default_text());
    differs.map(|(name, text)| format!("{name}={text}")).collect::<Vec<_>>().join(":")
}
