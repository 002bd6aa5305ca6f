//! The files that `kernel_infos` names.

use std::path::Path;

use serde_json::Value;

/// `kernel_infos` with every file name changed; whatever else is in it stays as it is.
pub(crate) fn with_paths(kernel_infos: &Value, mut change: impl FnMut(&str) -> String) -> Value {
    let mut infos = kernel_infos.clone();
    let ops = infos.get_mut("op_list").and_then(Value::as_array_mut);
    for op in ops.into_iter().flatten().filter_map(Value::as_object_mut) {
        for key in ["json_path", "bin_path"] {
            if let Some(Value::String(path)) = op.get_mut(key) {
                *path = change(path);
            }
        }
    }
    infos
}

/// What becomes of a path that leads nowhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    /// It is missed beside the file that names it.
    Beside,
    /// It stays as it is written: names may be made of it.
    AsWritten,
}

/// What `path`, written in a file of `folder`, leads to: a relative one to what is beside that file, else to what is in
/// the current folder, which is told.
pub(crate) fn beside(folder: &Path, path: &str, missing: Missing) -> String {
    if path.is_empty() || folder.as_os_str().is_empty() || Path::new(path).is_absolute() {
        return path.to_owned();
    }
    let there = folder.join(path);
    if there.exists() {
        return there.to_string_lossy().into_owned();
    }
    if Path::new(path).exists() {
        log::info!(
            target: "superkernel.compile",
            "`{path}` is not in `{}`, beside the file that names it; the one in the current folder is taken",
            folder.display()
        );
        return path.to_owned();
    }
    match missing {
        Missing::Beside => there.to_string_lossy().into_owned(),
        Missing::AsWritten => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_the_paths_of_ops_are_changed() {
        let infos = json!({
            "json_path": "a",
            "op_list": [{"json_path": "a", "bin_path": "b", "stream_id": 1}, {"bin_path": 3}, 7],
        });
        let changed = with_paths(&infos, |path| format!("/{path}"));
        let expected = json!({
            "json_path": "a",
            "op_list": [{"json_path": "/a", "bin_path": "/b", "stream_id": 1}, {"bin_path": 3}, 7],
        });
        assert_eq!(changed, expected);
        assert_eq!(with_paths(&json!([1]), |_| String::new()), json!([1]));
    }

    #[test]
    fn a_relative_path_is_looked_for_beside_the_file_first() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("Cargo.toml"), b"x").unwrap();
        let there = |name: &str| folder.path().join(name).display().to_string();
        let beside = |folder: &Path, path: &str| super::beside(folder, path, Missing::Beside);
        // Both there and in the current folder, which is that of the package; only here; nowhere; absolute.
        assert_eq!(beside(folder.path(), "Cargo.toml"), there("Cargo.toml"));
        assert_eq!(beside(folder.path(), "Cargo.lock"), "Cargo.lock");
        assert_eq!(beside(folder.path(), "missing.o"), there("missing.o"));
        assert_eq!(super::beside(folder.path(), "missing.o", Missing::AsWritten), "missing.o");
        assert_eq!(beside(folder.path(), "/x/y.o"), "/x/y.o");
        assert_eq!((beside(folder.path(), ""), beside(Path::new(""), "a.o")), (String::new(), "a.o".to_owned()));
    }
}
