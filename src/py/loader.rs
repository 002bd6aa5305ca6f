//! What `superkernel.sim` knows about a kernel: typed, read from its files by the core.

use std::collections::HashMap;
use std::path::PathBuf;

use pyo3::prelude::*;

use super::errors::to_python;
use crate::loader::{
    self, ArgumentName, ForeignDigests, Form, Given, Launchable, LaunchableOp, LoadError, OpKey, Source,
};
use crate::model::{Slot, SlotRole, Soc};
use crate::sim::interface::request::Entries;

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
    /// Blocks it runs on.
    blocks: u32,
    /// Its stream.
    stream: i64,
    /// Its place in `op_list`.
    index: usize,
    /// The JSON of its sub-kernel, if the build record names it.
    json_path: Option<PathBuf>,
    /// The object of its sub-kernel, likewise.
    bin_path: Option<PathBuf>,
}

/// One parameter slot of a kernel.
#[pyclass(frozen, get_all, module = "superkernel._core")]
struct Parameter {
    /// Its number.
    slot: usize,
    /// Its name: `x_0` is `x` of op 0.
    name: String,
    /// Its name in its op's own words: `x`.
    own_name: String,
    /// The op's place in `op_list`.
    op: Option<usize>,
    /// The op's name, if the description lists it.
    op_name: Option<String>,
    /// `parameter`, `ffts-address`, `notify-lock`, ...
    role: &'static str,
    /// Whether the op's author does not know of it.
    hidden: bool,
    /// `in`, `out`, `inout`; `None`: nobody says.
    direction: Option<&'static str>,
}

#[pymethods]
impl Parameter {
    fn __repr__(&self) -> String {
        format!("Parameter({}, {:?}, {})", self.slot, self.name, self.role)
    }
}

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
            name: slot.name.to_string(),
            own_name: self.0.own_name(number).to_owned(),
            op: slot.op.map(|op| op.0),
            op_name: self.0.owner(number).and_then(|(_, name)| name.map(str::to_owned)),
            role: slot.role.as_str(),
            hidden: slot.role.is_hidden(),
            direction: direction(slot.role),
        };
        self.0.parameters.iter().enumerate().map(parameter).collect()
    }

    /// Bytes behind the workspace slot.
    #[getter]
    fn workspace_bytes(&self) -> u64 {
        self.0.workspace_bytes
    }

    /// Positions of the ops in an order in which they can run one after another.
    fn sequential_order(&self) -> Vec<usize> {
        match &self.0.form {
            Form::SuperKernel { ops, .. } => loader::sequential_order(ops),
            Form::SubKernel { .. } => Vec::new(),
        }
    }

    /// The cores of a launch with so many blocks.
    fn core_names(&self, blocks: u32) -> Vec<String> {
        self.0.core_names(blocks)
    }

    /// The same kernel, launched as a type whose cross-core flags work, as they do inside of a super kernel.
    fn with_flags(&self) -> Self {
        Self(self.0.clone().with_flags())
    }

    /// For every slot the number of the argument that fills it, or the role of one that nobody gave.
    fn assign_list(&self, py: Python<'_>, count: usize) -> PyResult<Vec<Filling>> {
        self.assign(py, &Given::List(count))
    }

    /// The same for arguments by name: (op, parameter) or (`None`, slot).
    fn assign_names(&self, py: Python<'_>, names: Vec<(Option<OpArgument>, String)>) -> PyResult<Vec<Filling>> {
        let name = |(op, name): (Option<OpArgument>, String)| ArgumentName { op: op.map(OpKey::from), name };
        let names: Vec<ArgumentName> = names.into_iter().map(name).collect();
        self.assign(py, &Given::Names(&names))
    }

    fn __repr__(&self) -> String {
        format!("KernelDescription({:?}, {})", self.0.name, self.0.kernel_type)
    }
}

impl KernelDescription {
    /// What it describes.
    pub(crate) fn launchable(&self) -> &Launchable {
        &self.0
    }

    fn assign(&self, py: Python<'_>, given: &Given<'_>) -> PyResult<Vec<Filling>> {
        let filling = |source: Source| match source {
            Source::Argument(number) => (Some(number), None),
            Source::Own(role) => (None, Some(role.as_str())),
        };
        let sources = self.0.assign(given).map_err(|error| to_python(py, error))?;
        Ok(sources.into_iter().map(filling).collect())
    }
}

/// The number of an argument, or what a slot is for.
type Filling = (Option<usize>, Option<&'static str>);

/// An op in the name of an argument.
#[derive(FromPyObject)]
enum OpArgument {
    #[pyo3(transparent)]
    Index(usize),
    #[pyo3(transparent)]
    Name(String),
}

impl From<OpArgument> for OpKey {
    fn from(op: OpArgument) -> Self {
        match op {
            OpArgument::Index(index) => Self::Index(index),
            OpArgument::Name(name) => Self::Name(name),
        }
    }
}

/// Who writes what a slot of this role refers to, as far as the role tells.
fn direction(role: SlotRole) -> Option<&'static str> {
    match role {
        SlotRole::Parameter => None,
        SlotRole::FftsAddress | SlotRole::TilingKey | SlotRole::BlockNum | SlotRole::TaskId => Some("in"),
        SlotRole::NotifyLock => Some("out"),
        SlotRole::TilingLock | SlotRole::WaitLock | SlotRole::Workspace | SlotRole::Profiling => Some("inout"),
    }
}

impl OpDescription {
    fn new(op: &LaunchableOp) -> Self {
        let LaunchableOp { name, param_offset, param_count, blocks, stream, index, json, object, .. } = op.clone();
        Self { name, param_offset, param_count, blocks, stream: stream.0, index, json_path: json, bin_path: object }
    }
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
        let missing = || LoadError::argument("functions without a kernel type".to_owned(), "pass kernel_type as well");
        let (kernel_type, chip) = (kernel_type.ok_or_else(missing)?, Soc::parse(soc)?.chip());
        loader::of_functions(&path, entries(functions)?, &kernel_type, block_dim, chip)
    });
    found.map(KernelDescription).map_err(|error| to_python(py, error))
}

fn entries(functions: HashMap<String, String>) -> Result<Entries, LoadError> {
    let mut entries = Entries::default();
    for (kind, function) in functions {
        match kind.as_str() {
            "aic" => entries.aic = Some(function),
            "aiv" => entries.aiv = Some(function),
            _ => {
                let problem = format!("functions for `{kind}`");
                return Err(LoadError::argument(problem, "the keys are \"aic\" and \"aiv\""));
            }
        }
    }
    Ok(entries)
}
