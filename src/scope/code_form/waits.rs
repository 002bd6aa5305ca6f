//! Who waits for whom, which stands in traced operators alone: `record` names the op that was made last on its stream,
//! `wait` has the next op on its stream wait for what it is given, and so does `wait_tensor`.

use std::collections::HashMap;

/// Streams by their labels, nodes by their names.
#[derive(Debug, Default)]
pub(super) struct Waits {
    last: HashMap<String, String>,
    recorded: HashMap<String, String>,
    pending: HashMap<String, Vec<String>>,
}

impl Waits {
    /// A traced `record` on a stream; in front of the first op there is nothing to wait for.
    pub(super) fn record(&mut self, traced: &str, stream: &str) {
        self.recorded.extend(self.last.get(stream).map(|node| (traced.to_owned(), node.clone())));
    }

    /// The node that a traced `record` names.
    pub(super) fn recorded(&self, traced: &str) -> Option<&String> {
        self.recorded.get(traced)
    }

    /// The next node on a stream waits for these.
    pub(super) fn wait(&mut self, stream: &str, nodes: Vec<String>) {
        self.pending.entry(stream.to_owned()).or_default().extend(nodes);
    }

    /// A node was made on a stream.
    pub(super) fn made(&mut self, stream: &str, node: &str) {
        self.last.insert(stream.to_owned(), node.to_owned());
    }

    /// What the node that is made now waits for.
    pub(super) fn take(&mut self, stream: &str) -> Vec<String> {
        self.pending.remove(stream).unwrap_or_default()
    }
}
