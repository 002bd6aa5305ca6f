//! Folders that take long to make and can be made again: precompiled headers, host code of operators. The least recently used go when the limit
//! is reached.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::error::StoreError;
use super::work_dir::WorkDir;
use crate::cancel::Cancel;
use crate::fs::{self, FileError};

/// Names of such folders start with one of these; the rest is the digest of what they are made of.
const PREFIXES: [&str; 3] = ["sk_headers_", "sk_operator_headers_", "sk_operator_host_"];
/// A file in them whose time says when they were last used.
const USED: &str = "used";
/// A folder used so recently may be in use by a compiler of another process.
const RECENT: Duration = Duration::from_secs(120);
/// More than this they never take together, whatever the limit of the cache they lie in.
const MOST: u64 = 1 << 30;

/// A directory of such folders, and how many bytes they may take.
#[derive(Debug, Clone)]
pub(crate) struct FolderCache {
    /// Where they are.
    pub(crate) directory: PathBuf,
    /// Bytes they may take.
    pub(crate) limit: u64,
}

/// Whom a folder is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FolderKind {
    /// Headers as programs read them.
    Program,
    /// Headers as operators read them.
    Operator,
    /// The host code of an operator as a library.
    OperatorHost,
}

impl FolderKind {
    fn prefix(self) -> &'static str {
        match self {
            Self::Program => PREFIXES[0],
            Self::Operator => PREFIXES[1],
            Self::OperatorHost => PREFIXES[2],
        }
    }
}

/// One of the folders.
#[derive(Debug, Clone)]
pub(crate) struct KeptFolder {
    /// Where it is.
    pub(crate) path: PathBuf,
    /// Bytes of its files.
    pub(crate) bytes: u64,
    /// When it was last used.
    used: SystemTime,
}

impl KeptFolder {
    /// How long ago it was used.
    pub(crate) fn idle(&self) -> Duration {
        self.used.elapsed().unwrap_or_default()
    }
}

impl FolderCache {
    /// The folder of this digest; `make` fills it if it is not there.
    pub(crate) fn get<E: From<StoreError> + From<FileError>>(
        &self,
        kind: FolderKind,
        digest: &str,
        cancel: &Cancel,
        make: impl FnOnce(&Path) -> Result<(), E>,
    ) -> Result<PathBuf, E> {
        let ready = self.directory.join(format!("{}{digest}", kind.prefix()));
        if !ready.is_dir() {
            let work = WorkDir::create(&self.directory, "headers", cancel)?;
            let folder = work.subdirectory("ready")?;
            make(&folder)?;
            match fs::relocate(&folder, &ready) {
                Err(error) if !ready.is_dir() => return Err(error.into()),
                // Somebody else may have been faster.
                Ok(()) | Err(_) => {}
            }
        }
        // Without it the folder only looks older than it is.
        let _ = fs::write(&ready.join(USED), b"");
        self.evict(&ready);
        Ok(ready)
    }

    /// All of them, least recently used first.
    pub(crate) fn list(&self) -> Vec<KeptFolder> {
        let is_ours = |path: &Path| {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let is_digest = |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_hexdigit());
            let named = PREFIXES.iter().any(|prefix| name.strip_prefix(prefix).is_some_and(is_digest));
            named && !path.is_symlink() && path.is_dir()
        };
        let mut found: Vec<KeptFolder> =
            fs::entries(&self.directory).map(|entry| entry.path()).filter(|path| is_ours(path)).map(kept).collect();
        found.sort_by(|a, b| (a.used, &a.path).cmp(&(b.used, &b.path)));
        found
    }

    /// Removes all of them; how many there were.
    pub(crate) fn clear(&self) -> Result<u64, FileError> {
        let mut removed = 0;
        for folder in self.list() {
            match fs::remove_directory(&folder.path) {
                Ok(()) => removed += 1,
                // Somebody else was faster.
                Err(error) if error.source.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(removed)
    }

    /// Removes the least recently used beyond the limit, but none that may be in use.
    fn evict(&self, in_use: &Path) {
        let all = self.list();
        let mut bytes: u64 = all.iter().map(|folder| folder.bytes).sum();
        for folder in all {
            if bytes <= self.limit.min(MOST) {
                return;
            }
            if folder.path != in_use && folder.idle() > RECENT && fs::remove_directory(&folder.path).is_ok() {
                bytes -= folder.bytes;
            }
        }
    }
}

fn kept(path: PathBuf) -> KeptFolder {
    let sizes = fs::entries(&path).filter_map(|file| Some(file.metadata().ok()?.len()));
    let bytes = sizes.sum();
    // Folders of older versions have no such file.
    let data = fs::metadata(&path.join(USED)).or_else(|_| fs::metadata(&path));
    let used = data.ok().and_then(|data| data.modified().ok()).unwrap_or(SystemTime::UNIX_EPOCH);
    KeptFolder { path, bytes, used }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get(cache: &FolderCache, digest: &str, made: &mut u32) -> PathBuf {
        let make = |folder: &Path| -> Result<(), StoreError> {
            *made += 1;
            Ok(fs::write(&folder.join("prelude.h.gch"), &[0; 1000])?)
        };
        cache.get(FolderKind::Operator, digest, &Cancel::default(), make).unwrap()
    }

    fn age(folder: &Path, seconds: u64) {
        let file = fs::open_to_append(&folder.join(USED)).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(seconds)).unwrap();
    }

    #[test]
    fn made_once_and_evicted_by_age() {
        let directory = tempfile::tempdir().unwrap();
        let cache = FolderCache { directory: directory.path().to_path_buf(), limit: 2500 };
        fs::create_directories(&directory.path().join("something_else")).unwrap();
        let mut made = 0;
        let (a, b) = (get(&cache, "a", &mut made), get(&cache, "b", &mut made));
        assert_eq!(get(&cache, "a", &mut made), a);
        assert_eq!(made, 2, "what is there is not made again");
        age(&a, 5000);
        age(&b, 7000);
        let c = get(&cache, "c", &mut made);
        assert!(a.exists() && !b.exists() && c.exists(), "the one that waits longest goes");
        age(&a, 60);
        let d = get(&cache, "d", &mut made);
        assert!(a.exists() && c.exists() && d.exists(), "what may be in use stays, whatever the limit says");
        assert_eq!(cache.list().len(), 3);
        assert_eq!(cache.list()[0].path, a);
        assert_eq!((cache.clear().unwrap(), cache.list().len()), (3, 0));
        assert!(directory.path().join("something_else").exists());
    }

    #[test]
    fn what_could_not_be_made_is_not_there() {
        let directory = tempfile::tempdir().unwrap();
        let cache = FolderCache { directory: directory.path().to_path_buf(), limit: u64::MAX };
        let fails = |folder: &Path| -> Result<(), StoreError> { Ok(fs::write(&folder.join("missing/file"), b"")?) };
        assert!(cache.get(FolderKind::Program, "a", &Cancel::default(), fails).is_err());
        assert!(cache.list().is_empty());
    }
}
