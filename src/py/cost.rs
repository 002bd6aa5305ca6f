//! The native half of `superkernel.cost`.

use std::path::PathBuf;

use pyo3::prelude::*;
use serde::Serialize;
use serde_json::{Value, json};

use super::convert;
use super::errors::to_python;
use super::scope::PlanRequest;
use super::trace::Traces;
use crate::Error;
use crate::cost::CostError;
use crate::cost::forecast::{self, Model, Runs};
use crate::cost::inputs::Known;
use crate::cost::prices::{Effect, Price, Prices};
use crate::cost::profile::Profile;
use crate::cost::suggest;
use crate::model::Platform;
use crate::scope;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(cost_prices, module)?)?;
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
    let prices = read_prices(path).map_err(|error| to_python(py, &error))?;
    let row = |price: Price| {
        let effect = match price.effect() {
            Effect::Costs => "costs",
            Effect::Saves => "saves",
        };
        (price.name(), prices.get(price), prices.error(price), price.meaning(), effect)
    };
    Ok((Price::all().map(row).collect(), prices.origin.clone()))
}

/// A model as Python gives it: `kernel_infos` with a name, or a graph in JSON form.
#[derive(FromPyObject)]
struct GivenModel {
    #[pyo3(item)]
    text: String,
    #[pyo3(item)]
    is_graph: bool,
    #[pyo3(item)]
    name: String,
}

impl GivenModel {
    fn read(self, request: &PlanRequest) -> Result<Model, Error> {
        if self.is_graph {
            return Ok(Model::Graph { graph: scope::json::read(&self.text)?, settings: request.settings() });
        }
        // Python made the text from data it had checked to be JSON.
        let infos: Value = serde_json::from_str(&self.text).unwrap_or(Value::Null);
        Ok(Model::Kernel { infos, name: self.name })
    }
}

fn read_prices(path: Option<PathBuf>) -> Result<Prices, CostError> {
    path.map_or_else(|| Ok(Prices::default()), |path| Prices::read(&path))
}

fn read_profiles(paths: &[PathBuf]) -> Result<Vec<Profile>, CostError> {
    paths.iter().map(|path| Profile::read(path)).collect()
}

fn platform(request: &PlanRequest) -> Result<Platform, Error> {
    let (aic, aiv) = request.cores();
    Ok(Platform::new(request.soc(), aic, aiv)?)
}

/// Runs `work` without the interpreter lock; what it finds becomes Python data.
fn found<'py, T: Serialize + Send>(
    py: Python<'py>,
    work: impl FnOnce() -> Result<T, Error> + Send,
) -> PyResult<Bound<'py, PyAny>> {
    let done = py.detach(|| work().map(|value| serde_json::to_value(value).unwrap_or(Value::Null)));
    match done {
        Ok(value) => convert::to_python(py, &value),
        Err(error) => Err(to_python(py, error.diagnostic())),
    }
}

#[pyfunction]
fn cost_predict<'py>(
    py: Python<'py>,
    model: GivenModel,
    request: PlanRequest,
    profiles: Vec<PathBuf>,
    prices: Option<PathBuf>,
) -> PyResult<Bound<'py, PyAny>> {
    found(py, || {
        let (profiles, prices) = (read_profiles(&profiles)?, read_prices(prices)?);
        let known = Known { platform: platform(&request)?, profiles: &profiles };
        Ok(forecast::forecast(&model.read(&request)?, &known, &prices)?)
    })
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
    let made = py.detach(|| -> Result<_, Error> {
        let (profiles, prices) = (read_profiles(&profiles)?, read_prices(prices)?);
        let known = Known { platform: platform(&request)?, profiles: &profiles };
        Ok(forecast::traces(&model.read(&request)?, &known, &prices)?)
    });
    let (traces, skipped) = made.map_err(|error| to_python(py, error.diagnostic()))?;
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
    found(py, || {
        let (profiles, prices) = (read_profiles(&profiles)?, read_prices(prices)?);
        let known = Known { platform: platform(&request)?, profiles: &profiles };
        Ok(forecast::tune(&model.read(&request)?, &known, &prices, candidates)?)
    })
}

#[pyfunction]
fn cost_suggest<'py>(
    py: Python<'py>,
    graph: &str,
    request: PlanRequest,
    profiles: Vec<PathBuf>,
    prices: Option<PathBuf>,
) -> PyResult<Bound<'py, PyAny>> {
    found(py, || {
        let (profiles, prices) = (read_profiles(&profiles)?, read_prices(prices)?);
        let known = Known { platform: platform(&request)?, profiles: &profiles };
        Ok(suggest::suggest(&scope::json::read(graph)?, &request.settings(), &known, &prices)?)
    })
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
    found(py, || {
        let platform = platform(&request)?;
        let mut read = Vec::with_capacity(runs.len());
        for (model, unfused, fused) in runs {
            let (unfused, fused) = (read_profiles(&unfused)?, read_profiles(&fused)?);
            read.push(Runs { model: model.read(&request)?, unfused, fused });
        }
        let known = Known { platform, profiles: &[] };
        let fit = forecast::calibrate(&read, &known, &read_prices(prices)?, made_from)?;
        Ok(json!({
            "prices": fit.report,
            "kernels": fit.kernels,
            "residual_percent": fit.residual_percent,
            "file": fit.prices.to_text(platform.soc, made_from),
        }))
    })
}
