//! The order the graph engine sorts a graph into: depth first.
//!
//! Nodes without inputs begin, data nodes first and all in the order of the file. The node at hand is followed by those of
//! its readers that have all inputs then, the last of them first: readers of the first output, of the second, …, then those
//! that only wait for it.

use super::super::error::ScopeError;
use super::super::graph::{ControlEdge, DataEdge, Graph, NodeIndex};

/// Sorts the nodes and numbers them anew.
pub(super) fn sort(graph: &mut Graph) -> Result<(), ScopeError> {
    // Nested graphs are sorted each on its own; nothing is known of how that looks flattened.
    if !graph.branches.is_empty() {
        return Ok(());
    }
    let count = graph.nodes.len();
    let mut open = vec![0_usize; count];
    let mut data = vec![Vec::new(); count];
    let mut waiting = vec![Vec::new(); count];
    for edge in &graph.data {
        open[edge.to.0] += 1;
        data[edge.from.0].push((edge.output, edge.to, edge.input));
    }
    for edge in &graph.control {
        open[edge.to.0] += 1;
        waiting[edge.from.0].push(edge.to);
    }
    for readers in &mut data {
        readers.sort_unstable();
    }
    for readers in &mut waiting {
        readers.sort_unstable();
    }
    let sources = || graph.indexed().filter(|(index, _)| open[index.0] == 0);
    let is_data = |op_type: &str| matches!(op_type, "Data" | "RefData" | "AnnData" | "AippData");
    let first = sources().filter(|(_, node)| is_data(&node.op_type));
    let then = sources().filter(|(_, node)| !is_data(&node.op_type));
    let mut stack: Vec<NodeIndex> = first.chain(then).map(|(index, _)| index).collect();
    stack.reverse();
    let mut order = Vec::with_capacity(count);
    while let Some(node) = stack.pop() {
        order.push(node);
        let readers = data[node.0].iter().map(|(_, reader, _)| *reader).chain(waiting[node.0].iter().copied());
        for reader in readers {
            open[reader.0] -= 1;
            if open[reader.0] == 0 {
                stack.push(reader);
            }
        }
    }
    if let Some(left) = open.iter().position(|open| *open > 0) {
        return Err(ScopeError::CyclicEdges { name: graph.nodes[left].name.clone().into() });
    }
    reorder(graph, &order);
    Ok(())
}

fn reorder(graph: &mut Graph, order: &[NodeIndex]) {
    let mut place = vec![NodeIndex(0); order.len()];
    for (position, node) in order.iter().enumerate() {
        place[node.0] = NodeIndex(position);
    }
    let mut nodes: Vec<_> = std::mem::take(&mut graph.nodes).into_iter().map(Some).collect();
    graph.nodes = order.iter().filter_map(|index| nodes[index.0].take()).collect();
    let moved = |index: NodeIndex| place[index.0];
    graph.data =
        graph.data.iter().map(|edge| DataEdge { from: moved(edge.from), to: moved(edge.to), ..*edge }).collect();
    graph.control =
        graph.control.iter().map(|edge| ControlEdge { from: moved(edge.from), to: moved(edge.to) }).collect();
    (0..).zip(&mut graph.nodes).for_each(|(id, node)| node.id = id);
}
