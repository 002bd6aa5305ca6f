//! What the files of a kernel are called.

use std::path::{Path, PathBuf};

use crate::environment::Intermediates;
use crate::store::publish::{NewFile, Release};
use crate::toolchain::Places;

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

    /// The kernel's name.
    pub(crate) fn kernel(&self) -> &str {
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
    pub(crate) fn manifest(&self) -> PathBuf {
        self.file(".manifest.json")
    }

    /// The log of this process's last build of it.
    pub(crate) fn log(&self) -> PathBuf {
        self.file(&format!("_{}.log", std::process::id()))
    }

    /// Is `name` that of a log of a build of it, by whatever process?
    pub(crate) fn is_log(&self, name: &str) -> bool {
        let process = name.strip_prefix(&self.kernel).and_then(|rest| rest.strip_prefix('_')?.strip_suffix(".log"));
        process.is_some_and(|number| !number.is_empty() && number.bytes().all(|letter| letter.is_ascii_digit()))
    }

    /// Repeats the commands of a build whose files were kept.
    pub(crate) fn repro(&self) -> PathBuf {
        self.file("_repro.sh")
    }

    /// The other files of a build that were kept.
    pub(crate) fn kept_directory(&self) -> PathBuf {
        self.file("_build")
    }

    /// Where the files of a build are kept: these beside the kernel, the others in a directory of their own.
    pub(crate) fn places(&self, beside: Vec<PathBuf>) -> Places {
        Places::inside(self.kept_directory()).but(&self.directory, beside)
    }

    /// The finished kernel, to be put in place; its log takes the place of all earlier ones.
    pub fn release<'a>(
        &'a self,
        object: &'a [u8],
        json: &'a [u8],
        manifest: &'a [u8],
        log: Option<&'a [u8]>,
        intermediates: Intermediates,
    ) -> Release<'a> {
        // A script beside a kernel that it did not make would mislead.
        let drops_script = intermediates == Intermediates::Remove;
        let script = format!("{}_repro.sh", self.kernel);
        Release {
            object: NewFile { path: self.object(), bytes: object },
            json: NewFile { path: self.json(), bytes: json },
            record: Some(NewFile { path: self.manifest(), bytes: manifest }),
            log: log.map(|bytes| NewFile { path: self.log(), bytes }),
            outdated: Box::new(move |name| self.is_log(name) || (drops_script && name == script)),
        }
    }

    fn file(&self, suffix: &str) -> PathBuf {
        self.directory.join(format!("{}{suffix}", self.kernel))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_of_other_kernels_are_not_taken_for_ours() {
        let files = KernelFiles::new(Path::new("/meta"), "k");
        for name in ["k_1.log", "k_123456.log"] {
            assert!(files.is_log(name), "{name}");
        }
        for name in ["k.log", "k_.log", "k_1_2.log", "k2_1.log", "kk_1.log", "k_1.log.old", "k_a.log", "x_k_1.log"] {
            assert!(!files.is_log(name), "{name}");
        }
    }
}
