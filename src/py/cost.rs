//! The native half of `superkernel.cost`.

use std::path::PathBuf;

use pyo3::prelude::*;
use serde::Serialize;
use serde_json::{Value, json};

use super::convert;
use super::errors::to_python;
use super::interrupt::interruptible;
use super::scope::{PlanRequest, ScopeGraph};
use super::trace::Traces;
use crate::Error;
use crate::cost::CostError;
use crate::cost::durations::Durations;
use crate::cost::forecast::{self, Model, Runs};
use crate::cost::inputs::Known;
use crate::cost::prices::{Effect, Price, Prices};
use crate::cost::profile::{Content, Profile};
use crate::scope;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(cost_prices, module)?)?;
    module.add_function(wrap_pyfunction!(cost_tasks, module)?)?;
    module.add_function(wrap_pyfunction!(cost_predict, module)?)?;
    module.add_function(wrap_pyfunction!(cost_trace, module)?)?;
    module.add_function(wrap_pyfunction!(cost_tune, module)?)?;
    module.add_function(wrap_pyfunction!(cost_suggest, module)?)?;
    module.add_function(wrap_pyfunction!(cost_calibrate, module)?)
}

/// Name, microseconds, standard error, meaning, `costs` or `saves`.
type PriceRow = (&'static str, f64, f64, &'static str, &'static str);

/// The prices in force, and where they come from.
#[pyfunction]
fn cost_prices(py: Python<'_>, path: Option<PathBuf>) -> PyResult<(Vec<PriceRow>, String)> {
    let prices = read_prices(path).map_err(|error| to_python(py, error))?;
    let row = |price: Price| {
        let effect = match price.effect() {
            Effect::Costs => "costs",
            Effect::Saves => "saves",
        };
        (price.name(), prices.get(price), prices.error(price), price.meaning(), effect)
    };
    Ok((Price::all().map(row).collect(), prices.origin.clone()))
}

/// Op, its type, what it ran on, microseconds.
type TaskRow = (String, String, String, f64);

/// The tasks of a table of the profiler; none of one that has no single tasks.
#[pyfunction]
fn cost_tasks(py: Python<'_>, path: PathBuf) -> PyResult<Vec<TaskRow>> {
    let profile = py.detach(|| Profile::read(&path)).map_err(|error| to_python(py, error))?;
    Ok(match profile.content {
        Content::Tasks(tasks) => {
            tasks.into_iter().map(|task| (task.name, task.op_type, task.task_type, task.duration)).collect()
        }
        Content::Types(_) | Content::Buffer(_) => Vec::new(),
    })
}

/// A model as Python gives it: a graph, or `kernel_infos` with a name.
enum GivenModel {
    Graph(Py<ScopeGraph>),
    Kernel { infos: Value, name: String },
}

impl<'py> FromPyObject<'_, 'py> for GivenModel {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(graph) = given.cast::<ScopeGraph>() {
            return Ok(Self::Graph(graph.to_owned().unbind()));
        }
        let (infos, name): (Bound<'py, PyAny>, String) = given.extract()?;
        Ok(Self::Kernel { infos: convert::to_json(&infos)?, name })
    }
}

impl GivenModel {
    fn read(self, request: &PlanRequest) -> Result<Model, Error> {
        Ok(match self {
            Self::Graph(graph) => {
                let settings = request.planning();
                Model::Graph { graph: scope::filled_in(&graph.get().0, &settings)?, settings }
            }
            Self::Kernel { infos, name } => Model::Kernel { infos, name },
        })
    }
}

fn read_prices(path: Option<PathBuf>) -> Result<Prices, CostError> {
    path.map_or_else(|| Ok(Prices::default()), |path| Prices::read(&path))
}

fn read_profiles(paths: &[PathBuf]) -> Result<Vec<Profile>, CostError> {
    paths.iter().map(|path| Profile::read(path)).collect()
}

/// A prediction of a model, which Ctrl-C ends.
fn of_model<T: Send>(
    py: Python<'_>,
    model: GivenModel,
    request: &PlanRequest,
    profiles: &[PathBuf],
    prices: Option<PathBuf>,
    work: impl FnOnce(&Model, &Known<'_>, &Prices) -> Result<T, Error> + Send,
) -> PyResult<T> {
    interruptible(py, |cancel| -> Result<T, Error> {
        let (profiles, prices) = (read_profiles(profiles)?, read_prices(prices)?);
        let known = Known { platform: request.platform()?, durations: &Durations::new(&profiles), cancel };
        work(&model.read(request)?, &known, &prices)
    })
}

/// As Python data.
fn shown<'py>(py: Python<'py>, found: impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    convert::to_python(py, &serde_json::to_value(found).unwrap_or(Value::Null))
}

#[pyfunction]
fn cost_predict<'py>(
    py: Python<'py>,
    model: GivenModel,
    request: PlanRequest,
    profiles: Vec<PathBuf>,
    prices: Option<PathBuf>,
) -> PyResult<Bound<'py, PyAny>> {
    shown(py, of_model(py, model, &request, &profiles, prices, crate::predict)?)
}

/// What every core does when, with the durations of the profiles or made-up ones; and what is left out, with reasons.
#[pyfunction]
fn cost_trace(
    py: Python<'_>,
    model: GivenModel,
    request: PlanRequest,
    profiles: Vec<PathBuf>,
    prices: Option<PathBuf>,
) -> PyResult<(Traces, Vec<(String, String)>)> {
    let made = of_model(py, model, &request, &profiles, prices, |model, known, prices| {
        Ok(forecast::traces(model, known, prices)?)
    });
    let (traces, skipped) = made?;
    Ok((Traces(traces), skipped.into_iter().map(|skipped| (skipped.name, skipped.why)).collect()))
}

#[pyfunction]
fn cost_tune<'py>(
    py: Python<'py>,
    model: GivenModel,
    request: PlanRequest,
    profiles: Vec<PathBuf>,
    prices: Option<PathBuf>,
    candidates: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let tuned = of_model(py, model, &request, &profiles, prices, |model, known, prices| {
        crate::tune(model, known, prices, candidates)
    });
    shown(py, tuned?)
}

#[pyfunction]
fn cost_suggest<'py>(
    py: Python<'py>,
    model: GivenModel,
    request: PlanRequest,
    profiles: Vec<PathBuf>,
    prices: Option<PathBuf>,
) -> PyResult<Bound<'py, PyAny>> {
    shown(py, of_model(py, model, &request, &profiles, prices, crate::suggest)?)
}

/// Fits prices: (model, unfused profiles, fused profiles) of each run. Gives the report and the text of a prices file.
#[pyfunction]
fn cost_calibrate<'py>(
    py: Python<'py>,
    runs: Vec<(GivenModel, Vec<PathBuf>, Vec<PathBuf>)>,
    request: PlanRequest,
    prices: Option<PathBuf>,
    made_from: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let fitted = interruptible(py, |cancel| -> Result<_, Error> {
        let platform = request.platform()?;
        let mut read = Vec::with_capacity(runs.len());
        for (model, unfused, fused) in runs {
            let (unfused, fused) = (read_profiles(&unfused)?, read_profiles(&fused)?);
            read.push(Runs { model: model.read(&request)?, unfused, fused });
        }
        let known = Known { platform, durations: &Durations::new(&[]), cancel };
        let fit = forecast::calibrate(&read, &known, &read_prices(prices)?, made_from)?;
        Ok(json!({
            "prices": fit.report,
            "kernels": fit.kernels,
            "residual_percent": fit.residual_percent,
            "file": fit.prices.to_text(platform.soc, made_from),
        }))
    })?;
    convert::to_python(py, &fitted)
}
