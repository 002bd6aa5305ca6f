//! Where an op's data comes from, once ops that launch nothing are looked through.

use super::graph::{ControlEdge, DataEdge, Graph, NodeIndex};

/// Per node, the tasks that must have ended before its data is there: its producers, or for a producer without a task
/// the tasks behind that. Sorted, without sources of data. `waits` are edges that ask for order without data.
pub(crate) fn producers(
    graph: &Graph,
    is_task: impl Fn(NodeIndex) -> bool,
    is_source: impl Fn(NodeIndex) -> bool,
    waits: &[ControlEdge],
) -> Vec<Vec<NodeIndex>> {
    let mut before: Vec<Vec<NodeIndex>> = vec![Vec::new(); graph.nodes.len()];
    for DataEdge { from, to, .. } in &graph.data {
        before[to.0].push(*from);
    }
    for ControlEdge { from, to } in waits {
        before[to.0].push(*from);
    }
    let mut found: Vec<Vec<NodeIndex>> = Vec::with_capacity(before.len());
    for (position, sources) in before.into_iter().enumerate() {
        let mut tasks = Vec::with_capacity(sources.len());
        // Edges lead forward in the list; one that does not is reported elsewhere.
        for source in sources.into_iter().filter(|source| source.0 < position && !is_source(*source)) {
            if is_task(source) {
                tasks.push(source);
            } else {
                tasks.extend_from_slice(&found[source.0]);
            }
        }
        tasks.sort_unstable();
        tasks.dedup();
        found.push(tasks);
    }
    found
}
