//! The flags of one direction that are really needed.

use std::collections::BTreeMap;
use std::ops::Bound;

/// An op's place in the list of one side: its position among the ops of that side alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place(pub(super) usize);

/// Cross edges of one direction, by places in the two side lists, without redundant ones.
///
/// An edge is redundant if another one leaves no earlier and arrives no later: of crossing edges the tighter one
/// stays, of several leaving one op the first to arrive, of several entering one op the last to leave. What stays
/// rises on both sides, so the k-th set of the flag is matched by its k-th wait.
#[derive(Debug, Default)]
pub(super) struct Frontier {
    by_sender: BTreeMap<Place, Arrival>,
}

/// Where an edge arrives, and which edge it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Arrival {
    /// Place of the receiver in its side's list.
    pub(super) receiver: Place,
    /// The edge's number.
    pub(super) edge: usize,
}

impl Frontier {
    /// Adds an edge; says whether it stays. Edges that it makes redundant go.
    pub(super) fn insert(&mut self, sender: Place, arrival: Arrival) -> bool {
        // Arrivals rise with senders, so the first edge leaving no earlier is the tightest of them.
        if self.by_sender.range(sender..).next().is_some_and(|(_, tighter)| tighter.receiver <= arrival.receiver) {
            return false;
        }
        while let Some((&earlier, looser)) = self.by_sender.range(..=sender).next_back() {
            if looser.receiver < arrival.receiver {
                break;
            }
            self.by_sender.remove(&earlier);
        }
        self.by_sender.insert(sender, arrival);
        true
    }

    /// The edge that leaves `sender`.
    pub(super) fn leaving(&self, sender: Place) -> Option<Arrival> {
        self.by_sender.get(&sender).copied()
    }

    /// The first edge that leaves at `sender` or later.
    pub(super) fn first_from(&self, sender: Place) -> Option<(Place, Arrival)> {
        self.by_sender.range(sender..).next().map(|(&sender, &arrival)| (sender, arrival))
    }

    /// The first edge that leaves after `sender`.
    pub(super) fn next_after(&self, sender: Place) -> Option<(Place, Arrival)> {
        let later = (Bound::Excluded(sender), Bound::Unbounded);
        self.by_sender.range(later).next().map(|(&sender, &arrival)| (sender, arrival))
    }

    /// The edge `count` edges behind the one that leaves `sender`.
    pub(super) fn ahead(&self, sender: Place, count: usize) -> Option<(Place, Arrival)> {
        self.by_sender.range(sender..).nth(count).map(|(&sender, &arrival)| (sender, arrival))
    }

    /// The sender of the edge up to `count` edges in front of `sender`.
    pub(super) fn behind(&self, sender: Place, count: usize) -> Place {
        self.by_sender.range(..sender).rev().take(count).last().map_or(sender, |(&sender, _)| sender)
    }

    /// All edges in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Place, Arrival)> + '_ {
        self.by_sender.iter().map(|(&sender, &arrival)| (sender, arrival))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The three rules as they are told, one after the other, in quadratic time.
    fn by_the_rules(edges: &[(usize, usize)]) -> Vec<(usize, usize)> {
        let mut left: Vec<(usize, usize)> =
            edges.iter().copied().filter(|(s, r)| !edges.iter().any(|(s2, r2)| r2 < r && s2 > s)).collect();
        let state = left.clone();
        left.retain(|(s, r)| state.iter().all(|(s2, r2)| s2 != s || r2 >= r));
        let state = left.clone();
        left.retain(|(s, r)| state.iter().all(|(s2, r2)| r2 != r || s2 <= s));
        left.sort_unstable();
        left.dedup();
        left
    }

    proptest! {
        #[test]
        fn keeps_what_the_rules_keep(edges in prop::collection::vec((0usize..12, 0usize..12), 0..40)) {
            let mut frontier = Frontier::default();
            for (number, &(sender, receiver)) in edges.iter().enumerate() {
                frontier.insert(Place(sender), Arrival { receiver: Place(receiver), edge: number });
            }
            let kept: Vec<(usize, usize)> = frontier.iter().map(|(s, arrival)| (s.0, arrival.receiver.0)).collect();
            prop_assert_eq!(kept, by_the_rules(&edges));
        }
    }
}
