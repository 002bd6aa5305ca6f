//! `superkernel.super_kernel_option_parse` and the option table.

use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::errors::to_python;
use crate::options::{OptionName, Separator, SharedValue, parse, with};

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(parse_options, module)?)?;
    module.add_function(wrap_pyfunction!(options_with_sync, module)?)?;
    module.add_function(wrap_pyfunction!(option_table, module)?)
}

/// The given options by name, and the warnings. Enumerated values come as (enum class, member) pairs.
#[pyfunction]
fn parse_options<'py>(py: Python<'py>, text: &str, underscores: bool) -> PyResult<(Bound<'py, PyDict>, Vec<String>)> {
    let separator = if underscores { Separator::HyphenOrUnderscore } else { Separator::Hyphen };
    let options = parse(text, separator).map_err(|error| to_python(py, error))?;
    let given = PyDict::new(py);
    for option in &options.given {
        let name = option.name.as_str();
        match &option.value {
            SharedValue::Number(number) => given.set_item(name, number)?,
            SharedValue::Text(text) => given.set_item(name, text)?,
            SharedValue::Member { class, member } => given.set_item(name, (class, member))?,
        }
    }
    Ok((given, options.warnings))
}

/// The option string with another value of `sync`.
#[pyfunction]
fn options_with_sync(text: &str, mode: &str) -> String {
    with(text, OptionName::Sync, mode)
}

/// Every option: its name, what it accepts, its default and its effect in words, and some values.
#[pyfunction]
fn option_table(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let row = |name: &OptionName| {
        let row = PyDict::new(py);
        row.set_item("name", name.as_str())?;
        row.set_item("accepts", name.accepts())?;
        row.set_item("default", name.default_text())?;
        row.set_item("effect", name.effect())?;
        row.set_item("samples", name.samples())?;
        Ok(row)
    };
    OptionName::ALL.iter().map(row).collect()
}
