//! What can be wrong with a sub-kernel's object file.

use std::fmt;
use std::path::PathBuf;

use crate::artifact::{BLOCK_LOCAL_ROOM, CALL_REACH, STACK_BYTES};
use crate::diagnostic::{Advice, Diagnostic, advice};
use crate::elf::ElfError;
use crate::fs::FileError;
use crate::model::OpName;
use crate::shortened::Shortened;
use crate::store::digest::ContentDigest;

/// Who else defines shared variables.
pub(super) const OWN_CODE: &str = "the super kernel's own code";

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
    #[error(
        "the shared variable `{name}` has {first_size} bytes in `{first}` and {size} in {}",
        if second == OWN_CODE { second.clone() } else { format!("`{second}`") }
    )]
    SharedSize { name: String, first: String, first_size: u64, second: String, size: u64 },
    #[error(
        "the block-local variables of all sub-kernels take {bytes} bytes, and a core has {BLOCK_LOCAL_ROOM}: {}",
        Users(.users)
    )]
    BlockLocal { bytes: u64, users: Vec<(u64, String)> },
    #[error(
        "{op}: `{origin}` is a linked file, not an object that can be linked{}",
        twin.as_ref().map_or_else(String::new, |twin| format!("; beside it is `{}`", twin.display()))
    )]
    Linked { op: OpName, origin: String, twin: Option<PathBuf> },
    #[error("{op}: the code of `{origin}` is for {found} (`e_flags` {flags:#x}), not for {wanted}")]
    OtherTarget { op: OpName, origin: String, flags: u32, found: String, wanted: String },
    #[error(
        "{op}: `{origin}` was compiled for a stack of {bytes} bytes, the super kernel's own code is for {STACK_BYTES}: \
         they would look for block-local variables in different places"
    )]
    Stack { op: OpName, origin: String, bytes: u64 },
    #[error(
        "{op}: in `{origin}` a call of `{callee}` in `{caller}` goes over {distance} bytes, and a call reaches {CALL_REACH}"
    )]
    Reach { op: OpName, origin: String, caller: String, callee: String, distance: u64 },
    #[error("cannot make copy {copy} of `{origin}`: {source}")]
    Copy { origin: String, copy: u32, source: ElfError },
}

/// Who uses how many bytes, the largest first; those who use little together.
struct Users<'a>(&'a [(u64, String)]);

impl fmt::Display for Users<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 8;
        let (shown, rest) = self.0.split_at(self.0.len().min(SHOWN));
        let shown: Vec<String> = shown.iter().map(|(bytes, what)| format!("{bytes} for {what}")).collect();
        formatter.write_str(&shown.join(", "))?;
        if !rest.is_empty() {
            let bytes: u64 = rest.iter().map(|(bytes, _)| bytes).sum();
            write!(formatter, ", {bytes} for {} more", rest.len())?;
        }
        Ok(())
    }
}

/// What to do about a JSON and an object that are of two builds.
const APART: &str = "compile the sub-kernel again: its JSON and its object do not belong together";

impl Diagnostic for ObjectError {
    fn advice(&self) -> Advice {
        match self {
            Self::NoBinPath { .. } => advice("SK0221", "give the sub-kernel's object file or archive as `bin_path`"),
            Self::File { source, .. } => advice("SK0222", source.solution()),
            Self::NotAFile { .. } => advice("SK0222", "give the path of an object file or archive"),
            Self::Elf { source, .. } | Self::Copy { source, .. } => source.advice(),
            Self::SameFunction { .. } => {
                advice("SK0225", "give the two sub-kernels different function names, or use one object for both")
            }
            Self::SharedSize { .. } => advice(
                "SK0227",
                "compile the sub-kernels with one version of the headers: the super kernel or the loader sets this variable for all of them",
            ),
            Self::BlockLocal { .. } => advice(
                "SK0228",
                "put fewer of these sub-kernels into one super kernel, or compile them without what needs the largest variables (checks of memory accesses, for one)",
            ),
            Self::Linked { twin: Some(twin), .. } => {
                advice("SK0229", format!("give `{}` as `bin_path`", twin.display()))
            }
            Self::Linked { twin: None, .. } => advice(
                "SK0229",
                "give the object that was compiled for super kernels (`…_relocatable.o` of tiling-sink ops) as `bin_path`",
            ),
            Self::OtherTarget { .. } => advice(
                "SK0230",
                "compile the sub-kernel for this SoC and core kind, or set the SoC it was compiled for (`soc`)",
            ),
            Self::Stack { .. } => advice(
                "SK0231",
                format!("compile the sub-kernel with `-mllvm -cce-aicore-stack-size={STACK_BYTES:#x}`"),
            ),
            Self::Reach { .. } => {
                advice("SK0232", "compile the sub-kernel with long calls (`--cce-long-call=true`), or in smaller parts")
            }
            Self::Digest { .. } => advice("SK0226", APART),
            Self::NoFunction { .. } => advice("SK0223", APART),
            Self::NoText { .. } => advice("SK0224", APART),
        }
    }
}
