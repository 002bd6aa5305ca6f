//! Kernels that a unit test calls (`ICPU_RUN_KF`) and whose source lies in the operator's folder around the test.

use std::path::{Path, PathBuf};

use super::error::KernelError;
use super::folder::OperatorFolder;
use super::options;
use super::view;
use crate::fs;
use crate::opbuild::lexer::{blanked, is_word};
use crate::opbuild::program::KernelSource;

/// The call of a kernel in a test.
const CALL: &str = "ICPU_RUN_KF";

/// The kernels that the program in `sources` calls and does not have; `view`: a folder for the view of neighbours.
pub(crate) fn kernels(sources: &[PathBuf], view: &Path) -> Result<Vec<KernelSource>, KernelError> {
    let mut found: Vec<KernelSource> = Vec::new();
    for test in sources {
        let text = String::from_utf8_lossy(&fs::read(test)?).into_owned();
        for name in called(&blanked(&text)) {
            let Some((folder, source)) = around(test, &name) else { continue };
            let known = sources.iter().filter_map(|path| fs::canonical(path).ok()).any(|path| path == source);
            if known || found.iter().any(|kernel| kernel.source == source) || includes_source(&text, &name) {
                continue;
            }
            let operator = OperatorFolder::open(&folder)?;
            let beside = test.parent().unwrap_or(Path::new("."));
            let headers = quoted(&text).filter(|name| name.contains("tiling")).map(|name| beside.join(name));
            let headers: Vec<PathBuf> = headers.filter(|path| path.is_file()).collect();
            let options = options::of_tests(&beside.join("CMakeLists.txt"), &name);
            let include_dirs = view::make(&operator, view)?;
            found.push(KernelSource { source, headers, options, include_dirs });
        }
    }
    Ok(found)
}

/// Where tests of kernels in a repository have the headers that they share.
const SHARED: [&str; 2] = ["tests/ut/op_kernel", "tests/ut/framework_normal/op_kernel"];
/// How far above a test that may be.
const HIGHEST: usize = 8;

/// Folders of headers that tests among `sources` include and do not have beside them.
pub(crate) fn shared_headers(sources: &[PathBuf]) -> Result<Vec<PathBuf>, KernelError> {
    let mut found = Vec::new();
    for test in sources {
        let test = fs::canonical(test)?;
        let text = String::from_utf8_lossy(&fs::read(&test)?).into_owned();
        if !text.contains(CALL) {
            continue;
        }
        for name in quoted(&text).filter(|name| !test.with_file_name(name).is_file()) {
            let mut places =
                test.ancestors().skip(1).take(HIGHEST).flat_map(|above| SHARED.map(|place| above.join(place)));
            if let Some(folder) = places.find(|folder| folder.join(name).is_file() && !found.contains(folder)) {
                found.push(folder);
            }
        }
    }
    Ok(found)
}

/// Names of the kernels that are called.
fn called(blank: &str) -> Vec<String> {
    let calls = blank.split(CALL).skip(1).filter_map(|rest| rest.trim_start().strip_prefix('('));
    let name = |rest: &str| {
        let rest = rest.trim_start();
        let rest = rest.strip_prefix('(').unwrap_or(rest).trim_start();
        rest.bytes().take_while(|byte| is_word(*byte)).map(char::from).collect::<String>()
    };
    let mut names: Vec<String> = calls.map(name).filter(|name| !name.is_empty()).collect();
    names.sort();
    names.dedup();
    names
}

/// The folder of the operator around a test, and the source in it that is called like the kernel.
fn around(test: &Path, kernel: &str) -> Option<(PathBuf, PathBuf)> {
    let test = fs::canonical(test).ok()?;
    test.ancestors().skip(1).find_map(|folder| {
        let source = folder.join("op_kernel").join(format!("{kernel}.cpp"));
        (source.is_file() && !test.starts_with(folder.join("op_kernel"))).then(|| (folder.to_path_buf(), source))
    })
}

/// Does the test include the kernel's source itself?
fn includes_source(text: &str, kernel: &str) -> bool {
    quoted(text).any(|name| Path::new(name).file_name().is_some_and(|name| name == format!("{kernel}.cpp").as_str()))
}

/// Names in `#include "name"` lines.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?.trim_start();
        rest.strip_prefix('"')?.split('"').next()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_name_their_kernels() {
        let text = "ICPU_RUN_KF(first, 2, x);\n// ICPU_RUN_KF(no, 1)\nICPU_RUN_KF( (second<float>), 1, x); ICPU_RUN_KF(first,3)";
        assert_eq!(called(&blanked(text)), ["first", "second"]);
    }

    #[test]
    fn headers_of_all_tests_are_found_above_them() {
        let root = tempfile::tempdir().unwrap();
        let (shared, own) = (root.path().join(SHARED[0]), root.path().join("norm/add").join(SHARED[0]));
        for folder in [&shared, &own] {
            std::fs::create_dir_all(folder).unwrap();
        }
        let test = own.join("test_add.cpp");
        for header in [shared.join("files.h"), shared.join("other.h"), own.join("other.h")] {
            std::fs::write(header, "").unwrap();
        }
        let text = "#include \"other.h\"\n#include \"files.h\"\n#include \"files.h\"\n#include \"none.h\"\n";
        std::fs::write(&test, format!("{text}int main() {{ ICPU_RUN_KF(add, 1); }}\n")).unwrap();
        let expected = [fs::canonical(root.path()).unwrap().join(SHARED[0])];
        assert_eq!(shared_headers(std::slice::from_ref(&test)).unwrap(), expected);
        std::fs::write(&test, text).unwrap();
        assert_eq!(shared_headers(&[test]).unwrap(), [] as [PathBuf; 0]);
    }

    #[test]
    fn a_test_can_include_the_source_itself() {
        assert!(includes_source("#include \"../../op_kernel/add.cpp\"\n", "add"));
        assert!(!includes_source("#include \"../../op_kernel/my_add.cpp\"\n", "add"));
    }
}
