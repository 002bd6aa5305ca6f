//! Reading JSON documents: every value with a path that errors can show.
//!
//! All documents of this package are read through here, whoever wrote them, so that a fault in any of them is told
//! the same way: which document, which file, where in it, what was expected there, what to do.

use std::ffi::OsString;
use std::fmt;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::diagnostic::{Advice, Diagnostic, advice};
use crate::fs::{self, FileError};
use crate::store::digest::ContentDigest;

/// The documents this package reads. What can be done about a damaged one depends on who wrote it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Document {
    /// The argument of `compile`.
    #[default]
    KernelInfos,
    /// What an operator's compiler says about a sub-kernel.
    SubKernel,
    /// The description of a super kernel.
    Result,
    /// The record of a build.
    Manifest,
    /// The record inside a reproducer.
    Reproducer,
}

impl Document {
    fn name(self) -> &'static str {
        match self {
            Self::KernelInfos => "`kernel_infos`",
            Self::SubKernel => "the sub-kernel's JSON",
            Self::Result => "the super kernel's JSON",
            Self::Manifest => "the build record",
            Self::Reproducer => "the reproducer's record",
        }
    }

    /// What to do about a file that is not such a document at all.
    fn replace(self) -> &'static str {
        match self {
            Self::KernelInfos => "write the op list again",
            Self::SubKernel => "compile the sub-kernel again; its JSON is damaged",
            Self::Result => "pass the JSON of a super kernel, or build it again",
            Self::Manifest => "build the kernel again",
            Self::Reproducer => "make it again with --save-reproducer",
        }
    }
}

/// Where a value stands: `op_list[3].json_path → sub_operator_params[0]`, and in which file.
///
/// The arrow leads from the entry that names the file into the file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JsonPath {
    document: Document,
    text: String,
    file: Option<Arc<Path>>,
}

impl JsonPath {
    /// The top of a document that no other document names.
    pub(crate) fn top(document: Document) -> Self {
        Self { document, ..Self::default() }
    }

    /// The path of a key below this one.
    pub(crate) fn key(&self, key: &str) -> Self {
        let shown: String = key.chars().take(80).collect();
        match self.text.as_str() {
            "" => self.with_text(shown),
            path if path.ends_with("→ ") => self.with_text(format!("{path}{shown}")),
            path => self.with_text(format!("{path}.{shown}")),
        }
    }

    /// The path of an element below this one.
    pub(crate) fn element(&self, index: usize) -> Self {
        self.with_text(format!("{}[{index}]", self.text))
    }

    /// The path of the top of `file`, a `document` that this value names.
    pub(crate) fn inside(&self, document: Document, file: &Path) -> Self {
        let text = if self.text.is_empty() { String::new() } else { format!("{} → ", self.text) };
        Self { document, text, file: Some(file.into()) }
    }

    fn with_text(&self, text: String) -> Self {
        Self { text, ..self.clone() }
    }
}

impl fmt::Display for JsonPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.text.is_empty() {
            formatter.write_str(self.document.name())?;
        } else {
            write!(formatter, "`{}`", self.text.trim_end())?;
        }
        match &self.file {
            Some(file) => write!(formatter, " in `{}`", file.display()),
            None => Ok(()),
        }
    }
}

/// What is wrong with a document.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the fields are what the messages print")]
pub enum JsonError {
    #[error("{place}: {source}")]
    File { place: JsonPath, source: FileError },
    #[error("{place}: `{}` is not a regular file", path.display())]
    NotAFile { place: JsonPath, document: Document, path: PathBuf },
    #[error("{place}: `{}` is not valid JSON: {problem}", path.display())]
    Malformed { place: JsonPath, document: Document, path: PathBuf, problem: String },
    #[error("{place}: expected {expected}, found {found}")]
    WrongType { place: JsonPath, expected: &'static str, found: String },
    #[error("{place}: the key is missing")]
    MissingKey { place: JsonPath },
}

impl Diagnostic for JsonError {
    fn advice(&self) -> Advice {
        let given = |document: Document| match document {
            Document::KernelInfos | Document::SubKernel => true,
            Document::Result | Document::Manifest | Document::Reproducer => false,
        };
        match self {
            Self::File { source, .. } => advice("SK0201", source.solution()),
            Self::NotAFile { document: Document::SubKernel, .. } => {
                advice("SK0201", "give the path of the sub-kernel's JSON file")
            }
            Self::NotAFile { document, .. } => advice("SK0201", document.replace()),
            Self::Malformed { document, .. } => advice("SK0202", document.replace()),
            Self::WrongType { place, expected, .. } if given(place.document) => {
                advice("SK0203", format!("write {expected} there"))
            }
            Self::WrongType { place, .. } => advice("SK0203", place.document.replace()),
            Self::MissingKey { place } if given(place.document) => {
                advice("SK0204", "compile the sub-kernel for super-kernel use, with a compiler that writes this key")
            }
            Self::MissingKey { place } => advice("SK0204", place.document.replace()),
        }
    }
}

/// A value and where it stands.
#[derive(Debug, Clone)]
pub(crate) struct Node<'a> {
    pub value: &'a Value,
    pub path: JsonPath,
}

impl<'a> Node<'a> {
    pub(crate) fn root(value: &'a Value, path: JsonPath) -> Self {
        Self { value, path }
    }

    /// The value under `key`; `None` if it is absent or null.
    pub(crate) fn optional(&self, key: &str) -> Result<Option<Node<'a>>, JsonError> {
        let value = self.object()?.get(key).filter(|value| !value.is_null());
        Ok(value.map(|value| Node { value, path: self.path.key(key) }))
    }

    /// The value under `key`.
    pub(crate) fn required(&self, key: &str) -> Result<Node<'a>, JsonError> {
        match self.object()?.get(key) {
            Some(value) => Ok(Node { value, path: self.path.key(key) }),
            None => Err(JsonError::MissingKey { place: self.path.key(key) }),
        }
    }

    pub(crate) fn object(&self) -> Result<&'a Map<String, Value>, JsonError> {
        self.value.as_object().ok_or_else(|| self.wrong_type("an object"))
    }

    pub(crate) fn elements(&self) -> Result<impl Iterator<Item = Node<'a>> + use<'a>, JsonError> {
        let path = self.path.clone();
        let array = self.value.as_array().ok_or_else(|| self.wrong_type("a list"))?;
        Ok(array.iter().enumerate().map(move |(index, value)| Node { value, path: path.element(index) }))
    }

    pub(crate) fn string(&self) -> Result<&'a str, JsonError> {
        self.value.as_str().ok_or_else(|| self.wrong_type("a string"))
    }

    pub(crate) fn non_empty_string(&self) -> Result<&'a str, JsonError> {
        Some(self.string()?).filter(|text| !text.is_empty()).ok_or_else(|| self.wrong_type("a non-empty string"))
    }

    /// A file name: text, or its bytes where they are no text.
    pub(crate) fn file_path(&self) -> Result<PathBuf, JsonError> {
        let Value::Array(items) = self.value else { return self.non_empty_string().map(PathBuf::from) };
        let byte = |item: &Value| item.as_u64().and_then(|number| u8::try_from(number).ok());
        let bytes: Option<Vec<u8>> = items.iter().map(byte).collect();
        let bytes = bytes.filter(|bytes| !bytes.is_empty() && !bytes.contains(&0));
        bytes.map(|bytes| PathBuf::from(OsString::from_vec(bytes))).ok_or_else(|| self.wrong_type("a non-empty string"))
    }

    pub(crate) fn boolean(&self) -> Result<bool, JsonError> {
        self.value.as_bool().ok_or_else(|| self.wrong_type("true or false"))
    }

    pub(crate) fn integer(&self) -> Result<i64, JsonError> {
        self.value.as_i64().ok_or_else(|| self.wrong_type("a 64-bit integer"))
    }

    /// A number that fits 32 bits.
    pub(crate) fn count32(&self) -> Result<u32, JsonError> {
        let number = self.value.as_u64().and_then(|number| u32::try_from(number).ok());
        number.ok_or_else(|| self.wrong_type("a whole number from 0 up, below 2^32"))
    }

    pub(crate) fn count(&self) -> Result<u64, JsonError> {
        self.value.as_u64().ok_or_else(|| self.wrong_type("a whole number from 0 up"))
    }

    /// A boolean that may be absent: then false.
    pub(crate) fn flag(&self, key: &str) -> Result<bool, JsonError> {
        self.optional(key)?.map_or(Ok(false), |node| node.boolean())
    }

    pub(crate) fn wrong_type(&self, expected: &'static str) -> JsonError {
        JsonError::WrongType { place: self.path.clone(), expected, found: describe(self.value) }
    }
}

/// A value in a few words.
fn describe(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) if text.chars().count() <= 40 => format!("the string {text:?}"),
        Value::String(_) => "a long string".to_owned(),
        Value::Array(items) => format!("a list of {}", items.len()),
        Value::Object(entries) => format!("an object with {} keys", entries.len()),
    }
}

/// A document as it came from its file.
#[derive(Debug)]
pub(crate) struct JsonFile {
    /// Its content.
    pub value: Value,
    /// The path of its top.
    pub top: JsonPath,
    /// What identifies its content.
    pub digest: ContentDigest,
}

impl JsonFile {
    /// Reads and parses the file of a `document` that `place` names.
    pub(crate) fn read(document: Document, path: &Path, place: &JsonPath) -> Result<Self, JsonError> {
        let bytes = fs::read(path).map_err(|source| match source.is_not_regular() {
            true => JsonError::NotAFile { place: place.clone(), document, path: path.to_path_buf() },
            false => JsonError::File { place: place.clone(), source },
        })?;
        let value = serde_json::from_slice(&bytes).map_err(|error| JsonError::Malformed {
            place: place.clone(),
            document,
            path: path.to_path_buf(),
            problem: error.to_string(),
        })?;
        Ok(Self { value, top: place.inside(document, path), digest: ContentDigest::of(&bytes) })
    }

    /// Its top.
    pub(crate) fn root(&self) -> Node<'_> {
        Node::root(&self.value, self.top.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_from_the_entry_into_the_file() {
        let entry = JsonPath::default().key("op_list").element(3).key("json_path");
        assert_eq!(entry.to_string(), "`op_list[3].json_path`");
        let top = entry.inside(Document::SubKernel, Path::new("k.json"));
        assert_eq!(top.to_string(), "`op_list[3].json_path →` in `k.json`");
        let inside = top.key("sub_operator_params").element(0);
        assert_eq!(inside.to_string(), "`op_list[3].json_path → sub_operator_params[0]` in `k.json`");
    }

    #[test]
    fn a_document_of_its_own_is_called_by_its_name() {
        let place = JsonPath::top(Document::Result);
        assert_eq!(place.to_string(), "the super kernel's JSON");
        let top = place.inside(Document::Result, Path::new("k.json"));
        assert_eq!(top.to_string(), "the super kernel's JSON in `k.json`");
        assert_eq!(top.key("blockDim").to_string(), "`blockDim` in `k.json`");
    }
}
