//! All access to files: every error names the path, what we make has one mode, and nothing but regular files is read,
//! written or replaced. A pipe or a device would be waited for or read for ever, a directory would be lost.

#![allow(clippy::disallowed_methods, reason = "this is where they are allowed")]

use std::fs::{DirBuilder, DirEntry, File, FileType, Metadata, OpenOptions};
use std::io::{BufRead, ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::diagnostic::{Advice, Diagnostic, advice};

/// Mode of directories.
const DIRECTORY_MODE: u32 = 0o750;
/// Mode of files.
const FILE_MODE: u32 = 0o640;
/// Mode of files that a user names as an output: as every program makes them, less what the user's mask takes away.
const OUTPUT_MODE: u32 = 0o666;

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
    fn advice(&self) -> Advice {
        advice("SK0001", "check that the path exists and that this user may access it")
    }
}

/// `path` seen from the current directory, which may be another one when the path is used.
pub(crate) fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
}

/// What stands where a regular file is expected.
#[derive(Debug, thiserror::Error)]
#[error("it is {0}, not a regular file")]
struct NotRegular(&'static str);

impl NotRegular {
    fn check(found: FileType) -> std::io::Result<()> {
        let kind = if found.is_file() {
            return Ok(());
        } else if found.is_dir() {
            "a directory"
        } else if found.is_fifo() {
            "a named pipe"
        } else if found.is_socket() {
            "a socket"
        } else {
            "a device"
        };
        Err(std::io::Error::new(ErrorKind::InvalidInput, Self(kind)))
    }
}

impl FileError {
    /// Was it refused because it is something else than a regular file?
    pub(crate) fn is_not_regular(&self) -> bool {
        self.source.get_ref().is_some_and(|inner| inner.is::<NotRegular>())
    }
}

/// Opens what must be a regular file. It is asked about after opening, so that nobody can exchange it in between; so
/// opening must not wait for the other end of a pipe, nor make a terminal ours.
fn open_regular(options: &mut OpenOptions, flags: i32, path: &Path) -> std::io::Result<File> {
    let opened = options.custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY | flags).open(path);
    let file = opened.map_err(|error| match std::fs::metadata(path) {
        // Some things cannot even be opened: a socket, a pipe that nobody reads, a directory for writing.
        Ok(data) => NotRegular::check(data.file_type()).err().unwrap_or(error),
        Err(_) => error,
    })?;
    NotRegular::check(file.metadata()?.file_type())?;
    Ok(file)
}

/// Opens a file for reading.
pub(crate) fn open(path: &Path) -> Result<File, FileError> {
    open_regular(OpenOptions::new().read(true), 0, path).map_err(FileError::on("read", path))
}

/// Opens a directory.
pub(crate) fn open_directory(path: &Path) -> Result<File, FileError> {
    let opened = OpenOptions::new().read(true).custom_flags(libc::O_DIRECTORY).open(path);
    opened.map_err(FileError::on("open", path))
}

/// Opens a file for writing behind its end, but no link to one; makes it if it is missing.
pub(crate) fn open_to_append(path: &Path) -> Result<File, FileError> {
    let mut options = OpenOptions::new();
    let opened = open_regular(options.append(true).create(true).mode(FILE_MODE), libc::O_NOFOLLOW, path);
    opened.map_err(FileError::on("open", path))
}

/// Reads a whole file.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, FileError> {
    let mut bytes = Vec::new();
    let read = open_regular(OpenOptions::new().read(true), 0, path).and_then(|mut file| file.read_to_end(&mut bytes));
    read.map(|_| bytes).map_err(FileError::on("read", path))
}

/// Writes a whole file; readers may see half of it meanwhile.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    write_with(path, bytes, FILE_MODE)
}

/// Writes a whole file that the user asked for by its name.
pub(crate) fn write_output(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    write_with(path, bytes, OUTPUT_MODE)
}

fn write_with(path: &Path, bytes: &[u8], mode: u32) -> Result<(), FileError> {
    let mut options = OpenOptions::new();
    let opened = open_regular(options.write(true).create(true).truncate(true).mode(mode), 0, path);
    opened.and_then(|mut file| file.write_all(bytes)).map_err(FileError::on("write", path))
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

/// Gives a file another name, in place of the file that has it now: at every moment there is the old one or the new
/// one. Neither may be anything but a file or a link.
pub(crate) fn rename(from: &Path, to: &Path) -> Result<(), FileError> {
    replaceable(from).and_then(|()| replaceable(to)).map_err(|error| FileError::on("replace", to)(error.source))?;
    std::fs::rename(from, to).map_err(FileError::on("replace", to))
}

/// Moves a file or a directory to a place where nothing is.
pub(crate) fn relocate(from: &Path, to: &Path) -> Result<(), FileError> {
    match std::fs::symlink_metadata(to) {
        Ok(_) => Err(FileError::on("create", to)(std::io::ErrorKind::AlreadyExists.into())),
        Err(_) => std::fs::rename(from, to).map_err(FileError::on("create", to)),
    }
}

/// Is there nothing at `path`, or a file or a link, which may be moved away?
pub(crate) fn replaceable(path: &Path) -> Result<(), FileError> {
    match std::fs::symlink_metadata(path) {
        Ok(data) if data.is_symlink() => Ok(()),
        Ok(data) => NotRegular::check(data.file_type()).map_err(FileError::on("replace", path)),
        // What cannot be looked at cannot be moved either; the attempt tells why.
        Err(_) => Ok(()),
    }
}

/// Removes a file.
pub(crate) fn remove_file(path: &Path) -> Result<(), FileError> {
    std::fs::remove_file(path).map_err(FileError::on("remove", path))
}

/// Removes a directory with everything in it.
pub(crate) fn remove_directory(path: &Path) -> Result<(), FileError> {
    std::fs::remove_dir_all(path).map_err(FileError::on("remove", path))
}

/// Removes a directory that has nothing in it; tells whether it did.
pub(crate) fn remove_empty_directory(path: &Path) -> bool {
    std::fs::remove_dir(path).is_ok()
}

/// What is in a directory, as far as it can be read.
pub(crate) fn entries(path: &Path) -> impl Iterator<Item = DirEntry> + use<> {
    std::fs::read_dir(path).into_iter().flatten().flatten()
}

/// Is there a directory whose content can be listed? Something else in its place, or one that is closed to this user,
/// is an error.
pub(crate) fn is_directory(path: &Path) -> Result<bool, FileError> {
    match std::fs::read_dir(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(FileError::on("list", path)(error)),
    }
}

/// The first line of a file, without its end, if it is not longer than `most`.
pub(crate) fn first_line(path: &Path, most: u64) -> Result<Vec<u8>, FileError> {
    let mut line = Vec::new();
    let read = open(path)?.take(most);
    std::io::BufReader::new(read).read_until(b'\n', &mut line).map_err(FileError::on("read", path))?;
    if line.last() == Some(&b'\n') {
        line.pop();
    }
    Ok(line)
}

/// Size, times and permissions of what a path leads to.
pub(crate) fn metadata(path: &Path) -> Result<Metadata, FileError> {
    std::fs::metadata(path).map_err(FileError::on("inspect", path))
}

/// How a file looks without reading it. Whoever writes to it, or puts another in its place, changes the look: no user can
/// set the time of the last change of any kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct FileLook {
    device: u64,
    inode: u64,
    size: u64,
    /// Of the content; seconds and nanoseconds.
    modified: (i64, i64),
    /// Of anything, names and times included.
    changed: (i64, i64),
}

impl FileLook {
    /// Looks at what `path` leads to.
    pub(crate) fn of(path: &Path) -> Result<Self, FileError> {
        let data = metadata(path)?;
        Ok(Self {
            device: data.dev(),
            inode: data.ino(),
            size: data.size(),
            modified: (data.mtime(), data.mtime_nsec()),
            changed: (data.ctime(), data.ctime_nsec()),
        })
    }

    /// Was it last touched longer than `span` before `now`?
    pub(crate) fn is_older(&self, now: SystemTime, span: Duration) -> bool {
        let limit = now.checked_sub(span).and_then(|limit| limit.duration_since(UNIX_EPOCH).ok());
        // A clock before 1970 tells nothing.
        limit.is_some_and(|limit| {
            let limit = (limit.as_secs() as i64, i64::from(limit.subsec_nanos()));
            self.modified < limit && self.changed < limit
        })
    }
}

/// The path from the root, links resolved.
pub(crate) fn canonical(path: &Path) -> Result<PathBuf, FileError> {
    path.canonicalize().map_err(FileError::on("read", path))
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    /// Everything a path may lead to that is no regular file, with what messages call it.
    fn specials(folder: &Path) -> Vec<(PathBuf, &'static str)> {
        let [directory, pipe, socket] = ["directory", "pipe", "socket"].map(|name| folder.join(name));
        std::fs::create_dir(&directory).unwrap();
        std::fs::write(directory.join("kept"), b"x").unwrap();
        let name = std::ffi::CString::new(pipe.as_os_str().as_bytes()).unwrap();
        // SAFETY: a terminated name.
        assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
        std::os::unix::net::UnixListener::bind(&socket).unwrap();
        let device = PathBuf::from("/dev/zero");
        vec![(directory, "a directory"), (pipe, "a named pipe"), (socket, "a socket"), (device, "a device")]
    }

    #[test]
    fn what_is_no_regular_file_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        for (path, kind) in specials(folder.path()) {
            let refusals =
                [open(&path).map(drop), read(&path).map(drop), open_to_append(&path).map(drop), write(&path, b"x")];
            for refused in refusals {
                let error = refused.unwrap_err();
                assert!(error.is_not_regular(), "{error}");
                assert!(error.to_string().contains(&format!("it is {kind}, not a regular file")), "{error}");
            }
        }
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
        assert!(read(&link).unwrap_err().is_not_regular());
        assert!(!read(&folder.path().join("missing")).unwrap_err().is_not_regular());
    }

    #[test]
    fn a_pipe_that_somebody_reads_gets_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let (pipe, _) = specials(folder.path()).remove(1);
        let _reader = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(&pipe).unwrap();
        assert!(write(&pipe, b"x").unwrap_err().is_not_regular());
    }

    #[test]
    fn nothing_but_files_and_links_is_moved_or_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, b"new").unwrap();
        for (path, kind) in specials(folder.path()).into_iter().take(3) {
            for (from, to) in [(&file, &path), (&path, &file)] {
                let error = rename(from, to).unwrap_err();
                assert!(error.to_string().contains(kind), "{error}");
            }
            assert!(path.exists() && file.exists());
        }
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(folder.path(), &link).unwrap();
        rename(&file, &link).unwrap();
        assert_eq!(read(&link).unwrap(), b"new");
    }

    #[test]
    fn only_a_directory_is_opened_as_one() {
        let folder = tempfile::tempdir().unwrap();
        assert!(open_directory(folder.path()).is_ok());
        for (path, _) in specials(folder.path()).into_iter().skip(1) {
            assert!(open_directory(&path).is_err(), "{}", path.display());
        }
    }
}
