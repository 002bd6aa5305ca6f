//! An operator's folder: where its kernel, its host code and its neighbours are.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::error::KernelError;
use crate::fs;

/// Where kernels of an operator are, inside its folder.
const KERNELS: &str = "op_kernel";
/// Where its host code is.
const HOST: &str = "op_host";
/// What the root of a repository has.
const ROOTS: [&str; 3] = [".git", "build.sh", "version.cmake"];
/// How far above an operator that may be.
const HIGHEST: usize = 4;

/// The folder of one operator.
#[derive(Debug, Clone)]
pub(crate) struct OperatorFolder {
    /// `…/category/operator`.
    pub folder: PathBuf,
    /// The root of its repository, or the folder it is in.
    pub repository: PathBuf,
}

impl OperatorFolder {
    /// `folder`, which has kernels.
    pub(crate) fn open(folder: &Path) -> Result<Self, KernelError> {
        let folder = fs::canonical(folder)?;
        if !folder.join(KERNELS).is_dir() {
            return Err(KernelError::NoKernels { folder });
        }
        let above = || folder.ancestors().skip(1).take(HIGHEST);
        let root = above().find(|place| ROOTS.iter().any(|mark| place.join(mark).exists()));
        let repository = root.or(folder.parent()).unwrap_or(&folder).to_path_buf();
        Ok(Self { folder, repository })
    }

    /// Its last name.
    pub(crate) fn name(&self) -> String {
        self.folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// The folder with its kernels.
    pub(crate) fn kernels(&self) -> PathBuf {
        self.folder.join(KERNELS)
    }

    /// The folder that holds it and those like it.
    fn category(&self) -> &Path {
        self.folder.parent().unwrap_or(&self.folder)
    }

    /// The source that defines its kernel: `named` by the definition, or as the folder is called, or the only one.
    pub(crate) fn source(&self, named: Option<&str>) -> Result<PathBuf, KernelError> {
        let sources: Vec<PathBuf> =
            sorted(&self.kernels()).into_iter().filter(|path| has_ending(path, "cpp")).collect();
        let stem = |path: &PathBuf| path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let called = |name: &str| sources.iter().find(|path| stem(path).as_deref() == Some(name));
        // Files for other chips than these are called so.
        let usual: Vec<&PathBuf> =
            sources.iter().filter(|path| !stem(path).is_some_and(|stem| stem.ends_with("_apt"))).collect();
        let only = match usual.as_slice() {
            [one] => Some(*one),
            _ => None,
        };
        let found = named.and_then(called).or_else(|| called(&self.name())).or(only);
        found.cloned().ok_or_else(|| KernelError::NoSource {
            folder: self.kernels(),
            found: sources.iter().filter_map(stem).collect(),
        })
    }

    /// The operators of its repository by name; those of its own category win.
    pub(crate) fn neighbours(&self) -> BTreeMap<String, PathBuf> {
        let mut found = BTreeMap::new();
        let mut add = |category: &Path| {
            for place in [category.to_path_buf(), category.join("3rd")] {
                for folder in sorted(&place) {
                    if let Some(name) = folder.file_name().filter(|_| folder.join(KERNELS).is_dir()) {
                        found.entry(name.to_string_lossy().into_owned()).or_insert(folder);
                    }
                }
            }
        };
        add(self.category());
        // Experiments have the names of others too.
        let mut categories = sorted(self.category().parent().unwrap_or(&self.repository));
        categories.extend(sorted(&self.repository));
        categories.sort_by_key(|place| place.ends_with("experimental"));
        for category in categories.iter().filter(|place| place.is_dir()) {
            add(category);
        }
        found
    }

    /// Places of headers that operators of a repository share, most special first.
    pub(crate) fn shared(&self) -> Vec<PathBuf> {
        let inside = ["common/op_kernel", "common/inc/op_kernel", "common/inc/kernel", "common/include/op_kernel"];
        let more = ["common/inc", "common/include", "common"];
        let bases = [self.category(), &self.repository];
        let all = bases.iter().flat_map(|base| inside.iter().chain(&more).map(|name| base.join(name)));
        all.filter(|place| place.is_dir()).collect()
    }

    /// Places that host code includes headers from by a part of their path.
    pub(crate) fn host_places(&self) -> Vec<PathBuf> {
        let shared = self.shared().into_iter().flat_map(|place| [place.join(HOST), place]);
        let above = [self.folder.clone(), self.category().to_path_buf(), self.repository.clone()];
        shared.chain(above).filter(|place| place.is_dir()).collect()
    }

    /// Host code of an operator: headers and sources, those for other chips last.
    pub(crate) fn host_files(folder: &Path) -> Vec<PathBuf> {
        let mut files = code_below(&folder.join(HOST));
        files.sort_by_key(|path| (is_for_other_chips(path), path.clone()));
        files
    }

    /// The code of an operator's kernels for the chips that are simulated with AscendC.
    pub(crate) fn kernel_files(folder: &Path) -> Vec<PathBuf> {
        let mut files = code_below(&folder.join(KERNELS));
        files.retain(|path| !is_for_other_chips(path));
        files
    }

    /// Its files for CMake.
    pub(crate) fn cmake_files(&self) -> Vec<PathBuf> {
        let places = [self.folder.clone(), self.folder.join(HOST), self.kernels()];
        places.iter().map(|place| place.join("CMakeLists.txt")).filter(|path| path.is_file()).collect()
    }
}

/// As operators name folders and files for chips of another kind.
fn is_for_other_chips(path: &Path) -> bool {
    let text = path.to_string_lossy().to_ascii_lowercase();
    ["arch35", "310p", "_950", "regbase", "_apt."].iter().any(|mark| text.contains(mark))
}

/// Headers and sources below a folder.
fn code_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for path in sorted(&folder) {
            if path.is_dir() {
                folders.push(path);
            } else if ["h", "hpp", "cpp"].iter().any(|ending| has_ending(&path, ending)) {
                files.push(path);
            }
        }
    }
    files
}

/// The entries of a folder, in order of their names.
pub(crate) fn sorted(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::entries(folder).map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|found| found == ending)
}
