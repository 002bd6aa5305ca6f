//! What the caller asks the builder for.

use crate::named::named;
use std::path::{Path, PathBuf};

use super::error::OpBuildError;
use super::expression::number;
use super::headers::HeaderTree;
use crate::arguments::{Argument, arguments};
use crate::artifact::half_name;
use crate::fs::absolute;
use crate::model::{Chip, CoreKind, DcciFlags, DebugOutput, KernelType};
use crate::options::SplitCount;
use crate::store::folders::FolderCache;

/// The macro that tells a source its tiling key.
pub(crate) const TILING_KEY: &str = "TILING_KEY_VAR";

/// The operator's source.
#[derive(Debug, Clone)]
pub enum Source {
    /// C++ text; a copy stays beside the result, so that messages point to a file.
    Text(String),
    /// A C++ file.
    File(PathBuf),
}

/// Something the builder can find out from the source, or be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Choice {
    /// Look at the source.
    #[default]
    Detect,
    /// Told: yes.
    Yes,
    /// Told: no.
    No,
}

impl From<Option<bool>> for Choice {
    fn from(value: Option<bool>) -> Self {
        match value {
            None => Self::Detect,
            Some(true) => Self::Yes,
            Some(false) => Self::No,
        }
    }
}

named! {
    /// Where the op will stand in its super kernel: the first has nobody to wait for, the last nobody to start.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum Position {
        /// First.
        Start = "start",
        /// Between others.
        #[default]
        Middle = "middle",
        /// Last.
        End = "end",
    }
}

/// One tiling key of a dynamic operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TilingKey {
    /// `TILING_KEY_VAR` while its function is compiled.
    pub key: u64,
    /// The type its function runs as.
    pub kernel_type: KernelType,
}

/// An operator to build.
#[derive(Debug, Clone)]
pub struct OpRequest {
    /// Its source.
    pub source: Source,
    /// Its function in the source.
    pub kernel: String,
    /// Its name in the JSON; by default the function's name and a digest.
    pub name: Option<String>,
    /// Names of its parameters; by default those of the source.
    pub params: Option<Vec<String>>,
    /// The cores it runs on.
    pub kernel_type: KernelType,
    /// The types of the operator and its keys are what the source says or does.
    pub detect_types: bool,
    /// Blocks it is tiled for.
    pub block_dim: u32,
    /// Operator type, for the `dcci-…` options and the result's JSON.
    pub op_type: String,
    /// The chip it is built for.
    pub chip: Chip,
    /// Make this many copies now; `None`: leave that to the super kernel.
    pub split_mode: Option<SplitCount>,
    /// Early start inside the code.
    pub early_start: Choice,
    /// The code calls `SyncAll`.
    pub sync_all: Choice,
    /// `SyncAll` announces itself to idle cores.
    pub feed_sync_all: Choice,
    /// Where it will stand.
    pub position: Position,
    /// Not empty: a dynamic operator.
    pub tiling_keys: Vec<TilingKey>,
    /// Its debug output.
    pub debug_output: Option<DebugOutput>,
    /// Cache flushes around it.
    pub dcci: DcciFlags,
    /// More `-D…` and other arguments of the compiler, as `compile-options` takes them.
    pub compile_options: Vec<String>,
    /// More include directories.
    pub include_dirs: Vec<PathBuf>,
    /// Text in front of the source: what the device's build of an operator gives it.
    pub prelude: String,
    /// The tiling data of a static operator, in place of its last parameter.
    pub tiling_data: Option<Vec<u8>>,
    /// Every load and store of the scalar unit tells the simulator.
    pub watch_accesses: bool,
    /// The vendor's headers to compile against; `None`: the subset that comes with this package.
    pub headers: Option<HeaderTree>,
    /// Where precompiled headers are kept; `None`: nowhere.
    pub(crate) cache: Option<FolderCache>,
    /// Where object and JSON go.
    pub out_dir: PathBuf,
}

/// One function to compile: a core kind of a static operator, or of one tiling key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unit {
    /// `None` for a static operator.
    pub key: Option<u64>,
    /// The type it runs as.
    pub kernel_type: KernelType,
    /// The kind of core.
    pub kind: CoreKind,
}

impl Unit {
    /// The part of its function's name behind the operator's name.
    pub(crate) fn suffix(&self, position: Position) -> String {
        let stem = match self.key {
            Some(key) => format!("_{key}"),
            None => format!("_{}", position.as_str()),
        };
        if self.kernel_type.is_single_arch() { stem } else { half_name(&stem, self.kind) }
    }
}

impl OpRequest {
    /// Does the run decide which function runs?
    pub(crate) fn is_dynamic(&self) -> bool {
        !self.tiling_keys.is_empty()
    }

    /// What `TILING_KEY_VAR` is while a function is compiled: its key, or what the user says of a static operator.
    pub(crate) fn tiling_key(&self, unit: &Unit) -> String {
        match unit.key {
            Some(key) => format!("{key}UL"),
            None => self.own_tiling_key().unwrap_or("0UL").to_owned(),
        }
    }

    /// The same as a number, if it is one.
    pub(crate) fn key_of(&self, unit: &Unit) -> Option<u64> {
        number(&self.tiling_key(unit)).and_then(|key| u64::try_from(key).ok())
    }

    /// The key that the user's options name.
    fn own_tiling_key(&self) -> Option<&str> {
        let definitions = arguments(&self.compile_options).filter_map(Argument::definition);
        definitions.filter(|(name, _)| *name == TILING_KEY).map(|(_, value)| value).last()
    }

    /// The user's options for the compiler, which runs elsewhere, without the tiling key.
    pub(crate) fn options(&self) -> Vec<String> {
        let own = arguments(&self.compile_options)
            .filter(|argument| argument.definition().is_none_or(|(name, _)| name != TILING_KEY));
        own.flat_map(|argument| match (argument.path(), argument.words()) {
            (Some(path), [name, _]) if Path::new(path).exists() => {
                vec![name.clone(), absolute(Path::new(path)).display().to_string()]
            }
            (_, words) => words.to_vec(),
        })
        .collect()
    }

    /// The functions to compile, tiling keys in the order given, cube before vector.
    pub(crate) fn units(&self) -> Vec<Unit> {
        let of_type = |key: Option<u64>, kernel_type: KernelType| {
            kernel_type.class().kinds().iter().map(move |kind| Unit { key, kernel_type, kind: *kind })
        };
        if self.is_dynamic() {
            self.tiling_keys.iter().flat_map(|entry| of_type(Some(entry.key), entry.kernel_type)).collect()
        } else {
            of_type(None, self.kernel_type).collect()
        }
    }

    /// Do its parameters start with the FFTS address? Then the caller does not name it.
    pub(crate) fn has_ffts_parameter(&self) -> bool {
        self.chip.has_ffts_slot() && !self.kernel_type.is_single_arch()
    }

    /// What is wrong without looking at the source.
    pub(crate) fn check(&self) -> Result<(), OpBuildError> {
        if !is_identifier(&self.kernel) {
            return Err(self.refuse("kernel", &self.kernel, "it is not a C identifier"));
        }
        if let Some(name) = self.name.as_ref().filter(|name| !is_identifier(name)) {
            return Err(self.refuse("name", name, "it is not a C identifier"));
        }
        if let Some(name) = self.params.iter().flatten().find(|name| !is_identifier(name)) {
            return Err(self.refuse("params", name, "a parameter's name is not a C identifier"));
        }
        if self.block_dim == 0 {
            return Err(self.refuse("block_dim", "0", "an operator runs on at least one block"));
        }
        if let Some(headers) = self.headers.as_ref().filter(|_| self.chip != Chip::C220) {
            let reason = "the vendor's headers are emulated for chips of the family c220 only";
            return Err(self.refuse("ascendc", &headers.root().display().to_string(), reason));
        }
        self.check_dynamic()
    }

    fn check_dynamic(&self) -> Result<(), OpBuildError> {
        if !self.is_dynamic() {
            return Ok(());
        }
        if let Some(key) = self.own_tiling_key() {
            let reason = "every function of a dynamic operator is compiled for a key of its own (`tiling_keys`)";
            return Err(self.refuse("compile_options", &format!("-D{TILING_KEY}={key}"), reason));
        }
        if self.early_start == Choice::Yes {
            return Err(self.refuse("early_start", "True", "a dynamic operator has no early start of its own"));
        }
        if let Some(split) = self.split_mode {
            let reason = "the functions of a dynamic operator are copied when the super kernel is built";
            return Err(self.refuse("split_mode", &split.get().to_string(), reason));
        }
        for (index, entry) in self.tiling_keys.iter().enumerate() {
            let value = entry.key.to_string();
            if self.tiling_keys[..index].iter().any(|other| other.key == entry.key) {
                return Err(self.refuse("tiling_keys", &value, "the key is given twice"));
            }
            let class = self.kernel_type.class();
            if let Some(kind) = entry.kernel_type.class().kinds().iter().find(|kind| !class.runs_on(**kind)) {
                let reason = format!(
                    "its type {} runs on {} cores, the operator's {} does not",
                    entry.kernel_type,
                    kind.word(),
                    self.kernel_type
                );
                return Err(self.refuse("tiling_keys", &value, &reason));
            }
        }
        Ok(())
    }

    /// An error about one argument.
    pub(crate) fn refuse(&self, argument: &'static str, value: &str, reason: &str) -> OpBuildError {
        OpBuildError::Argument {
            kernel: self.kernel.clone(),
            argument,
            value: value.to_owned(),
            reason: reason.to_owned(),
        }
    }
}

fn is_identifier(text: &str) -> bool {
    text.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_')
        && text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}
