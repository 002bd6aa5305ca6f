//! A directory of finished kernels that several processes share; one file per kernel.
//!
//! A file is written under another name and renamed, so it is complete or absent; its head carries the digests of
//! the description and the object behind it, bound to the key, so that damage and exchanged parts are noticed; the
//! least recently used files go when the limit is reached.
//!
//! Whoever can write an entry decides what code runs: a directory that other users can write is not used unless the
//! user says so ([`Sharing`]).

#[cfg(test)]
mod tests;

use std::fs::{DirEntry, Metadata};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use serde::Serialize;
use serde_json::{Map, Value};

use super::digest::ContentDigest;
pub(crate) use super::entry::{CachedKernel, EntryHead};
use super::entry::{damaged, read_entry, read_head};
use super::error::StoreError;
use crate::fs::{self, FileError};

/// A subdirectory per format, so that another version of this package neither reads nor removes our files.
const FORMAT: &str = "v2";
/// Suffix of entries.
const SUFFIX: &str = ".skc";
/// Files of this name under construction; older ones were left by killed processes.
const TEMPORARY_PREFIX: &str = "new-";
const TEMPORARY_AGE: Duration = Duration::from_secs(3600);
/// One byte is added for each: concurrent appends never get lost.
const HITS: &str = "hits";
const MISSES: &str = "misses";
const COUNTED: u8 = b'x';

/// A cache directory and its limit.
#[derive(Debug, Clone)]
pub(crate) struct CacheSettings {
    /// Where it is.
    pub directory: PathBuf,
    /// Bytes it may take.
    pub limit: u64,
    /// Who may write there.
    pub sharing: Sharing,
}

/// Who may write in a cache directory that is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sharing {
    /// This user and the administrator.
    Own,
    /// Anybody: they are trusted.
    Shared,
}

impl Sharing {
    /// As the setting `cache_shared` says.
    pub(crate) fn with_others(shared: bool) -> Self {
        if shared { Self::Shared } else { Self::Own }
    }
}

/// A cache directory.
#[derive(Debug, Clone)]
pub(crate) struct Cache {
    directory: PathBuf,
    limit: u64,
    sharing: Sharing,
}

/// One kernel of the cache, as lists show it.
#[derive(Debug, Clone)]
pub(crate) struct Listed {
    /// Its file.
    pub path: PathBuf,
    /// Bytes of the file.
    pub bytes: u64,
    /// How long ago it was made or last used.
    pub idle: Duration,
    /// What it says about itself, or what is wrong with that.
    pub head: Result<EntryHead, String>,
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
    /// Seconds since the kernel that waits longest was made or used.
    pub oldest: Option<u64>,
    /// Seconds since the last one was made or used.
    pub newest: Option<u64>,
}

/// What clearing did.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Cleared {
    /// Entries that are gone now and were not before.
    pub entries: u64,
    /// The folder, if there is something in it that the cache has not written.
    pub left: Option<PathBuf>,
}

impl Cache {
    /// The cache of these settings; nothing is created yet.
    pub(crate) fn new(settings: &CacheSettings) -> Self {
        Self { directory: settings.directory.join(FORMAT), limit: settings.limit, sharing: settings.sharing }
    }

    /// Is it this user's to use?
    pub(crate) fn check_owner(&self) -> Result<(), StoreError> {
        let above = self.directory.parent().unwrap_or(&self.directory);
        [above, &self.directory].into_iter().try_for_each(|folder| self.check_writers(folder))
    }

    /// Refuses a file or folder that somebody else can write; one that is missing cannot have been written.
    fn check_writers(&self, path: &Path) -> Result<(), StoreError> {
        match self.sharing {
            Sharing::Shared => return Ok(()),
            Sharing::Own => {}
        }
        let Ok(data) = fs::metadata(path) else { return Ok(()) };
        match strangers(&data) {
            None => Ok(()),
            Some(problem) => Err(StoreError::ForeignCache { path: path.to_path_buf(), problem }),
        }
    }

    /// The kernel stored under `key`; a damaged entry is removed and counts as absent, somebody else's counts as
    /// absent.
    pub(crate) fn get(&self, key: ContentDigest) -> Option<CachedKernel> {
        let path = self.entry(&key.to_string());
        let folder = path.parent().expect("an entry is inside the cache directory");
        let allowed = self.check_writers(folder).and_then(|()| self.check_writers(&path));
        let found = match allowed.and_then(|()| read_entry(&path)) {
            Ok((head, cached)) if head.key == key.to_string() => Some(cached),
            Err(StoreError::File(error)) if error.source.kind() == ErrorKind::NotFound => None,
            Err(error @ StoreError::ForeignCache { .. }) => {
                log::warn!(target: "superkernel.cache", "{error}");
                None
            }
            // Not ours to remove: it may be a directory, or a file that only this user cannot read.
            Err(StoreError::File(error)) => {
                log::warn!(target: "superkernel.cache", "the cache entry is not used: {error}");
                None
            }
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

    /// Stores a kernel. The cache is a convenience: trouble with it is told, but fails nothing.
    pub(crate) fn put(&self, key: ContentDigest, inputs: &Map<String, Value>, cached: &CachedKernel) {
        let head = EntryHead::new(&key.to_string(), inputs.clone(), cached);
        if let Err(error) = self.store(&head, cached) {
            log::warn!(target: "superkernel.cache", "the kernel is not cached: {error}");
        }
    }

    /// Takes over an entry made elsewhere, after checking it. `fits` tells what is wrong with a kernel.
    pub(crate) fn import(
        &self,
        file: &Path,
        fits: impl FnOnce(&EntryHead, &CachedKernel) -> Result<(), String>,
    ) -> Result<EntryHead, StoreError> {
        self.check_owner()?;
        let (head, cached) = read_entry(file)?;
        if !is_key(&head.key) {
            return Err(damaged(file, "its key is no digest"));
        }
        fits(&head, &cached).map_err(|problem| damaged(file, &problem))?;
        self.store(&head, &cached)?;
        Ok(head)
    }

    /// All entries, least recently used first.
    pub(crate) fn entries(&self) -> Vec<PathBuf> {
        self.scan().into_iter().map(|entry| entry.path).collect()
    }

    /// Is it a folder that can be used, or one that is yet to be made?
    pub(crate) fn check_folder(&self) -> Result<(), FileError> {
        let above = self.directory.parent().unwrap_or(&self.directory);
        [above, &self.directory].into_iter().try_for_each(|folder| fs::is_directory(folder).map(drop))
    }

    /// Every kernel with its head, least recently used first.
    pub(crate) fn list(&self) -> Vec<Listed> {
        let listed = |found: Found| Listed {
            idle: found.modified.elapsed().unwrap_or_default(),
            head: read_head(&found.path).map_err(|error| error.to_string()),
            bytes: found.size,
            path: found.path,
        };
        self.scan().into_iter().map(listed).collect()
    }

    /// Reads a whole entry of [`list`](Self::list) and tells what is wrong with it; `fits` judges the kernel.
    pub(crate) fn verify(
        &self,
        path: &Path,
        fits: impl FnOnce(&EntryHead, &CachedKernel) -> Result<(), String>,
    ) -> Result<EntryHead, StoreError> {
        let (head, cached) = read_entry(path)?;
        if path != self.entry(&head.key) {
            return Err(damaged(path, "it is the entry of another key"));
        }
        fits(&head, &cached).map_err(|problem| damaged(path, &problem))?;
        Ok(head)
    }

    /// Has it a kernel of this key? Whether that is whole shows when it is used.
    pub(crate) fn has(&self, key: ContentDigest) -> bool {
        self.entry(&key.to_string()).exists()
    }

    /// What it holds.
    pub(crate) fn stats(&self) -> CacheStats {
        let entries = self.scan();
        let idle = |found: &Found| found.modified.elapsed().unwrap_or_default().as_secs();
        let count = |name: &str| fs::metadata(&self.directory.join(name)).map_or(0, |data| data.len());
        CacheStats {
            directory: self.directory.display().to_string(),
            entries: entries.len() as u64,
            bytes: entries.iter().map(|entry| entry.size).sum(),
            limit: self.limit,
            hits: count(HITS),
            misses: count(MISSES),
            oldest: entries.first().map(idle),
            newest: entries.last().map(idle),
        }
    }

    /// Removes all entries and what else the cache has written, and nothing of anybody else.
    pub(crate) fn clear(&self) -> Result<Cleared, FileError> {
        let mut entries = 0;
        for found in self.scan() {
            entries += u64::from(removed(&found.path)?);
        }
        let subdirectories: Vec<_> = fs::entries(&self.directory).filter(is_subdirectory).map(|at| at.path()).collect();
        for folder in subdirectories {
            for file in fs::entries(&folder).filter(is_temporary) {
                removed(&file.path())?;
            }
            fs::remove_empty_directory(&folder);
        }
        for name in [HITS, MISSES] {
            let path = self.directory.join(name);
            if fs::read(&path).is_ok_and(|counted| counted.iter().all(|byte| *byte == COUNTED)) {
                removed(&path)?;
            }
        }
        let all = fs::remove_empty_directory(&self.directory) || !self.directory.exists();
        Ok(Cleared { entries, left: (!all).then(|| self.directory.clone()) })
    }

    fn entry(&self, key: &str) -> PathBuf {
        self.directory.join(&key[..2]).join(format!("{key}{SUFFIX}"))
    }

    fn store(&self, head: &EntryHead, cached: &CachedKernel) -> Result<(), FileError> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let path = self.entry(&head.key);
        let folder = path.parent().expect("an entry is inside the cache directory");
        fs::create_directories(folder)?;
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let temporary = folder.join(format!("{TEMPORARY_PREFIX}{}-{number}", std::process::id()));
        let stored = fs::write_new(&temporary, &head.file(cached)).and_then(|()| fs::rename(&temporary, &path));
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
                let _ = file.write_all(&[COUNTED]);
            }
        }
    }

    /// All entries, least recently used first; removes what killed writers left.
    fn scan(&self) -> Vec<Found> {
        let mut found = Vec::new();
        let folders = fs::entries(&self.directory).filter(is_subdirectory);
        for file in folders.flat_map(|folder| fs::entries(&folder.path())) {
            let Ok(data) = file.metadata() else { continue };
            let modified = data.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            let key = file.file_name().to_string_lossy().strip_suffix(SUFFIX).map(str::to_owned);
            if key.is_some_and(|key| data.is_file() && is_key(&key) && file.path() == self.entry(&key)) {
                found.push(Found { path: file.path(), size: data.len(), modified });
            } else if is_temporary(&file) && modified.elapsed().is_ok_and(|age| age > TEMPORARY_AGE) {
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

/// Is it the name of an entry: a digest as it is written?
fn is_key(name: &str) -> bool {
    name.len() == 64 && is_hexadecimal(name)
}

fn is_hexadecimal(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

/// Entries are in folders of their first two digits.
fn is_subdirectory(entry: &DirEntry) -> bool {
    let name = entry.file_name();
    let named = name.to_str().is_some_and(|name| name.len() == 2 && is_hexadecimal(name));
    named && entry.file_type().is_ok_and(|kind| kind.is_dir())
}

/// Is it a file under construction?
fn is_temporary(entry: &DirEntry) -> bool {
    let name = entry.file_name();
    let numbers = name.to_str().and_then(|name| name.strip_prefix(TEMPORARY_PREFIX)?.split_once('-'));
    let named = numbers.is_some_and(|(process, number)| process.parse::<u32>().and(number.parse::<u32>()).is_ok());
    named && entry.file_type().is_ok_and(|kind| kind.is_file())
}

/// Removes a file; false if somebody else was faster.
fn removed(path: &Path) -> Result<bool, FileError> {
    match fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.source.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// How others than this user and the administrator could have written what `data` is about.
fn strangers(data: &Metadata) -> Option<String> {
    // SAFETY: a call without arguments that cannot fail.
    let user = unsafe { libc::geteuid() };
    if data.uid() != user && data.uid() != 0 {
        return Some(format!("belongs to user {}", data.uid()));
    }
    let mode = data.mode() & 0o7777;
    (mode & 0o022 != 0).then(|| format!("can be written by others (mode {mode:o})"))
}
