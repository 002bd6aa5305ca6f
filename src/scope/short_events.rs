//! Events as pairs of nodes: a send right behind the producer, a recv right in front of the consumer.

use std::collections::HashSet;

use smol_str::SmolStr;

use super::graph::{BranchIndex, ControlEdge, DataEdge, Direction, EventKind, Graph, Node, NodeIndex};

/// An event without nodes of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ShortEvent {
    pub id: i64,
    pub kind: EventKind,
    pub from: NodeIndex,
    pub to: NodeIndex,
    /// The producer's if there is none.
    pub send_stream: Option<i64>,
    /// The consumer's if there is none.
    pub recv_stream: Option<i64>,
}

impl ShortEvent {
    fn end_type(&self, end: Direction) -> &'static str {
        match end {
            Direction::Send => self.kind.send_type(),
            Direction::Recv => self.kind.recv_type(),
        }
    }

    /// An end beside `node`.
    fn end(&self, end: Direction, name: SmolStr, node: &Node) -> Node {
        let own_stream = match end {
            Direction::Send => self.send_stream,
            Direction::Recv => self.recv_stream,
        };
        let mut made = Node::new(name, self.end_type(end), node.id, own_stream.unwrap_or(node.stream));
        made.branch = node.branch;
        made.event_id = Some(self.id);
        made
    }
}

/// Gives every event its two nodes.
pub(crate) fn add(mut graph: Graph, events: &[ShortEvent]) -> Graph {
    if events.is_empty() {
        return graph;
    }
    let mut behind = vec![Vec::new(); graph.nodes.len()];
    let mut in_front = vec![Vec::new(); graph.nodes.len()];
    for (number, event) in events.iter().enumerate() {
        behind[event.from.0].push(number);
        in_front[event.to.0].push(number);
    }
    let mut free_names = FreeNames(graph.nodes.iter().map(|node| node.name.clone()).collect());
    let mut sends = vec![NodeIndex(0); events.len()];
    let mut recvs = vec![NodeIndex(0); events.len()];
    let mut moved = Vec::with_capacity(graph.nodes.len());
    let mut nodes = Vec::with_capacity(graph.nodes.len() + 2 * events.len());
    for (position, node) in std::mem::take(&mut graph.nodes).into_iter().enumerate() {
        for &number in &in_front[position] {
            recvs[number] = NodeIndex(nodes.len());
            let name = free_names.take(&graph, &events[number], Direction::Recv, node.branch);
            nodes.push(events[number].end(Direction::Recv, name, &node));
        }
        moved.push(NodeIndex(nodes.len()));
        nodes.push(node);
        for &number in &behind[position] {
            sends[number] = NodeIndex(nodes.len());
            let node = &nodes[moved[position].0];
            let name = free_names.take(&graph, &events[number], Direction::Send, node.branch);
            let end = events[number].end(Direction::Send, name, node);
            nodes.push(end);
        }
    }
    graph.nodes = nodes;
    let place = |index: NodeIndex| moved[index.0];
    graph.data =
        graph.data.iter().map(|edge| DataEdge { from: place(edge.from), to: place(edge.to), ..*edge }).collect();
    graph.control =
        graph.control.iter().map(|edge| ControlEdge { from: place(edge.from), to: place(edge.to) }).collect();
    for (number, event) in events.iter().enumerate() {
        graph.control.push(ControlEdge { from: place(event.from), to: sends[number] });
        graph.control.push(ControlEdge { from: recvs[number], to: place(event.to) });
    }
    graph
}

/// Names that nodes have already.
struct FreeNames(HashSet<SmolStr>);

impl FreeNames {
    /// A name for an event end. The number alone would collide between kinds, graphs, and events of one number.
    fn take(&mut self, graph: &Graph, event: &ShortEvent, end: Direction, branch: BranchIndex) -> SmolStr {
        let plain = match graph.branch(branch) {
            Some(branch) => format!("{}/{}_{}", branch.name, event.end_type(end), event.id),
            None => format!("{}_{}", event.end_type(end), event.id),
        };
        let mut name = SmolStr::from(&plain);
        let mut number = 2;
        while !self.0.insert(name.clone()) {
            name = format!("{plain}_{number}").into();
            number += 1;
        }
        name
    }
}
