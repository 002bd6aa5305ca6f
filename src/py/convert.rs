//! Python data to and from JSON values.

use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use serde_json::{Map, Number, Value};

use super::errors;
use crate::json::{JsonError, JsonPath};

/// Deeper data is a mistake, most likely a cycle.
const DEEPEST: usize = 64;
/// More values are a mistake too: lists that contain one another many times over.
const MOST_VALUES: usize = 1_000_000;

/// Python data as a JSON value; anything JSON cannot say is an error that tells where.
pub(crate) fn to_json(data: &Bound<'_, PyAny>) -> PyResult<Value> {
    let mut reader = Reader { path: Vec::new(), values: 0 };
    reader.read(data).map_err(|refusal| refusal.raised(data.py(), reader.place()))
}

/// Python text; anything else is an error about the argument called `what`.
pub(crate) fn to_text(data: &Bound<'_, PyAny>, what: &str) -> PyResult<String> {
    let text = match data.cast::<PyString>() {
        Ok(text) => string(text),
        Err(_) => Err(Refusal::Data("a string", format!("an object of type `{}`", type_name(data)))),
    };
    text.map_err(|refusal| refusal.raised(data.py(), JsonPath::default().key(what)))
}

enum Refusal {
    Data(&'static str, String),
    Python(PyErr),
}

impl Refusal {
    /// As an exception about the value at `place`.
    fn raised(self, py: Python<'_>, place: JsonPath) -> PyErr {
        match self {
            Self::Data(expected, found) => errors::to_python(py, JsonError::WrongType { place, expected, found }),
            Self::Python(error) => error,
        }
    }
}

impl From<PyErr> for Refusal {
    fn from(error: PyErr) -> Self {
        Self::Python(error)
    }
}

enum Part {
    Key(String),
    Element(usize),
}

struct Reader {
    path: Vec<Part>,
    values: usize,
}

impl Reader {
    /// Where reading stopped: on an error the path is left as it was.
    fn place(&self) -> JsonPath {
        // A cycle makes a long path; its head is enough to find it.
        const SHOWN: usize = 8;
        self.path.iter().take(SHOWN).fold(JsonPath::default(), |path, part| match part {
            Part::Key(key) => path.key(key),
            Part::Element(index) => path.element(*index),
        })
    }

    fn read(&mut self, data: &Bound<'_, PyAny>) -> Result<Value, Refusal> {
        self.values += 1;
        if self.path.len() > DEEPEST {
            return Err(Refusal::Data("at most 64 levels of nesting", "more (does it contain itself?)".to_owned()));
        }
        if self.values > MOST_VALUES {
            return Err(Refusal::Data("at most a million values", "more".to_owned()));
        }
        if data.is_none() {
            Ok(Value::Null)
        } else if let Ok(value) = data.cast::<PyBool>() {
            Ok(Value::Bool(value.is_true()))
        } else if let Ok(text) = data.cast::<PyString>() {
            string(text).map(Value::String)
        } else if data.cast::<PyInt>().is_ok() {
            integer(data)
        } else if let Ok(number) = data.cast::<PyFloat>() {
            let value = number.value();
            let finite = Number::from_f64(value).map(Value::Number);
            finite.ok_or_else(|| Refusal::Data("a finite number", format!("the number {value}")))
        } else if let Ok(dict) = data.cast::<PyDict>() {
            self.object(dict)
        } else if let Ok(list) = data.cast::<PyList>() {
            self.array(list.iter())
        } else if let Ok(tuple) = data.cast::<PyTuple>() {
            self.array(tuple.iter())
        } else {
            self.other(data)
        }
    }

    fn object(&mut self, dict: &Bound<'_, PyDict>) -> Result<Value, Refusal> {
        let mut object = Map::with_capacity(dict.len());
        // A snapshot of the entries: converting a value may run Python code that changes the dictionary.
        for item in dict.items() {
            let (key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item.extract()?;
            let Ok(key) = key.cast::<PyString>() else {
                let found = format!("a key of type `{}`", type_name(&key));
                return Err(Refusal::Data("string keys only", found));
            };
            let key = string(key)?;
            self.path.push(Part::Key(key.clone()));
            let value = match unreadable_path(&key, &value) {
                Some(bytes) => bytes,
                None => self.read(&value)?,
            };
            self.path.pop();
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }

    fn array<'py>(&mut self, items: impl ExactSizeIterator<Item = Bound<'py, PyAny>>) -> Result<Value, Refusal> {
        let mut array = Vec::with_capacity(items.len().min(MOST_VALUES));
        for (index, item) in items.enumerate() {
            self.path.push(Part::Element(index));
            array.push(self.read(&item)?);
            self.path.pop();
        }
        Ok(Value::Array(array))
    }

    /// Integers of other libraries, and paths; everything else is not data.
    fn other(&mut self, data: &Bound<'_, PyAny>) -> Result<Value, Refusal> {
        if data.hasattr("__index__")? {
            return integer(&data.call_method0("__index__")?);
        }
        if data.hasattr("__fspath__")? {
            let path = data.call_method0("__fspath__")?;
            if let Ok(text) = path.cast::<PyString>() {
                return string(text).map(Value::String);
            }
        }
        Err(Refusal::Data("plain data (as in JSON)", format!("an object of type `{}`", type_name(data))))
    }
}

/// A path that is no Unicode text, as its bytes: file names are bytes, and Python writes the odd ones as surrogates.
fn unreadable_path(key: &str, value: &Bound<'_, PyAny>) -> Option<Value> {
    if !matches!(key, "json_path" | "bin_path") {
        return None;
    }
    let path: PathBuf = value.extract().ok()?;
    match path.to_str() {
        Some(_) => None,
        None => Some(Value::from(path.as_os_str().as_bytes())),
    }
}

fn string(text: &Bound<'_, PyString>) -> Result<String, Refusal> {
    // Fails for lone surrogates only.
    let readable = text.to_cow().map(|text| text.into_owned());
    readable.map_err(|_| Refusal::Data("valid Unicode text", "a string with a lone surrogate".to_owned()))
}

fn integer(number: &Bound<'_, PyAny>) -> Result<Value, Refusal> {
    if let Ok(value) = number.extract::<i64>() {
        Ok(Value::from(value))
    } else if let Ok(value) = number.extract::<u64>() {
        Ok(Value::from(value))
    } else {
        Err(Refusal::Data("a 64-bit integer", "a larger one".to_owned()))
    }
}

fn type_name(data: &Bound<'_, PyAny>) -> String {
    data.get_type().name().map_or_else(|_| "?".to_owned(), |name| name.to_string())
}

/// A time limit in seconds; one too long to be counted is none.
pub(crate) fn time_limit(seconds: Option<f64>) -> Option<Duration> {
    seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
}

/// A JSON value as Python data.
pub(crate) fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(value) => PyBool::new(py, *value).to_owned().into_any(),
        Value::Number(number) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
            (Some(value), _, _) => value.into_pyobject(py)?.into_any(),
            (None, Some(value), _) => value.into_pyobject(py)?.into_any(),
            (None, None, value) => value.unwrap_or(f64::NAN).into_pyobject(py)?.into_any(),
        },
        Value::String(text) => PyString::new(py, text).into_any(),
        Value::Array(items) => {
            let items = items.iter().map(|item| to_python(py, item)).collect::<PyResult<Vec<_>>>()?;
            PyList::new(py, items)?.into_any()
        }
        Value::Object(entries) => {
            let dict = PyDict::new(py);
            for (key, value) in entries {
                dict.set_item(key, to_python(py, value)?)?;
            }
            dict.into_any()
        }
    })
}
