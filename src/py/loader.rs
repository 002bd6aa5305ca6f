//! What `superkernel.sim` knows about a kernel: typed, read from its files by the core.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use pyo3::prelude::*;

use super::errors::to_python;
use crate::loader::{self, ForeignDigests, Form, Launchable, LaunchableOp, LoadError};
use crate::model::{CoreKind, Slot, Soc};
use crate::sim::request::Entries;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<KernelDescription>()?;
    module.add_class::<OpDescription>()?;
    module.add_class::<Parameter>()?;
    module.add_function(wrap_pyfunction!(sim_describe, module)?)
}

/// What is known about a kernel without running it.
#[pyclass(frozen, module = "superkernel._core")]
pub(crate) struct KernelDescription(Launchable);

/// One operator inside a super kernel.
#[pyclass(frozen, get_all, module = "superkernel._core")]
struct OpDescription {
    /// Its name.
    name: String,
    /// Slot of its first parameter.
    param_offset: u32,
    /// Slots of its own parameters; `None`: up to the end.
    param_count: Option<u32>,
}

/// One parameter slot of a kernel.
#[pyclass(frozen, get_all, module = "superkernel._core")]
struct Parameter {
    /// Its number.
    slot: usize,
    /// Its name: `x_0` is `x` of op 0.
    name: String,
    /// The op's place in `op_list`.
    op: Option<usize>,
    /// `parameter`, `ffts-address`, `notify-lock`, ...
    role: &'static str,
    /// Whether the op's author does not know of it.
    hidden: bool,
}

#[pymethods]
impl Parameter {
    fn __repr__(&self) -> String {
        format!("Parameter({}, {:?}, {})", self.slot, self.name, self.role)
    }
}

/// Functions by core kind, `aic` and `aiv`.
type Functions = BTreeMap<&'static str, String>;

#[pymethods]
impl KernelDescription {
    /// The kernel's name.
    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    /// Its object file or archive.
    #[getter]
    fn object(&self) -> PathBuf {
        self.0.object.clone()
    }

    /// `KERNEL_TYPE_...`, as which it is launched.
    #[getter]
    fn kernel_type(&self) -> &'static str {
        self.0.kernel_type.as_str()
    }

    /// The number of blocks its files give.
    #[getter]
    fn block_dim(&self) -> Option<u32> {
        self.0.blocks
    }

    /// Whether it is a super kernel.
    #[getter]
    fn is_super_kernel(&self) -> bool {
        match self.0.form {
            Form::SuperKernel { .. } => true,
            Form::SubKernel { .. } => false,
        }
    }

    /// Functions by core kind; none for a tiling-sink operator.
    #[getter]
    fn functions(&self) -> Functions {
        match &self.0.form {
            Form::SuperKernel { entries, .. } | Form::SubKernel { entries, .. } => by_kind(entries),
        }
    }

    /// The operators of a super kernel, as far as its JSON was there.
    #[getter]
    fn ops(&self) -> Vec<OpDescription> {
        match &self.0.form {
            Form::SuperKernel { ops, .. } => ops.iter().map(OpDescription::new).collect(),
            Form::SubKernel { .. } => Vec::new(),
        }
    }

    /// All parameter slots in order; empty if the files do not say.
    #[getter]
    fn parameters(&self) -> Vec<Parameter> {
        let parameter = |(number, slot): (usize, &Slot)| Parameter {
            slot: number,
            name: slot.name.clone(),
            op: slot.op.map(|op| op.0),
            role: slot.role.as_str(),
            hidden: slot.role.is_hidden(),
        };
        self.0.parameters.iter().enumerate().map(parameter).collect()
    }

    /// Names of a sub-kernel's parameters, as far as its JSON was there.
    #[getter]
    fn params(&self) -> Vec<String> {
        match &self.0.form {
            Form::SuperKernel { .. } => Vec::new(),
            Form::SubKernel { params, .. } => params.clone(),
        }
    }

    /// Type and functions of every tiling key of a tiling-sink operator.
    #[getter]
    fn tiling_keys(&self) -> BTreeMap<u64, (&'static str, Functions)> {
        match &self.0.form {
            Form::SuperKernel { .. } => BTreeMap::new(),
            Form::SubKernel { tiling_keys, .. } => {
                let entry = |(key, kernel_type, entries): &(u64, crate::model::KernelType, Entries)| {
                    (*key, (kernel_type.as_str(), by_kind(entries)))
                };
                tiling_keys.iter().map(entry).collect()
            }
        }
    }

    fn __repr__(&self) -> String {
        format!("KernelDescription({:?}, {})", self.0.name, self.0.kernel_type)
    }
}

impl OpDescription {
    fn new(op: &LaunchableOp) -> Self {
        Self { name: op.name.clone(), param_offset: op.param_offset, param_count: op.param_count }
    }
}

fn by_kind(entries: &Entries) -> Functions {
    let found = [(CoreKind::Aic, &entries.aic), (CoreKind::Aiv, &entries.aiv)];
    found.into_iter().filter_map(|(kind, name)| Some((kind.as_str(), name.clone()?))).collect()
}

/// Finds out what kind of kernel the files hold. With `strict` every `sha256` must be its object's.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "what `Device.load` takes, and the device's settings")]
fn sim_describe(
    py: Python<'_>,
    path: PathBuf,
    bin_path: Option<PathBuf>,
    functions: Option<HashMap<String, String>>,
    kernel_type: Option<String>,
    block_dim: Option<u32>,
    soc: &str,
    strict: bool,
) -> PyResult<KernelDescription> {
    let foreign = if strict { ForeignDigests::Refuse } else { ForeignDigests::Warn };
    let found = py.detach(|| -> Result<Launchable, LoadError> {
        let Some(functions) = functions else {
            let mut found = loader::find(&path, bin_path.as_deref(), Soc::parse(soc)?.chip(), foreign)?;
            found.blocks = block_dim.or(found.blocks);
            return Ok(found);
        };
        let kernel_type = kernel_type.ok_or_else(|| LoadError::Argument {
            problem: "functions without a kernel type".to_owned(),
            solution: "pass kernel_type as well",
        })?;
        loader::of_functions(&path, entries(functions)?, &kernel_type, block_dim)
    });
    found.map(KernelDescription).map_err(|error| to_python(py, &error))
}

fn entries(functions: HashMap<String, String>) -> Result<Entries, LoadError> {
    let mut entries = Entries::default();
    for (kind, function) in functions {
        match kind.as_str() {
            "aic" => entries.aic = Some(function),
            "aiv" => entries.aiv = Some(function),
            _ => {
                return Err(LoadError::Argument {
                    problem: format!("functions for `{kind}`"),
                    solution: "the keys are \"aic\" and \"aiv\"",
                });
            }
        }
    }
    Ok(entries)
}
