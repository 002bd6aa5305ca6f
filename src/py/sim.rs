//! The native half of `superkernel.sim`.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;

use super::convert::time_limit;
use super::errors::to_python;
use super::interrupt::interruptible;
use crate::environment::Variables;
use crate::model::Soc;
use crate::opbuild::program::{self, ProgramRequest};
use crate::opbuild::{HeaderTree, OpBuildError};
use crate::operator::kernel::unit_test;
use crate::sim;
use crate::sim::SimError;
use crate::sim::interface::request;
use crate::sim::machine::arena::{self, Space};
use crate::sim::services::host::{Asked, Settings};
use crate::store::folders::FolderCache;
use crate::store::work_dir::WorkDir;
use crate::toolchain::HostCompiler;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("SIM_GUARD_BYTE", sim::machine::memory::GUARD_BYTE)?;
    module.add_function(wrap_pyfunction!(sim_link, module)?)?;
    module.add_function(wrap_pyfunction!(sim_build_program, module)?)?;
    module.add_function(wrap_pyfunction!(sim_run_program, module)?)?;
    module.add_function(wrap_pyfunction!(sim_arena_create, module)?)?;
    module.add_function(wrap_pyfunction!(sim_arena_attach, module)?)?;
    module.add_function(wrap_pyfunction!(sim_arena_detach, module)?)?;
    module.add_class::<SimSpace>()?;
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
    interruptible(py, |cancel| -> Result<(), SimError> {
        let compiler = HostCompiler::find(&Variables::from_process().host_search(), time_limit(timeout))?;
        sim::code::library::link(&objects, &output, &cache, &compiler, cancel)
    })
}

/// Builds a program whose host and kernel code share their files into a library at `output`.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "all of them name files")]
fn sim_build_program(
    py: Python<'_>,
    sources: Vec<PathBuf>,
    options: Vec<String>,
    libraries: Vec<PathBuf>,
    ascendc: Option<PathBuf>,
    emulation: PathBuf,
    output: PathBuf,
    cache: PathBuf,
    cache_limit: u64,
    watch_accesses: bool,
    timeout: Option<f64>,
) -> PyResult<()> {
    let headers = ascendc.as_deref().map(HeaderTree::open).transpose().map_err(|error| to_python(py, error))?;
    let kept = FolderCache { directory: cache.clone(), limit: cache_limit };
    let mut request =
        ProgramRequest { sources, kernels: Vec::new(), options, headers, emulation, cache: kept, watch_accesses };
    let work = interruptible(py, |cancel| WorkDir::create(&cache, "program", cancel))?;
    let view = work.path().join("view");
    request.kernels = unit_test::kernels(&request.sources, &view).map_err(|error| to_python(py, error))?;
    let shared = unit_test::shared_headers(&request.sources).map_err(|error| to_python(py, error))?;
    request.options.extend(shared.iter().map(|folder| format!("-I{}", folder.display())));
    let (compiler, mut objects) = interruptible(py, |cancel| -> Result<(HostCompiler, Vec<PathBuf>), OpBuildError> {
        let compiler = HostCompiler::find(&Variables::from_process().host_search(), time_limit(timeout))?;
        let objects = program::compile(&request, &compiler, &work, cancel)?;
        Ok((compiler, objects))
    })?;
    objects.extend(libraries);
    interruptible(py, |cancel| sim::code::library::link(&objects, &output, &cache, &compiler, cancel))
}

/// Runs a program in this process, which ends with it. `settings`: JSON, see [`Asked`].
#[pyfunction]
fn sim_run_program(py: Python<'_>, library: PathBuf, arguments: Vec<String>, settings: &str) -> PyResult<()> {
    let asked = Asked::read(settings).map_err(|error| to_python(py, error))?;
    let platform = asked.platform().map_err(|error| to_python(py, error))?;
    let settings = Settings::new(library, platform, asked).map_err(|error| to_python(py, error))?;
    let Err(error) = py.detach(|| sim::launch::program::run(settings, &arguments));
    Err(to_python(py, error))
}

/// Makes an arena of device memory, at `address` if it is given: (address, file descriptor).
#[pyfunction]
#[pyo3(signature = (size, address=None))]
fn sim_arena_create(py: Python<'_>, size: u64, address: Option<u64>) -> PyResult<(u64, i32)> {
    arena::create(size, address).map_err(|error| to_python(py, error))
}

/// Maps an arena of another process.
#[pyfunction]
fn sim_arena_attach(py: Python<'_>, file: i32, address: u64, size: u64) -> PyResult<()> {
    arena::attach(file, address, size).map_err(|error| to_python(py, error))
}

/// Unmaps an arena.
#[pyfunction]
fn sim_arena_detach(address: u64, size: u64) {
    arena::detach(address, size);
}

/// Who has which pages of an arena.
#[pyclass(frozen, module = "superkernel._core")]
struct SimSpace(Mutex<Space>);

#[pymethods]
impl SimSpace {
    #[new]
    fn new(py: Python<'_>, address: u64, size: u64) -> PyResult<Self> {
        let space = Space::new(address, size).map_err(|error| to_python(py, error))?;
        Ok(Self(Mutex::new(space)))
    }

    /// The address of a new buffer; `None` if there is no room for it, or not at the address `wanted`.
    #[pyo3(signature = (size, wanted=None))]
    fn allocate(&self, py: Python<'_>, size: u64, wanted: Option<u64>) -> PyResult<Option<u64>> {
        self.locked().allocate(size, wanted).map_err(|error| to_python(py, error))
    }

    /// Takes the pages of a buffer back.
    fn release(&self, py: Python<'_>, address: u64, size: u64) -> PyResult<()> {
        self.locked().release(address, size).map_err(|error| to_python(py, error))
    }
}

impl SimSpace {
    fn locked(&self) -> MutexGuard<'_, Space> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The values of an argument of `launch` that takes one of a few; none for another argument.
#[pyfunction]
fn sim_choices(argument: &str) -> Vec<&'static str> {
    request::choices(argument).to_vec()
}

/// Whether slot 0 of a super kernel for `soc` is the FFTS address.
#[pyfunction]
fn sim_has_ffts_slot(py: Python<'_>, soc: &str) -> PyResult<bool> {
    let soc = Soc::parse(soc).map_err(|error| to_python(py, error))?;
    Ok(soc.chip().has_ffts_slot())
}
