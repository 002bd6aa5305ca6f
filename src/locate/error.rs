//! Why a program counter cannot be looked up.

use std::path::PathBuf;

use crate::diagnostic::{Advice, Diagnostic, advice};
use crate::elf::ElfError;
use crate::fs::FileError;

/// A lookup that failed.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the fields are what the messages print")]
pub enum LocateError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Elf(#[from] ElfError),
    #[error("{pc:#x} is not inside the kernel's code, {size} bytes from {base:#x} on")]
    Outside { pc: u64, base: u64, size: u64 },
    #[error("the object has no function `{name}`")]
    NoFunction { name: String },
    #[error("`{}` has no line with a program counter", path.display())]
    NoCounters { path: PathBuf },
}

impl Diagnostic for LocateError {
    fn advice(&self) -> Advice {
        match self {
            Self::File(error) => error.advice(),
            Self::Elf(error) => error.advice(),
            Self::Outside { .. } => {
                advice("SK0960", "give the address the code was loaded at with --start, and the object that ran")
            }
            Self::NoFunction { .. } => {
                advice("SK0961", "give the object of the kernel that ran; `superkernel elf` lists its symbols")
            }
            Self::NoCounters { .. } => {
                advice("SK0962", "give the device's log, with `pc start: 0x..., current: 0x...` or the like in it")
            }
        }
    }
}
