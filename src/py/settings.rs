//! The table of settings for the Python half, which knows who may set them, and the way back into the core.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PySet, PyString, PyTuple};

use super::errors::to_python;
use crate::environment::kind::{Given, Kind, SettingType, SocName, Value};
use crate::environment::table::{CannSource, MissingSetting, Role};
use crate::environment::{Environment, SETTINGS, Setting, Settings, ToolchainChoice, Variables};
use crate::toolchain::ToolchainKind;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(setting_table, module)?)?;
    module.add_function(wrap_pyfunction!(check_setting, module)?)?;
    module.add_function(wrap_pyfunction!(default_setting, module)?)?;
    module.add_function(wrap_pyfunction!(short_soc, module)?)?;
    module.add_function(wrap_pyfunction!(builds_for_device, module)?)
}

/// Every setting: all that is known about it but its value.
#[pyfunction]
fn setting_table(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    SETTINGS.iter().map(|setting| row(py, setting)).collect()
}

fn row<'py>(py: Python<'py>, setting: &Setting) -> PyResult<Bound<'py, PyDict>> {
    let row = PyDict::new(py);
    row.set_item("name", setting.name)?;
    row.set_item("type", setting.kind.python_type())?;
    row.set_item("meaning", setting.meaning)?;
    row.set_item("help", setting.help)?;
    row.set_item("placeholder", setting.kind.placeholder(setting.name))?;
    row.set_item("words", setting.kind.words())?;
    // Elsewhere a word that is not known is refused.
    row.set_item("keeps_other_words", matches!(setting.kind, Kind::Words(_)))?;
    row.set_item("takes_empty", setting.kind.takes_empty())?;
    row.set_item("variable", setting.variable)?;
    row.set_item("cann", setting.cann.map(cann_source))?;
    row.set_item("default", setting.default_text())?;
    let decides_about_the_result = match setting.role {
        Role::Result => true,
        Role::Machine => false,
    };
    row.set_item("repeatable", decides_about_the_result)?;
    Ok(row)
}

/// Which of the ways to ask CANN, and for what.
fn cann_source(source: CannSource) -> (&'static str, &'static str) {
    match source {
        CannSource::Soc(key) => ("soc", key),
        CannSource::Cores(key) => ("cores", key),
        CannSource::BuildConfig(key) => ("build config", key),
    }
}

/// `(True, the value in its one form)`, or `(False, what would be accepted)`.
#[pyfunction]
fn check_setting<'py>(
    py: Python<'py>,
    name: &str,
    value: &Bound<'py, PyAny>,
) -> PyResult<(bool, Option<Bound<'py, PyAny>>)> {
    let kind = setting(name)?.kind;
    match kind.read(given(value)?) {
        Some(value) => Ok((true, shown(py, Some(expanded(py, value)?))?)),
        None => Ok((false, Some(PyString::new(py, &kind.expects()).into_any()))),
    }
}

/// What holds when nobody says anything, and who says that.
#[pyfunction]
fn default_setting<'py>(py: Python<'py>, name: &str, soc: &str) -> PyResult<(Option<Bound<'py, PyAny>>, &'static str)> {
    let (value, origin) = setting(name)?.default_for(soc);
    Ok((shown(py, value)?, origin))
}

/// The short version of a SoC by any of its names; an unknown one stays as it is, for the message about it.
#[pyfunction]
fn short_soc(name: &str) -> String {
    SocName::new(name).0
}

/// Would a build with this setting of `toolchain` be for a device?
#[pyfunction]
fn builds_for_device(toolchain: &str) -> bool {
    ToolchainChoice::from_value(Some(Value::Text(toolchain.to_owned())))
        .is_some_and(|choice| choice.kind(&Variables::from_process().cann_search()) == ToolchainKind::Cann)
}

/// The settings in force, as every call that needs them gets them: the snapshot the Python side has taken. Its values were
/// checked there; what cannot be read here is a mistake of the package.
pub(super) struct InForce(pub Environment);

impl<'py> FromPyObject<'_, 'py> for InForce {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let snapshot = given.cast::<PyDict>()?;
        let Chosen(settings) = given.extract()?;
        let include_dir = item(&snapshot, "include_dir")?.extract()?;
        let environment = Environment::new(settings, include_dir);
        let mut environment = environment.map_err(|error| to_python(given.py(), error))?;
        environment.platform_info = item(&snapshot, "platform_info")?.extract::<BTreeMap<String, u64>>()?;
        Ok(Self(environment))
    }
}

/// The settings alone, for a SoC that may be none of those kernels are built for.
pub(super) struct Chosen(pub Settings);

impl<'py> FromPyObject<'_, 'py> for Chosen {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let snapshot = given.cast::<PyDict>()?;
        let settings = Settings::read(|name, kind| {
            let value = item(&snapshot, name)?;
            if value.is_none() {
                return Ok(None);
            }
            let mistake = || PyValueError::new_err(format!("setting `{name}` cannot be {value}"));
            kind.read(self::given(&value)?).map(Some).ok_or_else(mistake)
        })?;
        Ok(Self(settings))
    }
}

impl From<MissingSetting> for PyErr {
    fn from(missing: MissingSetting) -> Self {
        PyValueError::new_err(missing.to_string())
    }
}

fn item<'py>(snapshot: &Bound<'py, PyDict>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    snapshot.get_item(name)?.ok_or_else(|| PyKeyError::new_err(name.to_owned()))
}

fn setting(name: &str) -> PyResult<&'static Setting> {
    Setting::from_name(name).ok_or_else(|| PyKeyError::new_err(name.to_owned()))
}

/// What a Python value is to a setting.
fn given(value: &Bound<'_, PyAny>) -> PyResult<Given> {
    // A bool is an int to Python, but `jobs=True` is a mistake.
    if let Ok(on) = value.cast::<PyBool>() {
        return Ok(Given::Switch(on.is_true()));
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(match text.to_cow() {
            Ok(text) => Given::Text(text.into_owned()),
            // Text that nobody can write down; as a path it may still name a file.
            Err(_) => value.extract::<PathBuf>().map_or(Given::Other, Given::Path),
        });
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() || value.is_instance_of::<PySet>() {
        return list(value);
    }
    if value.is_instance_of::<PyInt>() {
        if let Ok(number) = value.extract::<i64>() {
            return Ok(Given::Integer(number));
        }
    } else if let Ok(path) = value.extract::<PathBuf>() {
        return Ok(Given::Path(path));
    }
    // Whatever Python can make a number of: Decimal, Fraction, the numbers of NumPy.
    let number = value.py().get_type::<PyFloat>().call1((value,));
    Ok(number.and_then(|number| number.extract()).map_or(Given::Other, Given::Real))
}

fn list(value: &Bound<'_, PyAny>) -> PyResult<Given> {
    let mut texts = Vec::new();
    for item in value.try_iter()? {
        let Ok(text) = item?.extract::<String>() else { return Ok(Given::Other) };
        texts.push(text);
    }
    Ok(Given::List(texts))
}

/// A path may begin with `~`.
fn expanded(py: Python<'_>, value: Value) -> PyResult<Value> {
    match value {
        Value::Path(path) => {
            let path = path.as_os_str().into_pyobject(py)?;
            Ok(Value::Path(py.import("os.path")?.call_method1("expanduser", (path,))?.extract()?))
        }
        Value::Text(_) | Value::Count(_) | Value::Seconds(_) | Value::Size(_) | Value::Switch(_) | Value::Words(_) => {
            Ok(value)
        }
    }
}

/// A value for Python.
fn shown<'py>(py: Python<'py>, value: Option<Value>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let Some(value) = value else { return Ok(None) };
    Ok(Some(match value {
        Value::Text(text) => text.into_pyobject(py)?.into_any(),
        Value::Count(count) => count.into_pyobject(py)?.into_any(),
        Value::Seconds(seconds) => seconds.into_pyobject(py)?.into_any(),
        Value::Size(bytes) => bytes.into_pyobject(py)?.into_any(),
        Value::Switch(on) => PyBool::new(py, on).to_owned().into_any(),
        Value::Path(path) => path.as_os_str().into_pyobject(py)?.into_any(),
        Value::Words(words) => words.into_pyobject(py)?.into_any(),
    }))
}
