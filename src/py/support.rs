//! What the Python half of the package borrows from the core: near names, core counts, CANN's folder.

use std::os::fd::IntoRawFd;
use std::path::PathBuf;

use pyo3::prelude::*;

use super::errors::to_python;
use crate::documentation;
use crate::environment::Variables;
use crate::model::Soc;
use crate::named::Named;
use crate::program::Action;
use crate::sim::interface::status::Status;
use crate::sim::interface::tools::Tool;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(default_cores, module)?)?;
    module.add_function(wrap_pyfunction!(error_documentation, module)?)?;
    module.add_function(wrap_pyfunction!(documented_words, module)?)?;
    module.add_function(wrap_pyfunction!(nearest, module)?)?;
    module.add_function(wrap_pyfunction!(open_file, module)?)?;
    module.add_function(wrap_pyfunction!(write_file, module)?)?;
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
fn toolkit_dir() -> PathBuf {
    Variables::from_process().cann_search().toolkit()
}

/// Opens a regular file for reading: the descriptor, which the caller closes.
#[pyfunction]
fn open_file(py: Python<'_>, path: PathBuf) -> PyResult<i32> {
    let opened = py.detach(|| crate::fs::open(&path));
    opened.map(IntoRawFd::into_raw_fd).map_err(|error| to_python(py, error))
}

/// Writes a whole regular file that the user named.
#[pyfunction]
fn write_file(py: Python<'_>, path: PathBuf, data: &[u8]) -> PyResult<()> {
    py.detach(|| crate::fs::write_output(&path, data)).map_err(|error| to_python(py, error))
}

/// What there is of statuses, tools and steps: which of them it is, its name, what it means, and the id of a status.
#[pyfunction]
fn documented_words() -> Vec<(&'static str, &'static str, &'static str, Option<&'static str>)> {
    let statuses = Status::ALL.into_iter().zip(Status::MEANINGS);
    let statuses =
        statuses.map(|(status, meaning)| ("status", status.as_str(), *meaning, status.error().map(|(id, _)| id)));
    let tools = Tool::NAMES.iter().zip(Tool::MEANINGS).map(|(name, meaning)| ("tool", *name, *meaning, None));
    let steps = Action::DOCUMENTED.iter().map(|(name, meaning)| ("step", *name, *meaning, None));
    statuses.chain(tools).chain(steps).collect()
}

/// Id, area, what is wrong, what to do, and an example of wrong and right.
type ErrorRow = (&'static str, &'static str, &'static str, &'static str, Option<(&'static str, &'static str)>);

/// The documented errors.
#[pyfunction]
fn error_documentation() -> Vec<ErrorRow> {
    let row = |entry: documentation::ErrorEntry| (entry.id, entry.area, entry.what, entry.solution, entry.example);
    documentation::errors().into_iter().map(row).collect()
}
