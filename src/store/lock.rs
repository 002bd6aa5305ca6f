//! A lock on a directory that ends with its holder, however that ends.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use crate::cancel::Cancel;
use crate::fs::FileError;

/// Longest pause between two tries.
const POLL: Duration = Duration::from_millis(10);
/// Used where the file system cannot lock a directory itself.
const LOCK_FILE: &str = ".superkernel.lock";

/// Exclusive use of a directory among all threads and processes that ask for it. The kernel drops it when the process
/// dies, so it cannot go stale.
#[derive(Debug)]
pub struct DirLock(File);

impl DirLock {
    /// Waits for it; `None` if `cancel` was raised meanwhile.
    pub fn acquire(directory: &Path, cancel: &Cancel) -> Result<Option<Self>, FileError> {
        let mut pause = Duration::from_micros(50);
        loop {
            if let Some(lock) = Self::try_acquire(directory)? {
                return Ok(Some(lock));
            }
            if cancel.is_cancelled() {
                return Ok(None);
            }
            // Polling instead of a blocking call: a holder that was stopped must not make Ctrl-C useless.
            std::thread::sleep(pause);
            pause = (pause * 2).min(POLL);
        }
    }

    /// Takes it if nobody has it.
    pub fn try_acquire(directory: &Path) -> Result<Option<Self>, FileError> {
        let file = File::open(directory).map_err(FileError::on("open directory", directory))?;
        match try_lock(&file) {
            // Network file systems lock by byte ranges, which needs a file opened for writing.
            Err(error) if needs_a_file(&error) => Self::try_acquire_by_file(directory),
            result => Self::outcome(result, file, directory),
        }
    }

    fn try_acquire_by_file(directory: &Path) -> Result<Option<Self>, FileError> {
        let path = directory.join(LOCK_FILE);
        let file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o640).open(&path);
        let file = file.map_err(FileError::on("create lock file", &path))?;
        Self::outcome(try_lock(&file), file, &path)
    }

    fn outcome(result: io::Result<()>, file: File, path: &Path) -> Result<Option<Self>, FileError> {
        match result {
            Ok(()) => Ok(Some(Self(file))),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(FileError::on("lock", path)(error)),
        }
    }
}

impl Drop for DirLock {
    fn drop(&mut self) {
        // Closing would do, unless a `fork` in another thread has duplicated the descriptor meanwhile.
        // SAFETY: the descriptor is open as long as `self.0` lives, and `flock` touches no memory.
        let _ = unsafe { libc::flock(self.0.as_raw_fd(), libc::LOCK_UN) };
    }
}

fn try_lock(file: &File) -> io::Result<()> {
    loop {
        // SAFETY: the descriptor is open as long as `file` lives, and `flock` touches no memory.
        if unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } == 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

fn needs_a_file(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EBADF | libc::EINVAL | libc::ENOLCK | libc::EOPNOTSUPP))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_holder_at_a_time_and_free_after_drop() {
        let directory = tempfile::tempdir().unwrap();
        for acquire in [DirLock::try_acquire, DirLock::try_acquire_by_file] {
            let held = acquire(directory.path()).unwrap();
            assert!(held.is_some());
            assert!(acquire(directory.path()).unwrap().is_none());
            drop(held);
            assert!(acquire(directory.path()).unwrap().is_some());
        }
    }

    #[test]
    fn waiting_ends_when_cancelled() {
        let directory = tempfile::tempdir().unwrap();
        let _held = DirLock::try_acquire(directory.path()).unwrap().unwrap();
        let cancel = Cancel::new();
        cancel.cancel();
        assert!(DirLock::acquire(directory.path(), &cancel).unwrap().is_none());
    }
}
