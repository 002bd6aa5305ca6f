//! The list and the events as they are after planning.

use smol_str::SmolStr;

use super::events::{EventIndex, Origin, Party, PieceIndex};
use super::graph::NodeIndex;
use super::membership::Context;
use super::outcome::{EventReport, ListedNode, Piece};
use super::rewrite::{Place, Rewriter};

/// Something in the list.
#[derive(Debug, Clone, Copy)]
enum Entry {
    Node(NodeIndex),
    Piece(PieceIndex),
    Send(EventIndex),
    Recv(EventIndex),
}

/// All nodes, renumbered: each super kernel is followed by the list of its own graph, which is its members and the
/// event ends beside them, then its data nodes and its output node.
pub(crate) fn nodes(context: &Context<'_>, rewriter: &Rewriter<'_>, pieces: &[Piece]) -> Vec<ListedNode> {
    let (outer, inner) = lists(context, rewriter);
    // Members, event ends and sources beside what every super kernel has.
    let inputs: usize = pieces.iter().map(|piece| piece.inputs.len() + 1).sum();
    let count = outer.len() + inner.iter().map(Vec::len).sum::<usize>() + inputs;
    let mut list = Listing { context, rewriter, nodes: Vec::with_capacity(count) };
    for (_, entry) in outer {
        let Entry::Piece(index) = entry else {
            list.entry(entry, None);
            continue;
        };
        let piece = &pieces[index.0];
        let name = &piece.node_name;
        let stream = rewriter.pieces[index.0].main_stream;
        list.push(name.clone(), "SuperKernel", stream, None);
        for (_, entry) in &inner[index.0] {
            list.entry(*entry, Some(name));
        }
        for number in 0..piece.inputs.len() {
            list.push(format!("{name}_data_{number}"), "Data", stream, Some(name));
        }
        // Also where nothing comes out of it.
        list.push(format!("{name}_output"), "NetOutput", stream, Some(name));
    }
    list.nodes
}

type PlacedEntries = Vec<(Place, Entry)>;

/// What is in the list itself, and what is inside each piece, in order.
fn lists(context: &Context<'_>, rewriter: &Rewriter<'_>) -> (PlacedEntries, Vec<PlacedEntries>) {
    let mut replaced = vec![false; context.graph.nodes.len()];
    for event in rewriter.events.iter().filter(|event| !event.alive) {
        if let Origin::Graph { send, recv } = event.origin {
            (replaced[send.0], replaced[recv.0]) = (true, true);
        }
    }
    let mut outer = PlacedEntries::new();
    let mut inner = vec![PlacedEntries::new(); rewriter.pieces.len()];
    for (index, _) in context.graph.indexed().filter(|(index, _)| !replaced[index.0]) {
        match rewriter.inside[index.0] {
            Some(piece) => inner[piece.0].push((Place::of(index), Entry::Node(index))),
            None => outer.push((Place::of(index), Entry::Node(index))),
        }
    }
    for (number, piece) in rewriter.pieces.iter().enumerate() {
        outer.push((Place::of(piece.anchor), Entry::Piece(PieceIndex(number))));
    }
    let made = |index: &EventIndex| {
        let event = &rewriter.events[index.0];
        event.alive && event.origin == Origin::Created
    };
    for index in (0..rewriter.events.len()).map(EventIndex).filter(made) {
        let event = &rewriter.events[index.0];
        let ends = [
            (event.producer, rewriter.send_place(index), Entry::Send(index)),
            (event.consumer, rewriter.recv_place(index), Entry::Recv(index)),
        ];
        for (party, place, entry) in ends {
            let owner = match party {
                Party::Node(node) => rewriter.inside[node.0],
                Party::Piece(_) => None,
            };
            owner.map_or(&mut outer, |piece| &mut inner[piece.0]).push((place, entry));
        }
    }
    for list in inner.iter_mut().chain([&mut outer]) {
        list.sort_by_key(|(place, _)| *place);
    }
    (outer, inner)
}

struct Listing<'a> {
    context: &'a Context<'a>,
    rewriter: &'a Rewriter<'a>,
    nodes: Vec<ListedNode>,
}

impl Listing<'_> {
    fn push(&mut self, name: impl Into<SmolStr>, op_type: impl Into<SmolStr>, stream: i64, parent: Option<&SmolStr>) {
        let id = self.nodes.len();
        self.nodes.push(ListedNode { id, name: name.into(), op_type: op_type.into(), stream, parent: parent.cloned() });
    }

    fn entry(&mut self, entry: Entry, parent: Option<&SmolStr>) {
        match entry {
            Entry::Node(index) => {
                let node = self.context.node(index);
                self.push(node.name.clone(), node.op_type.clone(), node.stream, parent);
            }
            Entry::Send(index) => {
                let event = &self.rewriter.events[index.0];
                self.push(format!("sk_send_{}", event.id), event.kind.send_type(), event.send_stream, parent);
            }
            Entry::Recv(index) => {
                let event = &self.rewriter.events[index.0];
                self.push(format!("sk_rcv_{}", event.id), event.kind.recv_type(), event.recv_stream, parent);
            }
            // Pieces are not nested.
            Entry::Piece(_) => {}
        }
    }
}

/// All events that are left.
pub(crate) fn events(context: &Context<'_>, rewriter: &Rewriter<'_>, pieces: &[Piece]) -> Vec<EventReport> {
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
