//! What can be wrong with a sub-kernel's object file.

use std::path::PathBuf;

use crate::diagnostic::Diagnostic;
use crate::elf::ElfError;
use crate::fs::FileError;
use crate::model::OpName;
use crate::shortened::Shortened;
use crate::store::digest::ContentDigest;

/// Why a sub-kernel's code cannot be used.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the fields are what the messages print")]
pub enum ObjectError {
    #[error("{op} has no `bin_path`")]
    NoBinPath { op: OpName },
    #[error("{op}: {source}")]
    File { op: OpName, source: FileError },
    #[error("{op}: `{}` is not a regular file", path.display())]
    NotAFile { op: OpName, path: PathBuf },
    #[error("{op}: `{}`: {source}", path.display())]
    Elf { op: OpName, path: PathBuf, source: ElfError },
    #[error("{op}: `{}` does not define its function `{function}`", path.display())]
    NoFunction { op: OpName, path: PathBuf, function: String },
    #[error("{op}: the object with its function `{function}` in `{}` has no `.text` section", path.display())]
    NoText { op: OpName, path: PathBuf, function: String },
    #[error("two different objects define the sub-kernel function `{function}`: `{first}` and `{second}`")]
    SameFunction { function: String, first: String, second: String },
    #[error(
        "{op}: `{}` is not the object its JSON was written for: `sha256` is {} there, the file's is {found}",
        path.display(), Shortened(.stated)
    )]
    Digest { op: OpName, path: PathBuf, stated: String, found: ContentDigest },
    #[error("cannot make copy {copy} of `{origin}`: {source}")]
    Copy { origin: String, copy: u32, source: ElfError },
}

impl Diagnostic for ObjectError {
    fn id(&self) -> &'static str {
        match self {
            Self::NoBinPath { .. } => "SK0221",
            Self::File { .. } | Self::NotAFile { .. } => "SK0222",
            Self::Elf { source, .. } => source.id(),
            Self::NoFunction { .. } => "SK0223",
            Self::NoText { .. } => "SK0224",
            Self::SameFunction { .. } => "SK0225",
            Self::Digest { .. } => "SK0226",
            Self::Copy { source, .. } => source.id(),
        }
    }

    fn solution(&self) -> String {
        match self {
            Self::NoBinPath { .. } => "give the sub-kernel's object file or archive as `bin_path`".to_owned(),
            Self::File { source, .. } => source.solution(),
            Self::NotAFile { .. } => "give the path of an object file or archive".to_owned(),
            Self::Elf { source, .. } | Self::Copy { source, .. } => source.solution(),
            Self::SameFunction { .. } => {
                "give the two sub-kernels different function names, or use one object for both".to_owned()
            }
            Self::Digest { .. } | Self::NoFunction { .. } | Self::NoText { .. } => {
                "compile the sub-kernel again: its JSON and its object do not belong together".to_owned()
            }
        }
    }
}
