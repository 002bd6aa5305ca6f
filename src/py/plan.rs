//! `superkernel.plan` and `superkernel.generate`, and the device program as text.

use pyo3::prelude::*;
use serde_json::Value;

use super::convert;
use super::errors::to_python;
use super::interrupt::interruptible;
use super::settings::InForce;
use crate::cost::prices::Prices;
use crate::cost::step_price;
use crate::model::Platform;
use crate::program::{Program, Step};
use crate::report::LargePart;
use crate::{Error, Plan};

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Planned>()?;
    module.add_function(wrap_pyfunction!(plan, module)?)?;
    module.add_function(wrap_pyfunction!(plan_picture, module)?)?;
    module.add_function(wrap_pyfunction!(plan_explained, module)?)?;
    module.add_function(wrap_pyfunction!(generate, module)?)?;
    module.add_function(wrap_pyfunction!(program_text, module)?)?;
    module.add_function(wrap_pyfunction!(check_program, module)?)
}

/// A plan whose large parts become Python data when they are asked for.
#[pyclass(frozen, module = "superkernel._core")]
struct Planned(Plan);

#[pymethods]
impl Planned {
    /// Everything but the large parts, which are `None`; warnings are in it.
    fn head<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        convert::to_python(py, &self.0.head())
    }

    /// The keys of the large parts.
    #[staticmethod]
    fn large() -> Vec<&'static str> {
        LargePart::ALL.map(LargePart::as_str).to_vec()
    }

    /// One large part; `None` if there is none of this name.
    fn part<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(part) = LargePart::ALL.into_iter().find(|part| part.as_str() == name) else { return Ok(None) };
        let value = py.detach(|| self.0.part(part));
        convert::to_python(py, &value).map(Some)
    }
}

/// The plan of a super kernel.
#[pyfunction]
fn plan(
    py: Python<'_>,
    kernel_infos: &Bound<'_, PyAny>,
    kernel_name: &Bound<'_, PyAny>,
    settings: InForce,
) -> PyResult<Planned> {
    call(py, kernel_infos, kernel_name, settings, crate::plan_once).map(Planned)
}

/// The device program as data for a picture.
#[pyfunction]
fn plan_picture<'py>(
    py: Python<'py>,
    kernel_infos: &Bound<'py, PyAny>,
    kernel_name: &Bound<'py, PyAny>,
    settings: InForce,
) -> PyResult<Bound<'py, PyAny>> {
    let value = call(py, kernel_infos, kernel_name, settings, |infos, name, platform| {
        Ok(crate::plan_once(infos, name, platform)?.to_picture(&default_price()))
    })?;
    convert::to_python(py, &value)
}

/// What a super kernel would become, and why.
#[pyfunction]
fn plan_explained<'py>(
    py: Python<'py>,
    kernel_infos: &Bound<'py, PyAny>,
    kernel_name: &Bound<'py, PyAny>,
    settings: InForce,
) -> PyResult<Bound<'py, PyAny>> {
    let value = call(py, kernel_infos, kernel_name, settings, |infos, name, platform| {
        Ok(crate::plan_with_block_local(&infos, name, platform)?.to_explanation(&infos, &default_price()))
    })?;
    convert::to_python(py, &value)
}

/// What a step costs as long as nothing has been measured.
fn default_price() -> impl Fn(&Program, &Step) -> f64 {
    let prices = Prices::default();
    move |program, step| step_price(program, step, &prices)
}

/// The C++ source of a super kernel.
#[pyfunction]
fn generate(
    py: Python<'_>,
    kernel_infos: &Bound<'_, PyAny>,
    kernel_name: &Bound<'_, PyAny>,
    settings: InForce,
) -> PyResult<String> {
    call(py, kernel_infos, kernel_name, settings, |infos, name, platform| crate::generate(&infos, name, platform))
}

/// The device program in its text form. Objects that are missing leave sizes open.
#[pyfunction]
fn program_text(
    py: Python<'_>,
    kernel_infos: &Bound<'_, PyAny>,
    kernel_name: &Bound<'_, PyAny>,
    settings: InForce,
) -> PyResult<String> {
    call(py, kernel_infos, kernel_name, settings, |infos, name, platform| {
        Ok(crate::plan_once(infos, name, platform)?.program.text())
    })
}

/// Reads a device program from its text form and checks it: the rules it breaks.
#[pyfunction]
fn check_program(py: Python<'_>, text: &str) -> PyResult<Vec<String>> {
    let checked = py.detach(|| crate::program::Program::read(text).map(|program| crate::program::verify(&program)));
    match checked.map_err(|error| to_python(py, error))? {
        Ok(()) => Ok(Vec::new()),
        Err(violations) => Ok(violations.iter().map(ToString::to_string).collect()),
    }
}

/// Converts the arguments and calls the core with the interpreter lock released.
fn call<T: Send>(
    py: Python<'_>,
    kernel_infos: &Bound<'_, PyAny>,
    kernel_name: &Bound<'_, PyAny>,
    InForce(environment): InForce,
    work: impl FnOnce(Value, &str, &Platform) -> Result<T, Error> + Send,
) -> PyResult<T> {
    let infos = convert::to_json(kernel_infos)?;
    let name = convert::to_text(kernel_name, "kernel_name")?;
    interruptible(py, |_| work(infos, &name, &environment.platform))
}
