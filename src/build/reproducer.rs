//! The record inside a reproducer: a call, the machine it ran on, and what came of it. Written and read here.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::error::BuildError;
use super::manifest::Call;
use crate::json::{Document, JsonError, JsonFile, JsonPath, Node};
use crate::model;

/// Format of the record.
const FORMAT: u64 = 1;

/// A build that can be repeated.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reproducer {
    /// The kernel's name.
    pub name: String,
    /// The call; its paths are inside the reproducer.
    pub call: Call,
    /// Facts about the machine, for people.
    pub machine: Map<String, Value>,
    /// What came of it.
    pub result: Recorded,
}

/// What came of a recorded build.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Recorded {
    /// A kernel.
    Built {
        /// The report, for people.
        report: Value,
        /// Digest of its object.
        object: String,
    },
    /// An error.
    Failed {
        /// Its id.
        id: String,
        /// The rest of it, for people.
        error: Map<String, Value>,
    },
    /// It was stopped.
    Nothing,
}

impl Reproducer {
    /// The document.
    pub(crate) fn to_json(&self) -> Value {
        let (result, object) = match &self.result {
            Recorded::Built { report, object } => (json!({"report": report}), Some(object)),
            Recorded::Failed { error, .. } => (json!({"error": error}), None),
            Recorded::Nothing => (json!({}), None),
        };
        json!({
            "format": FORMAT,
            "package": env!("CARGO_PKG_VERSION"),
            "name": self.name,
            "settings": self.call.settings,
            "kernel_infos": self.call.kernel_infos,
            "machine": self.machine,
            "result": result,
            "object_sha256": object,
        })
    }

    /// Reads the `record` of the reproducer `path`, whose files were unpacked beside it.
    pub(crate) fn read(path: &Path, record: &Path) -> Result<Self, BuildError> {
        let broken = |error| BuildError::Reproducer { path: path.to_path_buf(), source: Box::new(error) };
        let file = JsonFile::read(Document::Reproducer, record, &JsonPath::top(Document::Reproducer));
        let mut read = file.and_then(|file| Self::from_node(&file.root())).map_err(broken)?;
        let folder = record.parent().unwrap_or(Path::new(""));
        let unpacked = |inside: &str| folder.join(inside).to_string_lossy().into_owned();
        read.call.kernel_infos = model::with_paths(&read.call.kernel_infos, unpacked);
        Ok(read)
    }

    fn from_node(json: &Node<'_>) -> Result<Self, JsonError> {
        let format = json.required("format")?;
        if format.count()? != FORMAT {
            return Err(format.wrong_type("the format that this version reads, 1"));
        }
        let result = json.required("result")?;
        Ok(Self {
            name: json.required("name")?.string()?.to_owned(),
            call: Call {
                kernel_infos: json.required("kernel_infos")?.value.clone(),
                settings: json.required("settings")?.object()?.clone(),
            },
            machine: json.optional("machine")?.map_or(Ok(Map::new()), |node| node.object().cloned())?,
            result: match (result.optional("report")?, result.optional("error")?) {
                (Some(report), _) => Recorded::Built {
                    report: report.value.clone(),
                    object: json.required("object_sha256")?.string()?.to_owned(),
                },
                (None, Some(error)) => Recorded::Failed {
                    id: error.required("errId")?.string()?.to_owned(),
                    error: error.object()?.clone(),
                },
                (None, None) => Recorded::Nothing,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reproducer(result: Recorded) -> Reproducer {
        Reproducer {
            name: "k".to_owned(),
            call: Call {
                kernel_infos: json!({"op_list": [{"json_path": "files/a.json"}]}),
                settings: Map::from_iter([("soc".to_owned(), json!("Ascend950"))]),
            },
            machine: Map::from_iter([("system".to_owned(), json!("Linux"))]),
            result,
        }
    }

    fn read(value: &Value) -> Result<(tempfile::TempDir, Reproducer), BuildError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("record.json");
        std::fs::write(&path, value.to_string()).unwrap();
        Reproducer::read(Path::new("x.tar"), &path).map(|read| (folder, read))
    }

    #[test]
    fn reading_gives_what_was_written_with_unpacked_paths() {
        let error = Map::from_iter([("errId".to_owned(), json!("SK0203"))]);
        for result in [
            Recorded::Built { report: json!({"ops": 1}), object: "ab".to_owned() },
            Recorded::Failed { id: "SK0203".to_owned(), error },
            Recorded::Nothing,
        ] {
            let mut written = reproducer(result);
            let (folder, found) = read(&written.to_json()).unwrap();
            let unpacked = folder.path().join("files/a.json");
            written.call.kernel_infos["op_list"][0]["json_path"] = json!(unpacked);
            assert_eq!(found, written);
        }
    }

    #[test]
    fn a_damaged_record_is_told_with_its_place() {
        let whole = reproducer(Recorded::Built { report: json!({}), object: "ab".to_owned() }).to_json();
        for key in ["format", "name", "settings", "kernel_infos", "result", "object_sha256"] {
            let mut value = whole.clone();
            value.as_object_mut().unwrap().shift_remove(key);
            let error = read(&value).unwrap_err().to_string();
            assert!(error.contains("x.tar") && error.contains(key), "{error}");
        }
        for value in [json!(null), json!([1]), json!({"format": 2}), json!({"format": "1"})] {
            assert!(read(&value).is_err());
        }
    }
}
