//! Which compiler, exactly: part of what makes two results equal.

use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use crate::fs::{self, FileError};

/// A program as it lies on disk.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct ToolIdentity {
    /// Where it was found, links resolved.
    pub path: PathBuf,
    /// Bytes.
    pub size: u64,
    /// Last change, nanoseconds since 1970.
    pub modified: u128,
}

impl ToolIdentity {
    /// Looks at the file.
    pub(crate) fn of(path: &Path) -> Result<Self, FileError> {
        let resolved = fs::canonical(path)?;
        let data = fs::metadata(&resolved)?;
        // A clock before 1970 or a file system without times: the size still tells most changes.
        let modified = data.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        Ok(Self { path: resolved, size: data.len(), modified: modified.map_or(0, |age| age.as_nanos()) })
    }
}

impl std::fmt::Display for ToolIdentity {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} size={} mtime={}", self.path.display(), self.size, self.modified)
    }
}
