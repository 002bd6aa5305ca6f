//! Where things stand in the list while pieces are being built.
//!
//! Nothing in the list ever moves: a kernel takes the place of one of its members, a new recv stands right in front
//! of its consumer and behind older ones, a new send right behind its producer and in front of older ones. So a place
//! is known for good when it is taken, and two places compare without a list.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use crate::scope::events::Party;
use crate::scope::graph::NodeIndex;
use crate::scope::membership::Context;
use crate::scope::settings::Mode;

/// A place in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    /// The node of the graph it is at or beside.
    beside: NodeIndex,
    side: Side,
}

/// In the order of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    InFront { made: usize },
    Here,
    Behind { made: Reverse<usize> },
}

impl Place {
    /// The place of a node of the graph.
    pub(crate) fn of(node: NodeIndex) -> Self {
        Self { beside: node, side: Side::Here }
    }

    /// Right in front of a node, for what was made as number `made`.
    pub(crate) fn in_front_of(node: NodeIndex, made: usize) -> Self {
        Self { beside: node, side: Side::InFront { made } }
    }

    /// Right behind a node, for what was made as number `made`.
    pub(crate) fn behind(node: NodeIndex, made: usize) -> Self {
        Self { beside: node, side: Side::Behind { made: Reverse(made) } }
    }
}

/// What every stream executes, with finished pieces as single entries; event ends are left out.
#[derive(Debug)]
pub(crate) struct Queues(HashMap<i64, BTreeMap<NodeIndex, Party>>);

impl Queues {
    /// The queues of the graph.
    pub(crate) fn new(context: &Context<'_>) -> Self {
        let mut queues: HashMap<i64, BTreeMap<NodeIndex, Party>> = HashMap::new();
        for (index, node) in context.graph.indexed() {
            let skipped = match context.mode() {
                Mode::Default => context.is_transparent(index),
                Mode::Compat => node.is_event(),
            };
            if !skipped {
                queues.entry(node.stream).or_default().insert(index, Party::Node(index));
            }
        }
        Self(queues)
    }

    /// The nearest entries of a queue before one node and behind another that `counts`.
    pub(crate) fn neighbours(
        &self,
        stream: i64,
        first: NodeIndex,
        last: NodeIndex,
        counts: impl Fn(Party) -> bool,
    ) -> (Option<Party>, Option<Party>) {
        let Some(queue) = self.0.get(&stream) else {
            return (None, None);
        };
        let before = queue.range(..first).rev().map(|(_, party)| *party).find(|party| counts(*party));
        let after = queue.range(NodeIndex(last.0 + 1)..).map(|(_, party)| *party).find(|party| counts(*party));
        (before, after)
    }

    /// Takes a node out: it is in a piece now.
    pub(crate) fn remove(&mut self, stream: i64, node: NodeIndex) {
        if let Some(queue) = self.0.get_mut(&stream) {
            queue.remove(&node);
        }
    }

    /// Puts a piece in, at the place of a node.
    pub(crate) fn insert(&mut self, stream: i64, at: NodeIndex, party: Party) {
        self.0.entry(stream).or_default().insert(at, party);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_follow_the_list() {
        let (a, b) = (NodeIndex(3), NodeIndex(4));
        let list = [
            Place::in_front_of(a, 1),
            Place::in_front_of(a, 7),
            Place::of(a),
            Place::behind(a, 9),
            Place::behind(a, 2),
            Place::in_front_of(b, 0),
            Place::of(b),
        ];
        assert!(list.is_sorted());
    }
}
