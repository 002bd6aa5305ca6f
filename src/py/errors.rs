//! The one place that turns errors of the core into Python exceptions.

use pyo3::prelude::*;

use crate::{Diagnostic, Error};

/// A `superkernel.SuperKernelError` for `error`.
///
/// The class is chosen on the Python side (`superkernel._errors`): with CANN importable it must also derive
/// from CANN's own exception.
pub(crate) fn to_python(py: Python<'_>, error: impl Into<Error>) -> PyErr {
    let error: Error = error.into();
    from_parts(py, error.id(), &error.to_string(), &error.solution())
}

/// The same for an error of another process.
pub(crate) fn from_parts(py: Python<'_>, id: &str, message: &str, solution: &str) -> PyErr {
    let make = || py.import("superkernel._errors")?.getattr("make_error")?.call1((id, message, solution));
    match make() {
        Ok(exception) => PyErr::from_value(exception),
        Err(failure) => failure,
    }
}
