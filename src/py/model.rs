//! `superkernel.scope.compile_graph`: building the super kernels of a model.

use std::path::PathBuf;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::{Map, Value};

use super::convert;
use super::errors::from_parts;
use super::interrupt::listening;
use super::scope::ScopePlanned;
use super::settings::InForce;
use crate::Error;
use crate::build::Reuse;
use crate::build::model::{
    Elsewhere, Failure, KernelState, Kernels, ModelObserver, ModelRequest, PieceResult, State, Told,
};
use crate::environment::Intermediates;
use crate::stage::Stage;

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<KernelCache>()?;
    module.add_function(wrap_pyfunction!(build_model, module)?)
}

/// The kernels of this process: one build per kernel, however many ask for it at the same time.
///
/// The outer lock is held while the interpreter lock is, and for a moment only. A process is forked by who has the
/// interpreter lock, so a child never finds it held; the locks inside may be, and are left behind.
#[pyclass(frozen, module = "superkernel._core")]
#[derive(Default)]
struct KernelCache(Mutex<Arc<Kernels<Failure>>>);

#[pymethods]
impl KernelCache {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// `absent`, `running` or `finished`; a kernel is known by `FOLDER:NAME`.
    fn state(&self, name: &str) -> &'static str {
        match self.current().state(name) {
            KernelState::Absent => "absent",
            KernelState::Running => "running",
            KernelState::Finished => "finished",
        }
    }

    /// Forgets everything.
    fn clear(&self) {
        self.current().clear();
    }

    /// In a forked process: whoever built or held a lock does not exist there.
    fn _reset_after_fork(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Arc::default();
    }
}

impl KernelCache {
    fn current(&self) -> Arc<Kernels<Failure>> {
        Arc::clone(&self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Builds the super kernels of a plan. `ended` is called here with number, state, milliseconds, report and error of each
/// piece as it ends; `on_stage` with piece and stage, from the threads that build. With `remote`, its `entry` is asked for
/// every kernel first, by `waiting` threads.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "Python passes them one by one")]
fn build_model(
    py: Python<'_>,
    planned: &Bound<'_, ScopePlanned>,
    settings: InForce,
    kernels: &Bound<'_, KernelCache>,
    jobs: Option<u32>,
    keep: bool,
    rebuild: bool,
    remote: Option<(Py<PyAny>, usize)>,
    temporary: PathBuf,
    on_stage: Option<Py<PyAny>>,
    ended: &Bound<'_, PyAny>,
) -> PyResult<()> {
    let planned = planned.get();
    let remote = remote.map(|(remote, waiting)| (Remote(remote), waiting));
    let environment = settings.0;
    let request = ModelRequest {
        pieces: crate::pieces(&planned.plan, planned.mode),
        kernels: planned.plan.kernels.clone(),
        jobs: jobs.or(environment.settings.jobs),
        environment,
        keep: if keep { Intermediates::Keep } else { Intermediates::Remove },
        reuse: if rebuild { Reuse::Never } else { Reuse::Allowed },
        elsewhere: remote.as_ref().map(|(remote, waiting)| (remote as &dyn Elsewhere, *waiting)),
        temporary: &temporary,
    };
    let kernels = kernels.get().current();
    let hear = |PieceResult { number, state, took, report }: PieceResult| {
        let (state, error) = match state {
            Ok(state) => (State::as_str(state), None),
            Err(failure) => {
                let Told { id, message, solution } = failure.told(&request.pieces[number].members);
                ("failed", Some(from_parts(py, &id, &message, &solution).into_value(py)))
            }
        };
        let report = report.map(|report| convert::to_python(py, &report)).transpose()?;
        ended.call1((number, state, 1e3 * took.as_secs_f64(), report, error)).map(drop)
    };
    listening(
        py,
        |cancel, sender| {
            let told = Listener { on_stage: on_stage.as_ref(), results: Mutex::new(sender.clone()) };
            crate::build_model(&request, &kernels, &told, cancel);
            Ok::<_, Error>(())
        },
        hear,
    )
}

/// Passes on what builds say.
struct Listener<'a> {
    on_stage: Option<&'a Py<PyAny>>,
    results: Mutex<Sender<PieceResult>>,
}

impl ModelObserver for Listener<'_> {
    fn begins(&self, piece: &str, stage: Stage) {
        if let Some(callback) = self.on_stage {
            Python::attach(|py| {
                // A display that fails must not fail the build.
                if let Err(error) = callback.call1(py, (piece, stage.as_str())) {
                    error.write_unraisable(py, None);
                }
            });
        }
    }

    fn ended(&self, result: PieceResult) {
        // The receiver is only gone when the caller panics.
        let _ = self.results.lock().unwrap_or_else(PoisonError::into_inner).send(result);
    }
}

/// `superkernel.scope._remote.Remote`.
struct Remote(Py<PyAny>);

impl Elsewhere for Remote {
    fn entry(&self, infos: &Value, name: &str, settings: &Map<String, Value>) -> Result<Option<Vec<u8>>, Told> {
        Python::attach(|py| {
            let ask = || -> PyResult<Option<Vec<u8>>> {
                let infos = convert::to_python(py, infos)?;
                let settings = convert::to_python(py, &Value::Object(settings.clone()))?;
                let entry = self.0.bind(py).call_method1("entry", (infos, name, settings))?;
                if entry.is_none() {
                    return Ok(None);
                }
                Ok(Some(entry.cast::<PyBytes>()?.as_bytes().to_vec()))
            };
            ask().map_err(|error| told(py, &error))
        })
    }
}

/// The core's parts of an exception; of one that is not ours what Python says.
fn told(py: Python<'_>, error: &PyErr) -> Told {
    let part = |name: &str| -> PyResult<String> { error.value(py).getattr("errorinfo")?.get_item(name)?.extract() };
    let words = |name, other: &str| part(name).unwrap_or_else(|_| other.to_owned());
    Told {
        id: words("errId", "SK0002"),
        message: words("message", &error.to_string()),
        solution: words("errSolution", "report this with its traceback"),
    }
}
