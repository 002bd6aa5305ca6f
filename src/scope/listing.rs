//! The list and the events as they are after planning.

use super::events::{Event, EventIndex, Origin, Party};
use super::graph::NodeIndex;
use super::membership::Context;
use super::outcome::{EventReport, ListedNode, Piece};
use super::rewrite::{Entry, Rewriter};

/// All nodes, renumbered: each super kernel is followed by its members and its event ends.
pub fn nodes(context: &Context<'_>, rewriter: &Rewriter<'_>, pieces: &[Piece]) -> Vec<ListedNode> {
    let mut list = Listing { context, events: &rewriter.events, nodes: Vec::new() };
    for entry in &rewriter.outer {
        match *entry {
            Entry::Node(index) => list.node(index, None),
            Entry::Send(index) => list.send(index, None),
            Entry::Recv(index) => list.recv(index, None),
            Entry::Piece(index) => {
                let placed = &rewriter.pieces[index.0];
                let name = &pieces[index.0].node_name;
                list.push(name.clone(), "SuperKernel", placed.main_stream, None);
                for member in &placed.members {
                    list.node(*member, Some(name));
                }
                for helper in &placed.helpers {
                    match *helper {
                        Entry::Send(index) => list.send(index, Some(name)),
                        Entry::Recv(index) => list.recv(index, Some(name)),
                        Entry::Node(_) | Entry::Piece(_) => {}
                    }
                }
            }
        }
    }
    list.nodes
}

struct Listing<'a> {
    context: &'a Context<'a>,
    events: &'a [Event],
    nodes: Vec<ListedNode>,
}

impl Listing<'_> {
    fn push(&mut self, name: String, op_type: &str, stream: i64, parent: Option<&String>) {
        let id = self.nodes.len();
        self.nodes.push(ListedNode { id, name, op_type: op_type.to_owned(), stream, parent: parent.cloned() });
    }

    fn node(&mut self, index: NodeIndex, parent: Option<&String>) {
        let node = self.context.node(index);
        self.push(node.name.clone(), &node.op_type, node.stream, parent);
    }

    fn send(&mut self, index: EventIndex, parent: Option<&String>) {
        let event = &self.events[index.0];
        let name = match event.origin {
            Origin::Graph { send, .. } => self.context.node(send).name.clone(),
            Origin::Created => format!("sk_send_{}", event.id),
        };
        self.push(name, event.kind.send_type(), event.send_stream, parent);
    }

    fn recv(&mut self, index: EventIndex, parent: Option<&String>) {
        let event = &self.events[index.0];
        let name = match event.origin {
            Origin::Graph { recv, .. } => self.context.node(recv).name.clone(),
            Origin::Created => format!("sk_rcv_{}", event.id),
        };
        self.push(name, event.kind.recv_type(), event.recv_stream, parent);
    }
}

/// All events that are left.
pub fn events(context: &Context<'_>, rewriter: &Rewriter<'_>, pieces: &[Piece]) -> Vec<EventReport> {
    let name = |party: Party| match party {
        Party::Node(index) => context.node(index).name.clone(),
        Party::Piece(index) => pieces[index.0].node_name.clone(),
    };
    let live = rewriter.events.iter().filter(|event| event.alive);
    live.map(|event| EventReport {
        id: event.id,
        kind: event.kind.as_str(),
        from: name(event.producer),
        to: name(event.consumer),
        send_stream: event.send_stream,
        recv_stream: event.recv_stream,
        created: event.origin == Origin::Created,
    })
    .collect()
}
