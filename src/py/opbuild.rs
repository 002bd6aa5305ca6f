//! The native half of `superkernel.sim.build_op`.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::convert::time_limit;
use super::errors::to_python;
use super::interrupt::interruptible;
use crate::Error;
use crate::environment::Variables;
use crate::model::{Chip, DcciFlags, DebugOutput, KernelType, Soc};
use crate::opbuild::{BuiltOp, HeaderTree, OpBuildError, OpRequest, Position, Source, TilingKey};
use crate::options::SplitCount;
use crate::store::folders::FolderCache;
use crate::toolchain::HostToolchain;

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(build_op, module)?)?;
    module.add_function(wrap_pyfunction!(header_tree, module)?)
}

/// The AscendC headers in a folder: root, whether it is a checkout, version.
#[pyfunction]
fn header_tree(py: Python<'_>, folder: PathBuf) -> PyResult<(PathBuf, bool, Option<String>)> {
    let tree = HeaderTree::open(&folder).map_err(|error| to_python(py, error))?;
    Ok((tree.root().to_path_buf(), tree.is_checkout(), tree.version()))
}

/// The arguments of `build_op`, checked for their Python types only.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct RawRequest {
    source_text: Option<String>,
    source_path: Option<PathBuf>,
    kernel: String,
    name: Option<String>,
    params: Option<Vec<String>>,
    kernel_type: Option<String>,
    block_dim: u32,
    op_type: String,
    soc: String,
    split_mode: Option<u64>,
    early_start: Option<bool>,
    sync_all: Option<bool>,
    feed_sync_all: Option<bool>,
    position: String,
    tiling_keys: Vec<(u64, Option<String>)>,
    tiling_data: Option<Vec<u8>>,
    prelude: String,
    debug_options: Vec<String>,
    debug_size: u64,
    dcci: (bool, bool, bool),
    compile_options: Vec<String>,
    include_dirs: Vec<PathBuf>,
    watch_accesses: bool,
    ascendc: Option<PathBuf>,
    cache: Option<(PathBuf, u64)>,
    out_dir: PathBuf,
}

/// Builds one operator; the result as a dict.
#[pyfunction]
fn build_op<'py>(
    py: Python<'py>,
    request: RawRequest,
    emulation_dir: PathBuf,
    timeout: Option<f64>,
) -> PyResult<Bound<'py, PyDict>> {
    let request = request.checked().map_err(|error| to_python(py, error))?;
    let limit = time_limit(timeout);
    let built = interruptible(py, |cancel| -> Result<_, Error> {
        let host = HostToolchain::find(&Variables::from_process().host_search(), &emulation_dir, limit)?;
        crate::build_op(&request, &host, cancel)
    })?;
    result(py, &built)
}

fn result<'py>(py: Python<'py>, built: &BuiltOp) -> PyResult<Bound<'py, PyDict>> {
    let result = PyDict::new(py);
    result.set_item("name", &built.name)?;
    result.set_item("json_path", built.json_path.display().to_string())?;
    result.set_item("bin_path", built.bin_path.display().to_string())?;
    result.set_item("kernel_type", built.kernel_type.as_str())?;
    result.set_item("params", &built.facts.params)?;
    result.set_item("sets_next_task_start", built.facts.early_start.sets_itself)?;
    result.set_item("waits_pre_task_end", built.facts.early_start.waits_itself)?;
    result.set_item("sync_all", built.facts.sync_all)?;
    result.set_item("functions", &built.functions)?;
    result.set_item("reused", built.reused)?;
    Ok(result)
}

impl RawRequest {
    fn checked(self) -> Result<OpRequest, OpBuildError> {
        let detect_types = self.kernel_type.is_none();
        let named = |argument, name: &Option<String>| match name {
            Some(name) => self.kernel_type_named(argument, name),
            // Until the source was looked at.
            None => Ok(KernelType::AivOnly),
        };
        let kernel_type = named("kernel_type", &self.kernel_type)?;
        let mut tiling_keys = Vec::with_capacity(self.tiling_keys.len());
        for (key, name) in &self.tiling_keys {
            tiling_keys.push(TilingKey { key: *key, kernel_type: named("tiling_keys", name)? });
        }
        let position = Position::from_name(&self.position)
            .ok_or_else(|| self.refuse("position", &self.position, "expected `start`, `middle` or `end`"))?;
        let split_mode = match self.split_mode {
            None => None,
            Some(count) => Some(SplitCount::new(count).ok_or_else(|| {
                self.refuse("split_mode", &count.to_string(), &format!("expected 1 to {}", SplitCount::MAX))
            })?),
        };
        let chip: Chip = Soc::parse(&self.soc)?.chip();
        let source = match (self.source_text, self.source_path) {
            (Some(text), _) => Source::Text(text),
            (None, path) => Source::File(path.unwrap_or_default()),
        };
        let (before_kernel_start, after_kernel_end, disabled) = self.dcci;
        let has_debug_output = !self.debug_options.is_empty();
        Ok(OpRequest {
            source,
            kernel: self.kernel,
            name: self.name,
            params: self.params,
            kernel_type,
            detect_types,
            block_dim: self.block_dim,
            op_type: self.op_type,
            chip,
            split_mode,
            early_start: self.early_start.into(),
            sync_all: self.sync_all.into(),
            feed_sync_all: self.feed_sync_all.into(),
            position,
            tiling_keys,
            debug_output: has_debug_output
                .then_some(DebugOutput { options: self.debug_options, size: self.debug_size }),
            dcci: DcciFlags { before_kernel_start, after_kernel_end, disabled },
            compile_options: self.compile_options,
            include_dirs: self.include_dirs,
            prelude: self.prelude,
            tiling_data: self.tiling_data,
            watch_accesses: self.watch_accesses,
            headers: self.ascendc.as_deref().map(HeaderTree::open).transpose()?,
            cache: self.cache.map(|(directory, limit)| FolderCache { directory, limit }),
            out_dir: self.out_dir,
        })
    }

    fn kernel_type_named(&self, argument: &'static str, name: &str) -> Result<KernelType, OpBuildError> {
        KernelType::from_name(name).ok_or_else(|| {
            let known: Vec<&str> = KernelType::ALL.iter().map(|known| known.as_str()).collect();
            self.refuse(argument, name, &format!("expected one of {}", known.join(", ")))
        })
    }

    fn refuse(&self, argument: &'static str, value: &str, reason: &str) -> OpBuildError {
        OpBuildError::Argument {
            kernel: self.kernel.clone(),
            argument,
            value: value.to_owned(),
            reason: reason.to_owned(),
        }
    }
}
