//! A directory of finished kernels that several processes share; one file per kernel.
//!
//! A file is written under another name and renamed, so it is complete or absent; its head carries the digest of
//! the rest, so damage is noticed; the least recently used files go when the limit is reached.

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::digest::ContentDigest;
use super::error::StoreError;
use crate::fs::{self, FileError};

/// A subdirectory per format, so that another version of this package neither reads nor removes our files.
const FORMAT: &str = "v1";
/// Suffix of entries.
const SUFFIX: &str = "skc";
/// Files of this name under construction; older ones were left by killed processes.
const TEMPORARY_PREFIX: &str = "new-";
const TEMPORARY_AGE: Duration = Duration::from_secs(3600);
/// One byte is added for each: concurrent appends never get lost.
const HITS: &str = "hits";
const MISSES: &str = "misses";

/// A cache directory and its limit.
#[derive(Debug, Clone)]
pub(crate) struct CacheSettings {
    /// Where it is.
    pub directory: PathBuf,
    /// Bytes it may take.
    pub limit: u64,
}

/// A cache directory.
#[derive(Debug, Clone)]
pub(crate) struct Cache {
    directory: PathBuf,
    limit: u64,
}

/// What an entry says about itself, in its first line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EntryHead {
    /// Digest of the inputs.
    pub key: String,
    /// The kernel's name.
    pub kernel: String,
    /// Bytes of the object.
    pub size: u64,
    /// Digest of the object.
    pub sha256: String,
}

/// What the cache holds.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct CacheStats {
    /// Where it is.
    pub directory: String,
    /// Kernels.
    pub entries: u64,
    /// Bytes.
    pub bytes: u64,
    /// Bytes it may take.
    pub limit: u64,
    /// Builds it has saved.
    pub hits: u64,
    /// Builds it could not save.
    pub misses: u64,
}

impl Cache {
    /// The cache of these settings; nothing is created yet.
    pub(crate) fn new(settings: &CacheSettings) -> Self {
        Self { directory: settings.directory.join(FORMAT), limit: settings.limit }
    }

    /// The object stored under `key` and its digest; a damaged entry is removed and counts as absent.
    pub(crate) fn get(&self, key: ContentDigest) -> Option<(Vec<u8>, ContentDigest)> {
        let path = self.entry(&key.to_string());
        let found = match read_entry(&path) {
            Ok((head, object, digest)) if head.key == key.to_string() => Some((object, digest)),
            Err(StoreError::File(error)) if error.source.kind() == ErrorKind::NotFound => None,
            Ok(_) | Err(_) => {
                log::warn!(target: "superkernel.cache", "`{}` is damaged and is removed", path.display());
                let _ = fs::remove_file(&path);
                None
            }
        };
        match &found {
            Some(_) => self.note_use(&path),
            None => self.count(MISSES),
        }
        found
    }

    /// Stores an object. The cache is a convenience: trouble with it is told, but fails nothing.
    pub(crate) fn put(&self, key: ContentDigest, kernel: &str, object: &[u8], digest: ContentDigest) {
        let head = EntryHead {
            key: key.to_string(),
            kernel: kernel.to_owned(),
            size: object.len() as u64,
            sha256: digest.to_string(),
        };
        if let Err(error) = self.store(&head, object) {
            log::warn!(target: "superkernel.cache", "the kernel is not cached: {error}");
        }
    }

    /// Takes over an entry made elsewhere, after checking it.
    pub(crate) fn import(&self, file: &Path) -> Result<EntryHead, StoreError> {
        let (head, object, _) = read_entry(file)?;
        let is_key = head.key.len() == 64 && head.key.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_key {
            return Err(damaged(file, "its key is no digest"));
        }
        self.store(&head, &object)?;
        Ok(head)
    }

    /// All entries, least recently used first.
    pub(crate) fn entries(&self) -> Vec<PathBuf> {
        self.scan().into_iter().map(|entry| entry.path).collect()
    }

    /// What it holds.
    pub(crate) fn stats(&self) -> CacheStats {
        let entries = self.scan();
        let count = |name: &str| fs::metadata(&self.directory.join(name)).map_or(0, |data| data.len());
        CacheStats {
            directory: self.directory.display().to_string(),
            entries: entries.len() as u64,
            bytes: entries.iter().map(|entry| entry.size).sum(),
            limit: self.limit,
            hits: count(HITS),
            misses: count(MISSES),
        }
    }

    /// Removes everything; tells how many entries there were.
    pub(crate) fn clear(&self) -> Result<u64, FileError> {
        let entries = self.scan().len() as u64;
        match fs::remove_directory(&self.directory) {
            Ok(()) => Ok(entries),
            Err(error) if error.source.kind() == ErrorKind::NotFound => Ok(0),
            Err(error) => Err(error),
        }
    }

    fn entry(&self, key: &str) -> PathBuf {
        self.directory.join(&key[..2]).join(format!("{key}.{SUFFIX}"))
    }

    fn store(&self, head: &EntryHead, object: &[u8]) -> Result<(), FileError> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let path = self.entry(&head.key);
        let folder = path.parent().expect("an entry is inside the cache directory");
        fs::create_directories(folder)?;
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let temporary = folder.join(format!("{TEMPORARY_PREFIX}{}-{number}", std::process::id()));
        let mut bytes = serde_json::to_vec(head).expect("a head is plain strings and numbers");
        bytes.push(b'\n');
        bytes.extend(object);
        let stored = fs::write(&temporary, &bytes).and_then(|()| fs::rename(&temporary, &path));
        if stored.is_err() {
            let _ = fs::remove_file(&temporary);
        }
        stored?;
        self.evict();
        Ok(())
    }

    /// Removes the least recently used entries beyond the limit.
    fn evict(&self) {
        let entries = self.scan();
        let mut bytes: u64 = entries.iter().map(|entry| entry.size).sum();
        for entry in entries {
            if bytes <= self.limit {
                break;
            }
            // Somebody else may be evicting too; gone is gone.
            let _ = fs::remove_file(&entry.path);
            bytes -= entry.size;
        }
    }

    fn note_use(&self, path: &Path) {
        self.count(HITS);
        if let Ok(file) = fs::open(path) {
            // Without it the entry only looks older than it is.
            let _ = file.set_modified(SystemTime::now());
        }
    }

    fn count(&self, name: &str) {
        if fs::create_directories(&self.directory).is_ok() {
            let path = self.directory.join(name);
            if let Ok(mut file) = fs::open_to_append(&path) {
                let _ = file.write_all(b"x");
            }
        }
    }

    /// All entries, least recently used first; removes what killed writers left.
    fn scan(&self) -> Vec<Found> {
        let mut found = Vec::new();
        for file in fs::entries(&self.directory).flat_map(|folder| fs::entries(&folder.path())) {
            let Ok(data) = file.metadata() else { continue };
            let modified = data.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            if file.path().extension().is_some_and(|suffix| suffix == SUFFIX) {
                found.push(Found { path: file.path(), size: data.len(), modified });
            } else if file.file_name().to_string_lossy().starts_with(TEMPORARY_PREFIX)
                && modified.elapsed().is_ok_and(|age| age > TEMPORARY_AGE)
            {
                let _ = fs::remove_file(&file.path());
            }
        }
        found.sort_by(|a, b| (a.modified, &a.path).cmp(&(b.modified, &b.path)));
        found
    }
}

/// One entry on disk.
struct Found {
    path: PathBuf,
    size: u64,
    modified: SystemTime,
}

/// Reads and checks an entry.
fn read_entry(path: &Path) -> Result<(EntryHead, Vec<u8>, ContentDigest), StoreError> {
    let mut bytes = fs::read(path)?;
    let line = bytes.iter().position(|byte| *byte == b'\n').ok_or_else(|| damaged(path, "it has no head"))?;
    let head: EntryHead =
        serde_json::from_slice(&bytes[..line]).map_err(|error| damaged(path, &format!("its head is bad: {error}")))?;
    let object = bytes.split_off(line + 1);
    let digest = ContentDigest::of(&object);
    if object.len() as u64 != head.size || digest.to_string() != head.sha256 {
        return Err(damaged(path, "its content does not fit its head"));
    }
    Ok((head, object, digest))
}

fn damaged(path: &Path, problem: &str) -> StoreError {
    StoreError::CacheEntry { path: path.to_path_buf(), problem: problem.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(directory: &Path, limit: u64) -> Cache {
        Cache::new(&CacheSettings { directory: directory.to_path_buf(), limit })
    }

    fn key(text: &str) -> ContentDigest {
        ContentDigest::of(text.as_bytes())
    }

    #[test]
    fn what_was_put_is_got_and_counted() {
        let directory = tempfile::tempdir().unwrap();
        let cache = cache(directory.path(), 1 << 20);
        assert_eq!(cache.get(key("a")), None);
        cache.put(key("a"), "k", b"bytes\nwith\nlines", ContentDigest::of(b"bytes\nwith\nlines"));
        assert_eq!(cache.get(key("a")), Some((b"bytes\nwith\nlines".to_vec(), key("bytes\nwith\nlines"))));
        let stats = cache.stats();
        assert_eq!((stats.entries, stats.hits, stats.misses), (1, 1, 1));
        assert_eq!(cache.clear().unwrap(), 1);
        assert_eq!(cache.clear().unwrap(), 0);
    }

    #[test]
    fn damage_is_noticed_and_removed() {
        let directory = tempfile::tempdir().unwrap();
        let cache = cache(directory.path(), 1 << 20);
        cache.put(key("a"), "k", b"bytes", ContentDigest::of(b"bytes"));
        let path = cache.entries().remove(0);
        let whole = std::fs::read(&path).unwrap();
        for cut in 0..whole.len() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            assert_eq!(cache.get(key("a")), None, "cut at {cut}");
            assert!(!path.exists());
        }
        let mut flipped = whole.clone();
        *flipped.last_mut().unwrap() ^= 1;
        std::fs::write(&path, &flipped).unwrap();
        assert_eq!(cache.get(key("a")), None);
        // An entry under a foreign name is not trusted either.
        let other = cache.entry(&key("b").to_string());
        std::fs::create_dir_all(other.parent().unwrap()).unwrap();
        std::fs::write(&other, &whole).unwrap();
        assert_eq!(cache.get(key("b")), None);
    }

    #[test]
    fn the_least_recently_used_go_first() {
        let directory = tempfile::tempdir().unwrap();
        let cache = cache(directory.path(), 3500);
        let age = |name: &str, seconds| {
            let file = std::fs::OpenOptions::new().append(true).open(cache.entry(&key(name).to_string())).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(seconds)).unwrap();
        };
        for (name, seconds) in [("a", 300), ("b", 200), ("c", 100)] {
            cache.put(key(name), "k", &[0; 800], ContentDigest::of(&[0; 800]));
            age(name, seconds);
        }
        assert!(cache.get(key("a")).is_some());
        cache.put(key("d"), "k", &[0; 800], ContentDigest::of(&[0; 800]));
        assert!(cache.get(key("b")).is_none());
        for name in ["a", "c", "d"] {
            assert!(cache.get(key(name)).is_some(), "{name}");
        }
    }

    #[test]
    fn an_entry_made_elsewhere_is_checked() {
        let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (here, there) = (cache(here.path(), 1 << 20), cache(there.path(), 1 << 20));
        there.put(key("a"), "k", b"bytes", ContentDigest::of(b"bytes"));
        let file = there.entries().remove(0);
        assert_eq!(here.import(&file).unwrap().kernel, "k");
        assert_eq!(here.get(key("a")), Some((b"bytes".to_vec(), key("bytes"))));
        std::fs::write(&file, b"{\"key\":\"../../x\",\"kernel\":\"k\",\"size\":0,\"sha256\":\"\"}\n").unwrap();
        assert!(here.import(&file).is_err());
    }

    #[test]
    fn a_cache_that_cannot_be_written_fails_nothing() {
        let cache = cache(Path::new("/proc/nowhere"), 1);
        cache.put(key("a"), "k", b"x", ContentDigest::of(b"x"));
        assert_eq!(cache.get(key("a")), None);
        assert_eq!(cache.stats().entries, 0);
    }
}
