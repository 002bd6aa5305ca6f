//! What a toolchain is asked to do, as plain data.

use std::path::PathBuf;

use super::places::Places;
use crate::model::{Chip, CoreKind};

/// What the source is: device compilers treat the three differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum CompileUnit {
    /// The generated super kernel.
    SuperKernel {
        /// Bytes of debug output each core may write, if there is debug output.
        core_dump_size: Option<u64>,
    },
    /// The small source that picks one copy of the super kernel.
    Entry,
    /// An operator's own source.
    SubKernel,
}

/// How hard the compiler tries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Optimization {
    /// What the toolchain takes by default for the unit.
    Usual,
    /// None at all, for debugging (`ccec_O0`).
    None,
}

/// Whether the object describes its source lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DebugInfo {
    /// No `-g`.
    Omit,
    /// `-g`.
    Keep,
}

/// Whether the code checks what it does to memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MemoryCheck {
    /// No.
    Off,
    /// Yes (`oom`).
    On,
}

/// Whether the code will be linked more than once, far apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum CodeCopies {
    /// One copy: calls stay near.
    One,
    /// Several copies: device compilers need long calls.
    Several,
}

/// One source to compile for one core kind.
#[derive(Debug, Clone)]
pub(crate) struct CompileJob {
    /// What is being made, for messages: ``super kernel `foo` for vector cores``.
    pub title: String,
    /// The C++ file.
    pub source: PathBuf,
    /// The object to write.
    pub output: PathBuf,
    /// What the source is.
    pub unit: CompileUnit,
    /// The cores it will run on.
    pub kind: CoreKind,
    /// The device generation.
    pub chip: Chip,
    /// `-D…` arguments in front of [`Self::options`], which may override them.
    pub defines: Vec<String>,
    /// The user's `compile-options`, as given.
    pub options: Vec<String>,
    /// `-D…` arguments behind [`Self::options`]: the ones that name the entry and must not be overridden.
    pub entry_defines: Vec<String>,
    /// Include directories of the job itself, in front of the toolchain's own.
    pub include_dirs: Vec<PathBuf>,
    /// How hard the compiler tries.
    pub optimization: Optimization,
    /// `-g` or not.
    pub debug_info: DebugInfo,
    /// Memory checks or not.
    pub memory_check: MemoryCheck,
    /// One code copy or several.
    pub copies: CodeCopies,
    /// A private directory: the command runs there and may leave response files.
    pub work_dir: PathBuf,
    /// Where its files can be found afterwards.
    pub places: Places,
}

/// One file for the linker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LinkInput {
    /// An object.
    Object(PathBuf),
    /// An archive of which every object is linked, in its order.
    Archive(PathBuf),
}

/// Objects to link to one file.
#[derive(Debug, Clone)]
pub(crate) struct LinkJob {
    /// What is being made, for messages.
    pub title: String,
    /// In link order, each once.
    pub inputs: Vec<LinkInput>,
    /// The file to write.
    pub output: PathBuf,
    /// [`DebugInfo::Keep`] also keeps local symbols.
    pub debug_info: DebugInfo,
    /// A private directory: the command runs there and may leave response files.
    pub work_dir: PathBuf,
    /// Where its files can be found afterwards.
    pub places: Places,
}
