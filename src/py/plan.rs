//! `superkernel.plan`.

use pyo3::prelude::*;

use super::convert;
use super::inputs::{GivenPlatform, with_kernel};
use crate::objects;
use crate::report;

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(plan, module)?)
}

/// The plan as data; warnings are in it.
#[pyfunction]
#[pyo3(signature = (kernel_infos, kernel_name, soc, aic_num=None, aiv_num=None))]
fn plan<'py>(
    py: Python<'py>,
    kernel_infos: &Bound<'py, PyAny>,
    kernel_name: &Bound<'py, PyAny>,
    soc: &str,
    aic_num: Option<u32>,
    aiv_num: Option<u32>,
) -> PyResult<Bound<'py, PyAny>> {
    let given = GivenPlatform { soc, aic_num, aiv_num };
    let value = with_kernel(py, kernel_infos, kernel_name, &given, |mut kernel| {
        let measured = objects::measure(&kernel);
        kernel.warnings.extend(measured.warnings);
        let program = crate::plan::plan(&kernel, &measured.sizes)?;
        Ok(report::plan_json(&kernel, &measured.sizes, &program))
    })?;
    convert::to_python(py, &value)
}
