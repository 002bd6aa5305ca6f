//! Puts a finished kernel where its readers look, so that they never see half of it.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::lock::DirLock;
use super::work_dir::WorkDir;
use crate::fs::FileError;
use crate::toolchain::Cancel;

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
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The kernel's name.
    pub fn kernel(&self) -> &str {
        &self.kernel
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
    pub fn manifest(&self) -> PathBuf {
        self.file(".manifest.json")
    }

    /// The log of this process's last build of it.
    pub fn log(&self) -> PathBuf {
        self.file(&format!("_{}.log", std::process::id()))
    }

    fn file(&self, suffix: &str) -> PathBuf {
        self.directory.join(format!("{}{suffix}", self.kernel))
    }
}

/// A finished kernel, in memory.
#[derive(Debug)]
pub struct Finished<'a> {
    /// Bytes of the object.
    pub object: &'a [u8],
    /// Its description.
    pub json: &'a [u8],
    /// What it was made from.
    pub manifest: &'a [u8],
}

/// Was it put in place?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Publishing {
    /// Readers see the new kernel.
    Done,
    /// Cancelled before anything was touched.
    Cancelled,
}

/// Replaces the kernel's files: the old description goes first and the new one comes last, so that at every moment
/// (and after a crash at any moment) a reader finds the complete old pair, no description, or the complete new pair.
pub fn publish(
    files: &KernelFiles,
    finished: &Finished<'_>,
    work: &WorkDir,
    cancel: &Cancel,
) -> Result<Publishing, FileError> {
    // Everything that can fail for lack of space happens here, where no reader looks.
    let object = work.write("publish.o", finished.object)?;
    let json = work.write("publish.json", finished.json)?;
    let manifest = work.write("publish.manifest.json", finished.manifest)?;
    let old_json = work.file("old.json");

    // Two publishers of one kernel must not interleave: each one's steps would be right, their mixture wrong.
    let Some(_lock) = DirLock::acquire(files.directory(), cancel)? else { return Ok(Publishing::Cancelled) };
    let had_json = match std::fs::rename(files.json(), &old_json) {
        Ok(()) => true,
        Err(error) if error.kind() == ErrorKind::NotFound => false,
        Err(error) => return Err(FileError::on("replace", &files.json())(error)),
    };
    if let Err(error) = rename(&object, &files.object()) {
        // The old object is still there, so its description may come back.
        if had_json {
            let _ = std::fs::rename(&old_json, files.json());
        }
        return Err(error);
    }
    rename(&json, &files.json())?;
    // Last: a manifest that is older than the pair is noticed by its hash, and only costs a rebuild.
    rename(&manifest, &files.manifest())?;
    Ok(Publishing::Done)
}

/// Moves a side file (source, object, log) out of the work directory.
pub fn rename(from: &Path, to: &Path) -> Result<(), FileError> {
    std::fs::rename(from, to).map_err(FileError::on("replace", to))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finished<'a>(object: &'a [u8], json: &'a [u8]) -> Finished<'a> {
        Finished { object, json, manifest: b"{}" }
    }

    #[test]
    fn the_new_pair_replaces_the_old_one() {
        let directory = tempfile::tempdir().unwrap();
        let files = KernelFiles::new(directory.path(), "k");
        for (object, json) in [(b"o1", b"j1"), (b"o2", b"j2")] {
            let work = WorkDir::create(directory.path(), "k", &Cancel::new()).unwrap().unwrap();
            let done = publish(&files, &finished(object, json), &work, &Cancel::new()).unwrap();
            assert_eq!(done, Publishing::Done);
            assert_eq!(std::fs::read(files.object()).unwrap(), object);
            assert_eq!(std::fs::read(files.json()).unwrap(), json);
        }
        let mut names: Vec<_> = std::fs::read_dir(directory.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["k.json", "k.manifest.json", "k.o"]);
    }

    #[test]
    fn an_object_that_cannot_be_replaced_leaves_the_old_pair() {
        let directory = tempfile::tempdir().unwrap();
        let files = KernelFiles::new(directory.path(), "k");
        std::fs::create_dir_all(files.object().join("in the way")).unwrap();
        std::fs::write(files.json(), b"old").unwrap();
        let work = WorkDir::create(directory.path(), "k", &Cancel::new()).unwrap().unwrap();
        assert!(publish(&files, &finished(b"o", b"j"), &work, &Cancel::new()).is_err());
        assert_eq!(std::fs::read(files.json()).unwrap(), b"old");
    }
}
