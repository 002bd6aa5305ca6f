//! The name of a super kernel: a digest over everything that decides what its code is.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use serde_json::{Map, Value, json};

use super::error::ScopeError;
use super::graph::Node;
use super::settings::Target;
use crate::model::TaskType;
use crate::options::{Influence, OptionName, Separator, parse};
use crate::store::digest::ContentDigest;

const PREFIX: &str = "te_superkernel_";

/// Version of the document that is hashed; grows when its form changes.
const FORMAT: u32 = 1;

/// What a name is made from, per op.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NamedOp<'a> {
    /// `kernel_name`, or the object's path without one.
    pub kernel: &'a str,
    /// Static or tiling-sink.
    pub task_type: TaskType,
    /// Its stream.
    pub stream: i64,
    /// Event ids it waits for.
    pub recv: &'a [i64],
    /// Event ids it records.
    pub send: &'a [i64],
    /// Its object file.
    pub bin_path: &'a str,
    /// Its description file.
    pub json_path: &'a str,
}

impl<'a> NamedOp<'a> {
    /// The parts of `node` that matter.
    pub(crate) fn new(node: &'a Node, recv: &'a [i64], send: &'a [i64]) -> Self {
        let kernel = if node.kernel_name.is_empty() { &node.bin_path } else { &node.kernel_name };
        Self {
            kernel,
            task_type: node.task_type,
            stream: node.stream,
            recv,
            send,
            bin_path: &node.bin_path,
            json_path: &node.json_path,
        }
    }
}

/// Counts ids from 0 in the order they are first seen.
#[derive(Debug, Default)]
pub(crate) struct FirstSeen(HashMap<i64, i64>);

impl FirstSeen {
    /// The number of `id`.
    pub(crate) fn number(&mut self, id: i64) -> i64 {
        let next = i64::try_from(self.0.len()).unwrap_or(i64::MAX);
        *self.0.entry(id).or_insert(next)
    }

    /// The numbers of `ids`.
    pub(crate) fn numbers(&mut self, ids: &[i64]) -> Vec<i64> {
        ids.iter().map(|id| self.number(*id)).collect()
    }
}

/// The document the reference hashes.
pub(crate) fn compat_document(ops: &[NamedOp<'_>]) -> String {
    let mut events = FirstSeen::default();
    let entries: Vec<Value> = ops.iter().map(|op| Value::Object(entry(op, &mut events))).collect();
    Value::Array(entries).to_string()
}

/// One op of the document, keys in ascending order.
fn entry(op: &NamedOp<'_>, events: &mut FirstSeen) -> Map<String, Value> {
    let mut entry = Map::new();
    if !op.recv.is_empty() {
        entry.insert("recv_event_list".to_owned(), json!(events.numbers(op.recv)));
    }
    if !op.send.is_empty() {
        entry.insert("send_event_list".to_owned(), json!(events.numbers(op.send)));
    }
    entry.insert("sub_kernel_hash".to_owned(), json!(op.kernel));
    entry.insert("task_type".to_owned(), json!(op.task_type.as_str()));
    entry
}

/// The document we hash: the reference's, and what it leaves out.
pub(crate) fn document(
    ops: &[NamedOp<'_>],
    options: &CanonicalOptions,
    target: &Target,
    files: &mut FileDigests,
) -> String {
    let mut events = FirstSeen::default();
    let mut streams = FirstSeen::default();
    let entries: Vec<Value> = ops
        .iter()
        .map(|op| {
            let mut entry = entry(op, &mut events);
            entry.insert("description".to_owned(), json!(files.digest(op.json_path)));
            entry.insert("object".to_owned(), json!(files.digest(op.bin_path)));
            entry.insert("stream_id".to_owned(), json!(streams.number(op.stream)));
            entry.sort_keys();
            Value::Object(entry)
        })
        .collect();
    json!({
        "aic_num": target.aic_num,
        "aiv_num": target.aiv_num,
        "format": FORMAT,
        "op_list": entries,
        "options": options.0,
        "soc": target.soc,
    })
    .to_string()
}

/// The kernel name for a document.
pub(crate) fn kernel_name(document: &str) -> String {
    format!("{PREFIX}{}", ContentDigest::of(document.as_bytes()))
}

/// Digests of sub-kernel files, each read once.
#[derive(Debug, Default)]
pub(crate) struct FileDigests(HashMap<String, Option<String>>);

impl FileDigests {
    /// The digest of a file; `None` when it cannot be read, since plans are also made before the files are there.
    pub(crate) fn digest(&mut self, path: &str) -> Option<String> {
        if path.is_empty() {
            return None;
        }
        let read = || crate::fs::read(Path::new(path)).ok().map(|bytes| ContentDigest::of(&bytes).to_string());
        self.0.entry(path.to_owned()).or_insert_with(read).clone()
    }
}

/// An option string reduced to what influences code: sorted by name, defaults left out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct CanonicalOptions(BTreeMap<&'static str, String>);

impl CanonicalOptions {
    /// Of the options of `node`.
    pub(crate) fn of(node: &Node) -> Result<Self, ScopeError> {
        let options = parse(&node.options, Separator::Hyphen)
            .map_err(|source| ScopeError::Options { node: node.name.to_string(), source })?;
        let decisive = options.texts().filter(|(name, text)| match name.influence() {
            Influence::Code => *text != name.default_text(),
            Influence::Scopes => false,
        });
        Ok(Self(decisive.map(|(name, text)| (name.as_str(), text)).collect()))
    }

    /// Is `stream-fusion=1` set?
    pub(crate) fn stream_fusion(&self) -> bool {
        self.0.get(OptionName::StreamFusion.as_str()).is_some_and(|value| value == "1")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn op<'a>(kernel: &'a str, recv: &'a [i64], send: &'a [i64]) -> NamedOp<'a> {
        NamedOp { kernel, task_type: TaskType::Normal, stream: 1, recv, send, bin_path: "", json_path: "" }
    }

    #[test]
    fn golden_names_of_the_reference() {
        const B: i64 = 1_073_741_823;
        let ops = [
            op("te_a__kernel0", &[], &[B, B + 1]),
            op("te_b__kernel0", &[B], &[B + 2]),
            op("te_c__kernel0", &[B + 2, B + 4], &[]),
            op("te_d__kernel0", &[], &[]),
        ];
        let document = compat_document(&ops);
        assert_eq!(
            document,
            concat!(
                r#"[{"send_event_list":[0,1],"sub_kernel_hash":"te_a__kernel0","task_type":"normal"},"#,
                r#"{"recv_event_list":[0],"send_event_list":[2],"sub_kernel_hash":"te_b__kernel0","task_type":"normal"},"#,
                r#"{"recv_event_list":[2,3],"sub_kernel_hash":"te_c__kernel0","task_type":"normal"},"#,
                r#"{"sub_kernel_hash":"te_d__kernel0","task_type":"normal"}]"#
            )
        );
        assert_eq!(
            kernel_name(&document),
            "te_superkernel_ba5fecb4097efe0313ff9f2fa8eea3e0f4af9e856b4b01cf6260902369b42600"
        );
        let ops =
            [op("te_a__kernel0", &[], &[]), NamedOp { task_type: TaskType::Dynamic, ..op("te_b__kernel0", &[], &[]) }];
        assert_eq!(
            kernel_name(&compat_document(&ops)),
            "te_superkernel_eeca383add3ee4d4c56244b69e0d0d68af1f780389b57f6a6f4929c99620d1e0"
        );
    }

    fn canonical(options: &str) -> CanonicalOptions {
        let mut node = Node::new("n", "Op", 1, 0);
        node.options = options.to_owned().into();
        CanonicalOptions::of(&node).unwrap()
    }

    #[test]
    fn options_that_mean_the_same_are_equal() {
        for (left, right) in [
            ("", "early-start=1:split-mode=4"),
            ("profiling=1:stream-fusion=1", " stream-fusion = 1 : profiling=1"),
            ("strict-scope-check=abort", ""),
            ("split-mode=08", "split-mode=8"),
            ("dcci-before-kernel-start=A,B", "dcci-before-kernel-start=B, A"),
        ] {
            assert_eq!(canonical(left), canonical(right), "{left} and {right}");
        }
        assert_ne!(canonical("compile-options=-DA,-DB"), canonical("compile-options=-DB,-DA"));
        assert!(canonical("stream-fusion=1").stream_fusion());
        assert!(!canonical("stream-fusion=0").stream_fusion());
    }

    fn our_name(ops: &[NamedOp<'_>], options: &str, target: &Target) -> String {
        kernel_name(&document(ops, &canonical(options), target, &mut FileDigests::default()))
    }

    #[test]
    fn the_clashes_of_the_reference_are_gone() {
        let ops = [op("a", &[], &[]), op("b", &[], &[])];
        let spread = [op("a", &[], &[]), NamedOp { stream: 2, ..op("b", &[], &[]) }];
        assert_eq!(compat_document(&ops), compat_document(&spread));
        let target = Target::default();
        let name = our_name(&ops, "", &target);
        assert_ne!(name, our_name(&ops, "stream-fusion=1", &target));
        assert_ne!(name, our_name(&spread, "", &target));
        assert_ne!(name, our_name(&ops, "", &Target { aic_num: 20, ..target.clone() }));
        assert_ne!(name, our_name(&ops, "", &Target { soc: "Ascend950".to_owned(), ..target.clone() }));
        let moved = [NamedOp { stream: 7, ..op("a", &[], &[]) }, NamedOp { stream: 7, ..op("b", &[], &[]) }];
        assert_eq!(name, our_name(&moved, "", &target), "which stream it is does not matter");
    }

    #[test]
    fn the_content_of_the_files_is_part_of_the_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.o");
        let text = path.to_str().unwrap();
        let ops = [NamedOp { bin_path: text, ..op("a", &[], &[]) }];
        let mut names = Vec::new();
        for content in ["one", "two", "one"] {
            std::fs::write(&path, content).unwrap();
            names.push(our_name(&ops, "", &Target::default()));
        }
        assert_ne!(names[0], names[1]);
        assert_eq!(names[0], names[2]);
    }
}
