//! The files of a build that people may want to see, kept where its logged commands name them.

use std::path::{Path, PathBuf};

use super::error::BuildError;
use super::files::KernelFiles;
use super::log::BuildLog;
use crate::artifact::SuperKernelSymbols;
use crate::cancel::Cancel;
use crate::fs;
use crate::model::SuperKernel;
use crate::store::work_dir::WorkDir;
use crate::toolchain::Places;

/// The file that tells a directory of kept files, which may be replaced, from anybody else's.
const MARK: &str = ".superkernel-kept";

/// Where the files of one build belong if they are kept.
pub(crate) struct Keeping<'a> {
    files: &'a KernelFiles,
    /// The generated source and the super kernel's own objects: beside the kernel, where other software looks for them.
    by_products: Vec<PathBuf>,
}

impl<'a> Keeping<'a> {
    /// For a build of `kernel` from the generated `source`.
    pub(crate) fn new(files: &'a KernelFiles, kernel: &SuperKernel, source: &Path) -> Self {
        let symbols = SuperKernelSymbols::new(&kernel.name);
        let objects = kernel.kernel_type.class().kinds().iter().map(|kind| format!("{}.o", symbols.entry(*kind)));
        let by_products = std::iter::once(source.to_path_buf()).chain(objects.map(PathBuf::from)).collect();
        Self { files, by_products }
    }

    /// Where its files are found by people who repeat a command.
    pub(crate) fn places(&self) -> Places {
        let kernel = PathBuf::from(format!("{}.o", self.files.kernel()));
        self.files.places(self.by_products.iter().cloned().chain([kernel]).collect())
    }

    /// Refuses to replace what is another kernel's: a kernel may be called like a by-product of this one.
    pub(crate) fn check(&self) -> Result<(), BuildError> {
        for name in &self.by_products {
            let description = self.files.directory().join(name).with_extension("json");
            if description.exists() {
                let file = self.files.directory().join(name);
                return Err(BuildError::ByProduct { kernel: self.files.kernel().to_owned(), file, description });
            }
        }
        Ok(())
    }

    /// Moves everything there and adds a script that repeats the commands. The files are for people: trouble with one of
    /// them is told and no more.
    pub(crate) fn save(&self, work: &WorkDir, log: &BuildLog, cancel: &Cancel) -> Result<(), BuildError> {
        // Whoever publishes meanwhile is seen by the check, or comes after this.
        let _lock = work.lock_parent(cancel)?;
        self.check()?;
        for problem in self.move_files(work, log).into_iter().filter_map(Result::err) {
            ::log::warn!(target: "superkernel.compile", "{problem}");
        }
        Ok(())
    }

    fn move_files(&self, work: &WorkDir, log: &BuildLog) -> Vec<Result<(), fs::FileError>> {
        let mut done = Vec::new();
        for name in &self.by_products {
            let from = work.file(name);
            if from.exists() {
                done.push(fs::rename(&from, &self.files.directory().join(name)));
            }
        }
        let others = self.files.kept_directory();
        if others.join(MARK).exists() {
            // Files of the last build, some of which this one may not have.
            done.push(fs::remove_directory(&others));
        }
        match fs::create_new_directory(&others) {
            Ok(()) => {
                for entry in fs::entries(work.path()) {
                    done.push(fs::relocate(&entry.path(), &others.join(entry.file_name())));
                }
                done.push(fs::write(&others.join(MARK), b""));
            }
            problem => done.push(problem),
        }
        let script = work.write("repro.sh", log.to_script(self.files.kernel()).as_bytes());
        done.push(script.and_then(|script| fs::rename(&script, &self.files.repro())));
        done
    }
}
