//! Why a program counter cannot be looked up.

use std::path::PathBuf;

use crate::diagnostic::Diagnostic;
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
    fn id(&self) -> &'static str {
        match self {
            Self::File(error) => error.id(),
            Self::Elf(error) => error.id(),
            Self::Outside { .. } => "SK0960",
            Self::NoFunction { .. } => "SK0961",
            Self::NoCounters { .. } => "SK0962",
        }
    }

    fn solution(&self) -> String {
        match self {
            Self::File(error) => error.solution(),
            Self::Elf(error) => error.solution(),
            Self::Outside { .. } => {
                "give the address the code was loaded at with --start, and the object that ran".to_owned()
            }
            Self::NoFunction { .. } => {
                "give the object of the kernel that ran; `superkernel elf` lists its symbols".to_owned()
            }
            Self::NoCounters { .. } => {
                "give the device's log, with `pc start: 0x..., current: 0x...` or the like in it".to_owned()
            }
        }
    }
}
