//! `superkernel.super_kernel_option_parse` and the option table.

use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::errors::to_python;
use crate::options::{EarlyStartMode, OptionName, OptionValue, PreloadMode, Separator, parse};

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(parse_options, module)?)?;
    module.add_function(wrap_pyfunction!(option_table, module)?)
}

/// The given options by name, and the warnings. Enumerated values come as (enum class, member) pairs.
#[pyfunction]
fn parse_options<'py>(py: Python<'py>, text: &str, underscores: bool) -> PyResult<(Bound<'py, PyDict>, Vec<String>)> {
    let separator = if underscores { Separator::HyphenOrUnderscore } else { Separator::Hyphen };
    let options = parse(text, separator).map_err(|error| to_python(py, &error))?;
    let given = PyDict::new(py);
    for option in &options.given {
        let name = option.name.as_str();
        match &option.value {
            OptionValue::Number(number) => given.set_item(name, number)?,
            OptionValue::Text(text) => given.set_item(name, text)?,
            OptionValue::Preload(mode) => given.set_item(name, ("SuperKernelPreLoadMode", preload_member(*mode)))?,
            OptionValue::EarlyStart(mode) => {
                given.set_item(name, ("SuperKernelEarlyStartMode", early_start_member(*mode)))?;
            }
            OptionValue::Switch(on) => given.set_item(name, switch_member(option.name, *on))?,
        }
    }
    Ok((given, options.warnings))
}

/// (name, accepted values, default, effect) of every option.
#[pyfunction]
fn option_table() -> Vec<(&'static str, &'static str, &'static str, &'static str)> {
    OptionName::ALL.map(|name| (name.as_str(), name.accepts(), name.default_text(), name.effect())).to_vec()
}

fn preload_member(mode: PreloadMode) -> &'static str {
    match mode {
        PreloadMode::Whole => "PreLoadByWhole",
        PreloadMode::Never => "PreloadNA",
        PreloadMode::PerFunction => "PreloadByAdanvanceStep",
    }
}

fn early_start_member(mode: EarlyStartMode) -> &'static str {
    match mode {
        EarlyStartMode::Off => "EarlyStartDisable",
        EarlyStartMode::On => "EarlyStartEnableV2",
        EarlyStartMode::OnOutsideSubKernels => "EarlyStartV2DisableSubKernel",
    }
}

fn switch_member(name: OptionName, on: bool) -> (&'static str, String) {
    let (class, stem) = match name {
        OptionName::StreamFusion => ("SuperKernelStreamFusionMode", "StreamFusion"),
        OptionName::DebugDcciAll => ("SuperKernelDebugDcciAllMode", "DebugDcciAll"),
        OptionName::DebugSyncAll => ("SuperKernelDebugSyncAllMode", "DebugSyncAll"),
        OptionName::FeedSyncAll => ("SuperKernelFeedSyncAllMode", "FeedSyncAll"),
        _ => ("SuperKernelProfilingMode", "Profiling"),
    };
    (class, format!("{stem}{}", if on { "Enable" } else { "Disable" }))
}
