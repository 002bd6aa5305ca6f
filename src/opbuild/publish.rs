//! The operator's files: where they are, whether they can stay, the source they come from.

use std::path::{Path, PathBuf};

use super::request::{OpRequest, Source};
use crate::fs::{self, FileError};
use crate::json::{Document, JsonPath};
use crate::model::SubKernelFile;
use crate::store::digest::ContentDigest;
use crate::store::work_dir::WorkDir;

/// Where the results go.
pub(crate) struct Paths {
    /// The object or archive.
    pub object: PathBuf,
    /// The JSON.
    pub json: PathBuf,
}

impl Paths {
    /// For an operator called `name`.
    pub(crate) fn new(out_dir: &Path, name: &str) -> Self {
        Self { object: out_dir.join(format!("{name}.o")), json: out_dir.join(format!("{name}.json")) }
    }
}

/// The file to include: the caller's, or a copy of the text that stays, so that later messages point to a file.
pub(crate) fn source_file(request: &OpRequest, work: &WorkDir) -> Result<PathBuf, FileError> {
    match &request.source {
        // Opened to look at it: the compiler would wait for a pipe, and read a device without end.
        Source::File(path) => fs::open(path).and_then(|_| fs::canonical(path)),
        Source::Text(text) => {
            let digest = ContentDigest::of(text.as_bytes()).short();
            let path = work.parent().join(format!("{}_{digest}.cpp", request.kernel));
            if !path.exists() {
                fs::rename(&work.write("source.cpp", text.as_bytes())?, &path)?;
            }
            fs::open(&path)?;
            Ok(path)
        }
    }
}

/// Are both files there, whole, and made from the same things?
pub(crate) fn is_current(paths: &Paths, digest: ContentDigest) -> bool {
    let Ok(json) = SubKernelFile::read(&paths.json, &JsonPath::top(Document::SubKernel)) else { return false };
    let matches = |bytes: Vec<u8>| json.object_digest() == Some(&ContentDigest::of(&bytes).to_string());
    json.build_digest() == Some(&digest.to_string()) && fs::read(&paths.object).is_ok_and(matches)
}
