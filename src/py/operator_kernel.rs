//! The native half of `superkernel.sim.Operator`.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::errors::to_python;
use crate::artifact::{DataType, Format};
use crate::operator::kernel::{self, KernelError, KernelRequest, Tensor};

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(operator_kernel, module)?)
}

/// What is built of an operator's folder.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct RawKernel {
    folder: PathBuf,
    op_type: String,
    source: Option<String>,
    /// Name, data type, format.
    tensors: Vec<(String, String, String)>,
    key: u64,
    unit: String,
    view: PathBuf,
}

/// The kernel of an operator's folder, as `build_op` takes it.
#[pyfunction]
fn operator_kernel<'py>(py: Python<'py>, request: RawKernel) -> PyResult<Bound<'py, PyDict>> {
    let tensors = request.tensors.into_iter().map(|(name, data_type, format)| Tensor {
        name,
        data_type: DataType::from_name(&data_type).unwrap_or(DataType::Undefined),
        format: Format::from_name(&format).unwrap_or(Format::Nd),
    });
    let request = KernelRequest {
        folder: request.folder,
        op_type: request.op_type,
        source: request.source,
        tensors: tensors.collect(),
        key: request.key,
        unit: request.unit,
        view: request.view,
    };
    let source = py.detach(|| kernel::read(&request)).map_err(|error: KernelError| to_python(py, error))?;
    let result = PyDict::new(py);
    result.set_item("source", source.source)?;
    result.set_item("function", source.function)?;
    result.set_item("prelude", source.prelude)?;
    result.set_item("include_dirs", source.include_dirs)?;
    result.set_item("compile_options", source.compile_options)?;
    result.set_item("auto_sync", source.auto_sync)?;
    Ok(result)
}
