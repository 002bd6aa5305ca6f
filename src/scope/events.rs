//! The events of a graph: who records, who waits, on which streams.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use super::error::ScopeError;
use super::graph::{BranchIndex, Direction, EventKind, Graph, NodeIndex, Role};
use super::settings::Mode;

/// A super kernel of the plan, in the order they are built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct PieceIndex(pub usize);

/// An event of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct EventIndex(pub usize);

/// One side of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Party {
    /// A node of the graph, alone or inside a super kernel.
    Node(NodeIndex),
    /// A super kernel as a whole: its start waits, its end records.
    Piece(PieceIndex),
}

/// Where an event comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
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
pub(crate) struct Event {
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
    /// Another send of the same graph with the same id: which wait belongs to which is not certain.
    pub shares_id_with: Option<NodeIndex>,
    /// Not replaced by a later one.
    pub alive: bool,
}

/// One end of an event, with the node it belongs to.
#[derive(Debug, Clone, Copy)]
struct End {
    node: NodeIndex,
    partner: NodeIndex,
    branch: BranchIndex,
    kind: EventKind,
    id: i64,
}

/// Ends that wait for their other half.
#[derive(Debug, Default)]
struct Unpaired {
    sends: VecDeque<End>,
    recvs: VecDeque<End>,
}

/// Reads the events of a graph. In every graph that holds a piece all of them must be complete; in others nobody
/// looks. Ids are counted per graph: branches of a model that exclude each other use them again.
pub(crate) fn collect(graph: &Graph, mode: Mode, planned: &HashSet<BranchIndex>) -> Result<Vec<Event>, ScopeError> {
    let fail =
        |node: NodeIndex, problem: String| ScopeError::Event { node: graph.node(node).name.to_string(), problem };
    let mut pairs = Vec::new();
    let mut left: BTreeMap<(EventKind, i64), Unpaired> = BTreeMap::new();
    for ((_, kind, id), mut ends) in read_ends(graph, planned)? {
        // With one number used again and again the first wait belongs to the first record.
        while !ends.sends.is_empty() && !ends.recvs.is_empty() {
            pairs.extend(ends.sends.pop_front().zip(ends.recvs.pop_front()));
        }
        let unpaired = left.entry((kind, id)).or_default();
        unpaired.sends.append(&mut ends.sends);
        unpaired.recvs.append(&mut ends.recvs);
    }
    for ends in left.values_mut() {
        // Between a graph and one nested in it, if that is the only way.
        for send in std::mem::take(&mut ends.sends) {
            let recv = ends.recvs.iter().position(|recv| graph.are_nested(send.branch, recv.branch));
            match recv.and_then(|position| ends.recvs.remove(position)) {
                Some(recv) => pairs.push((send, recv)),
                None if planned.contains(&send.branch) => {
                    return Err(fail(send.node, format!("there is no recv with id {}", send.id)));
                }
                None => {}
            }
        }
    }
    let lost = left.values().flat_map(|ends| &ends.recvs).filter(|recv| planned.contains(&recv.branch));
    if let Some(recv) = lost.map(|recv| recv.node).min() {
        return Err(fail(recv, "there is no send with its id".to_owned()));
    }
    pairs.sort_by_key(|(send, _)| send.node);
    let shared = shared_ids(mode, &pairs);
    let mut events = Vec::with_capacity(pairs.len());
    for (send, recv) in pairs {
        let shares_id_with = shared.get(&send.node).copied();
        if mode == Mode::Default && shares_id_with.is_none() && recv.partner <= send.partner {
            let name = |index| graph.node(index).name.to_string();
            let (producer, consumer) = (name(send.partner), name(recv.partner));
            return Err(ScopeError::BackwardEvent { id: send.id, producer, consumer });
        }
        events.push(Event {
            kind: send.kind,
            id: send.id,
            producer: Party::Node(send.partner),
            consumer: Party::Node(recv.partner),
            send_stream: graph.node(send.node).stream,
            recv_stream: graph.node(recv.node).stream,
            origin: Origin::Graph { send: send.node, recv: recv.node },
            shares_id_with,
            alive: true,
        });
    }
    Ok(events)
}

/// The ends of all events, by graph, kind and id, in list order.
fn read_ends(
    graph: &Graph,
    planned: &HashSet<BranchIndex>,
) -> Result<BTreeMap<(BranchIndex, EventKind, i64), Unpaired>, ScopeError> {
    let neighbours = Neighbours::of(graph);
    let mut found: BTreeMap<_, Unpaired> = BTreeMap::new();
    for (index, node) in graph.indexed() {
        let Role::Event(kind, direction) = node.role() else { continue };
        let (partners, what) = match direction {
            Direction::Send => (neighbours.before(index), "producer"),
            Direction::Recv => (neighbours.behind(index), "consumer"),
        };
        let problem = match (node.event_id, partners) {
            (None, _) => format!("it has no `{}`", kind.id_attribute()),
            (Some(_), &[partner]) if graph.node(partner).is_event() => {
                format!("its {what} `{}` is an event end itself", graph.node(partner).name)
            }
            (Some(id), &[partner]) => {
                let end = End { node: index, partner, branch: node.branch, kind, id };
                let ends = found.entry((node.branch, kind, id)).or_default();
                match direction {
                    Direction::Send => ends.sends.push_back(end),
                    Direction::Recv => ends.recvs.push_back(end),
                }
                continue;
            }
            (Some(_), _) => format!("it has {} control neighbours as {what}, not one", partners.len()),
        };
        if planned.contains(&node.branch) {
            return Err(ScopeError::Event { node: node.name.to_string(), problem });
        }
    }
    Ok(found)
}

/// For sends whose id another event of the same graph has too: that other send.
fn shared_ids(mode: Mode, pairs: &[(End, End)]) -> HashMap<NodeIndex, NodeIndex> {
    // The reference has one table for all kinds, so equal numbers collide; ours is keyed by kind.
    let kind = |end: &End| match mode {
        Mode::Default => Some(end.kind),
        Mode::Compat => None,
    };
    let mut users: HashMap<_, Vec<NodeIndex>> = HashMap::new();
    for (send, recv) in pairs {
        let branches = [Some(send.branch), Some(recv.branch).filter(|branch| *branch != send.branch)];
        for branch in branches.into_iter().flatten() {
            users.entry((branch, kind(send), send.id)).or_default().push(send.node);
        }
    }
    let mut shared = HashMap::new();
    for sends in users.values().filter(|sends| sends.len() > 1) {
        for send in sends {
            let other = if *send == sends[0] { sends[1] } else { sends[0] };
            shared.entry(*send).or_insert(other);
        }
    }
    shared
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
        collect(&json::read(text).unwrap(), mode, &HashSet::from([BranchIndex::ROOT]))
    }

    const TWO: &str = r#"{"name": "a", "type": "Add", "stream": 1}, {"name": "b", "type": "Add", "stream": 2}"#;

    fn shared(text: &str, mode: Mode) -> Vec<bool> {
        collect_text(text, mode).unwrap().iter().map(|event| event.shares_id_with.is_some()).collect()
    }

    #[test]
    fn equal_numbers_of_two_kinds_collide_in_the_reference_only() {
        let text = format!(
            r#"{{"nodes": [{TWO}], "events": [{{"id": 3, "from": "a", "to": "b"}},
                {{"id": 3, "from": "a", "to": "b", "kind": "notify"}}, {{"id": 4, "from": "a", "to": "b"}}]}}"#
        );
        assert_eq!(shared(&text, Mode::Default), [false, false, false]);
        assert_eq!(shared(&text, Mode::Compat), [true, true, false]);
    }

    #[test]
    fn ids_are_counted_per_graph() {
        let inner =
            r#"{"name": "c", "type": "Add", "stream": 1, "branch": "g"}, {"name": "d", "type": "Add", "branch": "g"}"#;
        let text = |more: &str| {
            format!(
                r#"{{"nodes": [{TWO}, {inner}], "events": [{{"id": 3, "from": "a", "to": "b"}},
                    {{"id": 3, "from": "c", "to": "d"}}{more}]}}"#
            )
        };
        for mode in [Mode::Default, Mode::Compat] {
            assert_eq!(shared(&text(""), mode), [false, false]);
            assert_eq!(shared(&text(r#", {"id": 3, "from": "c", "to": "d"}"#), mode), [false, true, true]);
            assert_eq!(
                shared(&text(r#", {"id": 5, "from": "b", "to": "c"}"#), mode),
                [false; 3],
                "into a nested graph"
            );
        }
    }

    #[test]
    fn incomplete_events_in_a_graph_without_pieces_are_let_be() {
        let text = format!(r#"{{"nodes": [{TWO}, {{"name": "s", "type": "Send", "stream": 1, "branch": "g"}}]}}"#);
        let graph = json::read(&text).unwrap();
        for mode in [Mode::Default, Mode::Compat] {
            assert!(collect(&graph, mode, &HashSet::from([BranchIndex::ROOT])).unwrap().is_empty());
            assert!(collect(&graph, mode, &HashSet::from([BranchIndex(1)])).is_err());
        }
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
