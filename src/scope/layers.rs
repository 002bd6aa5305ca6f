//! Cuts a scope only where dependencies ask for it: a chain that does not touch an interruption stays whole.
//!
//! Every member gets a layer: 0 without a predecessor, at least that of a member before it, and one more than any
//! member that it can only be reached from through something outside. A layer is a piece: no way leaves it and
//! comes back.

use std::collections::HashMap;

use super::cut::Draft;
use super::graph::NodeIndex;
use super::membership::{Context, Scope};
use super::order::Order;

/// The layers of one scope's members, given in list order, as pieces.
pub(crate) fn layers(context: &Context<'_>, order: &Order, scope: &Scope, members: &[NodeIndex]) -> Vec<Draft> {
    let mut member_layer: HashMap<NodeIndex, usize> = members.iter().map(|member| (*member, 0)).collect();
    // Outside: the highest layer it can be reached from.
    let mut reached_from: HashMap<NodeIndex, usize> = HashMap::new();
    let (Some(&first), Some(&last)) = (members.first(), members.last()) else {
        return Vec::new();
    };
    // Streams and events only lead forward in the list, so one walk sees every node behind its predecessors.
    for node in (first.0..=last.0).map(NodeIndex) {
        let (to_member, to_outside) = match (member_layer.get(&node), reached_from.get(&node)) {
            (Some(layer), _) => (*layer, *layer),
            (None, Some(layer)) => (*layer + 1, *layer),
            (None, None) => continue,
        };
        for next in order.successors_of(node) {
            if let Some(layer) = member_layer.get_mut(&next) {
                *layer = (*layer).max(to_member);
            } else {
                let layer = reached_from.entry(next).or_insert(to_outside);
                *layer = (*layer).max(to_outside);
            }
        }
    }
    let mut pieces: Vec<Vec<NodeIndex>> = Vec::new();
    for &member in members {
        let layer = member_layer[&member];
        if pieces.len() <= layer {
            pieces.resize(layer + 1, Vec::new());
        }
        pieces[layer].push(member);
    }
    pieces.retain(|piece| !piece.is_empty());
    let whole = pieces.len() == 1;
    let draft = |members: Vec<NodeIndex>| {
        let bounds = (context.node(members[0]).id - 1, context.node(members[members.len() - 1]).id + 1);
        let name = if whole { scope.name.clone() } else { Draft::split_name(&scope.name, bounds).into() };
        Draft { name: name.into(), scope: scope.index, bounds, members }
    };
    pieces.into_iter().map(draft).collect()
}
