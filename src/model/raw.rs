//! JSON exactly as given, read with a path that every error can show.

use std::ffi::OsString;
use std::fmt;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value};

use super::ModelError;
use crate::fs;
use crate::store::digest::ContentDigest;

/// Where a value stands: `op_list[3].json_path → sub_operator_params[0]`, and in which file.
///
/// The arrow leads from the entry that names the file into the file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JsonPath {
    text: String,
    file: Option<Arc<Path>>,
}

impl JsonPath {
    /// The path of a key below this one.
    pub fn key(&self, key: &str) -> Self {
        let shown: String = key.chars().take(80).collect();
        match self.text.as_str() {
            "" => self.with_text(shown),
            path if path.ends_with("→ ") => self.with_text(format!("{path}{shown}")),
            path => self.with_text(format!("{path}.{shown}")),
        }
    }

    /// The path of an element below this one.
    pub fn element(&self, index: usize) -> Self {
        self.with_text(format!("{}[{index}]", self.text))
    }

    /// The path of the top of `file`, which this value names.
    pub fn inside(&self, file: &Path) -> Self {
        Self { text: format!("{} → ", self.text), file: Some(file.into()) }
    }

    fn with_text(&self, text: String) -> Self {
        Self { text, file: self.file.clone() }
    }
}

impl fmt::Display for JsonPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.text.is_empty() {
            formatter.write_str("`kernel_infos`")?;
        } else {
            write!(formatter, "`{}`", self.text.trim_end())?;
        }
        match &self.file {
            Some(file) => write!(formatter, " in `{}`", file.display()),
            None => Ok(()),
        }
    }
}

/// A value and where it stands.
#[derive(Debug, Clone)]
pub(super) struct Node<'a> {
    pub value: &'a Value,
    pub path: JsonPath,
}

impl<'a> Node<'a> {
    pub fn root(value: &'a Value, path: JsonPath) -> Self {
        Self { value, path }
    }

    /// The value under `key`; `None` if it is absent or null.
    pub fn optional(&self, key: &str) -> Result<Option<Node<'a>>, ModelError> {
        let value = self.object()?.get(key).filter(|value| !value.is_null());
        Ok(value.map(|value| Node { value, path: self.path.key(key) }))
    }

    /// The value under `key`.
    pub fn required(&self, key: &str) -> Result<Node<'a>, ModelError> {
        match self.object()?.get(key) {
            Some(value) => Ok(Node { value, path: self.path.key(key) }),
            None => Err(ModelError::MissingKey { place: self.path.key(key) }),
        }
    }

    pub fn object(&self) -> Result<&'a Map<String, Value>, ModelError> {
        self.value.as_object().ok_or_else(|| self.wrong_type("an object"))
    }

    pub fn elements(&self) -> Result<impl Iterator<Item = Node<'a>> + use<'a>, ModelError> {
        let path = self.path.clone();
        let array = self.value.as_array().ok_or_else(|| self.wrong_type("a list"))?;
        Ok(array.iter().enumerate().map(move |(index, value)| Node { value, path: path.element(index) }))
    }

    pub fn string(&self) -> Result<&'a str, ModelError> {
        self.value.as_str().ok_or_else(|| self.wrong_type("a string"))
    }

    pub fn non_empty_string(&self) -> Result<&'a str, ModelError> {
        Some(self.string()?).filter(|text| !text.is_empty()).ok_or_else(|| self.wrong_type("a non-empty string"))
    }

    /// A file name: text, or its bytes where they are no text.
    pub fn file_path(&self) -> Result<PathBuf, ModelError> {
        let Value::Array(items) = self.value else { return self.non_empty_string().map(PathBuf::from) };
        let byte = |item: &Value| item.as_u64().and_then(|number| u8::try_from(number).ok());
        let bytes: Option<Vec<u8>> = items.iter().map(byte).collect();
        let bytes = bytes.filter(|bytes| !bytes.is_empty() && !bytes.contains(&0));
        bytes.map(|bytes| PathBuf::from(OsString::from_vec(bytes))).ok_or_else(|| self.wrong_type("a non-empty string"))
    }

    pub fn boolean(&self) -> Result<bool, ModelError> {
        self.value.as_bool().ok_or_else(|| self.wrong_type("true or false"))
    }

    pub fn integer(&self) -> Result<i64, ModelError> {
        self.value.as_i64().ok_or_else(|| self.wrong_type("a 64-bit integer"))
    }

    pub fn count(&self) -> Result<u64, ModelError> {
        self.value.as_u64().ok_or_else(|| self.wrong_type("a whole number from 0 up"))
    }

    /// A boolean that may be absent: then false.
    pub fn flag(&self, key: &str) -> Result<bool, ModelError> {
        self.optional(key)?.map_or(Ok(false), |node| node.boolean())
    }

    pub fn wrong_type(&self, expected: &'static str) -> ModelError {
        ModelError::WrongType { place: self.path.clone(), expected, found: describe(self.value) }
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

/// Reads and parses a JSON file that `place` names; also what identifies its content.
pub(super) fn read_json(path: &Path, place: &JsonPath) -> Result<(Value, ContentDigest), ModelError> {
    if fs::is_special(path) {
        return Err(ModelError::NotAFile { place: place.clone(), path: path.to_path_buf() });
    }
    let bytes = fs::read(path).map_err(|source| ModelError::File { place: place.clone(), source })?;
    let value = serde_json::from_slice(&bytes).map_err(|error| ModelError::MalformedJson {
        place: place.clone(),
        path: path.to_path_buf(),
        problem: error.to_string(),
    })?;
    Ok((value, ContentDigest::of(&bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_from_the_entry_into_the_file() {
        let entry = JsonPath::default().key("op_list").element(3).key("json_path");
        assert_eq!(entry.to_string(), "`op_list[3].json_path`");
        let top = entry.inside(Path::new("k.json"));
        assert_eq!(top.to_string(), "`op_list[3].json_path →` in `k.json`");
        let inside = top.key("sub_operator_params").element(0);
        assert_eq!(inside.to_string(), "`op_list[3].json_path → sub_operator_params[0]` in `k.json`");
    }
}
