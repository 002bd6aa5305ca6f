//! Operators in their folders, for Python.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde_json::{Map, Value as Json, json};

use super::convert::{time_limit, to_json, to_python as json_to_python};
use super::errors::to_python;
use super::interrupt::interruptible;
use crate::artifact::{DataType, Format};
use crate::environment::Variables;
use crate::model::Platform;
use crate::operator::OperatorError;
use crate::operator::definition::{Attribute, Definition, Parameter, Value};
use crate::operator::host::{Host, Invocation, Settings, Tensor, Tiling};
use crate::store::folders::FolderCache;
use crate::toolchain::HostCompiler;

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<OperatorHost>()
}

/// The host code of an operator, compiled.
#[pyclass(frozen, module = "superkernel._core")]
struct OperatorHost {
    host: Host,
    platform: Platform,
}

#[pymethods]
impl OperatorHost {
    /// Compiles the host code in `folder`, or finds it compiled.
    #[new]
    #[expect(clippy::too_many_arguments, reason = "three of them are the chip, two the cache")]
    fn new(
        py: Python<'_>,
        folder: PathBuf,
        soc: &str,
        aic_num: Option<u32>,
        aiv_num: Option<u32>,
        repository: Option<PathBuf>,
        include_dirs: Vec<PathBuf>,
        options: Vec<String>,
        emulation: PathBuf,
        cache: (PathBuf, u64),
        timeout: Option<f64>,
    ) -> PyResult<Self> {
        let platform = Platform::new(soc, aic_num, aiv_num).map_err(|error| to_python(py, error))?;
        let cache = FolderCache { directory: cache.0, limit: cache.1 };
        let host = interruptible(py, |cancel| -> Result<Host, OperatorError> {
            let limit = time_limit(timeout);
            let compiler = HostCompiler::find(&Variables::from_process().host_search(), limit)?;
            let settings = Settings {
                compiler: &compiler,
                emulation: &emulation,
                include_dirs: &include_dirs,
                repository: repository.as_deref(),
                options: &options,
                cache: &cache,
                limit,
            };
            Host::load(&folder, platform.soc, &settings, cancel)
        })?;
        Ok(Self { host, platform })
    }

    /// Its definition.
    fn definition<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json_to_python(py, &definition(self.host.definition()))
    }

    /// Does it register a tiling?
    fn is_tiled(&self) -> bool {
        self.host.is_tiled()
    }

    /// Files that do not compile, with what is wrong first.
    fn left_out(&self) -> Vec<String> {
        self.host.left_out().to_vec()
    }

    /// Outputs of a call, with their shapes and types.
    fn infer_shapes<'py>(&self, py: Python<'py>, call: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyAny>> {
        let call = self.invocation(call)?;
        let outputs = interruptible(py, |cancel| self.host.infer_shapes(&call, cancel))?;
        let side = outputs.iter().map(|tensors| tensors.iter().map(tensor).collect::<Json>()).collect();
        json_to_python(py, &Json::Array(side))
    }

    /// What its tiling decides about a call.
    fn tiling<'py>(&self, py: Python<'py>, call: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyDict>> {
        let call = self.invocation(call)?;
        let Tiling { bytes, key, blocks, workspaces, schedule_mode, local_memory, log } =
            interruptible(py, |cancel| self.host.tiling(&call, cancel))?;
        let result = PyDict::new(py);
        result.set_item("bytes", PyBytes::new(py, &bytes))?;
        result.set_item("key", key)?;
        result.set_item("blocks", blocks)?;
        result.set_item("workspaces", workspaces)?;
        result.set_item("schedule_mode", schedule_mode)?;
        result.set_item("local_memory", local_memory)?;
        result.set_item("log", log)?;
        Ok(result)
    }
}

impl OperatorHost {
    fn invocation(&self, call: &Bound<'_, PyDict>) -> PyResult<Invocation> {
        let side = |name: &str| -> PyResult<Vec<Vec<Tensor>>> {
            let Some(parameters) = call.get_item(name)? else { return Ok(Vec::new()) };
            let mut side = Vec::new();
            for parameter in parameters.try_iter()? {
                let tensors = parameter?.try_iter()?.map(|tensor| self.tensor(&tensor?.cast_into::<PyDict>()?));
                side.push(tensors.collect::<PyResult<_>>()?);
            }
            Ok(side)
        };
        let mut attributes = BTreeMap::new();
        if let Some(given) = call.get_item("attributes")? {
            for (name, value) in given.cast_into::<PyDict>()? {
                let (name, value): (String, Json) = (name.extract()?, to_json(&value)?);
                let value = self.attribute(&name, &value).map_err(|error| to_python(call.py(), error))?;
                attributes.insert(name, value);
            }
        }
        let deterministic = call.get_item("deterministic")?.map_or(Ok(false), |value| value.extract())?;
        let Platform { soc, cores } = self.platform;
        Ok(Invocation { soc, cores, inputs: side("inputs")?, outputs: side("outputs")?, attributes, deterministic })
    }

    fn attribute(&self, name: &str, value: &Json) -> Result<Value, OperatorError> {
        let definition = self.host.definition();
        let refuse = |reason: String| self.refuse(format!("attribute `{name}`"), &value.to_string(), reason);
        let known: Option<&Attribute> = definition.attributes.iter().find(|attribute| attribute.name == name);
        let Some(attribute) = known else {
            let names: Vec<&str> = definition.attributes.iter().map(|attribute| attribute.name.as_str()).collect();
            return Err(refuse(format!("its attributes are {}", names.join(", "))));
        };
        Value::of(attribute.kind, value).ok_or_else(|| refuse(format!("expected a value of type {}", attribute.kind)))
    }

    fn tensor(&self, given: &Bound<'_, PyDict>) -> PyResult<Tensor> {
        let text = |name: &str| -> PyResult<Option<String>> {
            given.get_item(name)?.filter(|value| !value.is_none()).map(|value| value.extract()).transpose()
        };
        let refuse = |what: &str, value: &str, known: String| {
            to_python(given.py(), self.refuse(what.to_owned(), value, format!("expected one of {known}")))
        };
        let name = text("dtype")?.unwrap_or_default();
        let dtype = DataType::from_name(&name)
            .ok_or_else(|| refuse("a type", &name, DataType::ALL.map(DataType::as_str).join(", ")))?;
        let format = |name: Option<String>, other: Format| match name {
            None => Ok(other),
            Some(name) => Format::from_name(&name)
                .ok_or_else(|| refuse("a format", &name, Format::ALL.map(Format::as_str).join(", "))),
        };
        let in_memory = format(text("format")?, Format::Nd)?;
        let origin_format = format(text("origin_format")?, in_memory)?;
        let shape: Vec<i64> = given.get_item("shape")?.map_or(Ok(Vec::new()), |value| value.extract())?;
        let origin = given.get_item("origin_shape")?.filter(|value| !value.is_none());
        let origin_shape = origin.map_or(Ok(shape.clone()), |value| value.extract())?;
        let data = given.get_item("data")?.filter(|value| !value.is_none());
        let data = data.map(|value| value.extract::<Vec<u8>>()).transpose()?;
        let count = shape.iter().try_fold(1_u64, |count, dim| count.checked_mul(u64::try_from(*dim).ok()?));
        let needed = count.map_or(0, |count| (count * dtype.bits()).div_ceil(8));
        if let Some(data) = data.as_ref().filter(|data| data.len() as u64 != needed) {
            let (what, reason) = (format!("values of {} bytes", data.len()), format!("its shape has {needed} bytes"));
            return Err(to_python(given.py(), self.refuse("an input".to_owned(), &what, reason)));
        }
        Ok(Tensor { dtype, format: in_memory, origin_format, shape, origin_shape, data })
    }

    fn refuse(&self, what: String, value: &str, reason: String) -> OperatorError {
        let operator = self.host.definition().op_type.clone();
        OperatorError::Argument { operator, what, value: value.to_owned(), reason }
    }
}

fn definition(definition: &Definition) -> Json {
    let side = |parameters: &[Parameter]| parameters.iter().map(parameter).collect::<Json>();
    json!({
        "op_type": definition.op_type,
        "op_file": definition.op_file(),
        "op_interface": definition.op_interface(),
        "inputs": side(&definition.inputs),
        "outputs": side(&definition.outputs),
        "attributes": definition.attributes.iter().map(attribute).collect::<Json>(),
        "socs": definition.socs,
        "values": definition.values,
    })
}

fn parameter(parameter: &Parameter) -> Json {
    json!({
        "name": parameter.name,
        "presence": parameter.presence.as_str(),
        "dtypes": parameter.dtypes.iter().map(|dtype| dtype.as_str()).collect::<Vec<_>>(),
        "formats": parameter.formats.iter().map(|format| format.as_str()).collect::<Vec<_>>(),
        "value_depend": parameter.value_depend,
    })
}

fn attribute(attribute: &Attribute) -> Json {
    json!({
        "name": attribute.name,
        "kind": attribute.kind.as_str(),
        "required": attribute.required,
        "default": attribute.default.as_ref().map(Value::to_json),
    })
}

fn tensor(tensor: &Tensor) -> Json {
    let mut fields = Map::new();
    fields.insert("dtype".to_owned(), tensor.dtype.as_str().into());
    fields.insert("format".to_owned(), tensor.format.as_str().into());
    fields.insert("shape".to_owned(), tensor.shape.clone().into());
    Json::Object(fields)
}
