//! The flat folder that a toolkit installs kernels in: every operator beside the others, as their includes expect it.
//!
//! In a repository `../other/x.h` is `../../other/op_kernel/x.h`. Compilers look for both beside the including file and
//! then in the folders they were given; the folders of the view are deep enough for every `..` to end in it.

use std::path::{Path, PathBuf};

use super::folder::{OperatorFolder, sorted};
use crate::fs::{self, FileError};

/// Folders to look in, one for every `..`.
const DEPTHS: [&str; 4] = ["0", "0/1", "0/1/2", "0/1/2/3"];

/// Makes it in `view`; the folders to look for included files in.
pub(crate) fn make(operator: &OperatorFolder, view: &Path) -> Result<Vec<PathBuf>, FileError> {
    fs::create_directories(&view.join(DEPTHS[DEPTHS.len() - 1]))?;
    for (name, folder) in operator.neighbours() {
        link_all(&[folder.join("op_kernel")], &view.join(name))?;
    }
    let shared = operator.shared();
    for name in ["common", "inc"] {
        link_all(&shared, &view.join(name))?;
    }
    if operator.folder.parent().is_some_and(|category| category.join("3rd").is_dir()) {
        for folder in sorted(&operator.folder.with_file_name("3rd")) {
            if let Some(name) = folder.file_name() {
                link(&folder, &view.join("3rd").join(name))?;
            }
        }
    }
    let mut folders = vec![operator.kernels()];
    folders.extend(DEPTHS.iter().map(|depth| view.join(depth)));
    folders.extend([view.to_path_buf(), operator.folder.clone()]);
    folders.extend(shared);
    folders.push(operator.repository.clone());
    Ok(folders)
}

/// Links to everything in `sources`, and to the first of them by its own name.
fn link_all(sources: &[PathBuf], at: &Path) -> Result<(), FileError> {
    for source in sources {
        for path in sorted(source) {
            if let Some(name) = path.file_name() {
                link(&path, &at.join(name))?;
            }
        }
        if let Some(name) = source.file_name().filter(|name| *name == "op_kernel") {
            link(source, &at.join(name))?;
        }
    }
    Ok(())
}

fn link(target: &Path, at: &Path) -> Result<(), FileError> {
    if let Some(folder) = at.parent() {
        fs::create_directories(folder)?;
    }
    match std::os::unix::fs::symlink(target, at) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(FileError::on("link", at)(error)),
        Ok(()) | Err(_) => Ok(()),
    }
}
