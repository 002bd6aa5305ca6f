//! What a kernel was made from, stored beside it: decides whether it can stay. Written and read here.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::check::Sizes;
use super::files::KernelFiles;
use super::fingerprint::Fingerprint;
use super::stamped::Stamped;
use crate::fs;
use crate::json::{Document, JsonError, JsonFile, JsonPath, Node};
use crate::model::{OpIndex, Slot, SlotRole};
use crate::store::digest::ContentDigest;

/// Format of the file.
const VERSION: u64 = 2;
/// Beside the settings of a call: its argument.
const KERNEL_INFOS: &str = "kernel_infos";

/// The record of one build.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Manifest {
    /// Everything the result depends on.
    pub fingerprint: Fingerprint,
    /// Digest of the object.
    pub object: String,
    /// Digest of the description.
    pub json: String,
    /// What no decision depends on.
    pub notes: Notes,
}

/// What is noted beside the facts that decide.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Notes {
    /// Why it was built.
    pub because: Vec<String>,
    /// Its parameters: a slot's number is its place here.
    pub parameters: Vec<Slot>,
    /// Sizes of the result; absent for one taken from the cache.
    pub sizes: Option<Sizes>,
    /// Milliseconds per stage.
    pub timings: Value,
    /// Every command that ran.
    pub commands: Vec<String>,
    /// The call, so that it can be repeated.
    pub call: Call,
}

/// A call of `compile` in a form that can be repeated later and from elsewhere.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Call {
    /// The op list and the options; paths are absolute.
    pub kernel_infos: Value,
    /// The settings that decide about the result, as `configure` takes them.
    pub settings: Map<String, Value>,
}

// -- writing ----------------------------------------------------------------------------------------------------------

impl Manifest {
    /// The record of a finished kernel.
    pub(crate) fn new(fingerprint: Fingerprint, object: ContentDigest, json: &[u8], notes: Notes) -> Self {
        let (object, json) = (object.to_string(), ContentDigest::of(json).to_string());
        Self { fingerprint, object, json, notes }
    }

    /// As bytes of the file; a stamp stands in its first line, where it is found without reading the rest.
    pub(super) fn to_bytes(&self, stamp: Option<&Stamped>) -> Vec<u8> {
        let notes = &self.notes;
        let slot = |(number, slot): (usize, &Slot)| json!({"slot": number, "name": slot.name, "op": slot.op, "role": slot.role.as_str()});
        let file = json!({
            "version": VERSION,
            "digest": self.fingerprint.digest().to_string(),
            "result": {"object_sha256": self.object, "json_sha256": self.json},
            "parts": self.fingerprint.parts(),
            "because": notes.because,
            "parameters": notes.parameters.iter().enumerate().map(slot).collect::<Vec<_>>(),
            "sizes": notes.sizes,
            "timings_ms": notes.timings,
            "commands": notes.commands,
            "inputs": notes.call.to_json(),
        });
        let mut bytes = serde_json::to_vec_pretty(&file).expect("a JSON value can be written");
        bytes.push(b'\n');
        match stamp {
            None => bytes,
            Some(stamp) => stamp.put_into(&bytes),
        }
    }
}

impl Call {
    fn to_json(&self) -> Value {
        let mut call = Map::new();
        call.insert(KERNEL_INFOS.to_owned(), self.kernel_infos.clone());
        call.extend(self.settings.clone());
        Value::Object(call)
    }
}

// -- reading ----------------------------------------------------------------------------------------------------------

impl Manifest {
    /// The record of `files`.
    pub(crate) fn read(files: &KernelFiles) -> Result<Self, JsonError> {
        Self::read_file(&files.manifest())
    }

    /// The record in a file.
    pub(crate) fn read_file(path: &Path) -> Result<Self, JsonError> {
        let file = JsonFile::read(Document::Manifest, path, &JsonPath::top(Document::Manifest))?;
        Self::from_node(&file.root())
    }

    fn from_node(json: &Node<'_>) -> Result<Self, JsonError> {
        let version = json.required("version")?;
        if version.count()? != VERSION {
            return Err(version.wrong_type("the format of this version of the package, 2"));
        }
        let parts = json.required("parts")?;
        let fingerprint = Fingerprint::from_json(parts.value.clone()).ok_or_else(|| parts.wrong_type("an object"))?;
        let result = json.required("result")?;
        let digest = |key: &str| Ok(result.required(key)?.string()?.to_owned());
        Ok(Self {
            fingerprint,
            object: digest("object_sha256")?,
            json: digest("json_sha256")?,
            notes: Notes {
                because: strings(&json.required("because")?)?,
                parameters: json
                    .required("parameters")?
                    .elements()?
                    .map(|slot| read_slot(&slot))
                    .collect::<Result<_, _>>()?,
                sizes: json.optional("sizes")?.map(|sizes| Sizes::read(&sizes)).transpose()?,
                timings: Value::Object(json.required("timings_ms")?.object()?.clone()),
                commands: strings(&json.required("commands")?)?,
                call: Call::read(&json.required("inputs")?)?,
            },
        })
    }
}

fn strings(list: &Node<'_>) -> Result<Vec<String>, JsonError> {
    list.elements()?.map(|text| text.string().map(str::to_owned)).collect()
}

fn read_slot(json: &Node<'_>) -> Result<Slot, JsonError> {
    let role = json.required("role")?;
    Ok(Slot {
        name: json.required("name")?.string()?.into(),
        op: json.optional("op")?.map(|op| op.count32()).transpose()?.map(|op| OpIndex(op as usize)),
        role: SlotRole::from_name(role.string()?).ok_or_else(|| role.wrong_type("what a slot can be for"))?,
    })
}

impl Call {
    fn read(json: &Node<'_>) -> Result<Self, JsonError> {
        let kernel_infos = json.required(KERNEL_INFOS)?.value.clone();
        let mut settings = json.object()?.clone();
        settings.shift_remove(KERNEL_INFOS);
        Ok(Self { kernel_infos, settings })
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
pub(crate) fn standing(files: &KernelFiles, fingerprint: &Fingerprint) -> Standing {
    let Ok(manifest) = Manifest::read(files) else {
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
    match fs::read(path) {
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
        let slot = |name: &str, op, role| Slot { name: name.into(), op, role };
        let notes = Notes {
            because: vec!["split-mode".to_owned()],
            parameters: vec![
                slot("ffts_addr", None, SlotRole::FftsAddress),
                slot("x_3", Some(OpIndex(3)), SlotRole::Parameter),
            ],
            sizes: Some(Sizes { file: 3, code: 2, symbols: 1, block_local: 0 }),
            timings: json!({"total": 1.5}),
            commands: vec!["ld".to_owned()],
            call: Call {
                kernel_infos: json!({"op_list": []}),
                settings: Map::from_iter([("soc".to_owned(), json!("Ascend950"))]),
            },
        };
        Manifest::new(fingerprint("4"), ContentDigest::of(b"object"), b"json", notes)
    }

    fn parse(bytes: &[u8]) -> Result<Manifest, JsonError> {
        let folder = tempfile::tempdir().unwrap();
        let files = KernelFiles::new(folder.path(), "k");
        std::fs::write(files.manifest(), bytes).unwrap();
        Manifest::read(&files)
    }

    #[test]
    fn reading_gives_what_was_written() {
        let written = manifest();
        assert_eq!(parse(&written.to_bytes(None)).unwrap(), written);
    }

    #[test]
    fn every_missing_key_and_every_other_version_is_told() {
        let whole: Value = serde_json::from_slice(&manifest().to_bytes(None)).unwrap();
        for key in whole.as_object().unwrap().keys().filter(|key| !["digest", "sizes"].contains(&key.as_str())) {
            let mut value = whole.clone();
            value.as_object_mut().unwrap().shift_remove(key);
            let error = parse(value.to_string().as_bytes()).unwrap_err().to_string();
            assert!(error.contains(key) && error.contains("k.manifest.json"), "{error}");
        }
        let mut value = whole;
        value["version"] = json!(1);
        assert!(parse(value.to_string().as_bytes()).unwrap_err().to_string().contains("`version`"));
        assert!(parse(b"not json").is_err());
    }

    #[test]
    fn roles_print_as_they_are_read() {
        for role in SlotRole::ALL {
            assert_eq!(SlotRole::from_name(role.as_str()), Some(role));
        }
    }

    #[test]
    fn every_way_to_be_outdated_is_told() {
        let directory = tempfile::tempdir().unwrap();
        let files = KernelFiles::new(directory.path(), "k");
        assert_eq!(standing(&files, &fingerprint("4")), Standing::Absent);
        std::fs::write(files.object(), b"object").unwrap();
        assert!(matches!(standing(&files, &fingerprint("4")), Standing::Outdated(_)));
        std::fs::write(files.json(), b"json").unwrap();
        std::fs::write(files.manifest(), manifest().to_bytes(None)).unwrap();
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
