//! The whole way from a marked graph to op lists, step by step.

use std::collections::{BTreeMap, HashSet};

use super::coverage;
use super::cut::{self, CutScope, Draft, Outcome};
use super::error::ScopeError;
use super::events::{self, Event};
use super::graph::{Graph, NodeIndex};
use super::membership::{self, Context, Scope, ScopeIndex};
use super::naming::FileDigests;
use super::order::{Detour, Order, Segment};
use super::outcome::{CutReport, Dropped, Level, Record, ScopePlan, ScopeReport, Status};
use super::reason::Reason;
use super::rewrite::Rewriter;
use super::settings::{Cuts, Hazards, Mode, Settings, SingleOps};
use super::{layers, listing, piece};
use crate::cancel::Cancel;
use crate::model::SubKernels;
use crate::nearest::nearest;

/// Plans every scope of a graph.
pub(crate) fn plan(graph: &Graph, settings: &Settings, cancel: &Cancel) -> Result<ScopePlan, ScopeError> {
    graph.check()?;
    check_excluded(graph, settings)?;
    let mut plan = ScopePlan::new(graph, settings.mode);
    let context = Context::new(graph, settings);
    // Only static shapes are planned; anything else is left as it is, without an error.
    if graph.unknown_shape {
        plan.status = Status::UnknownShape;
        if settings.mode == Mode::Default {
            (_, plan.mistakes) = membership::scopes(&context)?;
        }
        return Ok(plan);
    }
    let (scopes, mistakes) = membership::scopes(&context)?;
    plan.mistakes = mistakes;
    let drafts = cut_scopes(&context, &scopes, &mut plan, cancel)?;
    if drafts.is_empty() {
        return Ok(plan);
    }
    let planned = drafts.iter().map(|draft| scopes[draft.scope.0].branch).collect();
    let events = events::collect(graph, settings.mode, &planned)?;
    if settings.mode == Mode::Default {
        coverage::check(&context, &events)?;
    }
    let drafts = match (settings.mode, settings.cuts) {
        (Mode::Default, Cuts::PerStream) => cut_per_stream(&context, &scopes, drafts, &events),
        (Mode::Default, Cuts::AllStreams) | (Mode::Compat, _) => drafts,
    };
    let pieces = settle(&context, drafts, &events, &mut plan, cancel)?;
    let mut rewriter = Rewriter::new(&context, events);
    for piece in &pieces {
        cancel.check()?;
        rewriter.build(&piece.draft.members, &piece.dependents)?;
    }
    let lists = rewriter.event_lists();
    let (mut files, kernels) = (FileDigests::default(), SubKernels::default());
    for (number, piece) in pieces.iter().enumerate() {
        cancel.check()?;
        let (draft, scope) = (&piece.draft, piece.draft.scope.0);
        let placed = &rewriter.pieces[number];
        let mut finished = piece::finish(&context, placed, draft, &scopes[scope], &lists, &mut files)?;
        finished.warnings.extend(piece.warnings.iter().cloned());
        finished.warnings.extend(piece::warnings_of_model(&context, &finished, &kernels));
        plan.scopes[scope].pieces.push(finished.name.clone());
        plan.pieces.push(finished);
    }
    plan.kernels = kernels.into();
    plan.nodes = listing::nodes(&context, &rewriter, &plan.pieces);
    plan.events = listing::events(&context, &rewriter, &plan.pieces);
    Ok(plan)
}

/// A misspelt name would leave nothing out, without a word.
fn check_excluded(graph: &Graph, settings: &Settings) -> Result<(), ScopeError> {
    if settings.exclude.is_empty() {
        return Ok(());
    }
    let known: HashSet<&str> = graph.nodes.iter().map(|node| node.name.as_str()).collect();
    match settings.exclude.iter().find(|name| !known.contains(name.as_str())) {
        None => Ok(()),
        Some(name) => {
            let near = nearest(name, known, 3).into_iter().map(str::to_owned).collect();
            Err(ScopeError::UnknownExcluded { name: name.clone(), nearest: near })
        }
    }
}

/// A draft that will become a kernel, with what is known about its surroundings.
struct Settled {
    draft: Draft,
    dependents: HashSet<NodeIndex>,
    warnings: Vec<String>,
}

/// Cuts every scope and writes down what was left out.
fn cut_scopes(
    context: &Context<'_>,
    scopes: &[Scope],
    plan: &mut ScopePlan,
    cancel: &Cancel,
) -> Result<Vec<Draft>, ScopeError> {
    let mut kept_in = vec![""; context.graph.nodes.len()];
    for scope in scopes {
        for node in &scope.kept {
            kept_in[node.0] = &scope.name;
        }
    }
    let mut drafts = Vec::new();
    for scope in scopes {
        cancel.check()?;
        for dropped in &scope.dropped {
            plan.record(context, Level::Event, dropped.node, &scope.name, dropped.reason);
        }
        let CutScope { outcome, cuts } = match cut::cut(context, scope, &kept_in) {
            Ok(cut) => cut,
            Err(error) => {
                if let ScopeError::StrictAbort { record, .. } = &error {
                    log::error!(target: "superkernel.scope", "{record}");
                }
                return Err(error);
            }
        };
        for cut in &cuts {
            plan.record(context, Level::Event, cut.node, &scope.name, cut.reason);
        }
        let report = match outcome {
            Outcome::Pieces(pieces) => {
                drafts.extend(pieces);
                "fused"
            }
            Outcome::Bypassed => {
                if let Some(found) = cuts.first() {
                    plan.record(context, Level::Warning, found.node, &scope.name, found.reason);
                }
                "bypassed"
            }
            Outcome::Empty if scope.dropped.iter().any(|dropped| dropped.reason == Reason::OptionMistake) => "mistaken",
            Outcome::Empty => "empty",
        };
        plan.scopes.push(describe(context, scope, report, &cuts));
    }
    Ok(drafts)
}

/// The members of every scope that is fused, cut anew where dependencies ask for it.
fn cut_per_stream(context: &Context<'_>, scopes: &[Scope], drafts: Vec<Draft>, events: &[Event]) -> Vec<Draft> {
    let order = Order::new(context, events);
    let mut members: BTreeMap<ScopeIndex, Vec<NodeIndex>> = BTreeMap::new();
    for draft in drafts {
        members.entry(draft.scope).or_default().extend(draft.members);
    }
    members.iter().flat_map(|(scope, members)| layers::layers(context, &order, &scopes[scope.0], members)).collect()
}

fn describe(context: &Context<'_>, scope: &Scope, outcome: &'static str, cuts: &[cut::Cut]) -> ScopeReport {
    let name = |index: NodeIndex| context.node(index).name.clone();
    let mut left_out: Vec<Dropped> =
        scope.dropped.iter().map(|dropped| Dropped::new(context.node(dropped.node), dropped.reason)).collect();
    if outcome == "bypassed" {
        left_out.extend(scope.kept.iter().map(|node| Dropped::new(context.node(*node), Reason::Bypassed)));
    }
    ScopeReport {
        name: scope.name.clone(),
        branch: context.graph.branch_name(scope.branch).to_owned(),
        strict: scope.strict.map(super::strict::Strict::as_str),
        outcome,
        members: scope.kept.iter().map(|node| name(*node)).collect(),
        left_out,
        cuts: cuts.iter().map(|cut| CutReport::new(context.node(cut.node), cut.reason, None)).collect(),
        pieces: Vec::new(),
    }
}

/// Decides which drafts become kernels, in the order they are built.
fn settle(
    context: &Context<'_>,
    mut drafts: Vec<Draft>,
    events: &[Event],
    plan: &mut ScopePlan,
    cancel: &Cancel,
) -> Result<Vec<Settled>, ScopeError> {
    let parts = match context.mode() {
        Mode::Compat => {
            drafts.sort_by(|left, right| left.name.cmp(&right.name));
            let settled = |draft| Settled { draft, dependents: HashSet::new(), warnings: Vec::new() };
            drafts.into_iter().map(settled).collect()
        }
        Mode::Default => {
            drafts.sort_by_key(|draft| draft.members[0]);
            let parts = without_hazards(context, drafts, events, plan, cancel)?;
            unique_names(parts, plan)
        }
    };
    let mut settled = Vec::with_capacity(parts.len());
    for part in parts {
        match (context.settings.single_ops, part.draft.members.as_slice()) {
            (SingleOps::Leave, &[alone]) => {
                let scope = part.draft.scope.0;
                plan.record(context, Level::Info, alone, &context.node(alone).scope, Reason::SingleOp);
                plan.scopes[scope].left_out.push(Dropped::new(context.node(alone), Reason::SingleOp));
            }
            (SingleOps::Leave | SingleOps::Fuse, _) => settled.push(part),
        }
    }
    Ok(settled)
}

/// Cuts drafts that would wait for themselves.
fn without_hazards(
    context: &Context<'_>,
    drafts: Vec<Draft>,
    events: &[Event],
    plan: &mut ScopePlan,
    cancel: &Cancel,
) -> Result<Vec<Settled>, ScopeError> {
    let mut order = Order::new(context, events);
    let mut settled = Vec::new();
    for draft in drafts {
        cancel.check()?;
        let segments = order.segments(context, &draft.members);
        let name = |index: NodeIndex| context.node(index).name.to_string();
        let whole = segments.len() == 1;
        let scope = context.node(draft.members[0]).scope.as_str();
        let starts: Vec<i64> = segments.iter().map(|segment| context.node(segment.members[0]).id).collect();
        for (number, segment) in segments.into_iter().enumerate() {
            let Segment { members, cut_by, inner_waits, dependents } = segment;
            if let Some(Detour { first, through, node }) = cut_by {
                if context.settings.hazards == Hazards::Refuse {
                    return Err(ScopeError::WaitCycle {
                        scope: scope.to_owned(),
                        first: name(first),
                        through: name(through),
                        node: name(node),
                    });
                }
                plan.record(context, Level::Event, members[0], scope, Reason::WaitCycle);
                let through = format!("{} -> {} -> {}", name(first), name(through), name(node));
                let cut = CutReport::new(context.node(members[0]), Reason::WaitCycle, Some(through));
                plan.scopes[draft.scope.0].cuts.push(cut);
            }
            let begin = if number == 0 { draft.bounds.0 } else { starts[number] - 1 };
            let end = starts.get(number + 1).copied().unwrap_or(draft.bounds.1);
            let piece_name = if whole { draft.name.clone() } else { Draft::split_name(scope, (begin, end)) };
            let warnings = inner_waits.iter().map(|wait| inner_wait_warning(&name, wait)).collect();
            let part = Draft { name: piece_name, scope: draft.scope, bounds: (begin, end), members };
            settled.push(Settled { draft: part, dependents, warnings });
        }
    }
    // A later cut may have moved the first member of a piece behind that of another one.
    settled.sort_by_key(|part| part.draft.members[0]);
    Ok(settled)
}

fn inner_wait_warning(name: &impl Fn(NodeIndex) -> String, wait: &Detour) -> String {
    format!(
        "`{}` waits inside the kernel for `{}`, which waits for `{}` of the same kernel; that works only because the \
         work between needs no AI core",
        name(wait.node),
        name(wait.through),
        name(wait.first)
    )
}

/// A piece must not be called like another scope or piece.
fn unique_names(mut parts: Vec<Settled>, plan: &ScopePlan) -> Vec<Settled> {
    let scopes: HashSet<&str> = plan.scopes.iter().map(|scope| scope.name.as_str()).collect();
    let mut used: HashSet<String> = HashSet::new();
    for part in &mut parts {
        let wanted = part.draft.name.clone();
        let mut number = 2;
        while used.contains(&part.draft.name)
            || (part.draft.name != plan.scopes[part.draft.scope.0].name && scopes.contains(part.draft.name.as_str()))
        {
            part.draft.name = format!("{wanted}_{number}");
            number += 1;
        }
        used.insert(part.draft.name.clone());
    }
    parts
}

impl ScopePlan {
    /// Writes one sentence down, in the plan and in the log.
    fn record(&mut self, context: &Context<'_>, level: Level, node: NodeIndex, scope: &str, reason: Reason) {
        let text = context.record_text(node, scope, reason);
        match level {
            Level::Info | Level::Event => log::info!(target: "superkernel.scope", "{text}"),
            Level::Warning => log::warn!(target: "superkernel.scope", "{text}"),
        }
        let node = context.node(node).name.clone();
        self.records.push(Record {
            level: level.as_str(),
            scope: scope.to_owned().into(),
            node,
            reason: reason.code(),
            text,
        });
    }
}
