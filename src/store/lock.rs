//! A lock on a directory that ends with its holder, however that ends.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;
use std::time::Duration;

use super::StoreError;
use crate::cancel::Cancel;
use crate::fs::{self, FileError};
use crate::inherited::OwnFile;

/// Longest pause between two tries.
const POLL: Duration = Duration::from_millis(10);
/// Used where the file system cannot lock a directory itself.
const LOCK_FILE: &str = ".superkernel.lock";

/// Exclusive use of a directory among all threads and processes that ask for it. The kernel drops it when the process
/// dies, so it cannot go stale; a process that was forked meanwhile does not keep it.
#[derive(Debug)]
pub(crate) struct DirLock(OwnFile<File>);

impl DirLock {
    /// Waits for it, until `cancel` is raised.
    pub(crate) fn acquire(directory: &Path, cancel: &Cancel) -> Result<Self, StoreError> {
        let mut pause = Duration::from_micros(50);
        loop {
            if let Some(lock) = Self::try_acquire(directory)? {
                return Ok(lock);
            }
            if cancel.is_cancelled() {
                return Err(StoreError::Cancelled { directory: directory.to_path_buf() });
            }
            // Polling instead of a blocking call: a holder that was stopped must not make Ctrl-C useless.
            std::thread::sleep(pause);
            pause = (pause * 2).min(POLL);
        }
    }

    /// Takes it if nobody has it.
    pub(crate) fn try_acquire(directory: &Path) -> Result<Option<Self>, FileError> {
        let file = fs::open_directory(directory)?;
        match file.try_lock() {
            Err(TryLockError::Error(error)) if needs_a_file(&error) => Self::try_acquire_by_file(directory),
            result => Self::outcome(result, file, directory),
        }
    }

    fn try_acquire_by_file(directory: &Path) -> Result<Option<Self>, FileError> {
        let path = directory.join(LOCK_FILE);
        let file = fs::open_to_append(&path)?;
        Self::outcome(file.try_lock(), file, &path)
    }

    fn outcome(result: Result<(), TryLockError>, file: File, path: &Path) -> Result<Option<Self>, FileError> {
        match result {
            Ok(()) => Ok(Some(Self(OwnFile::new(file)))),
            Err(TryLockError::WouldBlock) => Ok(None),
            // As if somebody had it: whoever needs it asks again.
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Interrupted => Ok(None),
            Err(TryLockError::Error(error)) => Err(FileError::on("lock", path)(error)),
        }
    }
}

impl Drop for DirLock {
    fn drop(&mut self) {
        // Closing would do, unless a `fork` in another thread has duplicated the descriptor meanwhile.
        let _ = self.0.get().map(File::unlock);
    }
}

/// Is this a file system's way to say that it locks no directories? Network file systems lock by byte ranges, which
/// needs a file opened for writing; others have no locks for directories, or none of this kind.
fn needs_a_file(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::Unsupported
        || matches!(error.raw_os_error(), Some(libc::EBADF | libc::EINVAL | libc::EISDIR | libc::ENOLCK))
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
    fn a_fork_does_not_keep_it() {
        let directory = tempfile::tempdir().unwrap();
        let held = DirLock::try_acquire(directory.path()).unwrap().unwrap();
        assert!(!crate::inherited::open_in_fork(held.0.get().unwrap()));
        assert!(DirLock::try_acquire(directory.path()).unwrap().is_none(), "a fork that ends does not unlock it");
    }

    #[test]
    fn waiting_ends_when_cancelled() {
        let directory = tempfile::tempdir().unwrap();
        let _held = DirLock::try_acquire(directory.path()).unwrap().unwrap();
        let cancel = Cancel::new();
        cancel.cancel();
        let waited = DirLock::acquire(directory.path(), &cancel);
        assert!(matches!(waited, Err(StoreError::Cancelled { .. })), "{waited:?}");
    }

    #[test]
    fn every_way_to_refuse_a_directory_leads_to_the_lock_file() {
        let refusals =
            [libc::EBADF, libc::EINVAL, libc::EISDIR, libc::ENOLCK, libc::ENOSYS, libc::EOPNOTSUPP, libc::ENOTSUP];
        for code in refusals {
            assert!(needs_a_file(&io::Error::from_raw_os_error(code)), "{code}");
        }
        for code in [libc::EIO, libc::EINTR, libc::EWOULDBLOCK] {
            assert!(!needs_a_file(&io::Error::from_raw_os_error(code)), "{code}");
        }
    }
}
