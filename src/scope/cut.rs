//! Cuts a scope into pieces at everything that interrupts it.

use std::collections::BTreeMap;

use super::eligibility::Predicate;
use super::error::ScopeError;
use super::graph::NodeIndex;
use super::membership::{Context, Scope, ScopeIndex};
use super::reason::Reason;
use super::settings::Mode;
use super::strict::Strict;

/// A node that interrupts a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cut {
    /// The node.
    pub node: NodeIndex,
    /// Why.
    pub reason: Reason,
}

/// One super kernel to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Draft {
    /// `<scope>`, or `<scope>_split_<b>_<e>`.
    pub name: String,
    /// The scope it is cut out of.
    pub scope: ScopeIndex,
    /// Exclusive bounds of the members' ids.
    pub bounds: (i64, i64),
    /// In list order; never empty.
    pub members: Vec<NodeIndex>,
}

impl Draft {
    /// The name of the piece between two ids.
    pub(crate) fn split_name(scope: &str, (begin, end): (i64, i64)) -> String {
        format!("{scope}_split_{begin}_{end}")
    }
}

/// What became of a scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Cut into these pieces; one of the scope's own name if there was nothing to cut at.
    Pieces(Vec<Draft>),
    /// `bypass`, and something cannot be fused: all ops run one by one.
    Bypassed,
    /// No operator of it can be fused.
    Empty,
}

/// A scope after cutting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CutScope {
    /// What became of it.
    pub outcome: Outcome,
    /// Every node that interrupts it, in the order found.
    pub cuts: Vec<Cut>,
}

/// Cuts one scope. `kept_in` is the scope each node is still marked with.
pub(crate) fn cut(context: &Context<'_>, scope: &Scope, kept_in: &[&str]) -> Result<CutScope, ScopeError> {
    let (Some(&first), Some(&last)) = (scope.kept.first(), scope.kept.last()) else {
        return Ok(CutScope { outcome: Outcome::Empty, cuts: Vec::new() });
    };
    let streams = spans(context, scope);
    // Dropped nodes on a stream without kept ones must not break the chain; events keep them in order.
    let mut points: Vec<i64> = scope
        .dropped
        .iter()
        .map(|dropped| context.node(dropped.node))
        .filter(|node| streams.contains_key(&node.stream))
        .map(|node| node.id)
        .collect();
    let cuts = interruptions(context, scope, kept_in, &streams);
    if let (Some(strict), Some(found)) = (scope.strict, cuts.first()) {
        match strict {
            Strict::Abort => {
                return Err(ScopeError::StrictAbort {
                    record: context.record_text(found.node, &scope.name, found.reason),
                    scope: scope.name.to_string(),
                    node: context.node(found.node).name.to_string(),
                    reason: found.reason,
                });
            }
            // The reference forgets the bypass when some node without the option was dropped, and then cuts at
            // the dropped nodes only.
            Strict::Bypass if context.mode() == Mode::Default || points.is_empty() => {
                return Ok(CutScope { outcome: Outcome::Bypassed, cuts });
            }
            Strict::Bypass => {}
        }
    } else {
        points.extend(cuts.iter().map(|cut| context.node(cut.node).id));
    }
    let ends = (context.node(first).id - 1, context.node(last).id + 1);
    if points.is_empty() {
        let whole =
            Draft { name: scope.name.clone().into(), scope: scope.index, bounds: ends, members: scope.kept.clone() };
        return Ok(CutScope { outcome: Outcome::Pieces(vec![whole]), cuts });
    }
    points.extend([ends.0, ends.1]);
    points.sort_unstable();
    Ok(CutScope { outcome: Outcome::Pieces(between(context, scope, &points)), cuts })
}

/// First and last queue position of the scope's kept nodes, per stream.
fn spans(context: &Context<'_>, scope: &Scope) -> BTreeMap<i64, (usize, usize)> {
    let mut spans = BTreeMap::new();
    for &index in &scope.kept {
        let position = context.queue_position[index.0];
        spans.entry(context.node(index).stream).or_insert((position, position)).1 = position;
    }
    spans
}

fn interruptions(
    context: &Context<'_>,
    scope: &Scope,
    kept_in: &[&str],
    streams: &BTreeMap<i64, (usize, usize)>,
) -> Vec<Cut> {
    let predicate = match context.mode() {
        Mode::Default => Predicate::Full,
        Mode::Compat => Predicate::WithoutTiling,
    };
    let mut cuts = Vec::new();
    for (stream, (first, last)) in streams {
        for &node in &context.queues[stream][*first..=*last] {
            if context.is_transparent(node) {
                continue;
            }
            let reason = context.rules.interrupts(context.node(node), kept_in[node.0], &scope.name, predicate);
            cuts.extend(reason.map(|reason| Cut { node, reason }));
        }
    }
    cuts
}

/// The pieces between sorted cut points.
fn between(context: &Context<'_>, scope: &Scope, points: &[i64]) -> Vec<Draft> {
    let mut pieces = Vec::new();
    let mut rest = scope.kept.as_slice();
    for pair in points.windows(2) {
        let bounds = (pair[0], pair[1]);
        // Ids grow along the list, so each piece is a run of the kept nodes.
        let skipped = rest.iter().take_while(|index| context.node(**index).id <= bounds.0).count();
        rest = &rest[skipped..];
        let length = rest.iter().take_while(|index| context.node(**index).id < bounds.1).count();
        let (members, behind) = rest.split_at(length);
        rest = behind;
        if !members.is_empty() {
            let name = Draft::split_name(&scope.name, bounds);
            pieces.push(Draft { name, scope: scope.index, bounds, members: members.to_vec() });
        }
    }
    pieces
}
