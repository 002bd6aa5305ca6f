//! File helpers whose errors name the path.

use std::path::{Path, PathBuf};

use crate::error::Diagnostic;

/// A file operation that failed, with the path it was about.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} `{}`: {source}", path.display())]
pub struct FileError {
    /// What was attempted: `read`, `write`, `create directory`, ...
    pub action: &'static str,
    /// The file or directory at fault.
    pub path: PathBuf,
    /// What the operating system said.
    #[source]
    pub source: std::io::Error,
}

impl FileError {
    /// Wraps `source` with what was attempted on `path`; shaped for `map_err(FileError::on("read", path))`.
    pub fn on(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self { action, path, source }
    }
}

impl Diagnostic for FileError {
    fn id(&self) -> &'static str {
        "SK0001"
    }

    fn solution(&self) -> String {
        "check that the path exists and that this user may access it".to_owned()
    }
}

/// Reads a whole file.
pub fn read(path: &Path) -> Result<Vec<u8>, FileError> {
    std::fs::read(path).map_err(FileError::on("read", path))
}

/// Is there something at `path` that is no regular file? A device or a pipe would be read for ever.
pub fn is_special(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file())
}
