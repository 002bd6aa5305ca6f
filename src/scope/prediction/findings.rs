//! What a user can change before the graph is compiled.

use std::collections::{BTreeMap, BTreeSet};

use smol_str::SmolStr;

use super::super::error::ScopeError;
use super::super::graph::{Graph, Role};
use super::super::outcome::{Finding, ScopePlan, ScopeReport};
use super::super::settings::Settings;
use crate::nearest::nearest;

/// Nodes that a sentence names.
const SHOWN: usize = 4;

const KEEP_ORDER: &str = "keep the order of the program: \
    config.experimental_config.topology_sorting_strategy = \"StableRDFS\"";

/// What the engine's order cuts and the program's does not.
pub(super) fn of_order(program: &ScopePlan, engine: Result<ScopePlan, ScopeError>) -> Vec<Finding> {
    let finding = |scope: &str, message: String| Finding {
        kind: "engine-order",
        scope: scope.to_owned(),
        message,
        solution: KEEP_ORDER.to_owned(),
    };
    let engine = match engine {
        Ok(engine) => engine,
        Err(error) => return vec![finding("", format!("in the engine's order the graph cannot be planned: {error}"))],
    };
    let pieces = |plan: &ScopePlan, scope: &ScopeReport| -> BTreeSet<BTreeSet<SmolStr>> {
        let own = plan.pieces.iter().filter(|piece| piece.scope == scope.name && piece.branch == scope.branch);
        own.map(|piece| piece.members.iter().cloned().collect()).collect()
    };
    let mut found = Vec::new();
    for scope in &program.scopes {
        let other = engine.scopes.iter().find(|other| other.name == scope.name && other.branch == scope.branch);
        let Some(other) = other else { continue };
        let (before, behind) = (pieces(program, scope), pieces(&engine, other));
        // Members that are together in the program's order, and not in the engine's.
        if before.iter().all(|piece| behind.iter().any(|whole| piece.is_subset(whole))) {
            continue;
        }
        let known: BTreeSet<&str> = scope.cuts.iter().map(|cut| cut.node.as_str()).collect();
        let mut between = BTreeMap::new();
        for cut in other.cuts.iter().filter(|cut| !known.contains(cut.node.as_str())) {
            let origin = cut.origin.as_ref().map_or_else(String::new, |origin| format!(" ({origin})"));
            between.insert(cut.id, format!("`{}`{origin}", cut.node));
        }
        let mut between: Vec<String> = between.into_values().collect();
        if between.len() > SHOWN {
            let more = between.split_off(SHOWN).len();
            between.push(format!("{more} more"));
        }
        let message = format!(
            "scope `{}`: {} in the order of the program, {} in the engine's own order{}",
            scope.name,
            fused(&before),
            fused(&behind),
            if between.is_empty() { String::new() } else { format!("; between them there: {}", between.join(", ")) }
        );
        found.push(finding(&scope.name, message));
    }
    found
}

/// `2 super kernels of 5 ops`.
fn fused(pieces: &BTreeSet<BTreeSet<SmolStr>>) -> String {
    let ops: usize = pieces.iter().map(BTreeSet::len).sum();
    let plural = if pieces.len() == 1 { "" } else { "s" };
    format!("{} super kernel{plural} of {ops} ops", pieces.len())
}

/// Types that were named and that no op has: a misspelt name would change nothing, without a word.
pub(super) fn unknown_types(graph: &Graph, settings: &Settings) -> Vec<Finding> {
    let types: BTreeSet<&str> = graph.nodes.iter().map(|node| node.op_type.as_str()).collect();
    let named = settings.fusable.iter().chain(&settings.not_fusable);
    let unknown = named.filter(|name| !types.contains(name.as_str()));
    let finding = |name: &String| {
        let near = nearest(name, types.iter().copied(), 1).first().map(|near| format!("; did you mean `{near}`?"));
        let hint = made_of(graph, name).or(near).unwrap_or_default();
        Finding {
            kind: "unknown-type",
            scope: String::new(),
            message: format!("no op of this graph is of type `{name}`{hint}"),
            solution: "name types as the graph does".to_owned(),
        }
    };
    unknown.map(finding).collect()
}

/// What a torch operator has become: people know its name (`npu_quant_matmul`, `torch.mm`, `aten.mm.default`).
fn made_of(graph: &Graph, name: &str) -> Option<String> {
    let ops = graph.nodes.iter().filter(|node| node.role() == Role::Ordinary);
    let made = ops.filter(|node| {
        let operator = node.origin.as_ref().and_then(|origin| origin.torch_op.split('.').nth(1));
        operator.is_some_and(|operator| name.split('.').any(|part| part == operator))
    });
    let types: BTreeSet<String> = made.map(|node| format!("`{}`", node.op_type)).collect();
    let types = types.into_iter().collect::<Vec<_>>().join(", ");
    (!types.is_empty()).then(|| format!("; torch's operator of that name has become {types}"))
}
