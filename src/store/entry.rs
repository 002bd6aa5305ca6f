//! One file of the cache: a line that tells what it holds, the description, the object.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::digest::ContentDigest;
use super::error::StoreError;
use crate::fs;

/// A kernel in the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CachedKernel {
    /// Its name.
    pub kernel: String,
    /// Its description, as bytes of its file.
    pub json: Vec<u8>,
    /// Its object.
    pub object: Vec<u8>,
    /// Digest of the object.
    pub digest: ContentDigest,
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
    /// Bytes of the description.
    pub json_size: u64,
    /// Digest of the description.
    pub json_sha256: String,
    /// Digest of all of the above: the parts belong to this key.
    pub seal: String,
    /// The inputs, part by part: the key is a digest of them. For people, who ask what is different about another kernel;
    /// entries of older versions have none.
    #[serde(default)]
    pub inputs: Map<String, Value>,
}

impl EntryHead {
    pub(super) fn new(key: &str, inputs: Map<String, Value>, cached: &CachedKernel) -> Self {
        let mut head = Self {
            inputs,
            key: key.to_owned(),
            kernel: cached.kernel.clone(),
            size: cached.object.len() as u64,
            sha256: cached.digest.to_string(),
            json_size: cached.json.len() as u64,
            json_sha256: ContentDigest::of(&cached.json).to_string(),
            seal: String::new(),
        };
        head.seal = head.sealed();
        head
    }

    /// The file of a kernel that this is the head of.
    pub(super) fn file(&self, cached: &CachedKernel) -> Vec<u8> {
        let mut bytes = serde_json::to_vec(self).expect("a head is plain strings, numbers and JSON");
        bytes.push(b'\n');
        bytes.extend(&cached.json);
        bytes.extend(&cached.object);
        bytes
    }

    fn sealed(&self) -> String {
        let Self { key, kernel, sha256, json_sha256, .. } = self;
        ContentDigest::of([key, kernel, sha256, json_sha256].map(String::as_str).join("\n").as_bytes()).to_string()
    }
}

/// The longest head that is read without its entry.
const LONGEST_HEAD: u64 = 16 << 20;

/// What an entry says about itself; whether that is true takes reading all of it.
pub(super) fn read_head(path: &Path) -> Result<EntryHead, StoreError> {
    parse_head(path, &fs::first_line(path, LONGEST_HEAD)?)
}

fn parse_head(path: &Path, line: &[u8]) -> Result<EntryHead, StoreError> {
    serde_json::from_slice(line).map_err(|error| damaged(path, &format!("its head is bad: {error}")))
}

/// Reads and checks an entry.
pub(super) fn read_entry(path: &Path) -> Result<(EntryHead, CachedKernel), StoreError> {
    let mut bytes = fs::read(path)?;
    let line = bytes.iter().position(|byte| *byte == b'\n').ok_or_else(|| damaged(path, "it has no head"))?;
    let head = parse_head(path, &bytes[..line])?;
    let mut json = bytes.split_off(line + 1);
    let length = usize::try_from(head.json_size).ok().filter(|length| *length <= json.len());
    let object = json.split_off(length.ok_or_else(|| damaged(path, "it is cut off"))?);
    let digest = ContentDigest::of(&object);
    let fits = object.len() as u64 == head.size
        && digest.to_string() == head.sha256
        && ContentDigest::of(&json).to_string() == head.json_sha256
        && head.sealed() == head.seal;
    if !fits {
        return Err(damaged(path, "its content does not fit its head"));
    }
    let kernel = head.kernel.clone();
    Ok((head, CachedKernel { kernel, json, object, digest }))
}

pub(super) fn damaged(path: &Path, problem: &str) -> StoreError {
    StoreError::CacheEntry { path: path.to_path_buf(), problem: problem.to_owned() }
}
