//! The host code of an operator, asked: its definition, the shapes of its outputs, and its tiling.
//!
//! [`sources`] finds the files, [`library`] compiles them against our headers of the host interface (`sk_op_host`, under
//! the names in [`spellings`]), and every question ([`question`]) is answered by a process of its own, which may crash or
//! run for ever.

mod library;
mod question;
mod sources;
mod spellings;

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::de::DeserializeOwned;

use super::OperatorError;
use super::definition::{Definition, snake_case};
use crate::artifact::DataType;
use crate::cancel::Cancel;
use crate::fs;
use crate::model::Soc;
use crate::store::folders::FolderCache;
use crate::store::work_dir::WorkDir;
use crate::toolchain::{Command, HostCompiler, ToolchainError};
use library::Library;
use question::{DefinitionsAnswer, ShapesAnswer, Step, TilingAnswer};
use sources::Repository;

pub(crate) use question::{Invocation, Tensor};

/// How long host code may think when the caller sets no limit.
const PATIENCE: Duration = Duration::from_secs(60);

/// What host code is compiled with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings<'a> {
    /// The machine's compiler.
    pub(crate) compiler: &'a HostCompiler,
    /// The folder of the package's headers.
    pub(crate) emulation: &'a Path,
    /// Folders of further headers.
    pub(crate) include_dirs: &'a [PathBuf],
    /// The repository the operator belongs to; `None`: found above its folder.
    pub(crate) repository: Option<&'a Path>,
    /// Arguments of the compiler.
    pub(crate) options: &'a [String],
    /// Where libraries are kept.
    pub(crate) cache: &'a FolderCache,
    /// How long one answer may take.
    pub(crate) limit: Option<Duration>,
}

/// What an operator's tiling decided.
#[derive(Debug, Clone)]
pub(crate) struct Tiling {
    /// What its kernel reads.
    pub(crate) bytes: Vec<u8>,
    /// Which of its kernels runs.
    pub(crate) key: u64,
    /// On how many blocks.
    pub(crate) blocks: u32,
    /// Bytes of its workspaces.
    pub(crate) workspaces: Vec<u64>,
    /// 1: all blocks must run at once, because they wait for each other.
    pub(crate) schedule_mode: u32,
    /// Bytes of local memory it asks for; 0: it does not say.
    pub(crate) local_memory: u32,
    /// What host code complained about meanwhile.
    pub(crate) log: Vec<String>,
}

/// The host code of one operator.
#[derive(Debug)]
pub(crate) struct Host {
    library: Library,
    definition: Definition,
    is_tiled: bool,
    cache: PathBuf,
    limit: Duration,
}

impl Host {
    /// Compiles the host code in `folder`, or finds it compiled, and reads its definition for `soc`.
    pub(crate) fn load(
        folder: &Path,
        soc: Soc,
        settings: &Settings<'_>,
        cancel: &Cancel,
    ) -> Result<Self, OperatorError> {
        let repository = Repository::open(folder, settings.repository, settings.include_dirs)?;
        let library = library::ready(&repository, settings, cancel)?;
        let name = repository.folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let limit = settings.limit.unwrap_or(PATIENCE);
        let asked = Asked { library: &library, operator: &name, limit, directory: &settings.cache.directory };
        let answer: DefinitionsAnswer = asked.ask(Step::Definitions, question::definitions(soc).as_bytes(), cancel)?;
        let mut definitions: Vec<Definition> = answer.definitions.into_iter().map(Definition::from).collect();
        // The folder is called like its operator; others in it are variants.
        let own = definitions.iter().position(|definition| snake_case(&definition.op_type) == name);
        if definitions.is_empty() {
            return Err(not_compiled(&name, &library));
        }
        let definition = definitions.swap_remove(own.unwrap_or(0));
        if !definition.is_for(soc) {
            let Definition { op_type, socs, .. } = definition;
            return Err(OperatorError::OtherChip { op_type, soc: soc.to_string(), socs });
        }
        let is_tiled = answer.tiled.contains(&definition.op_type);
        Ok(Self { library, definition, is_tiled, cache: settings.cache.directory.clone(), limit })
    }

    /// Its definition, for the chip it was loaded for.
    pub(crate) fn definition(&self) -> &Definition {
        &self.definition
    }

    /// Does it register a tiling?
    pub(crate) fn is_tiled(&self) -> bool {
        self.is_tiled
    }

    /// Files of it that do not compile with our headers, with what is wrong first.
    pub(crate) fn left_out(&self) -> &[String] {
        &self.library.left_out
    }

    /// The outputs of `call`, as its functions say; what they leave open stays as given.
    pub(crate) fn infer_shapes(&self, call: &Invocation, cancel: &Cancel) -> Result<Vec<Vec<Tensor>>, OperatorError> {
        let answer: ShapesAnswer = self.ask(Step::Shapes, call, cancel)?;
        let operator = self.definition.op_type.clone();
        if !answer.known {
            return Err(OperatorError::NoShapes { operator, left_out: self.library.left_out.clone() });
        }
        if answer.status != 0 {
            return Err(OperatorError::Refused { operator, step: Step::Shapes.title(), log: answer.log });
        }
        let mut answers = answer.outputs.into_iter();
        let mut outputs = call.outputs.clone();
        for tensor in outputs.iter_mut().flatten() {
            let Some(answer) = answers.next() else { break };
            tensor.shape.clone_from(&answer.shape);
            tensor.origin_shape = answer.shape;
            tensor.dtype = DataType::from_code(answer.dtype).unwrap_or(tensor.dtype);
        }
        Ok(outputs)
    }

    /// What its tiling decides about `call`.
    pub(crate) fn tiling(&self, call: &Invocation, cancel: &Cancel) -> Result<Tiling, OperatorError> {
        let answer: TilingAnswer = self.ask(Step::Tiling, call, cancel)?;
        let operator = self.definition.op_type.clone();
        if !answer.known {
            return Err(OperatorError::NoTiling { operator, left_out: self.library.left_out.clone() });
        }
        if answer.status != 0 {
            let step = if answer.parsed { Step::Tiling.title() } else { "the preparation of the tiling" };
            return Err(OperatorError::Refused { operator, step, log: answer.log });
        }
        Ok(Tiling {
            bytes: answer.bytes,
            key: answer.key,
            blocks: answer.blocks,
            workspaces: answer.workspaces,
            schedule_mode: answer.schedule_mode,
            local_memory: answer.local_memory,
            log: answer.log,
        })
    }

    fn ask<T: DeserializeOwned>(&self, step: Step, call: &Invocation, cancel: &Cancel) -> Result<T, OperatorError> {
        let operator = &self.definition.op_type;
        let asked = Asked { library: &self.library, operator, limit: self.limit, directory: &self.cache };
        asked.ask(step, &question::invocation(step, &self.definition, call), cancel)
    }
}

/// A library that is asked something.
struct Asked<'a> {
    library: &'a Library,
    operator: &'a str,
    limit: Duration,
    /// Where files may lie for a moment.
    directory: &'a Path,
}

impl Asked<'_> {
    fn ask<T: DeserializeOwned>(&self, step: Step, question: &[u8], cancel: &Cancel) -> Result<T, OperatorError> {
        let work = WorkDir::create(self.directory, "operator", cancel)?;
        let (asked, answered) = (work.write("question", question)?, work.file("answer"));
        let title = format!("{} of operator `{}`", step.title(), self.operator);
        let command = Command::new(&self.library.asker, title).file(&self.library.path).file(&asked).file(&answered);
        match command.current_dir(work.path()).limit(Some(self.limit)).run(cancel) {
            Ok(_) => {}
            Err(ToolchainError::Failed { status, stderr, .. }) => return Err(self.failed(&status.to_string(), &stderr)),
            Err(ToolchainError::TimedOut { limit, stderr, .. }) => {
                let (seconds, log) = (limit.as_secs_f64(), lines(&stderr));
                return Err(OperatorError::TimedOut { operator: self.operator.to_owned(), seconds, log });
            }
            Err(other) => return Err(other.into()),
        }
        let answer = fs::read(&answered)?;
        serde_json::from_slice(&answer).map_err(|error| self.failed(&format!("its answer is damaged: {error}"), ""))
    }

    /// A process that ended otherwise than with an answer.
    fn failed(&self, status: &str, output: &str) -> OperatorError {
        let operator = self.operator.to_owned();
        let missing = output.lines().find_map(|line| line.split_once("undefined symbol: "));
        match missing {
            Some((_, name)) => {
                let name = name.split([' ', ',', '\t']).next().unwrap_or(name);
                let left_out = self.library.left_out.clone();
                OperatorError::MissingCall { operator, call: library::readable(name), left_out }
            }
            None => OperatorError::Crashed { operator, status: status.to_owned(), log: lines(output) },
        }
    }
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

/// An error about a definition that was left out because it does not compile.
fn not_compiled(operator: &str, library: &Library) -> OperatorError {
    let of_definition = library.left_out.iter().find(|line| line.contains("_def.c"));
    let first = of_definition.or(library.left_out.first()).map(String::as_str).unwrap_or_default();
    let (place, problem) = first.split_once(": ").unwrap_or(("", first));
    OperatorError::Compile { operator: operator.to_owned(), place: place.to_owned(), problem: problem.to_owned() }
}
