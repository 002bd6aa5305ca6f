//! The record inside a reproducer: a call, the machine it ran on, and what came of it. Written and read here.
//!
//! A reproducer may come from anywhere. Unless its sender is trusted, nothing is taken from it that could name a file
//! or a program of this machine: its paths are those of its own files, its settings those that decide about the
//! result, its `compile-options` macros, warnings and levels.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::error::BuildError;
use super::manifest::Call;
use crate::arguments::{Argument, arguments};
use crate::environment::Setting;
use crate::environment::table::Role;
use crate::json::{Document, JsonError, JsonFile, JsonPath, Node};
use crate::model;
use crate::options::{self, OptionName, Separator};
use crate::shortened::Shortened;
use crate::store::digest::ContentDigest;

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
    /// What was not taken from the record, in words.
    pub dropped: Vec<String>,
}

/// May a record name files and programs of this machine?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trust {
    /// No: it may come from anywhere.
    Nobody,
    /// Yes: its sender is trusted like the user.
    Sender,
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

    /// Of all that the build depended on and how it ended, not of times and of this machine: a repeated build has the
    /// same one. The paths in the call name the files by their contents.
    pub(crate) fn digest(&self) -> ContentDigest {
        let ended = match &self.result {
            Recorded::Built { .. } => "built",
            Recorded::Failed { id, .. } => id,
            Recorded::Nothing => "stopped",
        };
        let all = json!([self.name, self.call.settings, self.call.kernel_infos, ended]);
        ContentDigest::of(all.to_string().as_bytes())
    }

    /// Reads the `record` of the reproducer `path`, whose files were unpacked beside it.
    pub(crate) fn read(path: &Path, record: &Path, trust: Trust) -> Result<Self, BuildError> {
        let broken = |error| BuildError::Reproducer { path: path.to_path_buf(), source: Box::new(error) };
        let file = JsonFile::read(Document::Reproducer, record, &JsonPath::top(Document::Reproducer));
        let mut read = file.and_then(|file| Self::from_node(&file.root())).map_err(broken)?;
        let mut dropped = Vec::new();
        read.call.settings.retain(|name, _| {
            let taken = Setting::from_name(name).is_some_and(|setting| match (setting.role, trust) {
                (Role::Result, _) | (Role::Machine, Trust::Sender) => true,
                (Role::Machine, Trust::Nobody) => false,
            });
            if !taken {
                dropped.push(format!("setting `{}`", Shortened(name)));
            }
            taken
        });
        let folder = record.parent().unwrap_or(Path::new(""));
        read.call.kernel_infos = model::with_paths(&read.call.kernel_infos, |inside| {
            let place = match trust {
                Trust::Sender => folder.join(inside),
                Trust::Nobody if is_inside(inside) => folder.join(inside),
                Trust::Nobody => {
                    dropped.push(format!("path `{}`", Shortened(inside)));
                    folder.join("missing/elsewhere")
                }
            };
            place.to_string_lossy().into_owned()
        });
        match trust {
            Trust::Sender => {}
            Trust::Nobody => dropped.extend(drop_options(&mut read.call.kernel_infos)),
        }
        read.dropped = dropped;
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
            dropped: Vec::new(),
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

/// Is it the path of a file of the reproducer, or of one that was missing?
fn is_inside(path: &str) -> bool {
    match path.split_once('/') {
        Some(("files" | "missing", name)) => !name.is_empty() && name != "." && name != ".." && !name.contains('/'),
        Some(_) | None => false,
    }
}

/// Takes out of `compile-options` what could name a file or a program; what it was. Options that cannot be read stay:
/// the build refuses them before anything is started.
fn drop_options(kernel_infos: &mut Value) -> Vec<String> {
    let Some(Value::String(text)) = kernel_infos.get_mut("super_kernel_options") else { return Vec::new() };
    let Ok(options) = options::parse(text, Separator::Hyphen) else { return Vec::new() };
    let (kept, dropped): (Vec<Argument<'_>>, Vec<Argument<'_>>) =
        arguments(&options.compile_options).partition(|argument| argument.is_harmless());
    let given = options.given.iter().find(|given| given.name == OptionName::CompileOptions);
    if let (Some(given), false) = (given, dropped.is_empty()) {
        let words: Vec<&str> = kept.iter().flat_map(|argument| argument.words()).map(String::as_str).collect();
        let instead = if words.is_empty() { String::new() } else { format!("{}={}", given.name, words.join(",")) };
        text.replace_range(given.span.clone(), &instead);
    }
    dropped.iter().map(|argument| format!("compile option `{}`", Shortened(&argument.words().join(" ")))).collect()
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
            dropped: Vec::new(),
        }
    }

    fn read(value: &Value) -> Result<(tempfile::TempDir, Reproducer), BuildError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("record.json");
        std::fs::write(&path, value.to_string()).unwrap();
        Reproducer::read(Path::new("x.tar"), &path, Trust::Nobody).map(|read| (folder, read))
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
    fn the_digest_is_that_of_the_question_and_of_the_kind_of_answer() {
        let built = |report: Value| reproducer(Recorded::Built { report, object: "ab".to_owned() });
        let digest = built(json!({"timings_ms": 1})).digest().to_string();
        assert_eq!(built(json!({"timings_ms": 2})).digest().to_string(), digest);
        let mut others = vec![reproducer(Recorded::Nothing), built(json!({})), built(json!({})), built(json!({}))];
        others.push(reproducer(Recorded::Failed { id: "SK0203".to_owned(), error: Map::new() }));
        others[1].name = "l".to_owned();
        others[2].call.kernel_infos["super_kernel_options"] = json!("split-mode=1");
        others[3].call.settings["soc"] = json!("Ascend910B");
        for other in others {
            assert_ne!(other.digest().to_string(), digest, "{other:?}");
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

    #[test]
    fn nothing_that_names_a_file_or_a_program_is_taken() {
        let mut record = reproducer(Recorded::Nothing).to_json();
        record["settings"] = json!({"soc": "Ascend950", "cache_dir": "/", "kernel_meta_parent_dir": "/", "other": 1});
        let paths = ["files/a.o", "/etc/passwd", "files/../x", "files/..", "../x", "files//x", "files/", ""];
        let ops: Vec<Value> = paths.iter().map(|path| json!({"bin_path": path})).collect();
        let options = "split-mode=1:compile-options=-DX=1,-D,@f,-fplugin=x.so,-O2:profiling=0";
        record["kernel_infos"] = json!({"op_list": ops, "super_kernel_options": options});
        let (folder, read) = read(&record).unwrap();
        assert_eq!(read.call.settings.keys().collect::<Vec<_>>(), ["soc"]);
        let infos = &read.call.kernel_infos;
        assert_eq!(infos["super_kernel_options"], "split-mode=1:compile-options=-DX=1,-O2:profiling=0");
        assert_eq!(infos["op_list"][0]["bin_path"], json!(folder.path().join("files/a.o")));
        for op in &infos["op_list"].as_array().unwrap()[1..] {
            assert_eq!(op["bin_path"], json!(folder.path().join("missing/elsewhere")));
        }
        assert_eq!(read.dropped.len(), 3 + 7 + 2, "{:?}", read.dropped);
        for expected in ["setting `cache_dir`", "path `/etc/passwd`", "compile option `-D @f`", "`-fplugin=x.so`"] {
            assert!(read.dropped.iter().any(|text| text.contains(expected)), "{expected}: {:?}", read.dropped);
        }
        let path = folder.path().join("record.json");
        let trusted = Reproducer::read(Path::new("x.tar"), &path, Trust::Sender).unwrap();
        assert_eq!(trusted.dropped, ["setting `other`"]);
        assert_eq!(trusted.call.kernel_infos["super_kernel_options"], options);
        assert_eq!(trusted.call.kernel_infos["op_list"][1]["bin_path"], "/etc/passwd");
    }
}
