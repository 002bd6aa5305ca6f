//! What the Python half of the package borrows from the core: near names, core counts, fresh log levels.

use std::sync::OnceLock;

use pyo3::prelude::*;
use pyo3_log::{Caching, Logger, ResetHandle};

use crate::model::Soc;

static LOG_CACHE: OnceLock<ResetHandle> = OnceLock::new();

/// Sends the core's log records to Python: target `superkernel::plan` becomes the logger `superkernel.plan`.
///
/// Every record of this crate has such a target by default (its module path).
pub fn start_logging(py: Python<'_>) -> PyResult<()> {
    // A second import in one process finds a logger installed; that is fine.
    if let Ok(handle) = Logger::new(py, Caching::LoggersAndLevels)?.install() {
        let _ = LOG_CACHE.set(handle);
    }
    Ok(())
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(refresh_log_levels, module)?)?;
    module.add_function(wrap_pyfunction!(default_cores, module)?)?;
    module.add_function(wrap_pyfunction!(nearest, module)?)
}

/// Forgets which levels the Python loggers had, so that the next record asks again.
#[pyfunction]
fn refresh_log_levels() {
    if let Some(handle) = LOG_CACHE.get() {
        handle.reset();
    }
}

/// Cube and vector cores of a SoC when nothing else says; `None` for a SoC that is not supported.
#[pyfunction]
fn default_cores(soc: &str) -> Option<(u32, u32)> {
    Soc::parse(soc).ok().map(Soc::default_cores).map(|cores| (cores.aic, cores.aiv))
}

/// The candidates that `name` may have been meant to be, closest first.
#[pyfunction]
fn nearest(name: &str, candidates: Vec<String>, limit: usize) -> Vec<String> {
    let known = candidates.iter().map(String::as_str);
    crate::nearest::nearest(name, known, limit).into_iter().map(str::to_owned).collect()
}
