//! The files that `kernel_infos` names.

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
}
