//! The events of a graph: who records, who waits, on which streams.

use std::collections::HashMap;

use super::error::ScopeError;
use super::graph::{Direction, EventKind, Graph, NodeIndex, Role};
use super::settings::Mode;

/// A super kernel of the plan, in the order they are built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PieceIndex(pub usize);

/// An event of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventIndex(pub usize);

/// One side of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Party {
    /// A node of the graph, alone or inside a super kernel.
    Node(NodeIndex),
    /// A super kernel as a whole: its start waits, its end records.
    Piece(PieceIndex),
}

/// Where an event comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// It was in the graph, with these nodes.
    Graph {
        /// The send node.
        send: NodeIndex,
        /// The recv node.
        recv: NodeIndex,
    },
    /// It was made for a piece.
    Created,
}

/// One event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// How it is carried.
    pub kind: EventKind,
    /// Its id.
    pub id: i64,
    /// Records it.
    pub producer: Party,
    /// Waits for it.
    pub consumer: Party,
    /// Stream of the record.
    pub send_stream: i64,
    /// Stream of the wait.
    pub recv_stream: i64,
    /// Where it comes from.
    pub origin: Origin,
    /// Not replaced by a later one.
    pub alive: bool,
}

/// Reads the events of a graph; every one of them must be complete.
pub fn collect(graph: &Graph, mode: Mode) -> Result<Vec<Event>, ScopeError> {
    let neighbours = Neighbours::of(graph);
    // The reference has one table for all kinds, so equal numbers collide; ours is keyed by kind.
    let key = |kind: EventKind, id: i64| match mode {
        Mode::Default => (Some(kind), id),
        Mode::Compat => (None, id),
    };
    let fail = |node: NodeIndex, problem: String| ScopeError::Event { node: graph.node(node).name.clone(), problem };
    let mut sends = HashMap::new();
    let mut recvs = HashMap::new();
    let mut order = Vec::new();
    for (index, node) in graph.indexed() {
        let Role::Event(kind, direction) = node.role() else { continue };
        let Some(id) = node.event_id else {
            return Err(fail(index, format!("it has no `{}`", kind.id_attribute())));
        };
        let (table, partners, what) = match direction {
            Direction::Send => (&mut sends, neighbours.before(index), "producer"),
            Direction::Recv => (&mut recvs, neighbours.behind(index), "consumer"),
        };
        let &[partner] = partners else {
            return Err(fail(index, format!("it has {} control neighbours as {what}, not one", partners.len())));
        };
        if graph.node(partner).is_event() {
            return Err(fail(index, format!("its {what} `{}` is an event end itself", graph.node(partner).name)));
        }
        if let Some((other, _, _)) = table.insert(key(kind, id), (index, partner, kind)) {
            return Err(fail(index, format!("`{}` has the same id {id}", graph.node(other).name)));
        }
        if direction == Direction::Send {
            order.push((index, partner, kind, id));
        }
    }
    let mut events = Vec::with_capacity(order.len());
    for (send, producer, kind, id) in order {
        let Some((recv, consumer, _)) = recvs.remove(&key(kind, id)) else {
            return Err(fail(send, format!("there is no recv with id {id}")));
        };
        if mode == Mode::Default && consumer <= producer {
            let name = |index| graph.node(index).name.clone();
            return Err(ScopeError::BackwardEvent { id, producer: name(producer), consumer: name(consumer) });
        }
        events.push(Event {
            kind,
            id,
            producer: Party::Node(producer),
            consumer: Party::Node(consumer),
            send_stream: graph.node(send).stream,
            recv_stream: graph.node(recv).stream,
            origin: Origin::Graph { send, recv },
            alive: true,
        });
    }
    match recvs.values().map(|(recv, _, _)| *recv).min() {
        Some(recv) => Err(fail(recv, "there is no send with its id".to_owned())),
        None => Ok(events),
    }
}

/// Control neighbours of event ends.
struct Neighbours {
    before: HashMap<NodeIndex, Vec<NodeIndex>>,
    behind: HashMap<NodeIndex, Vec<NodeIndex>>,
}

impl Neighbours {
    fn of(graph: &Graph) -> Self {
        let mut neighbours = Self { before: HashMap::new(), behind: HashMap::new() };
        for edge in &graph.control {
            neighbours.before.entry(edge.to).or_default().push(edge.from);
            neighbours.behind.entry(edge.from).or_default().push(edge.to);
        }
        neighbours
    }

    fn before(&self, index: NodeIndex) -> &[NodeIndex] {
        self.before.get(&index).map_or(&[], Vec::as_slice)
    }

    fn behind(&self, index: NodeIndex) -> &[NodeIndex] {
        self.behind.get(&index).map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scope::json;

    fn collect_text(text: &str, mode: Mode) -> Result<Vec<Event>, ScopeError> {
        collect(&json::read(text).unwrap(), mode)
    }

    const TWO: &str = r#"{"name": "a", "type": "Add", "stream": 1}, {"name": "b", "type": "Add", "stream": 2}"#;

    #[test]
    fn equal_numbers_of_two_kinds_collide_in_the_reference_only() {
        let text = format!(
            r#"{{"nodes": [{TWO}], "events": [{{"id": 3, "from": "a", "to": "b"}},
                {{"id": 3, "from": "a", "to": "b", "kind": "notify"}}]}}"#
        );
        assert_eq!(collect_text(&text, Mode::Default).unwrap().len(), 2);
        assert!(collect_text(&text, Mode::Compat).unwrap_err().to_string().contains("the same id 3"));
    }

    #[test]
    fn incomplete_events_are_refused() {
        for (extra, control, part) in [
            (r#"{"name": "s", "type": "Send", "stream": 1}"#, r#"["a", "s"]"#, "no `event_id`"),
            (
                r#"{"name": "s", "type": "SendNotify", "stream": 1, "attrs": {"event_id": 3}}"#,
                r#"["a", "s"]"#,
                "no `notify_id`",
            ),
            (r#"{"name": "s", "type": "Send", "stream": 1, "event_id": 3}"#, "", "0 control neighbours"),
            (
                r#"{"name": "s", "type": "Send", "stream": 1, "event_id": 3}"#,
                r#"["a", "s"], ["b", "s"]"#,
                "2 control neighbours",
            ),
            (r#"{"name": "s", "type": "Send", "stream": 1, "event_id": 3}"#, r#"["a", "s"]"#, "no recv with id 3"),
            (r#"{"name": "r", "type": "Recv", "stream": 1, "event_id": 3}"#, r#"["r", "b"]"#, "no send"),
            (
                r#"{"name": "s", "type": "Send", "event_id": 3}, {"name": "t", "type": "Send", "event_id": 4}"#,
                r#"["s", "t"], ["a", "s"]"#,
                "is an event end itself",
            ),
        ] {
            let text = format!(r#"{{"nodes": [{TWO}, {extra}], "control": [{control}]}}"#);
            for mode in [Mode::Default, Mode::Compat] {
                let error = collect_text(&text, mode).unwrap_err().to_string();
                assert!(error.contains(part), "{text}: {error}");
            }
        }
    }

    #[test]
    fn a_consumer_in_front_of_its_producer_is_refused() {
        let text = format!(r#"{{"nodes": [{TWO}], "events": [{{"id": 3, "from": "b", "to": "a"}}]}}"#);
        assert!(matches!(collect_text(&text, Mode::Default), Err(ScopeError::BackwardEvent { .. })));
        assert_eq!(collect_text(&text, Mode::Compat).unwrap().len(), 1);
    }
}
