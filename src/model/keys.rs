//! Keys of `kernel_infos` that nobody reads. Callers pass extras, so most are none of our business; one that is almost
//! a key we read is a mistake whose effect would be silent.

use std::collections::HashSet;

use crate::json::{JsonError, Node};
use crate::nearest::nearest;

/// The keys of `kernel_infos`; the kernel's name is an argument, and may stand there too.
const TOP: [&str; 3] = ["op_list", "super_kernel_options", "kernel_name"];
/// The keys of an entry of `op_list`.
const ENTRY: [&str; 7] =
    ["json_path", "bin_path", "stream_id", "task_type", "send_event_list", "recv_event_list", "regions"];

/// Warnings about keys that were probably meant to be others, each once, at its first place.
pub(super) fn misspelt(root: &Node<'_>) -> Result<Vec<String>, JsonError> {
    let mut found = Misspelt::default();
    found.look(root, &TOP)?;
    if let Some(list) = root.optional("op_list")? {
        for entry in list.elements()? {
            found.look(&entry, &ENTRY)?;
        }
    }
    Ok(found.warnings)
}

#[derive(Default)]
struct Misspelt<'a> {
    /// Lists are long and their entries alike.
    seen: HashSet<&'a str>,
    warnings: Vec<String>,
}

impl<'a> Misspelt<'a> {
    fn look(&mut self, node: &Node<'a>, known: &[&str]) -> Result<(), JsonError> {
        for key in node.object()?.keys().map(String::as_str) {
            if known.contains(&key) || !self.seen.insert(key) {
                continue;
            }
            if let [meant, ..] = nearest(key, known.iter().copied(), 1)[..] {
                let place = node.path.key(key);
                self.warnings.push(format!("{place} is not read; did you mean `{meant}`?"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::json::JsonPath;

    fn warnings(value: &serde_json::Value) -> Vec<String> {
        misspelt(&Node::root(value, JsonPath::default())).unwrap()
    }

    #[test]
    fn a_key_close_to_a_known_one_is_told_once_with_its_place() {
        let infos = json!({
            "super_kernel_option": "",
            "op_list": [{"json_path": "a"}, {"stream": 1, "streamid": 1}, {"streamid": 2, "send_events_list": []}],
        });
        assert_eq!(
            warnings(&infos),
            [
                "`super_kernel_option` is not read; did you mean `super_kernel_options`?",
                "`op_list[1].streamid` is not read; did you mean `stream_id`?",
                "`op_list[2].send_events_list` is not read; did you mean `send_event_list`?",
            ]
        );
    }

    #[test]
    fn extras_of_callers_are_accepted_without_a_word() {
        let entry = json!({"json_path": "a", "op_name": "x", "kernel_id": 3, "inputs": [], "attrs": {}});
        let infos = json!({"kernel_name": "k", "compile_info": {}, "graph": 1, "op_list": [entry]});
        assert_eq!(warnings(&infos), Vec::<String>::new());
    }
}
