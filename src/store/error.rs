//! What can be wrong with stored files.

use std::path::PathBuf;

use crate::diagnostic::{Advice, Diagnostic, advice};
use crate::fs::FileError;

/// Why something cannot be stored or taken from store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The caller asked to stop.
    #[error("interrupted while waiting for other processes that use `{}`", directory.display())]
    Cancelled {
        /// The directory they use.
        directory: PathBuf,
    },
    /// Others can write where results would be taken from.
    #[error("`{}` {problem}, so the cache is not used", path.display())]
    ForeignCache {
        /// The file or directory.
        path: PathBuf,
        /// Who can write it.
        problem: String,
    },
    /// A cache entry or archive cannot be taken over.
    #[error("`{}` is not a usable cache entry: {problem}", path.display())]
    CacheEntry {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
}

impl Diagnostic for StoreError {
    fn advice(&self) -> Advice {
        match self {
            Self::File(error) => error.advice(),
            Self::CacheEntry { .. } => advice("SK0804", "export it again, or run `superkernel cache clear`"),
            Self::ForeignCache { .. } => advice(
                "SK0809",
                "take the permission from others, or trust them with `superkernel.configure(cache_shared=True)`",
            ),
            Self::Cancelled { .. } => advice("SK0806", "run it again"),
        }
    }
}
