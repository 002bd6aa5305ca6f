//! The vendor's AscendC headers, brought by the user: an installed toolkit, or a checkout of the development kit.
//!
//! They are input, like an operator's source. Operators are compiled against them in their CPU-debug mode, in which they
//! call the intrinsics of `sk_core` through the headers of `sk_cpu`.

use std::path::{Path, PathBuf};

use super::error::OpBuildError;
use crate::fs::{self, FileError};
use crate::model::CoreKind;

/// A tree of headers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeaderTree {
    root: PathBuf,
}

/// Files that every tree has, below its root.
const MARKS: [&str; 2] = ["include/kernel_operator.h", "impl/basic_api/dav_c220"];

/// Where the root may be below the folder the user names.
const PLACES: [&str; 4] = ["", "asc", "x86_64-linux/asc", "aarch64-linux/asc"];

/// Headers include each other by all of these roots.
const INCLUDES: [&str; 10] = [
    "",
    "include",
    "include/basic_api",
    "include/adv_api",
    "include/utils",
    "include/tensor_api",
    "impl",
    "impl/basic_api",
    "impl/adv_api",
    "impl/utils",
];

/// The folder of the view, inside the folder of a compilation.
const VIEW: &str = "ascendc_view";

impl HeaderTree {
    /// The tree in or below `folder`.
    pub fn open(folder: &Path) -> Result<Self, OpBuildError> {
        let is_root = |root: &PathBuf| MARKS.iter().all(|mark| root.join(mark).exists());
        let found = PLACES.iter().map(|place| folder.join(place)).find(is_root);
        let root = found.ok_or_else(|| OpBuildError::NoHeaders { folder: folder.to_path_buf() })?;
        Ok(Self { root: fs::canonical(&root)? })
    }

    /// Its root.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// An installed toolkit has all files at their places; a checkout lacks some.
    pub(crate) fn is_checkout(&self) -> bool {
        !self.root.join("include/kernel_tiling/kernel_tiling.h").exists()
    }

    /// What the tree says about its version, if it does.
    pub(crate) fn version(&self) -> Option<String> {
        let candidates = ["version.cmake", "version.info", "../version.info", "../version.cfg", "../../version.cfg"];
        let numbered = |line: &str| {
            let mut parts = line.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '.'));
            parts
                .find(|part| part.contains('.') && part.starts_with(|letter: char| letter.is_ascii_digit()))
                .map(str::to_owned)
        };
        let of_file = |name: &&str| {
            let text = String::from_utf8(fs::read(&self.root.join(name)).ok()?).ok()?;
            let mut lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
            lines.by_ref().filter(|line| line.to_ascii_lowercase().contains("version")).find_map(numbered)
        };
        candidates.iter().find_map(of_file)
    }

    /// What a checkout lacks, as links and includes in `directory`: names that operators and headers use and that only an
    /// installed toolkit has.
    pub(crate) fn make_view(&self, directory: &Path) -> Result<(), FileError> {
        let view = directory.join(VIEW);
        let library = view.join("lib");
        fs::create_directories(&library)?;
        let adv_api = self.root.join("include/adv_api");
        let link = |target: &Path, at: &Path| match std::os::unix::fs::symlink(target, at) {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(error),
            Ok(()) | Err(_) => Ok(()),
        };
        let mut tilings = Vec::new();
        let mut folders = vec![adv_api.clone()];
        while let Some(folder) = folders.pop() {
            for path in sorted_entries(&folder) {
                if folder == adv_api
                    && let Some(name) = path.file_name()
                {
                    let at = library.join(name);
                    link(&path, &at).map_err(FileError::on("link", &at))?;
                }
                let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
                if path.is_dir() {
                    folders.push(path);
                } else if name.ends_with("_tilingdata.h") && !name.starts_with("hccl") {
                    tilings.push(path);
                }
            }
        }
        let inner = view.join("impl");
        link(&self.root.join("impl/basic_api"), &inner).map_err(FileError::on("link", &inner))?;
        let matmul = library.join("matmul_intf.h");
        link(&adv_api.join("matmul/matmul_intf.h"), &matmul).map_err(FileError::on("link", &matmul))?;
        // Names of older toolkits, which operators still use.
        for (old, new) in [("matrix", ""), ("sigmoid", "activation")] {
            let at = library.join(old);
            link(&adv_api.join(new), &at).map_err(FileError::on("link", &at))?;
        }
        tilings.sort();
        let mut text =
            String::from("#ifndef SK_VIEW_KERNEL_TILING_H\n#define SK_VIEW_KERNEL_TILING_H\n#pragma pack(push, 8)\n");
        for path in tilings {
            text.push_str(&format!("#include \"{}\"\n", path.display()));
        }
        text.push_str(
            "#pragma pack(pop)\nusing namespace optiling;\n\
             namespace AscendC {\nnamespace tiling {\nusing namespace optiling;\n}\n}\n#endif\n",
        );
        let tiling = view.join("kernel_tiling");
        fs::create_directories(&tiling)?;
        fs::write(&tiling.join("kernel_tiling.h"), text.as_bytes())
    }

    /// Include directories of a compilation that runs where the view is; ours come first.
    pub(crate) fn include_dirs(&self, emulation: &Path) -> Vec<PathBuf> {
        let own = [emulation.join("sk_cpu"), PathBuf::from(VIEW)];
        own.into_iter().chain(INCLUDES.iter().map(|name| self.root.join(name))).collect()
    }

    /// The same for a program of host code and kernels of both kinds; which kind runs is decided while it runs.
    pub(crate) fn program_arguments() -> Vec<String> {
        let arguments = ["-DASCENDC_CPU_DEBUG=1", "-D__DAV_C220__", "-D__NPU_HOST__", "-DASCENDC_DUMP=1"];
        arguments.into_iter().chain(["-fno-gnu-unique", "-fno-omit-frame-pointer"]).map(str::to_owned).collect()
    }

    /// Behind those of a core kind: code of both kinds, of which a core takes its own while it runs. The headers' CPU mode
    /// has matmul objects in this form only; elsewhere sources may ask for the kind by these names.
    pub(crate) fn both_kinds(kind: CoreKind) -> Vec<String> {
        let names = match kind {
            CoreKind::Aic => ["-U__DAV_C220_CUBE__", "-U__DAV_CUBE__"],
            CoreKind::Aiv => ["-U__DAV_C220_VEC__", "-U__DAV_VEC__"],
        };
        names.map(str::to_owned).to_vec()
    }

    /// Arguments of the compiler that switch the headers to what they are here.
    pub(crate) fn arguments(kind: CoreKind) -> Vec<String> {
        let kind = match kind {
            CoreKind::Aic => "-D__DAV_C220_CUBE__",
            CoreKind::Aiv => "-D__DAV_C220_VEC__",
        };
        // Statics of inline functions must not be shared between images; other people's warnings are not ours.
        // Frame pointers lead from a line of the headers to the one that called them.
        // Beyond the first level functions of the headers become part of their callers, also those that fill memories with
        // random numbers, which the simulator knows by their names.
        let arguments = [
            "-DASCENDC_CPU_DEBUG=1",
            "-D__DAV_C220__",
            kind,
            "-O1",
            "-fno-gnu-unique",
            "-fno-omit-frame-pointer",
            "-w",
        ];
        arguments.map(str::to_owned).to_vec()
    }
}

fn sorted_entries(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::entries(folder).map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

#[cfg(test)]
mod tests {
    use super::HeaderTree;

    #[test]
    fn a_checkout_gets_the_names_of_toolkits() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("asc");
        let files =
            ["include/kernel_operator.h", "impl/basic_api/dav_c220/x.h", "include/adv_api/matmul/matmul_intf.h"];
        let more = ["include/adv_api/matmul/tiling.h", "include/adv_api/activation/kernel_operator_sigmoid_intf.h"];
        for file in files.iter().chain(&more) {
            let path = root.join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let tree = HeaderTree::open(place.path()).unwrap();
        for _ in 0..2 {
            tree.make_view(place.path()).unwrap();
        }
        let names =
            ["matmul_intf.h", "matmul/tiling.h", "matrix/matmul/tiling.h", "sigmoid/kernel_operator_sigmoid_intf.h"];
        for name in names {
            assert!(place.path().join("ascendc_view/lib").join(name).is_file(), "{name}");
        }
    }
}
