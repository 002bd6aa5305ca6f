//! Files: a private place to work in, and results that appear whole or not at all.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::hex;
use super::request::{OpRequest, Source};
use crate::fs::FileError;
use crate::json::{Document, JsonPath};
use crate::model::SubKernelFile;

/// A private directory, removed with everything in it when dropped.
pub struct WorkDir(PathBuf);

impl WorkDir {
    /// A new one inside `parent`, so that results can be renamed into place.
    pub fn create(parent: &Path) -> Result<Self, FileError> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        std::fs::create_dir_all(parent).map_err(FileError::on("create directory", parent))?;
        let name = format!(".op-build-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let path = parent.canonicalize().map_err(FileError::on("resolve", parent))?.join(name);
        std::fs::create_dir(&path).map_err(FileError::on("create directory", &path))?;
        Ok(Self(path))
    }

    /// A directory in it.
    pub fn subdirectory(&self, name: &str) -> Result<PathBuf, FileError> {
        let path = self.0.join(name);
        std::fs::create_dir_all(&path).map_err(FileError::on("create directory", &path))?;
        Ok(path)
    }

    /// A file in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for WorkDir {
    fn drop(&mut self) {
        // A leftover directory is no reason to fail a build that worked.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Where the results go.
pub struct Paths {
    /// The object or archive.
    pub object: PathBuf,
    /// The JSON.
    pub json: PathBuf,
}

impl Paths {
    /// For an operator called `name`.
    pub fn new(out_dir: &Path, name: &str) -> Self {
        Self { object: out_dir.join(format!("{name}.o")), json: out_dir.join(format!("{name}.json")) }
    }
}

/// The file to include: the caller's, or a copy of the text that stays, so that later messages point to a file.
pub fn source_file(request: &OpRequest) -> Result<PathBuf, FileError> {
    match &request.source {
        Source::File(path) => path.canonicalize().map_err(FileError::on("read", path)),
        Source::Text(text) => {
            let digest = hex(&Sha256::digest(text.as_bytes()));
            let directory = request.out_dir.canonicalize().map_err(FileError::on("resolve", &request.out_dir))?;
            let path = directory.join(format!("{}_{}.cpp", request.kernel, &digest[..10]));
            if !path.exists() {
                let draft = path.with_extension(format!("{}.draft", std::process::id()));
                write(&draft, text.as_bytes())?;
                std::fs::rename(&draft, &path).map_err(FileError::on("write", &path))?;
            }
            Ok(path)
        }
    }
}

/// Writes a whole file.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    std::fs::write(path, bytes).map_err(FileError::on("write", path))
}

/// Are both files there, whole, and made from the same things?
pub fn is_current(paths: &Paths, digest: &str) -> bool {
    let Ok(json) = SubKernelFile::read(&paths.json, &JsonPath::top(Document::SubKernel)) else { return false };
    let matches = |bytes: Vec<u8>| json.object_digest() == Some(&hex(&Sha256::digest(bytes)));
    json.build_digest() == Some(digest) && std::fs::read(&paths.object).is_ok_and(matches)
}

/// Puts the results in place; whoever finds the JSON finds the object it describes.
pub fn publish(paths: &Paths, work: &WorkDir, object: &[u8], json: &Value) -> Result<(), FileError> {
    let object_draft = work.file("object");
    let json_draft = work.file("json");
    write(&object_draft, object)?;
    write(&json_draft, format!("{json:#}\n").as_bytes())?;
    match std::fs::remove_file(&paths.json) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(FileError::on("remove", &paths.json)(error));
        }
        _ => {}
    }
    std::fs::rename(&object_draft, &paths.object).map_err(FileError::on("write", &paths.object))?;
    std::fs::rename(&json_draft, &paths.json).map_err(FileError::on("write", &paths.json))
}
