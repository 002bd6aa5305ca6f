//! Which options make a super kernel fastest, and whether it should be one: a search with the model.

use rayon::prelude::*;
use serde::Serialize;

use super::error::CostError;
use super::play::{Launch, Played, play};
use super::predict::{Subject, option_text};
use super::prices::{Price, Prices};
use super::work::OpWork;
use crate::cancel::Cancel;
use crate::model::{self, ByPosition, Op, SuperKernel};
use crate::objects::TextSizes;
use crate::options::{EarlyStartMode, OptionName, Options, PreloadMode, SplitCount};
use crate::parallel;
use crate::plan;

/// Differences below this share of the time are not worth an option.
const WORTH: f64 = 0.002;
/// Cuts that are tried in one super kernel.
const CUTS_TRIED: usize = 24;

/// An option string and what it makes of the super kernel.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Candidate {
    /// What to paste; empty: all defaults.
    pub options: String,
    /// Predicted microseconds.
    pub us: f64,
}

/// A candidate the compiler would refuse.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Refused {
    /// The option string.
    pub options: String,
    /// Why.
    pub why: String,
}

/// What one option of the best candidate contributes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Contribution {
    /// `name=value`.
    pub option: String,
    /// Microseconds that are lost without it.
    pub us: f64,
}

/// A cut that pays.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CutFound {
    /// The op that begins the second super kernel.
    pub in_front_of: String,
    /// Microseconds gained, the gap between the two counted.
    pub us: f64,
}

/// The outcome of a search. All of it predicted.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tuning {
    /// The super kernel, or the scope.
    pub name: String,
    /// The options it has now.
    pub current: Candidate,
    /// Every candidate, the fastest first.
    pub ranking: Vec<Candidate>,
    /// Those that cannot be built.
    pub refused: Vec<Refused>,
    /// What the options of the best one contribute.
    pub contributions: Vec<Contribution>,
    /// Cuts that make the best one faster still.
    pub cuts: Vec<CutFound>,
    /// What these numbers cannot tell.
    pub notes: Vec<String>,
}

impl Tuning {
    /// The option string to paste.
    pub fn best(&self) -> &Candidate {
        self.ranking.first().unwrap_or(&self.current)
    }
}

/// Some of the ops of a subject under some options: what the search plays.
pub(super) struct Variant<'a> {
    pub(super) subject: &'a Subject,
    pub(super) work: &'a ByPosition<OpWork>,
    pub(super) from: usize,
    pub(super) to: usize,
}

impl Variant<'_> {
    pub(super) fn whole<'a>(subject: &'a Subject, work: &'a ByPosition<OpWork>) -> Variant<'a> {
        Variant { subject, work, from: 0, to: work.len() }
    }

    /// Predicted time under these options; an error tells why the compiler would refuse them.
    pub(super) fn time(&self, options: &Options, prices: &Prices) -> Result<f64, CostError> {
        let kernel = &self.subject.kernel;
        let mut ops: Vec<Op> = kernel.ops.iter().take(self.to).skip(self.from).cloned().collect();
        if self.from > 0
            && let Some(first) = ops.first_mut()
        {
            // What the first op of a super kernel waits for, its launch waits for.
            first.recv_events = Box::default();
        }
        if self.to < kernel.ops.len()
            && let Some(last) = ops.last_mut()
        {
            last.send_events = Box::default();
        }
        let made = model::assemble(&kernel.name, &kernel.platform, options.clone(), ops)?;
        let sizes = self.sizes(&made);
        let program = plan::draft(&made, &sizes)?;
        let work: ByPosition<OpWork> = self.work.iter().take(self.to).skip(self.from).cloned().collect();
        let launch = Launch { program: &program, sizes: &sizes, work: &work };
        Ok(play(launch, prices.values(), Played::Representative)?.total)
    }

    fn sizes(&self, made: &SuperKernel) -> TextSizes {
        let mut sizes = TextSizes::default();
        for (position, op) in made.ops.enumerate() {
            for kind in op.class().kinds() {
                let before = model::OpPosition::at(position.place() + self.from);
                if let Some(bytes) = self.subject.sizes.get(before, *kind) {
                    sizes.insert(position, *kind, bytes);
                }
            }
        }
        sizes
    }
}

/// The work of the ops of a subject.
pub(super) fn work_of(subject: &Subject, prices: &Prices) -> ByPosition<OpWork> {
    subject.derive(prices).iter().map(|derived| derived.work.clone()).collect()
}

/// Searches the options of some super kernels that share them: the pieces of a scope, or one kernel.
pub fn tune(
    name: &str,
    subjects: &[Subject],
    prices: &Prices,
    candidates: usize,
    cancel: &Cancel,
) -> Result<Tuning, CostError> {
    let works: Vec<ByPosition<OpWork>> = subjects.iter().map(|subject| work_of(subject, prices)).collect();
    let gap = prices.get(Price::LaunchGap);
    let time = |options: &Options| -> Result<f64, CostError> {
        let mut sum = gap * subjects.len().saturating_sub(1) as f64;
        for (subject, work) in subjects.iter().zip(&works) {
            cancel.check()?;
            sum += Variant::whole(subject, work).time(options, prices)?;
        }
        Ok(sum)
    };
    let current = subjects.first().map(|subject| subject.kernel.options.clone()).unwrap_or_default();
    let tried = all_candidates(subjects, &current, candidates);
    let times: Vec<Result<f64, CostError>> = parallel::run(|| tried.par_iter().map(time).collect());
    let mut ranking: Vec<(f64, usize, &Options)> = Vec::new();
    let mut refused = Vec::new();
    cancel.check()?;
    for (options, time) in tried.iter().zip(times) {
        match time {
            Ok(us) => ranking.push((us, distance(options, &current), options)),
            Err(error) => refused.push(Refused { options: option_text(options), why: error.to_string() }),
        }
    }
    // Times that differ by less than the model can resolve are one: then the one that changes least stands first.
    ranking.sort_by(|left, right| left.0.total_cmp(&right.0));
    let fastest = ranking.first().map_or(0.0, |first| first.0);
    let step = (WORTH * fastest).max(1e-9);
    let class = |us: f64| ((us - fastest) / step).floor();
    ranking.sort_by(|left, right| {
        let key = |entry: &(f64, usize, &Options)| (class(entry.0), entry.1);
        let ((left_class, left_distance), (right_class, right_distance)) = (key(left), key(right));
        left_class
            .total_cmp(&right_class)
            .then(left_distance.cmp(&right_distance))
            .then(left.0.total_cmp(&right.0))
            .then_with(|| option_text(left.2).cmp(&option_text(right.2)))
    });
    let now = Candidate { options: option_text(&current), us: time(&current)? };
    let best = ranking.first().map_or(&current, |first| first.2);
    let contributions = contributions(best, &time)?;
    let cuts = cuts(subjects, &works, best, prices, cancel)?;
    let mut notes = Vec::new();
    if best.early_start != current.early_start {
        notes.push("early-start: the sub-kernels must be compiled again with the same setting".to_owned());
    }
    let ranking = ranking.into_iter().map(|(us, _, options)| Candidate { options: option_text(options), us }).collect();
    Ok(Tuning { name: name.to_owned(), current: now, ranking, refused, contributions, cuts, notes })
}

/// What is lost without each option that is not at its default.
fn contributions(
    best: &Options,
    time: &impl Fn(&Options) -> Result<f64, CostError>,
) -> Result<Vec<Contribution>, CostError> {
    let full = time(best)?;
    let defaults = Options::default();
    let mut found = Vec::new();
    for (name, value) in best.texts().filter(|(name, value)| *value != name.default_text()) {
        let mut without = best.clone();
        match name {
            OptionName::EarlyStart => without.early_start = defaults.early_start,
            OptionName::PreloadCode => without.preload = defaults.preload,
            OptionName::SplitMode => without.split = defaults.split,
            OptionName::StreamFusion => without.stream_fusion = defaults.stream_fusion,
            OptionName::Sync => without.sync = defaults.sync,
            OptionName::DebugAicNum | OptionName::DebugAivNum => {
                (without.debug_aic_num, without.debug_aiv_num) = (0, 0);
            }
            OptionName::FuncAlign
            | OptionName::DebugDcciAll
            | OptionName::DebugSyncAll
            | OptionName::FeedSyncAll
            | OptionName::Profiling
            | OptionName::CompileOptions
            | OptionName::StrictScopeCheck
            | OptionName::DcciBeforeKernelStart
            | OptionName::DcciAfterKernelEnd
            | OptionName::DcciDisableOnKernel
            | OptionName::DynamicCores => continue,
        }
        // Without stream-fusion the ops may not be fusable at all.
        if let Ok(us) = time(&without) {
            found.push(Contribution { option: format!("{name}={value}"), us: us - full });
        }
    }
    Ok(found)
}

/// Every combination of the options that matter here, at most `most`; the current one is among them.
fn all_candidates(subjects: &[Subject], current: &Options, most: usize) -> Vec<Options> {
    let kernels = || subjects.iter().map(|subject| &subject.kernel);
    let ops = || kernels().flat_map(|kernel| kernel.ops.iter());
    let mut streams: Vec<i64> = ops().map(|op| op.stream_id.0).collect();
    streams.sort_unstable();
    streams.dedup();
    let early: Vec<EarlyStartMode> = match current.early_start {
        EarlyStartMode::OnOutsideSubKernels => vec![EarlyStartMode::OnOutsideSubKernels, EarlyStartMode::Off],
        EarlyStartMode::Off | EarlyStartMode::On => vec![EarlyStartMode::On, EarlyStartMode::Off],
    };
    // Objects that were split already fix the number of copies.
    let fixed = ops().any(|op| op.kernel.split_mode.is_some());
    let splits: Vec<SplitCount> =
        if fixed { vec![current.split] } else { [4, 1, 2, 8, 16].into_iter().filter_map(SplitCount::new).collect() };
    let fusions: &[bool] = if streams.len() > 1 { &[false, true] } else { &[false] };
    let cores = core_counts(subjects, current);
    let mut found = vec![current.clone()];
    for &(aic, aiv) in &cores {
        for fusion in fusions {
            for early in &early {
                for preload in [PreloadMode::PerFunction, PreloadMode::Never, PreloadMode::Whole] {
                    for split in &splits {
                        let mut options = current.clone();
                        options.stream_fusion = *fusion;
                        options.early_start = *early;
                        options.preload = preload;
                        options.split = *split;
                        (options.debug_aic_num, options.debug_aiv_num) = (aic, aiv);
                        if option_text(&options) != option_text(current) {
                            found.push(options);
                        }
                    }
                }
            }
        }
    }
    found.truncate(most.max(1));
    found
}

/// Forced core counts that are worth a try: none, and the shapes around what the ops need.
fn core_counts(subjects: &[Subject], current: &Options) -> Vec<(u32, u32)> {
    let mut counts = vec![(0, 0)];
    if (current.debug_aic_num, current.debug_aiv_num) != (0, 0) {
        counts.push((current.debug_aic_num, current.debug_aiv_num));
    }
    if let [subject] = subjects {
        let (kernel, cores) = (&subject.kernel, subject.kernel.platform.cores);
        if kernel.kernel_type.is_mix() {
            let blocks = kernel.block_num;
            counts.extend([(blocks, blocks), (blocks, blocks.saturating_mul(2)), (cores.aic, cores.aiv)]);
        }
    }
    let mut seen = Vec::new();
    counts.retain(|count| {
        let new = !seen.contains(count);
        seen.push(*count);
        new
    });
    counts
}

/// How many options differ, and by how much code.
fn distance(options: &Options, current: &Options) -> usize {
    let differ = options.texts().zip(current.texts()).filter(|(left, right)| left.1 != right.1).count();
    100 * differ + options.split.get() as usize
}

/// Places where two super kernels are faster than one, greedily.
fn cuts(
    subjects: &[Subject],
    works: &[ByPosition<OpWork>],
    options: &Options,
    prices: &Prices,
    cancel: &Cancel,
) -> Result<Vec<CutFound>, CostError> {
    let gap = prices.get(Price::LaunchGap);
    let mut found = Vec::new();
    for (subject, work) in subjects.iter().zip(works) {
        let whole = Variant::whole(subject, work).time(options, prices)?;
        let places = cut_places(subject);
        let tried: Vec<Option<(usize, f64)>> = parallel::run(|| {
            places
                .par_iter()
                .map(|&place| {
                    cancel.check().ok()?;
                    let part = |from, to| Variant { subject, work, from, to }.time(options, prices).ok();
                    let sum = part(0, place)? + gap + part(place, work.len())?;
                    Some((place, whole - sum))
                })
                .collect()
        });
        cancel.check()?;
        let best = tried.into_iter().flatten().filter(|(_, us)| *us > WORTH * whole);
        if let Some((place, us)) = best.max_by(|left, right| left.1.total_cmp(&right.1).then(right.0.cmp(&left.0))) {
            let in_front_of = subject.keys[model::OpPosition::at(place)].label().to_owned();
            found.push(CutFound { in_front_of, us });
        }
    }
    Ok(found)
}

/// Where the kind of ops changes, which is where a cut can pay; the middle ones if there are many.
fn cut_places(subject: &Subject) -> Vec<usize> {
    let ops = &subject.kernel.ops;
    let changes = |pair: &[Op]| pair[0].class() != pair[1].class() || pair[0].block_num != pair[1].block_num;
    let places: Vec<usize> =
        ops.windows(2).enumerate().filter(|(_, pair)| changes(pair)).map(|(place, _)| place + 1).collect();
    let step = places.len().div_ceil(CUTS_TRIED).max(1);
    places.into_iter().step_by(step).collect()
}
