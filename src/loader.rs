//! What a launch must know about a kernel, found out from its files.

mod arguments;
mod ops;

pub(crate) use arguments::{ArgumentName, Given, OpKey, Source};
pub(crate) use ops::{LaunchableOp, sequential_order};

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use crate::artifact::half_name;
use crate::build::manifest::Manifest;
use crate::build::{ResultJson, StoredProgram};
use crate::diagnostic::{Advice, Diagnostic, advice};
use crate::fs;
use crate::json::{Document, JsonError, JsonFile, JsonPath};
use crate::model::{
    Chip, CoreKind, KernelType, ModelError, Slot, Soc, SubKernelCode, SubKernelFile, SuperKernelType, TaskType,
    TilingFunctions,
};
use crate::program::Program;
use crate::shortened::Shortened;
use crate::sim::code::meta;
use crate::sim::interface::request::{Entries, ParameterSpec};
use crate::sim::machine::topology::Topology;
use crate::sim::{Request, SimError};
use crate::store::digest::ContentDigest;

/// Why a kernel's files do not say how to launch it.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the fields are what the messages print")]
pub enum LoadError {
    #[error(transparent)]
    Json(#[from] JsonError),
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error(transparent)]
    Object(#[from] SimError),
    #[error("{problem}")]
    Argument { problem: String, solution: Cow<'static, str> },
    #[error("`{}` is not the object that `{}` describes: its `sha256` is {}, the file's is {found}",
        object.display(), json.display(), Shortened(.stated))]
    OtherObject { object: PathBuf, json: PathBuf, stated: String, found: ContentDigest },
    #[error("no object found for `{}`; tried {}", json.display(), tried.join(", "))]
    NoObject { json: PathBuf, tried: Vec<String> },
    #[error("`{}` has no JSON beside it and no meta section of a super kernel", object.display())]
    NoDescription { object: PathBuf },
}

impl Diagnostic for LoadError {
    fn advice(&self) -> Advice {
        match self {
            Self::Json(error) => error.advice(),
            Self::Model(error) => error.advice(),
            Self::Object(error) => error.advice(),
            Self::Argument { solution, .. } => advice("SK0902", solution.clone().into_owned()),
            Self::OtherObject { .. } => {
                advice("SK0930", "build the kernel again, or pass the object that belongs to the JSON")
            }
            Self::NoObject { .. } => advice("SK0908", "put the object beside the JSON, or pass bin_path"),
            Self::NoDescription { .. } => {
                advice("SK0909", "put the JSON beside it, or name the functions and the kernel type")
            }
        }
    }
}

impl LoadError {
    /// An argument that makes no sense.
    pub(crate) fn argument(problem: String, solution: &'static str) -> Self {
        Self::Argument { problem, solution: solution.into() }
    }
}

/// A kernel, known well enough to be launched.
#[derive(Debug, Clone)]
pub(crate) struct Launchable {
    /// Its name.
    pub name: String,
    /// Its object file or archive.
    pub object: PathBuf,
    /// The chip it is launched on.
    pub chip: Chip,
    /// The type it is launched as.
    pub kernel_type: KernelType,
    /// Blocks it is launched with; `None`: its files do not say.
    pub blocks: Option<u32>,
    /// Bytes behind the workspace slot of a super kernel.
    pub workspace_bytes: u64,
    /// Its parameters: a slot's number is its place here. Empty if its files do not say.
    pub parameters: Vec<Slot>,
    /// The program of a super kernel, if its object has it.
    program: Option<StoredProgram>,
    /// What its files describe.
    pub form: Form,
}

/// What a kernel's files describe.
#[derive(Debug, Clone)]
pub(crate) enum Form {
    /// A super kernel with its ops.
    SuperKernel {
        /// Its entries.
        entries: Entries,
        /// Its ops in op order; empty if only the object was there.
        ops: Vec<LaunchableOp>,
    },
    /// A lone sub-kernel, or a function of any object.
    SubKernel {
        /// Its functions; none for a tiling-sink op.
        entries: Entries,
        /// Functions and type by tiling key.
        tiling_keys: Vec<(u64, KernelType, Entries)>,
        /// Whether its JSON was there, which names its parameters.
        described: bool,
    },
}

/// What becomes of a sub-kernel whose JSON states another `sha256` than its object has.
///
/// What this package wrote is always checked; what a vendor's digest covers is not known for certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ForeignDigests {
    /// It is refused.
    Refuse,
    /// It is loaded, with a warning.
    Warn,
}

/// Finds out what `path`, an object or its JSON, is on `chip`. `object` wins over the object that the files name.
/// The object must be the one that the JSON describes.
pub(crate) fn find(
    path: &Path,
    object: Option<&Path>,
    chip: Chip,
    foreign: ForeignDigests,
) -> Result<Launchable, LoadError> {
    let is_json = path.extension().is_some_and(|extension| extension == "json");
    let json_path = if is_json { path.to_path_buf() } else { path.with_extension("json") };
    if !is_json && !json_path.exists() {
        return from_meta(object.unwrap_or(path), chip);
    }
    let object = object.or_else(|| (!is_json).then_some(path));
    let json = JsonFile::read(Document::Result, &json_path, &JsonPath::top(Document::Result))?;
    if SubKernelFile::recognizes(&json) {
        let file = SubKernelFile::from_json(&json_path, json);
        let found = from_sub_kernel(&file, &json_path, object, chip)?;
        let checked = check_digest(&found.object, &json_path, file.object_digest());
        match (checked, foreign) {
            (Err(error @ LoadError::OtherObject { .. }), ForeignDigests::Warn) if file.build_digest().is_none() => {
                log::warn!(target: "superkernel.sim", "{error}");
            }
            (checked, ForeignDigests::Warn | ForeignDigests::Refuse) => checked?,
        }
        Ok(found)
    } else {
        let described = ResultJson::from_node(&json.root())?;
        let stated = described.object_digest.clone();
        let mut found = from_result(described, &json_path, object, chip);
        check_digest(&found.object, &json_path, stated.as_deref())?;
        found.program = StoredProgram::read_file(&found.object);
        // The build record belongs to the JSON beside it, or to another build.
        let record = Manifest::read_file(&json_path.with_extension("manifest.json")).ok();
        let record = record.filter(|record| record.json == json.digest.to_string());
        if let Some(record) = record {
            if let Form::SuperKernel { ops, .. } = &mut found.form {
                ops::name_files(ops, &record.notes.call.kernel_infos);
                ops::end_last(ops, &record.notes.parameters);
            }
            found.parameters = record.notes.parameters;
        }
        Ok(found)
    }
}

/// Compares an object with what its JSON states, if it states anything.
fn check_digest(object: &Path, json: &Path, stated: Option<&str>) -> Result<(), LoadError> {
    let Some(stated) = stated.filter(|stated| !stated.is_empty()) else { return Ok(()) };
    let found = ContentDigest::of(&fs::read(object).map_err(SimError::from)?);
    if found.is(stated) {
        return Ok(());
    }
    let (object, json, stated) = (object.to_path_buf(), json.to_path_buf(), stated.to_owned());
    Err(LoadError::OtherObject { object, json, stated, found })
}

/// The functions `entries` of any object.
pub(crate) fn of_functions(
    object: &Path,
    entries: Entries,
    kernel_type: &str,
    blocks: Option<u32>,
    chip: Chip,
) -> Result<Launchable, LoadError> {
    let place = JsonPath::default().key("kernel_type");
    let unknown = || ModelError::UnknownKernelType { place, name: kernel_type.to_owned() };
    let kernel_type = KernelType::from_name(kernel_type).ok_or_else(unknown)?;
    let name = entries.aic.clone().or_else(|| entries.aiv.clone()).unwrap_or_default();
    let form = Form::SubKernel { entries, tiling_keys: Vec::new(), described: false };
    let (object, parameters) = (object.to_path_buf(), Vec::new());
    Ok(Launchable { name, object, chip, kernel_type, blocks, workspace_bytes: 0, parameters, program: None, form })
}

fn from_result(json: ResultJson, json_path: &Path, object: Option<&Path>, chip: Chip) -> Launchable {
    let object = object.map_or_else(|| json_path.with_file_name(&json.object_file), Path::to_path_buf);
    let counts = json.parameter_counts();
    let ops =
        json.ops.iter().zip(counts).enumerate().map(|(at, (op, count))| LaunchableOp::new(at, op, count)).collect();
    Launchable {
        form: Form::SuperKernel { entries: entries_of(&json.name, json.kernel_type), ops },
        name: json.name,
        object,
        chip,
        kernel_type: json.kernel_type.kernel_type(),
        blocks: Some(json.blocks),
        // Debug output is written behind what the super kernel uses itself.
        workspace_bytes: json.workspace_size.saturating_add(json.debug_output.map_or(0, |debug| debug.size)),
        parameters: Vec::new(),
        program: None,
    }
}

fn entries_of(name: &str, kernel_type: SuperKernelType) -> Entries {
    let entry = |kind| kernel_type.class().runs_on(kind).then(|| half_name(name, kind));
    Entries { aic: entry(CoreKind::Aic), aiv: entry(CoreKind::Aiv) }
}

fn from_sub_kernel(
    file: &SubKernelFile,
    json_path: &Path,
    object: Option<&Path>,
    chip: Chip,
) -> Result<Launchable, LoadError> {
    let task_type = file.task_type()?;
    let kernel = file.sub_kernel(task_type, chip)?;
    let blocks = match task_type {
        TaskType::Normal => Some(file.blocks()?),
        // Decided at run time; the JSON's number is a guess.
        TaskType::Dynamic => file.blocks().ok(),
    };
    let object = match object {
        Some(object) => object.to_path_buf(),
        None => {
            let names = file.object_names()?;
            let found = names.iter().map(|name| json_path.with_file_name(name)).find(|path| path.is_file());
            found.ok_or_else(|| LoadError::NoObject { json: json_path.to_path_buf(), tried: names })?
        }
    };
    let (entries, tiling_keys) = match kernel.code {
        SubKernelCode::Static(functions) => {
            let mut entries = Entries::default();
            for function in functions {
                match function.kind {
                    CoreKind::Aic => entries.aic = Some(function.name),
                    CoreKind::Aiv => entries.aiv = Some(function.name),
                }
            }
            (entries, Vec::new())
        }
        SubKernelCode::Dynamic(keys) => {
            let entry = |key: TilingFunctions| (key.key, key.kernel_type, Entries { aic: key.aic, aiv: key.aiv });
            (Entries::default(), keys.into_iter().map(entry).collect())
        }
    };
    Ok(Launchable {
        name: kernel.kernel_name.to_string(),
        object,
        chip,
        kernel_type: kernel.kernel_type,
        blocks,
        workspace_bytes: 0,
        parameters: kernel.params.iter().map(|name| Slot::of_sub_kernel(name, None)).collect(),
        program: None,
        form: Form::SubKernel { entries, tiling_keys, described: true },
    })
}

/// A bare object: the entries and the ratio are in its meta sections.
fn from_meta(object: &Path, chip: Chip) -> Result<Launchable, LoadError> {
    let name_of = |function: &str| {
        CoreKind::BOTH.iter().find_map(|kind| function.strip_suffix(&half_name("", *kind))).map(str::to_owned)
    };
    let found =
        meta::read(object)?.into_iter().rev().find_map(|(function, meta)| Some((name_of(&function)?, meta.ratio?)));
    let described = found.and_then(|(name, ratio)| Some((name, SuperKernelType::from_task_ratio(ratio)?)));
    let (name, kernel_type) = described.ok_or_else(|| LoadError::NoDescription { object: object.to_path_buf() })?;
    Ok(Launchable {
        form: Form::SuperKernel { entries: entries_of(&name, kernel_type), ops: Vec::new() },
        name,
        object: object.to_path_buf(),
        chip,
        kernel_type: kernel_type.kernel_type(),
        blocks: None,
        workspace_bytes: 0,
        parameters: Vec::new(),
        program: StoredProgram::read_file(object),
    })
}

impl Launchable {
    /// A launch of it with the parameter block `slots`; `blocks` if not those of its files.
    pub(crate) fn request(
        &self,
        library: PathBuf,
        soc: Soc,
        tiling_key: Option<u64>,
        blocks: Option<u32>,
        slots: Vec<u64>,
    ) -> Result<Request, LoadError> {
        let (kernel_type, entries) = self.entry(tiling_key)?;
        let blocks = blocks.or(self.blocks).ok_or_else(|| {
            LoadError::argument(format!("`{}`: the files do not say how many blocks", self.name), "pass block_dim")
        })?;
        let args_offset = match self.form {
            Form::SuperKernel { .. } => None,
            Form::SubKernel { .. } => Some(0),
        };
        let parameter = |(number, slot): (usize, &Slot)| ParameterSpec {
            name: self.own_name(number).to_owned(),
            op: slot.op.map(|op| op.0),
        };
        Ok(Request {
            kernel: self.name.clone(),
            args_offset,
            parameters: self.parameters.iter().enumerate().map(parameter).collect(),
            ..Request::new(library, entries, soc, kernel_type, blocks, slots)
        })
    }

    /// The functions that run, and as which type.
    fn entry(&self, tiling_key: Option<u64>) -> Result<(KernelType, Entries), LoadError> {
        match &self.form {
            Form::SubKernel { tiling_keys, .. } if !tiling_keys.is_empty() => {
                let chosen = tiling_keys.iter().find(|(key, ..)| Some(*key) == tiling_key);
                let (_, kernel_type, entries) = chosen.ok_or_else(|| {
                    let known: Vec<String> = tiling_keys.iter().map(|(key, ..)| key.to_string()).collect();
                    let got = tiling_key.map_or_else(|| "None".to_owned(), |key| key.to_string());
                    LoadError::Argument {
                        problem: format!("`{}` needs a tiling key, got {got}", self.name),
                        solution: format!("pass tiling_key, one of {}", known.join(", ")).into(),
                    }
                })?;
                Ok((*kernel_type, entries.clone()))
            }
            Form::SuperKernel { entries, .. } | Form::SubKernel { entries, .. } => {
                Ok((self.kernel_type, entries.clone()))
            }
        }
    }

    /// What every core does, if the kernel's object tells it.
    pub(crate) fn program(&self) -> Option<Program> {
        self.program.as_ref()?.program()
    }

    /// The cores of a launch with so many blocks, by name.
    pub(crate) fn core_names(&self, blocks: u32) -> Vec<String> {
        let topology = Topology::new(self.kernel_type, blocks);
        (0..topology.core_count()).map(|core| topology.name(core)).collect()
    }

    /// Launched as a type whose cross-core flags work, as they do for every op inside of a super kernel.
    pub(crate) fn with_flags(mut self) -> Self {
        self.kernel_type = with_flags(self.kernel_type);
        if let Form::SubKernel { tiling_keys, .. } = &mut self.form {
            tiling_keys.iter_mut().for_each(|(_, kernel_type, _)| *kernel_type = with_flags(*kernel_type));
        }
        self
    }
}

fn with_flags(kernel_type: KernelType) -> KernelType {
    match kernel_type {
        KernelType::AivOnly => KernelType::MixAiv1_0,
        KernelType::AicOnly => KernelType::MixAic1_0,
        KernelType::MixAiv1_0 | KernelType::MixAic1_0 | KernelType::MixAic1_1 | KernelType::MixAic1_2 => kernel_type,
    }
}
