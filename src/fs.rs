//! All access to files: every error names the path, and what we make has one mode.

#![allow(clippy::disallowed_methods, reason = "this is where they are allowed")]

use std::fs::{DirBuilder, DirEntry, File, Metadata, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::diagnostic::Diagnostic;

/// Mode of directories.
const DIRECTORY_MODE: u32 = 0o750;
/// Mode of files.
const FILE_MODE: u32 = 0o640;

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
    pub(crate) fn on(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
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

/// Opens a file or directory for reading.
pub(crate) fn open(path: &Path) -> Result<File, FileError> {
    File::open(path).map_err(FileError::on("open", path))
}

/// Opens a file for writing behind its end, but no link to one; makes it if it is missing.
pub(crate) fn open_to_append(path: &Path) -> Result<File, FileError> {
    let opened = OpenOptions::new().append(true).create(true).mode(FILE_MODE).custom_flags(libc::O_NOFOLLOW).open(path);
    opened.map_err(FileError::on("open", path))
}

/// Reads a whole file.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, FileError> {
    std::fs::read(path).map_err(FileError::on("read", path))
}

/// Writes a whole file; readers may see half of it meanwhile.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let open = || OpenOptions::new().write(true).create(true).truncate(true).mode(FILE_MODE).open(path);
    open().and_then(|mut file| file.write_all(bytes)).map_err(FileError::on("write", path))
}

/// Writes a file that must not be there yet, not even as a link to somewhere else.
pub(crate) fn write_new(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let open = || OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(path);
    open().and_then(|mut file| file.write_all(bytes)).map_err(FileError::on("write", path))
}

/// Makes a directory and its parents, where they are missing.
pub(crate) fn create_directories(path: &Path) -> Result<(), FileError> {
    let made = DirBuilder::new().recursive(true).mode(DIRECTORY_MODE).create(path);
    made.map_err(FileError::on("create directory", path))
}

/// Makes a directory that must not be there yet.
pub(crate) fn create_new_directory(path: &Path) -> Result<(), FileError> {
    DirBuilder::new().mode(DIRECTORY_MODE).create(path).map_err(FileError::on("create directory", path))
}

/// Gives a file another name, in place of what has it now: at every moment there is the old one or the new one.
pub(crate) fn rename(from: &Path, to: &Path) -> Result<(), FileError> {
    std::fs::rename(from, to).map_err(FileError::on("replace", to))
}

/// Removes a file.
pub(crate) fn remove_file(path: &Path) -> Result<(), FileError> {
    std::fs::remove_file(path).map_err(FileError::on("remove", path))
}

/// Removes a directory with everything in it.
pub(crate) fn remove_directory(path: &Path) -> Result<(), FileError> {
    std::fs::remove_dir_all(path).map_err(FileError::on("remove", path))
}

/// What is in a directory, as far as it can be read.
pub(crate) fn entries(path: &Path) -> impl Iterator<Item = DirEntry> + use<> {
    std::fs::read_dir(path).into_iter().flatten().flatten()
}

/// Size, times and permissions of what a path leads to.
pub(crate) fn metadata(path: &Path) -> Result<Metadata, FileError> {
    std::fs::metadata(path).map_err(FileError::on("inspect", path))
}

/// The path from the root, links resolved.
pub(crate) fn canonical(path: &Path) -> Result<PathBuf, FileError> {
    path.canonicalize().map_err(FileError::on("read", path))
}

/// Is there something at `path` that is no regular file? A device or a pipe would be read for ever.
pub(crate) fn is_special(path: &Path) -> bool {
    metadata(path).is_ok_and(|metadata| !metadata.is_file())
}
