//! What `plan` and `generate` start from: `kernel_infos`, a name and a platform become a checked super kernel.

use pyo3::prelude::*;

use super::convert;
use super::errors::to_python;
use crate::Error;
use crate::model::{self, Platform, SuperKernel};

/// The platform as Python gives it.
pub struct GivenPlatform<'a> {
    pub soc: &'a str,
    pub aic_num: Option<u32>,
    pub aiv_num: Option<u32>,
}

/// Loads the super kernel and hands it to `work`, all of it with the interpreter lock released.
pub fn with_kernel<T: Send>(
    py: Python<'_>,
    kernel_infos: &Bound<'_, PyAny>,
    kernel_name: &Bound<'_, PyAny>,
    given: &GivenPlatform<'_>,
    work: impl FnOnce(SuperKernel) -> Result<T, Error> + Send,
) -> PyResult<T> {
    let infos = convert::to_json(kernel_infos)?.map_err(|error| to_python(py, &error))?;
    let name = convert::to_text(kernel_name, "kernel_name")?.map_err(|error| to_python(py, &error))?;
    let done = py.detach(|| {
        let platform = Platform::new(given.soc, given.aic_num, given.aiv_num)?;
        work(model::load(&infos, &name, &platform)?)
    });
    done.map_err(|error| to_python(py, error.diagnostic()))
}
