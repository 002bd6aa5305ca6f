//! `superkernel.plan`.

use pyo3::prelude::*;

use super::convert;
use super::errors::to_python;
use crate::Error;
use crate::model::{self, Platform};
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
    let infos = convert::to_json(kernel_infos)?.map_err(|error| to_python(py, &error))?;
    let name = convert::to_text(kernel_name, "kernel_name")?.map_err(|error| to_python(py, &error))?;
    let planned = py.detach(|| -> Result<_, Error> {
        let platform = Platform::new(soc, aic_num, aiv_num)?;
        let mut kernel = model::load(&infos, &name, &platform)?;
        let measured = objects::measure(&kernel);
        kernel.warnings.extend(measured.warnings);
        let program = crate::plan::plan(&kernel, &measured.sizes)?;
        Ok(report::plan_json(&kernel, &measured.sizes, &program))
    });
    match planned {
        Ok(value) => convert::to_python(py, &value),
        Err(error) => Err(to_python(py, error.diagnostic())),
    }
}
