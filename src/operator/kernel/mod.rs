//! The kernel of an operator's folder, ready for the builder of operators: its source, what stands in front of it, where
//! its included files are.

mod error;
mod folder;
mod options;
mod prelude;
mod structs;
pub(crate) mod unit_test;
mod view;

use std::path::{Path, PathBuf};

use crate::fs;
use crate::opbuild::lexer::{blanked, words};
pub(crate) use error::KernelError;
use folder::OperatorFolder;
pub(crate) use prelude::Tensor;
use structs::Structs;

/// What is built.
#[derive(Debug, Clone)]
pub(crate) struct KernelRequest {
    /// The operator's folder.
    pub folder: PathBuf,
    /// Its type: `RmsNorm`.
    pub op_type: String,
    /// The source that its definition names, without ending.
    pub source: Option<String>,
    /// Inputs and outputs.
    pub tensors: Vec<Tensor>,
    /// The tiling key.
    pub key: u64,
    /// The chip, as definitions name it: `ascend910_93`.
    pub unit: String,
    /// A folder for the view of its neighbours.
    pub view: PathBuf,
}

/// What the builder of operators needs.
#[derive(Debug, Clone)]
pub(crate) struct KernelSource {
    /// The file.
    pub source: PathBuf,
    /// The kernel's function.
    pub function: String,
    /// Text in front of the file.
    pub prelude: String,
    /// Where included files are.
    pub include_dirs: Vec<PathBuf>,
    /// From its CMake files.
    pub compile_options: Vec<String>,
    /// Whether the device's compiler puts barriers in; `None`: nothing is said.
    pub auto_sync: Option<bool>,
}

/// Reads the folder.
pub(crate) fn read(request: &KernelRequest) -> Result<KernelSource, KernelError> {
    let operator = OperatorFolder::open(&request.folder)?;
    let source = operator.source(request.source.as_deref())?;
    let function = function(&source, &operator.name())?;
    let options = options::read(&operator, &request.op_type, &request.unit);
    let mut include_dirs = view::make(&operator, &request.view)?;
    let neighbours = operator.neighbours();
    let dependencies = || options.dependencies.iter().filter_map(|name| neighbours.get(name));
    let mut host = vec![operator.folder.clone()];
    host.extend(dependencies().cloned());
    // What a dependency has is only included, by whatever name.
    let mut code = OperatorFolder::kernel_files(&operator.folder);
    code.extend(dependencies().flat_map(|folder| OperatorFolder::kernel_files(folder)));
    let structs = Structs::read(&host, &operator.host_places()).wanted(&request.op_type, request.key, &code);
    include_dirs.extend(dependencies().map(|folder| folder.join("op_kernel")));
    Ok(KernelSource {
        prelude: prelude::text(&request.tensors, &structs)?,
        source,
        function,
        include_dirs,
        compile_options: options.compile,
        auto_sync: options.auto_sync,
    })
}

/// The kernel that a source defines: called as the file or the folder is, or the first one.
fn function(source: &Path, folder: &str) -> Result<String, KernelError> {
    let text = blanked(&String::from_utf8_lossy(&fs::read(source)?));
    let mut names = Vec::new();
    for at in words(&text, "__global__") {
        let head: &str = text[at..].split('(').next().unwrap_or("");
        names.extend(head.split_whitespace().last().filter(|word| !word.starts_with("__")).map(str::to_owned));
    }
    let stem = source.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let wanted = [stem.as_str(), folder];
    let found = wanted.iter().find_map(|wanted| names.iter().find(|name| name == wanted)).or(names.first());
    found.cloned().ok_or_else(|| KernelError::NoFunction { source_file: source.to_path_buf() })
}
