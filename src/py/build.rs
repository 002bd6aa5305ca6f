//! The native half of `superkernel.compile` and of the commands about builds and the cache.

use std::path::PathBuf;
use std::sync::Mutex;

use pyo3::prelude::*;
use serde_json::{Value, json};

use super::convert;
use super::errors::to_python;
use super::interrupt::interruptible;
use super::settings::InForce;
use crate::build::cached::CacheAnswer;
use crate::build::manifest::Standing;
use crate::build::toolchains::{self, KnownTools, Needs};
use crate::build::{Request, Reuse, Shared, cached};
use crate::environment::{Intermediates, Variables};
use crate::fs::FileError;
use crate::model::KnownKernels;
use crate::stage::{Observer, Stage};
use crate::store::cache::{Cache, CacheSettings, Sharing};
use crate::store::folders::{FolderCache, KeptFolder};
use crate::store::work_dir::WorkDir;
use crate::{Diagnostic, Error};

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ScratchFolder>()?;
    module.add_function(wrap_pyfunction!(build, module)?)?;
    module.add_function(wrap_pyfunction!(compare_build, module)?)?;
    module.add_function(wrap_pyfunction!(build_refusals, module)?)?;
    module.add_function(wrap_pyfunction!(toolchain_facts, module)?)?;
    module.add_function(wrap_pyfunction!(cann_toolkit, module)?)?;
    module.add_function(wrap_pyfunction!(build_stages, module)?)?;
    module.add_function(wrap_pyfunction!(cache_stats, module)?)?;
    module.add_function(wrap_pyfunction!(cache_list, module)?)?;
    module.add_function(wrap_pyfunction!(cache_why, module)?)?;
    module.add_function(wrap_pyfunction!(cache_clear, module)?)?;
    module.add_function(wrap_pyfunction!(cache_entries, module)?)?;
    module.add_function(wrap_pyfunction!(header_cache, module)?)?;
    module.add_function(wrap_pyfunction!(header_cache_clear, module)?)?;
    module.add_function(wrap_pyfunction!(cache_import, module)?)
}

/// Builds a kernel; the report of it. `progress` is called with the name of every stage as it begins.
#[pyfunction]
fn build<'py>(
    py: Python<'py>,
    kernel_infos: &Bound<'py, PyAny>,
    kernel_name: &Bound<'py, PyAny>,
    settings: InForce,
    keep: bool,
    rebuild: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let mut request = request(kernel_infos, kernel_name, settings)?;
    if keep {
        request.keep = Intermediates::Keep;
    }
    if rebuild {
        request.reuse = Reuse::Never;
    }
    let observer = Progress(progress);
    let outcome = interruptible(py, |cancel| crate::build(&request, &observer, cancel))?;
    convert::to_python(py, outcome.to_json())
}

/// Whether a kernel would be built again, and why: `("up to date" | "absent" | "outdated", reasons)`.
#[pyfunction]
fn compare_build<'py>(
    py: Python<'py>,
    kernel_infos: &Bound<'py, PyAny>,
    kernel_name: &Bound<'py, PyAny>,
    settings: InForce,
) -> PyResult<(&'static str, Vec<String>)> {
    let request = request(kernel_infos, kernel_name, settings)?;
    Ok(match interruptible(py, |_| crate::compare(&request))? {
        Standing::UpToDate => ("up to date", Vec::new()),
        Standing::Absent => ("absent", Vec::new()),
        Standing::Outdated(reasons) => ("outdated", reasons),
    })
}

/// What a build would refuse, found without a compiler: id, message and solution of each.
#[pyfunction]
fn build_refusals<'py>(
    py: Python<'py>,
    kernel_infos: &Bound<'py, PyAny>,
    kernel_name: &Bound<'py, PyAny>,
    settings: InForce,
) -> PyResult<Vec<(&'static str, String, String)>> {
    let request = request(kernel_infos, kernel_name, settings)?;
    let refusals = interruptible(py, |_| Ok::<_, Error>(crate::refusals(&request)))?;
    Ok(refusals.iter().map(|error| (error.id(), error.to_string(), error.solution())).collect())
}

/// Family and identity of the tools a build would use.
#[pyfunction]
fn toolchain_facts(py: Python<'_>, settings: InForce) -> PyResult<Vec<(String, String)>> {
    let chosen = interruptible(py, |_| toolchains::choose(&settings.0, &Needs::Nothing, &KnownTools::default()))?;
    Ok(chosen.facts)
}

/// Where the CANN toolkit is looked for.
#[pyfunction]
fn cann_toolkit() -> String {
    Variables::from_process().cann_search().toolkit().display().to_string()
}

/// A folder for the files of one task: removed by `close`, or, after a crash, by whoever makes the next one in `parent`.
#[pyclass(frozen, module = "superkernel._core")]
struct ScratchFolder {
    path: PathBuf,
    folder: Mutex<Option<WorkDir>>,
}

#[pymethods]
impl ScratchFolder {
    #[new]
    fn new(py: Python<'_>, parent: PathBuf, purpose: &str) -> PyResult<Self> {
        let folder = interruptible(py, |cancel| WorkDir::create(&parent, purpose, cancel))?;
        Ok(Self { path: folder.path().to_path_buf(), folder: Mutex::new(Some(folder)) })
    }

    /// Where it is.
    #[getter]
    fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// Removes it with all that is in it.
    fn close(&self, py: Python<'_>) {
        let folder = self.folder.lock().ok().and_then(|mut folder| folder.take());
        py.detach(|| drop(folder));
    }
}

/// The names of all stages, in order.
#[pyfunction]
fn build_stages() -> Vec<&'static str> {
    Stage::ALL.map(Stage::as_str).to_vec()
}

/// What a cache directory holds.
#[pyfunction]
fn cache_stats<'py>(py: Python<'py>, directory: PathBuf, limit: u64) -> PyResult<Bound<'py, PyAny>> {
    let cache = cache(directory, limit);
    let stats = py.detach(|| cache.check_folder().map(|()| cache.stats())).map_err(|error| to_python(py, error))?;
    convert::to_python(py, &json!(stats))
}

/// Every entry, least recently used first: kernel, key, bytes, seconds since it was used, and what is wrong with it.
/// With `verify` each is read as a whole; without, only what it says about itself.
#[pyfunction]
fn cache_list<'py>(py: Python<'py>, directory: PathBuf, verify: bool) -> PyResult<Bound<'py, PyAny>> {
    let cache = cache(directory, u64::MAX);
    let listed = interruptible(py, |cancel| -> Result<_, FileError> {
        cache.check_folder()?;
        let mut rows = Vec::new();
        for entry in cache.list() {
            if cancel.is_cancelled() {
                break;
            }
            let head = match (entry.head, verify) {
                (Ok(_), true) => cached::verify(&cache, &entry.path).map_err(|error| error.to_string()),
                (head, _) => head,
            };
            let (head, problem) = match head {
                Ok(head) => (Some(head), None),
                Err(problem) => (None, Some(problem)),
            };
            rows.push(json!({
                "file": entry.path.to_string_lossy(),
                "kernel": head.as_ref().map(|head| &head.kernel),
                "key": head.as_ref().map(|head| &head.key),
                "bytes": entry.bytes,
                "idle_seconds": entry.idle.as_secs(),
                "problem": problem,
            }));
        }
        Ok(json!(rows))
    })?;
    convert::to_python(py, &listed)
}

/// What the cache says to a build: `answer` is `no cache`, `hit` or `miss`; of a miss the `nearest` kernel, seconds since
/// it was used, and how it differs.
#[pyfunction]
fn cache_why<'py>(
    py: Python<'py>,
    kernel_infos: &Bound<'py, PyAny>,
    kernel_name: &Bound<'py, PyAny>,
    settings: InForce,
) -> PyResult<Bound<'py, PyAny>> {
    let request = request(kernel_infos, kernel_name, settings)?;
    let answer = match interruptible(py, |_| crate::ask_cache(&request))? {
        CacheAnswer::NoCache => json!({"answer": "no cache"}),
        CacheAnswer::Hit => json!({"answer": "hit"}),
        CacheAnswer::Empty => json!({"answer": "miss", "nearest": null, "idle_seconds": null, "changes": []}),
        CacheAnswer::Miss { kernel, idle, changes } => {
            json!({"answer": "miss", "nearest": kernel, "idle_seconds": idle.as_secs(), "changes": changes})
        }
    };
    convert::to_python(py, &answer)
}

/// Removes all entries: how many, and the folder if there is something in it that the cache has not written.
#[pyfunction]
fn cache_clear(py: Python<'_>, directory: PathBuf) -> PyResult<(u64, Option<PathBuf>)> {
    let cache = cache(directory, u64::MAX);
    let cleared = py.detach(|| cache.check_folder().and_then(|()| cache.clear()));
    cleared.map(|done| (done.entries, done.left)).map_err(|error| to_python(py, error))
}

/// The files of all entries, least recently used first.
#[pyfunction]
fn cache_entries(py: Python<'_>, directory: PathBuf) -> PyResult<Vec<PathBuf>> {
    let cache = cache(directory, u64::MAX);
    py.detach(|| cache.check_folder().map(|()| cache.entries())).map_err(|error| to_python(py, error))
}

/// The folders of precompiled headers in a directory, least recently used first: file, digest, bytes, seconds since they
/// were used.
#[pyfunction]
fn header_cache<'py>(py: Python<'py>, directory: PathBuf) -> PyResult<Bound<'py, PyAny>> {
    let cache = FolderCache { directory, limit: u64::MAX };
    let row = |folder: &KeptFolder| {
        let name = folder.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        json!({
            "file": folder.path.to_string_lossy(),
            "key": name.rsplit('_').next(),
            "bytes": folder.bytes,
            "idle_seconds": folder.idle().as_secs(),
        })
    };
    let rows: Vec<_> = py.detach(|| cache.list()).iter().map(row).collect();
    convert::to_python(py, &json!(rows))
}

/// Removes them; how many there were.
#[pyfunction]
fn header_cache_clear(py: Python<'_>, directory: PathBuf) -> PyResult<u64> {
    let cache = FolderCache { directory, limit: u64::MAX };
    py.detach(|| cache.clear()).map_err(|error| to_python(py, error))
}

/// Checks a file made by another cache and takes it over; the name of its kernel.
#[pyfunction]
fn cache_import(py: Python<'_>, directory: PathBuf, limit: u64, shared: bool, file: PathBuf) -> PyResult<String> {
    let sharing = Sharing::with_others(shared);
    let cache = Cache::new(&CacheSettings { directory, limit, sharing });
    match py.detach(|| cached::import(&cache, &file)) {
        Ok(head) => Ok(head.kernel),
        Err(error) => Err(to_python(py, error)),
    }
}

fn cache(directory: PathBuf, limit: u64) -> Cache {
    // Counting, listing and removing trust nobody.
    Cache::new(&CacheSettings { directory, limit, sharing: Sharing::Own })
}

/// Calls a Python function at every stage.
struct Progress(Option<Py<PyAny>>);

impl Observer for Progress {
    fn begins(&self, stage: Stage) {
        if let Some(callback) = &self.0 {
            Python::attach(|py| {
                // A display that fails must not fail the build.
                if let Err(error) = callback.call1(py, (stage.as_str(),)) {
                    error.write_unraisable(py, None);
                }
            });
        }
    }
}

fn request(
    kernel_infos: &Bound<'_, PyAny>,
    kernel_name: &Bound<'_, PyAny>,
    InForce(environment): InForce,
) -> PyResult<Request> {
    let kernel_infos: Value = convert::to_json(kernel_infos)?;
    let name = convert::to_text(kernel_name, "called_kernel_name")?;
    let shared = Shared::new(environment.settings.jobs, &KnownKernels::default());
    Ok(Request { kernel_infos, name, environment, keep: Intermediates::Remove, reuse: Reuse::Allowed, shared })
}
