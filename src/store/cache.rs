//! A directory of finished kernels that several processes share; one file per kernel.
//!
//! A file is written under another name and renamed, so it is complete or absent; its head carries the digests of
//! the description and the object behind it, bound to the key, so that damage and exchanged parts are noticed; the
//! least recently used files go when the limit is reached.
//!
//! Whoever can write an entry decides what code runs: a directory that other users can write is not used unless the
//! user says so ([`Sharing`]).

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

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(directory: &Path, limit: u64) -> Cache {
        Cache::new(&CacheSettings { directory: directory.to_path_buf(), limit, sharing: Sharing::Own })
    }

    fn kernel(object: &[u8]) -> CachedKernel {
        CachedKernel {
            kernel: "k".to_owned(),
            json: b"{}\n".to_vec(),
            object: object.to_vec(),
            digest: ContentDigest::of(object),
        }
    }

    fn inputs(text: &str) -> Map<String, Value> {
        Map::from_iter([(text.to_owned(), Value::Null)])
    }

    fn key(text: &str) -> ContentDigest {
        ContentDigest::of(text.as_bytes())
    }

    #[test]
    fn what_was_put_is_got_and_counted() {
        let directory = tempfile::tempdir().unwrap();
        let cache = cache(directory.path(), 1 << 20);
        assert_eq!(cache.get(key("a")), None);
        cache.put(key("a"), &inputs("a"), &kernel(b"bytes\nwith\nlines"));
        assert_eq!(cache.get(key("a")), Some(kernel(b"bytes\nwith\nlines")));
        let stats = cache.stats();
        assert_eq!((stats.entries, stats.hits, stats.misses), (1, 1, 1));
        assert_eq!(cache.clear().unwrap(), Cleared { entries: 1, left: None });
        assert!(!cache.directory.exists());
        assert_eq!(cache.clear().unwrap(), Cleared { entries: 0, left: None });
    }

    #[test]
    fn what_others_have_there_is_neither_counted_nor_removed() {
        let directory = tempfile::tempdir().unwrap();
        let cache = cache(directory.path(), 1 << 20);
        cache.put(key("a"), &inputs("a"), &kernel(b"bytes"));
        let folder = cache.entries().remove(0).parent().unwrap().to_path_buf();
        let outside = directory.path().join("outside");
        std::fs::create_dir(&outside).unwrap();
        let digits = "0".repeat(64);
        let theirs = [
            cache.directory.join("notes.txt"),
            cache.directory.join("hits"),
            cache.directory.join(format!("{digits}.skc")),
            cache.directory.join("data").join(format!("{digits}.skc")),
            folder.join("thesis.skc"),
            folder.join("new-chapter"),
            // In the folder of other digits.
            folder.join(format!("{}{}.skc", if folder.ends_with("00") { "11" } else { "00" }, &digits[2..])),
            outside.join(format!("{digits}.skc")),
        ];
        for path in &theirs {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, b"theirs").unwrap();
            let file = std::fs::File::options().write(true).open(path).unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        }
        let name = if folder.ends_with("00") { "01" } else { "00" };
        std::os::unix::fs::symlink(&outside, cache.directory.join(name)).unwrap();
        std::fs::write(folder.join("new-1234-5"), b"ours, from a killed writer").unwrap();
        assert_eq!(cache.stats().entries, 1);
        // Making room does not touch them either.
        Cache { limit: 0, ..cache.clone() }.evict();
        assert_eq!(cache.stats().entries, 0);
        cache.put(key("a"), &inputs("a"), &kernel(b"bytes"));
        assert_eq!(cache.clear().unwrap(), Cleared { entries: 1, left: Some(cache.directory.clone()) });
        assert_eq!(cache.clear().unwrap(), Cleared { entries: 0, left: Some(cache.directory.clone()) });
        for path in &theirs {
            assert!(std::fs::read(path).unwrap().starts_with(b"theirs"), "{}", path.display());
        }
        assert!(!folder.join("new-1234-5").exists() && !cache.directory.join(MISSES).exists());
    }

    #[test]
    fn damage_is_noticed_and_removed() {
        let directory = tempfile::tempdir().unwrap();
        let cache = cache(directory.path(), 1 << 20);
        cache.put(key("a"), &inputs("a"), &kernel(b"bytes"));
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
    fn parts_of_two_entries_do_not_make_one() {
        let directory = tempfile::tempdir().unwrap();
        let cache = cache(directory.path(), 1 << 20);
        let (one, other) = (kernel(b"one"), CachedKernel { json: b"[]\n".to_vec(), ..kernel(b"two") });
        let path = cache.entry(&key("a").to_string());
        cache.put(key("a"), &inputs("a"), &one);
        let good = EntryHead::new(&key("a").to_string(), inputs("a"), &one);
        let exchanged = [
            EntryHead { sha256: other.digest.to_string(), ..good.clone() },
            EntryHead { json_sha256: ContentDigest::of(&other.json).to_string(), ..good.clone() },
            EntryHead { kernel: "other".to_owned(), ..good.clone() },
        ];
        for (head, body) in exchanged.iter().zip([&b"{}\ntwo"[..], b"[]\none", b"{}\none"]) {
            let mut bytes = serde_json::to_vec(head).unwrap();
            bytes.push(b'\n');
            bytes.extend(body);
            std::fs::write(&path, bytes).unwrap();
            assert_eq!(cache.get(key("a")), None, "{head:?}");
        }
    }

    #[test]
    fn what_others_can_write_is_not_used() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let own = cache(directory.path(), 1 << 20);
        let shared = Cache { sharing: Sharing::Shared, ..own.clone() };
        own.put(key("a"), &inputs("a"), &kernel(b"bytes"));
        let entry = own.entries().remove(0);
        let folder = entry.parent().unwrap().to_path_buf();
        for (path, usual) in [(entry, 0o640), (folder, 0o750)] {
            for mode in [0o660, 0o606, 0o777] {
                std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
                assert_eq!(own.get(key("a")), None, "{} {mode:o}", path.display());
                assert_eq!(shared.get(key("a")), Some(kernel(b"bytes")));
            }
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(usual)).unwrap();
            assert!(own.get(key("a")).is_some());
        }
        assert!(own.check_owner().is_ok());
        std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(0o1777)).unwrap();
        let error = own.check_owner().unwrap_err().to_string();
        assert!(error.contains("mode 1777"), "{error}");
        assert!(shared.check_owner().is_ok());
    }

    #[test]
    fn what_is_no_file_is_neither_used_nor_removed() {
        let directory = tempfile::tempdir().unwrap();
        let cache = cache(directory.path(), 1 << 20);
        let in_the_way = cache.entry(&key("a").to_string());
        std::fs::create_dir_all(in_the_way.join("kept")).unwrap();
        for name in [HITS, MISSES] {
            std::fs::create_dir(cache.directory.join(name)).unwrap();
        }
        assert_eq!(cache.get(key("a")), None);
        cache.put(key("a"), &inputs("a"), &kernel(b"bytes"));
        assert_eq!(cache.get(key("a")), None);
        assert!(in_the_way.join("kept").exists());
    }

    #[test]
    fn the_least_recently_used_go_first() {
        let directory = tempfile::tempdir().unwrap();
        let cache = cache(directory.path(), 3700);
        let age = |name: &str, seconds| {
            let file = std::fs::OpenOptions::new().append(true).open(cache.entry(&key(name).to_string())).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(seconds)).unwrap();
        };
        for (name, seconds) in [("a", 300), ("b", 200), ("c", 100)] {
            cache.put(key(name), &inputs(name), &kernel(&[0; 800]));
            age(name, seconds);
        }
        assert!(cache.get(key("a")).is_some());
        cache.put(key("d"), &inputs("d"), &kernel(&[0; 800]));
        assert!(cache.get(key("b")).is_none());
        for name in ["a", "c", "d"] {
            assert!(cache.get(key(name)).is_some(), "{name}");
        }
    }

    #[test]
    fn an_entry_made_elsewhere_is_checked() {
        let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (here, there) = (cache(here.path(), 1 << 20), cache(there.path(), 1 << 20));
        there.put(key("a"), &inputs("a"), &kernel(b"bytes"));
        let file = there.entries().remove(0);
        assert!(here.import(&file, |_, _| Err("it is another".to_owned())).is_err());
        assert_eq!(here.get(key("a")), None);
        assert_eq!(here.import(&file, |_, _| Ok(())).unwrap().kernel, "k");
        assert_eq!(here.get(key("a")), Some(kernel(b"bytes")));
        // Whole and sealed, but under a name that is no digest.
        let mut bytes = serde_json::to_vec(&EntryHead::new("../../x", Map::new(), &kernel(b"bytes"))).unwrap();
        bytes.extend(b"\n{}\nbytes");
        std::fs::write(&file, &bytes).unwrap();
        assert!(here.import(&file, |_, _| Ok(())).unwrap_err().to_string().contains("key"));
    }

    #[test]
    fn what_it_holds_is_listed_and_verified() {
        let directory = tempfile::tempdir().unwrap();
        let cache = cache(directory.path(), 1 << 20);
        cache.put(key("a"), &inputs("a"), &kernel(b"bytes"));
        cache.put(key("b"), &inputs("b"), &kernel(b"more bytes"));
        assert!(cache.has(key("a")) && !cache.has(key("c")));
        let heads: Vec<_> = cache.list().into_iter().map(|entry| entry.head.unwrap()).collect();
        assert_eq!(heads.len(), 2);
        assert!(heads.iter().any(|head| head.inputs == inputs("a") && head.key == key("a").to_string()));
        let paths = cache.entries();
        assert!(paths.iter().all(|path| cache.verify(path, |_, _| Ok(())).is_ok()));
        assert!(cache.verify(&paths[0], |_, _| Err("odd".to_owned())).unwrap_err().to_string().contains("odd"));
        // Under the other's name it is whole, and wrong.
        std::fs::copy(&paths[0], &paths[1]).unwrap();
        assert!(cache.verify(&paths[1], |_, _| Ok(())).unwrap_err().to_string().contains("another key"));
        std::fs::write(&paths[0], b"{}").unwrap();
        assert_eq!(cache.list().iter().filter(|entry| entry.head.is_err()).count(), 1);
    }

    #[test]
    fn what_is_no_folder_is_said() {
        let directory = tempfile::tempdir().unwrap();
        assert!(cache(directory.path(), 1).check_folder().is_ok());
        assert!(cache(&directory.path().join("missing"), 1).check_folder().is_ok());
        let file = directory.path().join("file");
        std::fs::write(&file, b"x").unwrap();
        let error = cache(&file, 1).check_folder().unwrap_err().to_string();
        assert!(error.contains("cannot list") && error.contains("Not a directory"), "{error}");
    }

    #[test]
    fn a_cache_that_cannot_be_written_fails_nothing() {
        let cache = cache(Path::new("/proc/nowhere"), 1);
        cache.put(key("a"), &inputs("a"), &kernel(b"x"));
        assert_eq!(cache.get(key("a")), None);
        assert_eq!(cache.stats().entries, 0);
    }
}
