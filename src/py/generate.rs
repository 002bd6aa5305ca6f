//! `superkernel.generate`, and the device program as text.

use pyo3::prelude::*;

use super::inputs::{GivenPlatform, with_kernel};
use crate::objects::{self, Objects};
use crate::{emit, plan};

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(generate, module)?)?;
    module.add_function(wrap_pyfunction!(program_text, module)?)
}

/// The C++ source of a super kernel, and the warnings.
#[pyfunction]
#[pyo3(signature = (kernel_infos, kernel_name, soc, aic_num=None, aiv_num=None))]
fn generate(
    py: Python<'_>,
    kernel_infos: &Bound<'_, PyAny>,
    kernel_name: &Bound<'_, PyAny>,
    soc: &str,
    aic_num: Option<u32>,
    aiv_num: Option<u32>,
) -> PyResult<(String, Vec<String>)> {
    let given = GivenPlatform { soc, aic_num, aiv_num };
    with_kernel(py, kernel_infos, kernel_name, &given, |kernel| {
        let sizes = Objects::read(&kernel)?.text_sizes(&kernel)?;
        let source = emit::emit(&plan::plan(&kernel, &sizes)?)?;
        Ok((source, kernel.warnings))
    })
}

/// The device program in its text form, and the warnings. Objects that are missing leave sizes open.
#[pyfunction]
#[pyo3(signature = (kernel_infos, kernel_name, soc, aic_num=None, aiv_num=None))]
fn program_text(
    py: Python<'_>,
    kernel_infos: &Bound<'_, PyAny>,
    kernel_name: &Bound<'_, PyAny>,
    soc: &str,
    aic_num: Option<u32>,
    aiv_num: Option<u32>,
) -> PyResult<(String, Vec<String>)> {
    let given = GivenPlatform { soc, aic_num, aiv_num };
    with_kernel(py, kernel_infos, kernel_name, &given, |mut kernel| {
        let measured = objects::measure(&kernel);
        kernel.warnings.extend(measured.warnings);
        Ok((plan::plan(&kernel, &measured.sizes)?.text(), kernel.warnings))
    })
}
