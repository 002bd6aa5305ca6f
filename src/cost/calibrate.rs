//! Prices from measured runs: the same model without and with super kernels.

use rayon::prelude::*;
use serde::Serialize;

use super::error::CostError;
use super::least_squares::{Observation, Prior, solve};
use super::play::{Launch, Played, play};
use super::predict::{Subject, fused_form};
use super::prices::{Covariance, PerPrice, Price, Prices};
use super::profile::{BufferProfile, BufferSource, Profile, SUPER_KERNEL, Sample, Task};
use super::work::OpWork;
use crate::model::ByPosition;
use crate::parallel;
use crate::plan;
use crate::program::Program;

/// The prior is as wide as this many times the price before.
const PRIOR_WIDTH: f64 = 3.0;
/// A price is determined if its standard error is at most this share of it.
const DETERMINED: f64 = 0.05;
/// Prices whose errors go together more than this cannot be told apart.
const TOGETHER: f64 = 0.9;
/// Paths change with prices: so many rounds at most.
const ROUNDS: usize = 12;
/// How far a scan goes: so many times the price, in so many steps.
const SCAN_REACH: f64 = 3.0;
const SCAN_STEPS: usize = 15;

/// A super kernel whose time was measured, with the durations of its ops.
pub struct Measured {
    /// It and its ops.
    pub subject: Subject,
    /// What it does.
    program: Program,
    /// Its own time.
    pub fused: Sample,
    /// What of it.
    covers: Covers,
}

/// What a measured time of a super kernel covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Covers {
    /// The whole task.
    Task,
    /// From the first record of a core to the last: without the start of the task.
    Records,
}

/// What a fit says about one price.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FittedPrice {
    /// The price.
    pub name: &'static str,
    /// What it is charged for.
    pub meaning: &'static str,
    /// The fitted value, in microseconds.
    pub us: f64,
    /// Its standard error.
    pub error_us: f64,
    /// Is it determined by the data?
    pub determined: bool,
    /// If not: why.
    pub why_not: Option<String>,
}

/// A fit.
#[derive(Debug, Clone)]
pub struct Fit {
    /// The prices.
    pub prices: Prices,
    /// What is known about each.
    pub report: Vec<FittedPrice>,
    /// How many super kernels were fitted.
    pub kernels: usize,
    /// Typical difference of a measured super kernel from the fit, in percent.
    pub residual_percent: f64,
}

impl Measured {
    /// Finds the time of a super kernel in the profiles of fused runs: by one of its names. Rows of the profiler win over the
    /// kernel's own records.
    pub fn find(subject: Subject, names: &[&str], fused: &[Profile]) -> Result<Option<Self>, CostError> {
        let tasks = fused.iter().flat_map(Profile::tasks).filter(|task| names.contains(&task.name.as_str()));
        if let Some(sample) = Sample::of(tasks.map(|task| task.duration).collect()) {
            return Self::new(subject, sample).map(Some);
        }
        let recorded = fused.iter().filter_map(Profile::buffer).filter(|buffer| {
            // A simulator counts steps, whatever clock is said to count them.
            buffer.source == BufferSource::Device && names.contains(&buffer.kernel.as_str())
        });
        match Sample::of(recorded.flat_map(BufferProfile::run_times).collect()) {
            Some(sample) => Ok(Some(Self { covers: Covers::Records, ..Self::new(subject, sample)? })),
            None => Ok(None),
        }
    }

    /// A super kernel that took so long.
    pub(crate) fn new(subject: Subject, fused: Sample) -> Result<Self, CostError> {
        let program = plan::draft(&subject.kernel, &subject.sizes)?;
        Ok(Self { subject, program, fused, covers: Covers::Task })
    }
}

/// Super kernels of a fused run that have none of the names they are looked for by: by their order.
pub(crate) fn in_order(fused: &[Profile], kernels: usize) -> Vec<Sample> {
    let tasks: Vec<&Task> = fused.iter().flat_map(Profile::tasks).filter(|task| task.op_type == SUPER_KERNEL).collect();
    if kernels == 0 || tasks.is_empty() || !tasks.len().is_multiple_of(kernels) {
        return Vec::new();
    }
    let of = |kernel: usize| tasks.iter().skip(kernel).step_by(kernels).map(|task| task.duration).collect();
    (0..kernels).filter_map(|kernel| Sample::of(of(kernel))).collect()
}

/// Fits the prices. `before` are those that hold where the data say nothing.
pub fn fit(measured: &[Measured], unfused: &[Profile], before: &Prices, origin: &str) -> Result<Fit, CostError> {
    if measured.is_empty() {
        let problem = "none of its kernels has a row or records of a device there".to_owned();
        return Err(CostError::NothingToFit { problem });
    }
    let prior = Prior {
        values: *before.values(),
        variances: std::array::from_fn(|price| (PRIOR_WIDTH * before.values()[price]).powi(2).max(1e-6)),
    };
    let search = Search { measured, direct: direct(unfused) };
    let mut best = search.solve(&prior, before.values())?;
    for price in [Price::OpHead, Price::OpTail] {
        if search.contains(price, &best.values)? {
            best = search.scan(price, &prior, &best)?;
        }
    }
    let prices = Prices::fitted(best.values, best.covariance, 0.0, origin.to_owned());
    finish(measured, &search.direct, &prices, origin)
}

/// A fit at some point.
#[derive(Clone)]
struct Point {
    values: PerPrice,
    covariance: Covariance,
    /// Sum of squared differences, each by its variance.
    misfit: f64,
}

/// What the prices are fitted to.
struct Search<'a> {
    measured: &'a [Measured],
    direct: Vec<Observation>,
}

impl Search<'_> {
    /// All measurements as sums of prices, as the critical paths are at these prices.
    fn observe(&self, values: &PerPrice) -> Result<Vec<Observation>, CostError> {
        let prices = Prices::fitted(*values, [[0.0; Price::COUNT]; Price::COUNT], 0.0, String::new());
        let kernels: Result<Vec<Observation>, CostError> =
            parallel::run(|| self.measured.par_iter().map(|kernel| observe(kernel, &prices)).collect());
        Ok(self.direct.iter().cloned().chain(kernels?).collect())
    }

    fn contains(&self, price: Price, values: &PerPrice) -> Result<bool, CostError> {
        Ok(self.observe(values)?.iter().any(|seen| seen.counts[price as usize].abs() > 1e-9))
    }

    /// Follows the critical paths from one set of prices to the next until they stay.
    fn solve(&self, prior: &Prior, start: &PerPrice) -> Result<Point, CostError> {
        let mut values = *start;
        let mut covariance = [[0.0; Price::COUNT]; Price::COUNT];
        for round in 0..ROUNDS {
            let solved = solve(&self.observe(&values)?, prior);
            // Half a step in later rounds: two paths of nearly the same length must not chase each other.
            let step = if round < 4 { 1.0 } else { 0.5 };
            let next: PerPrice =
                std::array::from_fn(|price| values[price] + step * (solved.values[price] - values[price]));
            let moved = next.iter().zip(&values).map(|(new, old)| (new - old).abs()).fold(0.0, f64::max);
            (values, covariance) = (next, solved.covariance);
            if moved < 1e-4 {
                break;
            }
        }
        let misfit = self.observe(&values)?.iter().map(|seen| seen.misfit(&values)).sum();
        Ok(Point { values, covariance, misfit })
    }

    /// How much an op hides changes the critical paths, so that very different values may fit nearly as well, which the
    /// paths at one of them do not show. All of a range are tried; the result is their average, weighted by how well
    /// they fit, and knows how far they lie apart.
    fn scan(&self, price: Price, prior: &Prior, best: &Point) -> Result<Point, CostError> {
        let top = SCAN_REACH * best.values[price as usize].max(price.default_value());
        let mut points = vec![];
        for step in 0..=SCAN_STEPS {
            let value = top * step as f64 / SCAN_STEPS as f64;
            let mut fixed = prior.clone();
            fixed.values[price as usize] = value;
            fixed.variances[price as usize] = 1e-10;
            let mut start = best.values;
            start[price as usize] = value;
            points.push(self.solve(&fixed, &start)?);
        }
        let least = points.iter().map(|point| point.misfit).fold(f64::INFINITY, f64::min);
        let weights: Vec<f64> = points.iter().map(|point| (-0.5 * (point.misfit - least)).exp()).collect();
        let all: f64 = weights.iter().sum();
        let mean: PerPrice = std::array::from_fn(|place| {
            points.iter().zip(&weights).map(|(point, weight)| weight * point.values[place]).sum::<f64>() / all
        });
        let covariance = std::array::from_fn(|row| {
            std::array::from_fn(|column| {
                let spread = |point: &Point| {
                    let apart = (point.values[row] - mean[row]) * (point.values[column] - mean[column]);
                    point.covariance[row][column] + apart
                };
                points.iter().zip(&weights).map(|(point, weight)| weight * spread(point)).sum::<f64>() / all
            })
        });
        Ok(Point { values: mean, covariance, misfit: least })
    }
}

/// What the tables tell about single prices: gaps in front of tasks, and what of a task is not its cores' time.
fn direct(unfused: &[Profile]) -> Vec<Observation> {
    let tasks = || unfused.iter().flat_map(Profile::tasks).filter(|task| task.op_type != SUPER_KERNEL);
    let gaps = Sample::of(tasks().filter_map(|task| task.wait).filter(|wait| *wait > 0.0).collect());
    let starts = Sample::of(
        tasks()
            .filter_map(|task| {
                let cores = task.aic_time.unwrap_or(0.0).max(task.aiv_time.unwrap_or(0.0));
                (cores > 0.0 && cores <= task.duration).then_some(task.duration - cores)
            })
            .collect(),
    );
    let one = |price: Price, sample: Sample| {
        let mut counts = [0.0; Price::COUNT];
        counts[price as usize] = 1.0;
        Observation { counts, us: sample.us, variance: sample.error.powi(2).max(1e-8) }
    };
    [gaps.map(|gap| one(Price::LaunchGap, gap)), starts.map(|start| one(Price::TaskStart, start))]
        .into_iter()
        .flatten()
        .collect()
}

/// A measured super kernel as a sum of prices, at what is known of them.
fn observe(kernel: &Measured, prices: &Prices) -> Result<Observation, CostError> {
    let derived = kernel.subject.derive(prices);
    let work: ByPosition<OpWork> = derived.iter().map(|derived| derived.work.clone()).collect();
    let launch = Launch { program: &kernel.program, sizes: &kernel.subject.sizes, work: &work };
    let timeline = play(launch, prices.values(), Played::Representative)?;
    let form = fused_form(&timeline, &derived);
    let priced: f64 = form.counts.iter().zip(prices.values()).map(|(count, price)| count * price).sum();
    let measured: f64 =
        form.ops.iter().zip(derived.iter()).map(|(times, derived)| (times * derived.error).powi(2)).sum();
    let mut counts = form.counts;
    match kernel.covers {
        Covers::Task => {}
        Covers::Records => counts[Price::TaskStart as usize] = 0.0,
    }
    Ok(Observation {
        counts,
        // What is left of the measured time for the prices.
        us: kernel.fused.us - (timeline.total - priced),
        variance: (kernel.fused.error.powi(2) + measured).max(1e-8),
    })
}

fn finish(measured: &[Measured], direct: &[Observation], prices: &Prices, origin: &str) -> Result<Fit, CostError> {
    let mut seen = direct.to_vec();
    let (mut excess, mut squares, mut normalised) = (0.0, 0.0, 0.0);
    for kernel in measured {
        let observation = observe(kernel, prices)?;
        let predicted: f64 = observation.counts.iter().zip(prices.values()).map(|(count, price)| count * price).sum();
        let residual = observation.us - predicted;
        let share = kernel.fused.us.max(1e-9);
        squares += (residual / share).powi(2);
        excess += (residual.powi(2) - observation.variance) / share.powi(2);
        normalised += residual.powi(2) / observation.variance;
        seen.push(observation);
    }
    let count = measured.len() as f64;
    // Where the fit is worse than the spread of the data explains, the prices are known less well, and the model itself
    // is off by some.
    let worse = (normalised / (count - Price::COUNT as f64).max(1.0)).max(1.0);
    let model_error = (excess / count).max(0.0).sqrt();
    let covariance = prices.covariance().map(|row| row.map(|entry| entry * worse));
    let prices = Prices::fitted(*prices.values(), covariance, model_error, origin.to_owned());
    let report = Price::all().map(|price| describe(price, &prices, &seen)).collect();
    Ok(Fit { prices, report, kernels: measured.len(), residual_percent: 100.0 * (squares / count).sqrt() })
}

fn describe(price: Price, prices: &Prices, seen: &[Observation]) -> FittedPrice {
    let (us, error_us) = (prices.get(price), prices.error(price));
    let occurs = seen.iter().any(|observation| observation.counts[price as usize].abs() > 1e-9);
    let determined = occurs && error_us <= DETERMINED * us;
    let partner = Price::all().filter(|other| *other != price).find(|other| {
        let scale = prices.error(*other) * error_us;
        scale > 0.0 && (prices.covariance()[price as usize][*other as usize] / scale).abs() > TOGETHER
    });
    let why_not = (!determined).then(|| match (occurs, partner) {
        (false, _) => "it does not occur in the fused runs".to_owned(),
        (true, Some(partner)) => format!("the data determine it only together with `{partner}`"),
        (true, None) if us == 0.0 => "the data put it at 0".to_owned(),
        (true, None) => format!("the data leave it open by +-{:.0} %", 100.0 * error_us / us),
    });
    FittedPrice { name: price.name(), meaning: price.meaning(), us, error_us, determined, why_not }
}
