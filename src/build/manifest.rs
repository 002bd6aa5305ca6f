//! What a kernel was made from, stored beside it: decides whether it can stay.

use std::path::Path;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::check::Sizes;
use super::files::KernelFiles;
use super::fingerprint::Fingerprint;
use crate::store::digest::ContentDigest;

/// Format of the file.
const VERSION: u64 = 1;

/// The record of one build.
#[derive(Debug, Clone)]
pub struct Manifest {
    /// Everything the result depends on.
    pub fingerprint: Fingerprint,
    /// Digest of the object.
    pub object: String,
    /// Digest of the description.
    pub json: String,
    /// The rest: sizes, timings, commands, inputs.
    pub notes: Map<String, Value>,
}

/// The file, as it is written.
#[derive(Serialize)]
struct File<'a> {
    version: u64,
    digest: String,
    result: Digests<'a>,
    parts: &'a Map<String, Value>,
    #[serde(flatten)]
    notes: &'a Map<String, Value>,
}

#[derive(Serialize)]
struct Digests<'a> {
    object_sha256: &'a str,
    json_sha256: &'a str,
}

/// What is noted beside the facts that decide.
#[derive(Debug)]
pub struct Notes {
    /// Why it was built.
    pub because: Vec<String>,
    /// Sizes of the result; absent for one taken from the cache.
    pub sizes: Option<Sizes>,
    /// Milliseconds per stage.
    pub timings: Value,
    /// Every command that ran.
    pub commands: Vec<String>,
    /// The call, so that it can be repeated: `kernel_infos` and settings.
    pub inputs: Value,
}

impl Manifest {
    /// The record of a finished kernel.
    pub fn new(fingerprint: Fingerprint, object: &[u8], json: &[u8], notes: Notes) -> Self {
        let noted = json!({
            "because": notes.because,
            "sizes": notes.sizes,
            "timings_ms": notes.timings,
            "commands": notes.commands,
            "inputs": notes.inputs,
        });
        let Value::Object(noted) = noted else { unreachable!("`json!` with braces is an object") };
        let (object, json) = (ContentDigest::of(object).to_string(), ContentDigest::of(json).to_string());
        Self { fingerprint, object, json, notes: noted }
    }

    /// As bytes of the file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let file = File {
            version: VERSION,
            digest: self.fingerprint.digest().to_string(),
            result: Digests { object_sha256: &self.object, json_sha256: &self.json },
            parts: self.fingerprint.parts(),
            notes: &self.notes,
        };
        let mut bytes = serde_json::to_vec_pretty(&file).expect("strings, numbers and JSON values can be written");
        bytes.push(b'\n');
        bytes
    }

    /// The record of `files`; `None` if there is none that can be understood.
    pub fn read(files: &KernelFiles) -> Option<Self> {
        Self::parse(&std::fs::read(files.manifest()).ok()?)
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let Value::Object(mut value) = serde_json::from_slice(bytes).ok()? else { return None };
        if value.get("version")?.as_u64()? != VERSION {
            return None;
        }
        let fingerprint = Fingerprint::from_json(value.shift_remove("parts")?)?;
        let digest = |name: &str| value.get("result")?.get(name)?.as_str().map(str::to_owned);
        let (object, json) = (digest("object_sha256")?, digest("json_sha256")?);
        for known in ["version", "digest", "result"] {
            value.shift_remove(known);
        }
        Some(Self { fingerprint, object, json, notes: value })
    }
}

/// Can the kernel on disk stay?
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// It is what a build would make.
    UpToDate,
    /// There is none.
    Absent,
    /// It must be built again, for these reasons.
    Outdated(Vec<String>),
}

/// Compares the kernel on disk with what would be built now.
pub fn standing(files: &KernelFiles, fingerprint: &Fingerprint) -> Standing {
    let Some(manifest) = Manifest::read(files) else {
        return if files.object().exists() {
            Standing::Outdated(vec![format!("`{}` has no usable build record", files.object().display())])
        } else {
            Standing::Absent
        };
    };
    let mut reasons = fingerprint.changes_since(&manifest.fingerprint);
    if reasons.is_empty() {
        reasons.extend(difference(&files.json(), &manifest.json));
        reasons.extend(difference(&files.object(), &manifest.object));
    }
    if reasons.is_empty() { Standing::UpToDate } else { Standing::Outdated(reasons) }
}

/// What is wrong with a result file, in words.
fn difference(path: &Path, digest: &str) -> Option<String> {
    match std::fs::read(path) {
        Ok(bytes) if ContentDigest::of(&bytes).to_string() == digest => None,
        Ok(_) => Some(format!("`{}` was changed after it was built", path.display())),
        Err(_) => Some(format!("`{}` is gone", path.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fingerprint(split: &str) -> Fingerprint {
        Fingerprint::from_json(json!({"options": {"split-mode": split}})).unwrap()
    }

    fn manifest() -> Manifest {
        let notes =
            Notes { because: vec![], sizes: None, timings: json!({}), commands: vec![], inputs: json!({"name": "k"}) };
        Manifest::new(fingerprint("4"), b"object", b"json", notes)
    }

    #[test]
    fn reading_gives_what_was_written() {
        let written = manifest();
        let read = Manifest::parse(&written.to_bytes()).unwrap();
        assert_eq!(read.fingerprint, written.fingerprint);
        assert_eq!((read.object, read.json, read.notes), (written.object, written.json, written.notes));
        assert!(Manifest::parse(b"{}").is_none());
        assert!(Manifest::parse(b"not json").is_none());
    }

    #[test]
    fn every_way_to_be_outdated_is_told() {
        let directory = tempfile::tempdir().unwrap();
        let files = KernelFiles::new(directory.path(), "k");
        assert_eq!(standing(&files, &fingerprint("4")), Standing::Absent);
        std::fs::write(files.object(), b"object").unwrap();
        assert!(matches!(standing(&files, &fingerprint("4")), Standing::Outdated(_)));
        std::fs::write(files.json(), b"json").unwrap();
        std::fs::write(files.manifest(), manifest().to_bytes()).unwrap();
        assert_eq!(standing(&files, &fingerprint("4")), Standing::UpToDate);
        let reasons = vec!["options: split-mode was `4`, is `2`".to_owned()];
        assert_eq!(standing(&files, &fingerprint("2")), Standing::Outdated(reasons));
        std::fs::write(files.object(), b"tampered").unwrap();
        let reasons = vec![format!("`{}` was changed after it was built", files.object().display())];
        assert_eq!(standing(&files, &fingerprint("4")), Standing::Outdated(reasons));
        std::fs::remove_file(files.json()).unwrap();
        let Standing::Outdated(reasons) = standing(&files, &fingerprint("4")) else { panic!() };
        assert_eq!(reasons[0], format!("`{}` is gone", files.json().display()));
    }
}
