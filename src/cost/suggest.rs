//! Which ranges of a graph to mark: what can be fused and pays, and what stands in the way of more.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::Serialize;
use smol_str::SmolStr;

use super::error::CostError;
use super::inputs::Known;
use super::play::Played;
use super::predict::{Prediction, Subject, predict};
use super::prices::{Price, Prices};
use crate::cancel::Cancel;
use crate::plan;
use crate::scope::graph::Origin;
use crate::scope::membership::Context;
use crate::scope::{self, Graph, Piece, ScopePlan, Settings};

/// A range to mark.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Proposal {
    /// The name to mark it with.
    pub scope: String,
    /// The options to mark it with.
    pub options: String,
    /// The ops of the super kernel, in order.
    pub members: Vec<SmolStr>,
    /// Streams of its ops.
    pub streams: Vec<i64>,
    /// The core limits its ops have now and keep.
    pub core_limits: Option<(u32, u32)>,
    /// What it gains.
    pub prediction: Prediction,
}

/// Ops that keep two ranges apart.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Blocker {
    /// The range before.
    pub before: String,
    /// The range behind.
    pub behind: String,
    /// The ops between them, and why each is in no super kernel.
    pub ops: Vec<(SmolStr, String)>,
    /// Predicted microseconds that one range would take less than the two; `None`: the two cannot be one.
    pub costs: Option<f64>,
}

/// A range that can be fused and is not worth it, or not possible.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Passed {
    /// Its first and last op.
    pub first: SmolStr,
    /// Its last op.
    pub last: SmolStr,
    /// How many ops it has.
    pub ops: usize,
    /// Why it is not proposed.
    pub why: String,
}

/// What to mark. All gains predicted.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Suggestion {
    /// Ranges, in the order of the graph.
    pub proposals: Vec<Proposal>,
    /// What keeps neighbours apart.
    pub blockers: Vec<Blocker>,
    /// Ranges that are not proposed.
    pub passed: Vec<Passed>,
    /// The lines to put around the layers.
    pub lines: Vec<String>,
    /// Where the ops named above come from, if the graph tells.
    pub origins: BTreeMap<SmolStr, Origin>,
}

/// Proposes ranges over a graph; marks it has already are not looked at.
pub(crate) fn suggest(
    graph: &Graph,
    settings: &Settings,
    known: &Known<'_>,
    prices: &Prices,
) -> Result<Suggestion, CostError> {
    let marked = mark_all(graph, settings);
    let ScopePlan { pieces: widest, kernels, .. } = scope::plan(&marked, settings, known.cancel)?;
    // A second graph takes as much memory as the first: there is one for each question, and none longer than that.
    drop(marked);
    let read = (&kernels).into();
    let mut passed = Vec::new();
    let mut chosen: Vec<(Piece, Subject, Prediction)> = Vec::new();
    for piece in widest {
        known.cancel.check()?;
        let pass = |why: String| Passed {
            first: piece.members.first().cloned().unwrap_or_default(),
            last: piece.members.last().cloned().unwrap_or_default(),
            ops: piece.members.len(),
            why,
        };
        let subject = match known.of_piece(&piece, &read)? {
            Ok(subject) => subject,
            Err(why) => {
                passed.push(pass(why));
                continue;
            }
        };
        if !subject.is_measured() {
            passed.push(pass("no row of the profile is about its ops".to_owned()));
            continue;
        }
        let program = match plan::plan(&subject.kernel, &subject.sizes) {
            Ok(program) => program,
            Err(error) => {
                passed.push(pass(error.to_string()));
                continue;
            }
        };
        let prediction = predict(&subject, &program, prices, Played::Representative)?;
        if prediction.gain.us <= 0.0 {
            passed.push(pass(format!("fusing would lose {:.2} us", -prediction.gain.us)));
            continue;
        }
        chosen.push((piece, subject, prediction));
    }
    chosen.sort_by_key(|(piece, ..)| piece.ops.first().map_or(0, |op| op.id));
    settle(graph, settings, &mut chosen, &mut passed, known.cancel)?;
    let blockers = blockers(&mark_all(graph, settings), settings, &chosen, prices, known.cancel)?;
    let proposals: Vec<Proposal> = chosen
        .into_iter()
        .enumerate()
        .map(|(number, (piece, _, mut prediction))| {
            let mut streams: Vec<i64> = piece.ops.iter().map(|op| op.stream).collect();
            streams.sort_unstable();
            streams.dedup();
            prediction.name = scope_name(number);
            Proposal {
                scope: scope_name(number),
                options: options_for(streams.len()).into(),
                members: piece.members,
                streams,
                core_limits: piece.core_limits,
                prediction,
            }
        })
        .collect();
    let lines = lines(graph, &proposals);
    let origins = {
        let members = proposals.iter().flat_map(|proposal| &proposal.members);
        let between = blockers.iter().flat_map(|blocker| blocker.ops.iter().map(|(name, _)| name));
        let ends = passed.iter().flat_map(|passed| [&passed.first, &passed.last]);
        graph.origins(members.chain(between).chain(ends).map(SmolStr::as_str))
    };
    Ok(Suggestion { proposals, blockers, passed, lines, origins })
}

fn scope_name(number: usize) -> String {
    format!("sk{}", number + 1)
}

/// Several streams run side by side inside one super kernel if the options say so.
fn options_for(streams: usize) -> SmolStr {
    if streams > 1 { "stream-fusion=1".into() } else { SmolStr::default() }
}

/// The graph with everything marked that can be fused: one scope per run of equal core limits.
fn mark_all(graph: &Graph, settings: &Settings) -> Graph {
    let mut marked = graph.clone();
    for node in &mut marked.nodes {
        node.scope = SmolStr::default();
        node.options = SmolStr::default();
    }
    let context = Context::new(&marked, settings);
    let fusable: Vec<bool> = marked
        .indexed()
        .map(|(index, node)| {
            let rules = &context.rules;
            !context.is_transparent(index) && rules.unfusable(node, scope::eligibility::Predicate::Full).is_none()
        })
        .collect();
    let streams: HashSet<i64> =
        marked.nodes.iter().zip(&fusable).filter(|(_, fusable)| **fusable).map(|(node, _)| node.stream).collect();
    let options = options_for(streams.len());
    let mut limits = None;
    let mut number = 0;
    for (node, fusable) in marked.nodes.iter_mut().zip(fusable) {
        if !fusable {
            continue;
        }
        let own = (node.aicore_num, node.vectorcore_num);
        if limits.replace(own).is_some_and(|before| before != own) {
            number += 1;
        }
        node.scope = format!("range{number}").into();
        node.options.clone_from(&options);
    }
    marked
}

/// Marks the chosen ranges in the graph as given and plans that: what does not come out as one super kernel each is
/// taken back, until the plan is what is proposed.
fn settle(
    graph: &Graph,
    settings: &Settings,
    chosen: &mut Vec<(Piece, Subject, Prediction)>,
    passed: &mut Vec<Passed>,
    cancel: &Cancel,
) -> Result<(), CostError> {
    loop {
        let planned = plan_marked(graph, settings, chosen, cancel)?;
        let mut of_scope: HashMap<&str, Vec<&Piece>> = HashMap::new();
        for piece in &planned.pieces {
            of_scope.entry(&piece.scope).or_default().push(piece);
        }
        let keeps = |number: usize, piece: &Piece| {
            let pieces = of_scope.get(scope_name(number).as_str()).map(Vec::as_slice);
            matches!(pieces, Some([one]) if one.members == piece.members && one.problems.len() == piece.problems.len())
        };
        let kept: Vec<bool> = chosen.iter().enumerate().map(|(number, (piece, ..))| keeps(number, piece)).collect();
        if kept.iter().all(|kept| *kept) {
            return Ok(());
        }
        let mut number = 0;
        chosen.retain(|(piece, ..)| {
            let keep = kept[number];
            number += 1;
            if !keep {
                passed.push(Passed {
                    first: piece.members.first().cloned().unwrap_or_default(),
                    last: piece.members.last().cloned().unwrap_or_default(),
                    ops: piece.members.len(),
                    why: "marked on its own it would be cut again".to_owned(),
                });
            }
            keep
        });
    }
}

fn plan_marked(
    graph: &Graph,
    settings: &Settings,
    chosen: &[(Piece, Subject, Prediction)],
    cancel: &Cancel,
) -> Result<ScopePlan, CostError> {
    let mut marked = graph.clone();
    let mut scopes: HashMap<&str, (usize, SmolStr)> = HashMap::new();
    for (number, (piece, ..)) in chosen.iter().enumerate() {
        let mut streams: Vec<i64> = piece.ops.iter().map(|op| op.stream).collect();
        streams.sort_unstable();
        streams.dedup();
        for member in &piece.members {
            scopes.insert(member, (number, options_for(streams.len())));
        }
    }
    for node in &mut marked.nodes {
        let mark = scopes.get(node.name.as_str());
        node.scope = mark.map(|(number, _)| scope_name(*number).into()).unwrap_or_default();
        node.options = mark.map(|(_, options)| options.clone()).unwrap_or_default();
    }
    Ok(scope::plan(&marked, settings, cancel)?)
}

/// What stands between neighbours, and what it would gain if it did not.
fn blockers(
    marked: &Graph,
    settings: &Settings,
    chosen: &[(Piece, Subject, Prediction)],
    prices: &Prices,
    cancel: &Cancel,
) -> Result<Vec<Blocker>, CostError> {
    let context = Context::new(marked, settings);
    let place: BTreeMap<&str, usize> = marked.indexed().map(|(index, node)| (node.name.as_str(), index.0)).collect();
    let mut found = Vec::new();
    for (number, pair) in chosen.windows(2).enumerate() {
        cancel.check()?;
        let (before, behind) = (&pair[0], &pair[1]);
        let end = before.0.members.last().and_then(|name| place.get(name.as_str()));
        let begin = behind.0.members.first().and_then(|name| place.get(name.as_str()));
        let (Some(&end), Some(&begin)) = (end, begin) else { continue };
        let ops = marked
            .indexed()
            .skip(end + 1)
            .take(begin.saturating_sub(end + 1))
            .filter(|(index, _)| !context.is_transparent(*index))
            .map(|(_, node)| {
                let rules = &context.rules;
                let reason = rules.unfusable(node, scope::eligibility::Predicate::Full);
                let why = reason.map_or_else(
                    || "it is in no range that pays".to_owned(),
                    |reason| format!("{} [{}]", reason.explain(), reason.code()),
                );
                (node.name.clone(), why)
            })
            .collect();
        let apart = before.2.fused.us + prices.get(Price::LaunchGap) + behind.2.fused.us;
        let costs = joined(&before.1, &behind.1, prices).map(|one| apart - one);
        found.push(Blocker { before: scope_name(number), behind: scope_name(number + 1), ops, costs });
    }
    Ok(found)
}

/// The time of two ranges as one super kernel, if they could be.
fn joined(before: &Subject, behind: &Subject, prices: &Prices) -> Option<f64> {
    use crate::model::{self, ByPosition, OpPosition};
    use crate::objects::TextSizes;

    let mut ops: Vec<model::Op> = before.kernel.ops.iter().chain(behind.kernel.ops.iter()).cloned().collect();
    for (index, op) in ops.iter_mut().enumerate() {
        op.index = model::OpIndex(index);
    }
    let mut options = before.kernel.options.clone();
    options.stream_fusion |= behind.kernel.options.stream_fusion;
    let streams: HashSet<i64> = ops.iter().map(|op| op.stream_id.0).collect();
    options.stream_fusion |= streams.len() > 1;
    let kernel = model::assemble(&before.kernel.name, &before.kernel.platform, options, ops).ok()?;
    let mut sizes = TextSizes::default();
    let first = before.kernel.ops.len();
    for (position, op) in kernel.ops.enumerate() {
        for kind in op.class().kinds() {
            let bytes = match position.place().checked_sub(first) {
                None => before.sizes.get(position, *kind),
                Some(rest) => behind.sizes.get(OpPosition::at(rest), *kind),
            };
            if let Some(bytes) = bytes {
                sizes.insert(position, *kind, bytes);
            }
        }
    }
    let subject = Subject {
        name: String::new(),
        kernel: kernel.into(),
        sizes: sizes.into(),
        keys: before.keys.iter().chain(behind.keys.iter()).cloned().collect::<ByPosition<_>>(),
        durations: before.durations.iter().chain(behind.durations.iter()).cloned().collect::<ByPosition<_>>(),
    };
    let program = plan::draft(&subject.kernel, &subject.sizes).ok()?;
    predict(&subject, &program, prices, Played::Representative).ok().map(|prediction| prediction.fused.us)
}

/// An op in the words of the user, if they are known.
fn told(nodes: &HashMap<&str, &scope::graph::Node>, name: &str) -> String {
    match nodes.get(name).and_then(|node| node.origin.as_deref()) {
        Some(origin) => format!("`{name}` ({origin})"),
        None => format!("`{name}`"),
    }
}

/// The lines to put around the layers, with the stream switches and core limits that are there and must stay.
fn lines(graph: &Graph, proposals: &[Proposal]) -> Vec<String> {
    let nodes: HashMap<&str, &scope::graph::Node> = graph.nodes.iter().map(|node| (node.name.as_str(), node)).collect();
    let mut lines = Vec::new();
    for proposal in proposals {
        let (first, last) = (proposal.members.first(), proposal.members.last());
        let (first, last) = (first.map_or("", SmolStr::as_str), last.map_or("", SmolStr::as_str));
        let options = if proposal.options.is_empty() { String::new() } else { format!(", \"{}\"", proposal.options) };
        lines.push(format!("with torchair.scope.super_kernel(\"{}\"{options}):", proposal.scope));
        let count = proposal.members.len();
        lines.push(format!("    ...  # {} to {}, {count} ops", told(&nodes, first), told(&nodes, last)));
        for stream in proposal.streams.iter().filter(|_| proposal.streams.len() > 1) {
            let on = proposal
                .members
                .iter()
                .filter(|name| nodes.get(name.as_str()).is_some_and(|node| node.stream == *stream));
            let on: Vec<&SmolStr> = on.collect();
            if let (Some(first), Some(last)) = (on.first(), on.last()) {
                lines.push(format!("    # keep the stream switch of stream {stream} inside: `{first}` to `{last}`"));
            }
        }
        if let Some((aic, aiv)) = proposal.core_limits {
            lines.push(format!("    # keep `limit_core_num({aic}, {aiv})` around these layers"));
        }
    }
    lines
}
