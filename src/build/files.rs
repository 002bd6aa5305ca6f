//! What the files of a kernel are called.

use std::path::{Path, PathBuf};

use crate::store::publish::{NewFile, Release};

/// The files of one kernel in its `kernel_meta` directory.
#[derive(Debug, Clone)]
pub struct KernelFiles {
    directory: PathBuf,
    kernel: String,
}

impl KernelFiles {
    /// The files of `kernel` in `directory`.
    pub fn new(directory: &Path, kernel: &str) -> Self {
        Self { directory: directory.to_path_buf(), kernel: kernel.to_owned() }
    }

    /// The `kernel_meta` directory.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// The loadable object.
    pub fn object(&self) -> PathBuf {
        self.file(".o")
    }

    /// Its description: whoever finds it finds the object it describes.
    pub fn json(&self) -> PathBuf {
        self.file(".json")
    }

    /// What it was made from.
    pub(crate) fn manifest(&self) -> PathBuf {
        self.file(".manifest.json")
    }

    /// The log of this process's last build of it.
    pub(crate) fn log(&self) -> PathBuf {
        self.file(&format!("_{}.log", std::process::id()))
    }

    /// The finished kernel, to be put in place.
    pub fn release<'a>(&self, object: &'a [u8], json: &'a [u8], manifest: &'a [u8]) -> Release<'a> {
        Release {
            object: NewFile { path: self.object(), bytes: object },
            json: NewFile { path: self.json(), bytes: json },
            record: Some(NewFile { path: self.manifest(), bytes: manifest }),
        }
    }

    fn file(&self, suffix: &str) -> PathBuf {
        self.directory.join(format!("{}{suffix}", self.kernel))
    }
}
