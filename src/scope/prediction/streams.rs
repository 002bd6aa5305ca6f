//! Streams from labels, and events between them.

use std::collections::{BTreeMap, HashSet};

use super::super::graph::{ControlEdge, EventKind, Graph, Node, NodeIndex, Role};
use super::super::short_events::{self, ShortEvent};
use super::super::tasks;
use super::assume::is_collective;

/// Gives every node a stream and every edge between streams an event; tells which stream is which.
pub(super) fn assign(graph: &mut Graph) -> Vec<String> {
    let mut streams = Streams::default();
    for node in &mut graph.nodes {
        node.stream = streams.of(&node.stream_label, is_collective(node) && !node.hccl);
    }
    let is_task = |node: &Node| node.role() == Role::Ordinary && !node.no_task;
    let waits: Vec<ControlEdge> = std::mem::take(&mut graph.control);
    let producers = tasks::producers(
        graph,
        |index| is_task(graph.node(index)),
        |index| graph.node(index).role() != Role::Ordinary,
        &waits,
    );
    let without_label: Vec<(usize, i64)> = graph
        .indexed()
        .filter(|(_, node)| !is_task(node) && node.stream_label.is_empty())
        .filter_map(|(index, _)| Some((index.0, graph.node(*producers[index.0].last()?).stream)))
        .collect();
    // What launches nothing goes along with what it reads.
    for (position, stream) in without_label {
        graph.nodes[position].stream = stream;
    }
    let mut covered: HashSet<(NodeIndex, i64)> = HashSet::new();
    let mut events = Vec::new();
    for (index, node) in graph.indexed().filter(|(_, node)| is_task(node)) {
        for &producer in &producers[index.0] {
            // Later consumers on the same stream come after the first one anyway.
            if graph.node(producer).stream != node.stream && covered.insert((producer, node.stream)) {
                let id = i64::try_from(events.len()).unwrap_or(i64::MAX);
                let kind = EventKind::Normal;
                events.push(ShortEvent { id, kind, from: producer, to: index, send_stream: None, recv_stream: None });
            }
        }
    }
    *graph = short_events::add(std::mem::take(graph), &events);
    streams.told()
}

/// Streams by label; collectives that run in no kernel have one beside each.
#[derive(Default)]
struct Streams(BTreeMap<(String, bool), i64>);

impl Streams {
    fn of(&mut self, label: &str, for_collectives: bool) -> i64 {
        if label.is_empty() && !for_collectives {
            return 0;
        }
        let next = i64::try_from(self.0.len() + 1).unwrap_or(i64::MAX);
        *self.0.entry((label.to_owned(), for_collectives)).or_insert(next)
    }

    fn told(&self) -> Vec<String> {
        if self.0.is_empty() {
            return Vec::new();
        }
        let mut named: Vec<(i64, String)> = self
            .0
            .iter()
            .map(|((label, for_collectives), number)| {
                let what = match (label.is_empty(), for_collectives) {
                    (true, _) => "collectives".to_owned(),
                    (false, true) => format!("collectives of `{label}`"),
                    (false, false) => format!("`{label}`"),
                };
                (*number, what)
            })
            .collect();
        named.sort_unstable();
        let named: Vec<String> = named.into_iter().map(|(number, what)| format!("{number} {what}")).collect();
        vec![format!("streams: 0 default, {}", named.join(", "))]
    }
}
