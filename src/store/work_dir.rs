//! A private directory for everything a build makes before it is published.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use super::StoreError;
use super::lock::DirLock;
use crate::cancel::Cancel;
use crate::fs::{self, FileError};

/// Every work directory's name starts so.
const PREFIX: &str = ".superkernel-work-";

/// A directory nobody else uses; removed when dropped, and by the next build if this process is killed.
#[derive(Debug)]
pub struct WorkDir {
    parent: PathBuf,
    path: PathBuf,
    /// Who made it: a process that is forked from that one must leave it alone.
    process: u32,
    /// Held as long as this build lives: tells a work directory in use from one left behind.
    _in_use: DirLock,
}

impl WorkDir {
    /// Makes one inside `parent` (on the same file system as the results: publishing is renaming), after removing
    /// those that killed builds left there.
    pub fn create(parent: &Path, owner: &str, cancel: &Cancel) -> Result<Self, StoreError> {
        fs::create_directories(parent)?;
        // Nobody may sweep between the making of a directory and the locking of it.
        let _parent = DirLock::acquire(parent, cancel)?;
        sweep(parent);
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let path = parent.join(format!("{PREFIX}{owner}-{}-{number}", std::process::id()));
            match fs::create_new_directory(&path) {
                Ok(()) => {}
                // Another machine's process with the same number, on a shared disk.
                Err(error) if error.source.kind() == ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(error.into()),
            }
            let in_use = DirLock::acquire(&path, cancel)?;
            return Ok(Self { parent: parent.to_path_buf(), path, process: std::process::id(), _in_use: in_use });
        }
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The directory it is in.
    pub(crate) fn parent(&self) -> &Path {
        &self.parent
    }

    /// Keeps everybody else from changing the directory it is in.
    pub(crate) fn lock_parent(&self, cancel: &Cancel) -> Result<DirLock, StoreError> {
        DirLock::acquire(&self.parent, cancel)
    }

    /// A file in it.
    pub(crate) fn file(&self, name: impl AsRef<Path>) -> PathBuf {
        self.path.join(name)
    }

    /// A new directory in it.
    pub(crate) fn subdirectory(&self, name: impl AsRef<Path>) -> Result<PathBuf, FileError> {
        let path = self.file(name);
        fs::create_directories(&path)?;
        Ok(path)
    }

    /// Writes a new file in it.
    pub(crate) fn write(&self, name: impl AsRef<Path>, bytes: &[u8]) -> Result<PathBuf, FileError> {
        let path = self.file(name);
        fs::write(&path, bytes)?;
        Ok(path)
    }
}

impl Drop for WorkDir {
    fn drop(&mut self) {
        if self.process == std::process::id() {
            // What cannot be removed now is swept by a later build.
            let _ = fs::remove_directory(&self.path);
        }
    }
}

/// Removes work directories whose builds are gone. Called with `parent` locked.
fn sweep(parent: &Path) {
    for entry in fs::entries(parent) {
        if !entry.file_name().to_string_lossy().starts_with(PREFIX) {
            continue;
        }
        // A live build holds the lock on its directory. Failing to look or to remove is no reason to fail this build.
        if let Ok(Some(_gone)) = DirLock::try_acquire(&entry.path()) {
            let _ = fs::remove_directory(&entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn directories_are_private_and_disappear() {
        let parent = tempfile::tempdir().unwrap();
        let meta = parent.path().join("deep/kernel_meta");
        let first = WorkDir::create(&meta, "k", &Cancel::new()).unwrap();
        let second = WorkDir::create(&meta, "k", &Cancel::new()).unwrap();
        assert_ne!(first.path(), second.path());
        let file = first.write("x", b"1").unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&meta) & !0o750, 0);
        assert_eq!(mode(first.path()) & !0o750, 0);
        assert_eq!(mode(&file) & !0o640, 0);
        drop(first);
        drop(second);
        assert_eq!(std::fs::read_dir(&meta).unwrap().count(), 0);
    }

    #[test]
    fn what_a_killed_build_left_is_removed_and_what_lives_is_not() {
        let parent = tempfile::tempdir().unwrap();
        let left = parent.path().join(format!("{PREFIX}k-1-0"));
        std::fs::create_dir(&left).unwrap();
        std::fs::write(left.join("half.o"), b"x").unwrap();
        let alive = WorkDir::create(parent.path(), "k", &Cancel::new()).unwrap();
        assert!(!left.exists());
        let _other = WorkDir::create(parent.path(), "k", &Cancel::new()).unwrap();
        assert!(alive.path().exists());
    }
}
