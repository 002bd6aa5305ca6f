//! What the Python half of the package borrows from the core: near names, core counts, CANN's folder.

use pyo3::prelude::*;

use crate::environment::Variables;
use crate::model::Soc;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(default_cores, module)?)?;
    module.add_function(wrap_pyfunction!(nearest, module)?)?;
    module.add_function(wrap_pyfunction!(toolkit_dir, module)?)
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

/// Where CANN's toolkit is looked for, whether it is there or not.
#[pyfunction]
fn toolkit_dir() -> std::path::PathBuf {
    Variables::from_process().cann_search().toolkit()
}
