//! Which duration belongs to which op, where it comes from, and how far it can be trusted.

use std::collections::HashMap;

use serde::Serialize;

use super::account::CodeUnits;
use super::play::code_alone;
use super::prices::{PerPrice, Price, Prices};
use super::profile::{BufferOp, BufferProfile, BufferSource, Content, Profile, SUPER_KERNEL, Sample, Task, TypeTotal};
use super::work::{OpWork, Spent};
use crate::model::{ByPosition, CoreClass, CoreKind, KernelType, OpPosition, SuperKernel};
use crate::objects::TextSizes;

/// What is known about an op before its duration is looked up.
#[derive(Debug, Clone, PartialEq)]
pub struct OpKey {
    /// Its name in the graph; empty if there is no graph.
    pub name: String,
    /// Its kernel's name.
    pub kernel_name: String,
    /// Its type; may be empty.
    pub op_type: String,
    /// The cores it runs on.
    pub kernel_type: KernelType,
    /// Blocks it runs on.
    pub block_num: u32,
}

impl OpKey {
    /// The ops of a super kernel; `names` are those of the graph, if there is one.
    pub(crate) fn of(kernel: &SuperKernel, names: &[String]) -> ByPosition<Self> {
        let name = |position: OpPosition| names.get(position.place()).cloned().unwrap_or_default();
        kernel
            .ops
            .enumerate()
            .map(|(position, op)| Self {
                name: name(position),
                kernel_name: op.kernel.kernel_name.to_string(),
                op_type: op.kernel.op_type.clone(),
                kernel_type: op.kernel.kernel_type,
                block_num: op.block_num,
            })
            .collect()
    }

    /// How reports call it.
    pub(crate) fn label(&self) -> &str {
        if self.name.is_empty() { &self.kernel_name } else { &self.name }
    }
}

/// Where a duration comes from, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// The profile has a row of this name.
    Measured,
    /// The records of a profiling buffer, core by core.
    Recorded,
    /// Modelled by the simulator, core by core.
    Simulated,
    /// Other ops of its type with as many blocks.
    SameTypeAndBlocks,
    /// Other ops of its type.
    SameType,
    /// Any ops on the same kind of cores.
    SameCores,
}

impl Source {
    /// Is it a duration of this very op?
    pub fn is_own(self) -> bool {
        match self {
            Self::Measured | Self::Recorded | Self::Simulated => true,
            Self::SameTypeAndBlocks | Self::SameType | Self::SameCores => false,
        }
    }
}

/// The duration of one op.
#[derive(Debug, Clone, PartialEq)]
pub struct Duration {
    /// As a task of its own.
    pub task: Option<Sample>,
    /// Its cube and vector halves, where the profiler tells them apart.
    pub halves: Option<(f64, f64)>,
    /// By core, where records tell them: without task start and synchronisation.
    pub cores: Option<OpWork>,
    /// The gap in front of it.
    pub wait: Option<Sample>,
    /// Where it comes from.
    pub source: Source,
}

/// Looks durations up in profiles, which are read once: what is asked for every op takes no longer for more of them.
pub struct Durations<'a> {
    profiles: &'a [Profile],
    buffers: Vec<Buffer<'a>>,
    by_name: HashMap<&'a str, Vec<&'a Task>>,
    by_type: HashMap<&'a str, OfType<'a>>,
    by_cores: HashMap<CoreClass, Sample>,
}

/// The times of a type's tasks.
#[derive(Default)]
struct Times {
    all: Vec<f64>,
    by_blocks: HashMap<u32, Vec<f64>>,
}

/// What the tables know of a type.
#[derive(Default)]
struct OfType<'a> {
    all: Option<Sample>,
    by_blocks: HashMap<u32, Sample>,
    totals: Vec<&'a TypeTotal>,
    /// The first task that says which cores it ran on.
    example: Option<&'a Task>,
}

/// The records of a super kernel; ops are numbered as in the buffer, and the first of several counts.
struct Buffer<'a> {
    profile: &'a BufferProfile,
    by_position: HashMap<usize, usize>,
    by_name: HashMap<&'a str, usize>,
}

impl<'a> Buffer<'a> {
    fn new(profile: &'a BufferProfile) -> Self {
        let mut found = Self { profile, by_position: HashMap::new(), by_name: HashMap::new() };
        for (number, op) in profile.ops.iter().enumerate() {
            found.by_position.entry(op.position).or_insert(number);
            if !op.name.is_empty() {
                found.by_name.entry(&op.name).or_insert(number);
            }
        }
        found
    }

    /// Several ops may have one kernel; in the records of this very super kernel the position tells them apart.
    fn op(&self, op: &OpKey, position: OpPosition, kernel: &str) -> Option<&'a BufferOp> {
        let own = self.by_position.get(&position.place()).filter(|_| self.profile.kernel == kernel);
        let named = || [&op.name, &op.kernel_name].into_iter().filter_map(|name| self.by_name.get(name.as_str())).min();
        own.or_else(named).map(|number| &self.profile.ops[*number])
    }
}

/// An estimate from other ops is off by so much of itself at least.
const ESTIMATE_ERROR: f64 = 0.5;
/// A type's average stands for an op of the same type and size.
const SAME_SIZE_ERROR: f64 = 0.1;

impl<'a> Durations<'a> {
    /// Those of all these profiles together.
    pub fn new(profiles: &'a [Profile]) -> Self {
        let mut by_name: HashMap<&str, Vec<&Task>> = HashMap::new();
        let mut times: HashMap<&str, Times> = HashMap::new();
        let mut of_cores: HashMap<CoreClass, Vec<f64>> = HashMap::new();
        let mut by_type: HashMap<&str, OfType<'a>> = HashMap::new();
        let tasks = profiles.iter().flat_map(Profile::tasks);
        for task in tasks.filter(|task| task.op_type != SUPER_KERNEL) {
            by_name.entry(&task.name).or_default().push(task);
            let of_type = times.entry(&task.op_type).or_default();
            of_type.all.push(task.duration);
            if let Some(blocks) = task.block_dim {
                of_type.by_blocks.entry(blocks).or_default().push(task.duration);
            }
            if let Some(class) = task_class(&task.task_type) {
                of_cores.entry(class).or_default().push(task.duration);
                by_type.entry(&task.op_type).or_default().example.get_or_insert(task);
            }
        }
        for (op_type, Times { all, by_blocks }) in times {
            let found = by_type.entry(op_type).or_default();
            found.all = Sample::of(all);
            found.by_blocks =
                by_blocks.into_iter().filter_map(|(blocks, times)| Some((blocks, Sample::of(times)?))).collect();
        }
        let mut buffers = Vec::new();
        for profile in profiles {
            match &profile.content {
                Content::Tasks(_) => {}
                Content::Buffer(buffer) => buffers.push(Buffer::new(buffer)),
                Content::Types(rows) => {
                    for row in rows {
                        by_type.entry(&row.op_type).or_default().totals.push(row);
                    }
                }
            }
        }
        let by_cores = of_cores.into_iter().filter_map(|(class, times)| Some((class, Sample::of(times)?))).collect();
        Self { profiles, buffers, by_name, by_type, by_cores }
    }

    /// The profiles.
    pub(crate) fn profiles(&self) -> &'a [Profile] {
        self.profiles
    }

    /// A task of this op, or of one of its type.
    pub(crate) fn example(&self, name: &str, op_type: &str) -> Option<&'a Task> {
        let named = self.by_name.get(name).and_then(|tasks| tasks.first().copied());
        named.or_else(|| self.by_type.get(op_type)?.example)
    }

    /// The duration of an op, or the best guess; `None` if nothing is known about any op on such cores.
    pub(crate) fn of(&self, op: &OpKey, position: OpPosition, kernel: &str) -> Option<Duration> {
        // An op without a type is like no other.
        let of_type = self.by_type.get(op.op_type.as_str()).filter(|_| !op.op_type.is_empty());
        let guess = |source, least, sample: Option<&Sample>| sample.map(|sample| guessed(source, least, sample));
        self.recorded(op, position, kernel)
            .or_else(|| self.named(&op.name))
            .or_else(|| self.named(&op.kernel_name))
            .or_else(|| guess(Source::SameTypeAndBlocks, SAME_SIZE_ERROR, of_type?.by_blocks.get(&op.block_num)))
            .or_else(|| guess(Source::SameType, ESTIMATE_ERROR, of_type?.all.as_ref()))
            .or_else(|| of_total(&of_type?.totals, op))
            .or_else(|| guess(Source::SameCores, 1.0, self.by_cores.get(&op.kernel_type.class())))
    }

    fn recorded(&self, op: &OpKey, position: OpPosition, kernel: &str) -> Option<Duration> {
        let mut found =
            self.buffers.iter().filter_map(|buffer| Some((buffer.profile, buffer.op(op, position, kernel)?)));
        let (buffer, recorded) = found.next()?;
        let spent = |kind| Spent::PerCore(buffer.times(recorded, kind));
        let source = match buffer.source {
            BufferSource::Device => Source::Recorded,
            BufferSource::Simulator => Source::Simulated,
        };
        let cores = Some(OpWork { aic: spent(CoreKind::Aic), aiv: spent(CoreKind::Aiv) });
        Some(Duration { task: None, halves: None, cores, wait: None, source })
    }

    fn named(&self, name: &str) -> Option<Duration> {
        let tasks = self.by_name.get(name).filter(|_| !name.is_empty())?;
        let task = Sample::of(tasks.iter().map(|task| task.duration).collect())?;
        let middle = |time: fn(&Task) -> Option<f64>| {
            Sample::of(tasks.iter().filter_map(|task| time(task)).collect()).map(|sample| sample.us)
        };
        let halves = match (middle(|task| task.aic_time), middle(|task| task.aiv_time)) {
            (None, None) => None,
            (aic, aiv) => Some((aic.unwrap_or(0.0), aiv.unwrap_or(0.0))),
        };
        let wait = Sample::of(tasks.iter().filter_map(|task| task.wait).collect());
        Some(Duration { task: Some(task), halves, cores: None, wait, source: Source::Measured })
    }
}

/// The average of other ops. It is off by their spread, and by `least` of itself at least.
fn guessed(source: Source, least: f64, sample: &Sample) -> Duration {
    let task = Some(Sample::assumed(sample.us, sample.spread.max(least * sample.us)));
    Duration { task, halves: None, cores: None, wait: None, source }
}

/// `op_statistic.csv` knows types only.
fn of_total(totals: &[&TypeTotal], op: &OpKey) -> Option<Duration> {
    let class = op.kernel_type.class();
    let row = totals.iter().max_by_key(|row| task_class(&row.core_type) == Some(class))?;
    let count = row.count?;
    let us = row.total / count;
    let half = row.most.zip(row.least).map_or(0.0, |(most, least)| 0.5 * (most - least));
    let task = Some(Sample::assumed(us, half.max(SAME_SIZE_ERROR * us)));
    Some(Duration { task, halves: None, cores: None, wait: None, source: Source::SameType })
}

/// The kinds of core behind the profiler's words.
pub(crate) fn task_class(task_type: &str) -> Option<CoreClass> {
    match task_type {
        "AI_CORE" | "AICORE" => Some(CoreClass::Aic),
        "AI_VECTOR_CORE" | "MIX_AIV" => Some(CoreClass::Aiv),
        "MIX_AIC" => Some(CoreClass::Mix),
        _ => None,
    }
}

/// An op's work, and how it follows from what was measured: work = measured - counts x prices.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Derived {
    /// The work.
    pub work: OpWork,
    /// Prices that were taken off.
    pub counts: PerPrice,
    /// Standard error of what was measured.
    pub error: f64,
    /// The time of the op as a task of its own.
    pub alone: f64,
    /// Its prices in that time, beside those that cancel.
    pub alone_counts: PerPrice,
}

/// The work of an op under some prices. A task is its start, its code, and its work; records hold the work alone.
pub(crate) fn derive(
    duration: &Duration,
    op: &OpKey,
    position: OpPosition,
    sizes: &TextSizes,
    prices: &Prices,
) -> Derived {
    let class = op.kernel_type.class();
    let code = code_of(op, position, sizes);
    let values = prices.values();
    let overhead = values[Price::TaskStart as usize] + code.time(values);
    let mut counts = [0.0; Price::COUNT];
    for (price, count) in code.counts() {
        counts[price as usize] = count;
    }
    let mut alone_counts = [0.0; Price::COUNT];
    if let Some(cores) = &duration.cores {
        alone_counts.clone_from(&counts);
        alone_counts[Price::TaskStart as usize] = 1.0;
        let most = cores.most(class.kinds());
        return Derived {
            work: cores.clone(),
            counts: [0.0; Price::COUNT],
            error: 0.05 * most,
            alone: most + overhead,
            alone_counts,
        };
    }
    let task = duration.task.unwrap_or(Sample::assumed(0.0, 0.0));
    let work = |us: f64| (us - overhead).max(0.0);
    let code_time = code.time(values);
    let spent = match duration.halves {
        // The profiler counts these from the first instruction: the task's start is not in them.
        Some((aic, aiv)) if class == CoreClass::Mix => {
            OpWork { aic: Spent::Even((aic - code_time).max(0.0)), aiv: Spent::Even((aiv - code_time).max(0.0)) }
        }
        Some(_) | None => OpWork::even(work(task.us)),
    };
    counts[Price::TaskStart as usize] = 1.0;
    if task.us <= overhead {
        counts = [0.0; Price::COUNT];
    }
    Derived { work: spent, counts, error: task.error, alone: task.us, alone_counts }
}

/// The code an op fetches when it runs alone.
pub(super) fn code_of(op: &OpKey, position: OpPosition, sizes: &TextSizes) -> CodeUnits {
    let kinds = op.kernel_type.class().kinds();
    let fetch = |kind: &CoreKind| {
        let cores = match kind {
            CoreKind::Aic => op.kernel_type.aic_cores(op.block_num),
            CoreKind::Aiv => op.kernel_type.aiv_cores(op.block_num),
        };
        code_alone(sizes.get(position, *kind), cores)
    };
    // The half with more code decides.
    kinds.iter().map(fetch).max_by(|left, right| left.misses.total_cmp(&right.misses)).unwrap_or_default()
}
