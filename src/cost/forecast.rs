//! The front door: predict, tune, suggest and calibrate, for an op list or a graph.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;
use smol_str::SmolStr;

use super::calibrate::{self, Fit, Measured};
use super::durations::Durations;
use super::error::CostError;
use super::inputs::Known;
use super::play::Played;
use super::predict::{Prediction, Subject, predict};
use super::prices::{Price, Prices};
use super::profile::Profile;
use super::trace;
use super::tune::{self, Tuning};
use crate::plan;
use crate::scope::graph::Origin;
use crate::scope::{self, Cuts, Graph, Piece, Settings};
use crate::trace::Trace;

/// What is predicted.
pub enum Model {
    /// One super kernel: what `compile` gets, and its name.
    Kernel {
        /// `kernel_infos`.
        infos: Value,
        /// The kernel's name.
        name: String,
    },
    /// All super kernels of a marked graph.
    Graph {
        /// The graph.
        graph: Arc<Graph>,
        /// How it is planned.
        settings: Settings,
    },
}

/// A super kernel that nothing can be said about.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Skipped {
    /// The piece.
    pub name: String,
    /// Why.
    pub why: String,
}

/// Predictions of a whole model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Forecast {
    /// Always: nothing here was measured.
    pub predicted: bool,
    /// Where the prices come from.
    pub prices: String,
    /// One per super kernel.
    pub kernels: Vec<Prediction>,
    /// Where their ops come from, if a graph tells.
    pub origins: BTreeMap<SmolStr, Origin>,
    /// Super kernels that are left out.
    pub skipped: Vec<Skipped>,
}

/// The super kernels of a model with their scopes, and what is left out.
struct Subjects {
    found: Vec<(String, Piece, Subject)>,
    skipped: Vec<Skipped>,
}

fn of_graph(graph: &Graph, settings: &Settings, known: &Known<'_>) -> Result<Subjects, CostError> {
    let planned = scope::plan(graph, settings, known.cancel)?;
    let mut subjects = Subjects { found: Vec::new(), skipped: Vec::new() };
    let mistakes = planned.mistakes.iter();
    subjects
        .skipped
        .extend(mistakes.map(|mistake| Skipped { name: mistake.scope.clone(), why: mistake.message.clone() }));
    let read = (&planned.kernels).into();
    for piece in planned.pieces {
        known.cancel.check()?;
        match known.of_piece(&piece, &read)? {
            Ok(subject) => subjects.found.push((piece.scope.to_string(), piece, subject)),
            Err(why) => subjects.skipped.push(Skipped { name: piece.name.to_string(), why }),
        }
    }
    Ok(subjects)
}

/// The super kernels of a model, and those left out.
fn subjects(model: &Model, known: &Known<'_>) -> Result<(Vec<Subject>, Vec<Skipped>), CostError> {
    match model {
        Model::Kernel { infos, name } => Ok((vec![known.of_kernel(infos, name)?], Vec::new())),
        Model::Graph { graph, settings } => {
            let subjects = of_graph(graph, settings, known)?;
            Ok((subjects.found.into_iter().map(|(_, _, subject)| subject).collect(), subjects.skipped))
        }
    }
}

fn check_measured<'a>(subjects: impl Iterator<Item = &'a Subject>, known: &Known<'_>) -> Result<(), CostError> {
    let (mut ops, mut any) = (0, false);
    for subject in subjects {
        ops += subject.keys.len();
        any |= subject.is_measured();
    }
    if any || ops == 0 {
        return Ok(());
    }
    let profiles: Vec<String> =
        known.durations.profiles().iter().map(|profile| format!("`{}`", profile.path.display())).collect();
    let profiles = if profiles.is_empty() { "no profile".to_owned() } else { profiles.join(", ") };
    Err(CostError::NothingMeasured { profiles, ops })
}

/// What fusing gains, super kernel by super kernel.
pub(crate) fn forecast(model: &Model, known: &Known<'_>, prices: &Prices) -> Result<Forecast, CostError> {
    let (subjects, skipped) = subjects(model, known)?;
    check_measured(subjects.iter(), known)?;
    let mut kernels: Vec<Prediction> = Vec::with_capacity(subjects.len());
    for subject in &subjects {
        known.cancel.check()?;
        let program = plan::plan(&subject.kernel, &subject.sizes)?;
        kernels.push(predict(subject, &program, prices, Played::Every)?);
    }
    let names = kernels.iter().flat_map(|kernel| &kernel.ops).map(|op| op.name.as_str());
    let origins = match model {
        Model::Kernel { .. } => BTreeMap::new(),
        Model::Graph { graph, .. } => graph.origins(names),
    };
    Ok(Forecast { predicted: true, prices: prices.origin.clone(), kernels, origins, skipped })
}

/// What every core does when, super kernel by super kernel, and what is left out.
pub(crate) fn traces(
    model: &Model,
    known: &Known<'_>,
    prices: &Prices,
) -> Result<(Vec<Trace>, Vec<Skipped>), CostError> {
    let (subjects, skipped) = subjects(model, known)?;
    let mut traces = Vec::with_capacity(subjects.len());
    for subject in &subjects {
        known.cancel.check()?;
        let program = plan::plan(&subject.kernel, &subject.sizes)?;
        traces.push(trace::trace(subject, &program, prices)?);
    }
    Ok((traces, skipped))
}

/// The best options per scope.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TunedModel {
    /// Always: nothing here was measured.
    pub predicted: bool,
    /// Where the prices come from.
    pub prices: String,
    /// One per scope, or the one kernel.
    pub scopes: Vec<TunedScope>,
    /// Super kernels that are left out.
    pub skipped: Vec<Skipped>,
}

/// One scope.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TunedScope {
    /// The search.
    #[serde(flatten)]
    pub tuning: Tuning,
    /// Microseconds gained by `--cuts per-stream`, where that cuts differently; negative: lost.
    pub per_stream_cuts_gain: Option<f64>,
}

/// Searches options, and for graphs cuts. At most `candidates` option strings per scope.
pub(crate) fn tune(
    model: &Model,
    known: &Known<'_>,
    prices: &Prices,
    candidates: usize,
) -> Result<TunedModel, CostError> {
    let (mut scopes, mut skipped) = (Vec::new(), Vec::new());
    match model {
        Model::Kernel { infos, name } => {
            let subjects = [known.of_kernel(infos, name)?];
            check_measured(subjects.iter(), known)?;
            let tuning = tune::tune(name, &subjects, prices, candidates, known.cancel)?;
            scopes.push(TunedScope { tuning, per_stream_cuts_gain: None });
        }
        Model::Graph { graph, settings } => {
            let subjects = of_graph(graph, settings, known)?;
            check_measured(subjects.found.iter().map(|(_, _, subject)| subject), known)?;
            skipped = subjects.skipped;
            let other = Settings { cuts: Cuts::PerStream, ..settings.clone() };
            let layered = of_graph(graph, &other, known)?;
            let layered = by_scope(layered.found);
            let layered: HashMap<&str, &[Subject]> =
                layered.iter().map(|(scope, subjects)| (scope.as_str(), subjects.as_slice())).collect();
            for (name, pieces) in by_scope(subjects.found) {
                let tuning = tune::tune(&name, &pieces, prices, candidates, known.cancel)?;
                let layers = layered.get(name.as_str()).copied().unwrap_or_default();
                let differs = layers.len() != pieces.len();
                let per_stream_cuts_gain = match differs {
                    true => Some(time_of(&pieces, prices)? - time_of(layers, prices)?),
                    false => None,
                };
                scopes.push(TunedScope { tuning, per_stream_cuts_gain });
            }
        }
    }
    Ok(TunedModel { predicted: true, prices: prices.origin.clone(), scopes, skipped })
}

fn by_scope(found: Vec<(String, Piece, Subject)>) -> Vec<(String, Vec<Subject>)> {
    let mut scopes: Vec<(String, Vec<Subject>)> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for (scope, _, subject) in found {
        let place = *places.entry(scope).or_insert_with_key(|scope| {
            scopes.push((scope.clone(), Vec::new()));
            scopes.len() - 1
        });
        scopes[place].1.push(subject);
    }
    scopes
}

/// The time of some super kernels after each other, as they are.
fn time_of(subjects: &[Subject], prices: &Prices) -> Result<f64, CostError> {
    let mut sum = 0.0;
    for subject in subjects {
        let work = tune::work_of(subject, prices);
        let gap = if sum > 0.0 { prices.get(Price::LaunchGap) } else { 0.0 };
        sum += gap + tune::Variant::whole(subject, &work).time(&subject.kernel.options, prices)?;
    }
    Ok(sum)
}

/// Profiles of one model without and with super kernels.
pub(crate) struct Runs {
    /// The model.
    pub model: Model,
    /// Without.
    pub unfused: Vec<Profile>,
    /// With.
    pub fused: Vec<Profile>,
}

/// Fits the prices to runs of some models.
pub(crate) fn calibrate(runs: &[Runs], known: &Known<'_>, before: &Prices, origin: &str) -> Result<Fit, CostError> {
    let mut measured = Vec::new();
    for run in runs {
        // Without a run of the ops alone, the records of a fused one tell how long they took.
        let alone = if run.unfused.is_empty() { &run.fused } else { &run.unfused };
        let durations = Durations::new(alone);
        let known = Known { durations: &durations, ..*known };
        let subjects: Vec<(Vec<String>, Subject)> = match &run.model {
            Model::Kernel { infos, name } => vec![(vec![name.clone()], known.of_kernel(infos, name)?)],
            Model::Graph { graph, settings } => {
                let named = |piece: &Piece| {
                    vec![piece.node_name.to_string(), piece.kernel_name.clone(), piece.name.to_string()]
                };
                let found = of_graph(graph, settings, &known)?.found;
                found.into_iter().map(|(_, piece, subject)| (named(&piece), subject)).collect()
            }
        };
        check_measured(subjects.iter().map(|(_, subject)| subject), &known)?;
        let by_order = calibrate::in_order(&run.fused, subjects.len());
        for (number, (names, subject)) in subjects.into_iter().enumerate() {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            match Measured::find(subject.clone(), &names, &run.fused)? {
                Some(kernel) => measured.push(kernel),
                None => {
                    if let Some(sample) = by_order.get(number) {
                        measured.push(Measured::new(subject, *sample)?);
                    }
                }
            }
        }
    }
    let unfused: Vec<Profile> = runs.iter().flat_map(|run| run.unfused.iter().cloned()).collect();
    calibrate::fit(&measured, &unfused, before, origin)
}
