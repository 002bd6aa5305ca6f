//! The one place that turns errors of the core into Python exceptions.

use pyo3::prelude::*;

use crate::Diagnostic;

/// A `superkernel.SuperKernelError` for `error`.
///
/// The class is chosen on the Python side (`superkernel._errors`): with CANN importable it must also derive
/// from CANN's own exception.
pub fn to_python(py: Python<'_>, error: &dyn Diagnostic) -> PyErr {
    let raise = || -> PyResult<Bound<'_, PyAny>> {
        py.import("superkernel._errors")?.getattr("make_error")?.call1((
            error.id(),
            error.to_string(),
            error.solution(),
        ))
    };
    match raise() {
        Ok(exception) => PyErr::from_value(exception),
        Err(failure) => failure,
    }
}
