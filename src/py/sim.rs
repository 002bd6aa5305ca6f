//! The native half of `superkernel.sim`.

use std::path::PathBuf;

use pyo3::prelude::*;

use super::convert::time_limit;
use super::errors::to_python;
use super::interrupt::interruptible;
use crate::environment::Variables;
use crate::model::Soc;
use crate::sim;
use crate::sim::arena::{self, Access};
use crate::sim::request;
use crate::toolchain::HostCompiler;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("SIM_GUARD_BYTE", sim::memory::GUARD_BYTE)?;
    module.add_function(wrap_pyfunction!(sim_link, module)?)?;
    module.add_function(wrap_pyfunction!(sim_arena_create, module)?)?;
    module.add_function(wrap_pyfunction!(sim_arena_attach, module)?)?;
    module.add_function(wrap_pyfunction!(sim_arena_detach, module)?)?;
    module.add_function(wrap_pyfunction!(sim_arena_open, module)?)?;
    module.add_function(wrap_pyfunction!(sim_arena_give_back, module)?)?;
    module.add_function(wrap_pyfunction!(sim_has_ffts_slot, module)?)?;
    module.add_function(wrap_pyfunction!(sim_choices, module)?)
}

/// Links kernel objects to the simulator's services, as a shared library at `output`.
#[pyfunction]
fn sim_link(
    py: Python<'_>,
    objects: Vec<PathBuf>,
    output: PathBuf,
    cache: PathBuf,
    timeout: Option<f64>,
) -> PyResult<()> {
    let linked = interruptible(py, |cancel| {
        let compiler = HostCompiler::find(&Variables::from_process().host_search(), time_limit(timeout))?;
        sim::library::link(&objects, &output, &cache, &compiler, cancel)
    })?;
    linked.map_err(|error| to_python(py, &error))
}

/// Makes an arena of device memory: (address, file descriptor).
#[pyfunction]
fn sim_arena_create(py: Python<'_>, size: u64) -> PyResult<(u64, i32)> {
    arena::create(size).map_err(|error| to_python(py, &error))
}

/// Maps an arena of another process.
#[pyfunction]
fn sim_arena_attach(py: Python<'_>, file: i32, address: u64, size: u64) -> PyResult<()> {
    arena::attach(file, address, size).map_err(|error| to_python(py, &error))
}

/// Unmaps an arena.
#[pyfunction]
fn sim_arena_detach(address: u64, size: u64) {
    arena::detach(address, size);
}

/// Opens the pages of a new buffer.
#[pyfunction]
fn sim_arena_open(py: Python<'_>, address: u64, size: u64) -> PyResult<()> {
    arena::protect(address, size, Access::Open).map_err(|error| to_python(py, &error))
}

/// Closes the pages of a buffer that is gone.
#[pyfunction]
fn sim_arena_give_back(py: Python<'_>, address: u64, size: u64) -> PyResult<()> {
    arena::give_back(address, size).map_err(|error| to_python(py, &error))
}

/// The values of an argument of `launch` that takes one of a few; none for another argument.
#[pyfunction]
fn sim_choices(argument: &str) -> Vec<String> {
    request::choices(argument)
}

/// Whether slot 0 of a super kernel for `soc` is the FFTS address.
#[pyfunction]
fn sim_has_ffts_slot(py: Python<'_>, soc: &str) -> PyResult<bool> {
    let soc = Soc::parse(soc).map_err(|error| to_python(py, &error))?;
    Ok(soc.chip().has_ffts_slot())
}
