//! Records of builds: the manifest beside a kernel, and reproducers.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde_json::{Map, Value, json};

use super::convert;
use super::errors::to_python;
use super::settings::Chosen;
use crate::build::files::KernelFiles;
use crate::build::manifest::{Call, Manifest};
use crate::build::reproducer::{Recorded, Reproducer, Trust};
use crate::build::{BuildError, ResultJson};
use crate::environment::kind::RecordedBuilds;
use crate::fs;
use crate::json::{Document, JsonError, JsonFile, JsonPath};
use crate::model;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<BuildRecord>()?;
    module.add_class::<StoredCall>()?;
    module.add_function(wrap_pyfunction!(build_record, module)?)?;
    module.add_function(wrap_pyfunction!(built_kernel, module)?)?;
    module.add_function(wrap_pyfunction!(beside_file, module)?)?;
    module.add_function(wrap_pyfunction!(reproducer_paths, module)?)?;
    module.add_function(wrap_pyfunction!(reproducer_folder, module)?)?;
    module.add_function(wrap_pyfunction!(reproducer_write, module)?)?;
    module.add_function(wrap_pyfunction!(reproducer_read, module)?)
}

/// The record of a kernel's last build.
#[pyclass(frozen, module = "superkernel._core")]
struct BuildRecord(Manifest);

#[pymethods]
impl BuildRecord {
    /// Why it was built; empty: there was none before.
    #[getter]
    fn because(&self) -> Vec<String> {
        self.0.notes.because.clone()
    }

    /// The argument of the call.
    #[getter]
    fn kernel_infos<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        convert::to_python(py, &self.0.notes.call.kernel_infos)
    }

    /// The settings of the call, as `configure` takes them.
    #[getter]
    fn settings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        settings(py, &self.0.notes.call)
    }
}

fn settings<'py>(py: Python<'py>, call: &Call) -> PyResult<Bound<'py, PyAny>> {
    convert::to_python(py, &Value::Object(call.settings.clone()))
}

/// The record of the kernel `name` in a `kernel_meta` directory.
#[pyfunction]
fn build_record(py: Python<'_>, directory: PathBuf, name: String) -> PyResult<BuildRecord> {
    let read = py.detach(|| Manifest::read(&KernelFiles::new(&directory, &name)));
    let unusable = |error| BuildError::NoRecord { kernel: name, source: Box::new(error) };
    read.map(BuildRecord).map_err(|error| to_python(py, unusable(error)))
}

/// What the JSON of a built super kernel says, with its build record if that is beside it and belongs to it; `None` if
/// the file is something else.
#[pyfunction]
fn built_kernel<'py>(py: Python<'py>, path: PathBuf) -> PyResult<Option<(Bound<'py, PyAny>, Option<BuildRecord>)>> {
    let read = || -> Result<Option<(Value, Option<Manifest>)>, JsonError> {
        // Whoever reads it as something else tells what is wrong with it.
        let read = JsonFile::read(Document::Result, &path, &JsonPath::top(Document::Result));
        let Ok(json) = read else { return Ok(None) };
        if !json.root().object().is_ok_and(|object| object.contains_key("SuperkernelInfo")) {
            return Ok(None);
        }
        let described = ResultJson::from_node(&json.root())?;
        let record = Manifest::read_file(&path.with_extension("manifest.json")).ok();
        let record = record.filter(|record| record.json == json.digest.to_string());
        Ok(Some((kernel_facts(&described, &path, record.as_ref()), record)))
    };
    let Some((facts, record)) = py.detach(read).map_err(|error| to_python(py, error))? else { return Ok(None) };
    Ok(Some((convert::to_python(py, &facts)?, record.map(BuildRecord))))
}

fn kernel_facts(kernel: &ResultJson, path: &Path, record: Option<&Manifest>) -> Value {
    let ops = kernel.ops.iter().enumerate().map(|(position, op)| {
        json!({
            "position": position,
            "kernel_name": op.name,
            "kernel_type": op.kernel_type.as_str(),
            "stream_id": op.stream,
            "block_num": op.blocks,
        })
    });
    json!({
        "kernel_name": kernel.name,
        "kernel_type": kernel.kernel_type.kernel_type().as_str(),
        "block_num": kernel.blocks,
        "workspace_bytes": kernel.workspace_size,
        "object_bytes": fs::metadata(&path.with_file_name(&kernel.object_file)).ok().map(|object| object.len()),
        "code_bytes": record.and_then(|record| record.notes.sizes.as_ref()).map(|sizes| sizes.code),
        "block_local_bytes": record.and_then(|record| record.notes.sizes.as_ref()).map(|sizes| sizes.block_local),
        "slots": record.map(|record| record.notes.parameters.len()),
        "ops": ops.collect::<Vec<_>>(),
    })
}

/// A build read back from a reproducer.
#[pyclass(frozen, module = "superkernel._core")]
struct StoredCall(Reproducer);

#[pymethods]
impl StoredCall {
    /// The kernel's name.
    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    /// The argument of the call; its paths are those of the unpacked files.
    #[getter]
    fn kernel_infos<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        convert::to_python(py, &self.0.call.kernel_infos)
    }

    /// The settings of the call, as `configure` takes them.
    #[getter]
    fn settings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        settings(py, &self.0.call)
    }

    /// Facts about the machine it ran on.
    #[getter]
    fn machine<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        convert::to_python(py, &self.0.machine.clone().into())
    }

    /// What was not taken from the record, in words.
    #[getter]
    fn dropped(&self) -> Vec<String> {
        self.0.dropped.clone()
    }

    /// The id of the error it ended with.
    #[getter]
    fn error(&self) -> Option<&str> {
        match &self.0.result {
            Recorded::Failed { id, .. } => Some(id),
            Recorded::Built { .. } | Recorded::Nothing => None,
        }
    }

    /// The digest of the object it made.
    #[getter]
    fn object_sha256(&self) -> Option<&str> {
        match &self.0.result {
            Recorded::Built { object, .. } => Some(object),
            Recorded::Failed { .. } | Recorded::Nothing => None,
        }
    }
}

/// The files that `kernel_infos` names.
#[pyfunction]
fn reproducer_paths(kernel_infos: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    let infos = convert::to_json(kernel_infos)?;
    let mut paths = Vec::new();
    model::with_paths(&infos, |path| {
        paths.push(path.to_owned());
        path.to_owned()
    });
    Ok(paths)
}

/// `kernel_infos` that were read from a file of `folder`: relative paths lead to what is there, else in the current
/// folder.
#[pyfunction]
fn beside_file<'py>(py: Python<'py>, kernel_infos: &Bound<'py, PyAny>, folder: PathBuf) -> PyResult<Bound<'py, PyAny>> {
    let infos = convert::to_json(kernel_infos)?;
    let infos = py.detach(|| model::with_paths(&infos, |path| model::beside(&folder, path, model::Missing::Beside)));
    convert::to_python(py, &infos)
}

/// Where builds with these settings leave reproducers, and whether only those that fail.
#[pyfunction]
fn reproducer_folder(settings: Chosen) -> Option<(PathBuf, bool)> {
    settings.0.save_reproducer.map(|wanted| match wanted.of {
        RecordedBuilds::All => (wanted.directory, false),
        RecordedBuilds::Failures => (wanted.directory, true),
    })
}

/// The record of a build, as bytes of its file, and the digest of what it repeats. `inside` says where in the reproducer each file is; `report` or
/// `error` tell what came of the build.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "one argument per part of the record, all by keyword")]
#[pyo3(signature = (*, kernel_infos, inside, name, settings, machine, report, object_sha256, error))]
fn reproducer_write<'py>(
    py: Python<'py>,
    kernel_infos: &Bound<'py, PyAny>,
    inside: HashMap<String, String>,
    name: String,
    settings: &Bound<'py, PyDict>,
    machine: &Bound<'py, PyDict>,
    report: Option<&Bound<'py, PyDict>>,
    object_sha256: Option<String>,
    error: Option<&Bound<'py, PyDict>>,
) -> PyResult<(Bound<'py, PyBytes>, String)> {
    let infos = convert::to_json(kernel_infos)?;
    let result = match (report, object_sha256, error) {
        (Some(report), Some(object), _) => Recorded::Built { report: Value::Object(object_of(report)?), object },
        (_, _, Some(error)) => {
            let error = object_of(error)?;
            let id = error.get("errId").and_then(Value::as_str).unwrap_or_default().to_owned();
            Recorded::Failed { id, error }
        }
        (_, _, None) => Recorded::Nothing,
    };
    let reproducer = Reproducer {
        name,
        call: Call {
            kernel_infos: model::with_paths(&infos, |path| inside.get(path).cloned().unwrap_or_default()),
            settings: object_of(settings)?,
        },
        machine: object_of(machine)?,
        result,
        dropped: Vec::new(),
    };
    let digest = reproducer.digest().to_string();
    Ok((PyBytes::new(py, format!("{:#}", reproducer.to_json()).as_bytes()), digest))
}

fn object_of(data: &Bound<'_, PyDict>) -> PyResult<Map<String, Value>> {
    match convert::to_json(data.as_any())? {
        Value::Object(object) => Ok(object),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Ok(Map::new()),
    }
}

/// Reads the record of the reproducer `path`, unpacked as `record`. Without `trust` nothing is taken from it that could
/// name a file or a program of this machine.
#[pyfunction]
fn reproducer_read(py: Python<'_>, path: PathBuf, record: PathBuf, trust: bool) -> PyResult<StoredCall> {
    let trust = if trust { Trust::Sender } else { Trust::Nobody };
    let read = py.detach(|| Reproducer::read(&path, &record, trust));
    read.map(StoredCall).map_err(|error| to_python(py, error))
}
