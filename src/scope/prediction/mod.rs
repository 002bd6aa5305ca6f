//! What the graph engine will make of a graph that it has not seen yet.
//!
//! A graph from before compilation has no support flags, streams, events or ids. They are filled in as the engine would,
//! by its published rules and without any compilation, so everything planned from it is a prediction:
//!
//! 1. [`simplify`]: identities and casts without effect go, constants are folded, ops on shapes have no task;
//! 2. [`assume`]: every op of the AI cores can be fused, and so can marked collectives of four kinds;
//! 3. [`engine_order`]: the order of the program, or the one the engine sorts it into;
//! 4. [`streams`]: labels are streams, other collectives have streams of their own, edges between streams are events.

mod assume;
mod engine_order;
mod findings;
mod simplify;
mod streams;

use std::sync::Arc;

use super::error::ScopeError;
use super::graph::{Graph, Stage};
use super::outcome::ScopePlan;
use super::plan::plan;
use super::settings::{Order, Orders, Settings};
use crate::cancel::Cancel;

/// Plans a graph of any stage. Of one from before compilation the engine's order is looked at too, if that is asked for.
pub(crate) fn plan_model(graph: &Graph, settings: &Settings, cancel: &Cancel) -> Result<ScopePlan, ScopeError> {
    if graph.stage == Stage::Compiled && settings.fusable.is_empty() && settings.not_fusable.is_empty() {
        return plan(graph, settings, cancel);
    }
    let mut planned = plan(&fill_in(graph.clone(), settings)?, settings, cancel)?;
    planned.findings.extend(findings::unknown_types(graph, settings));
    if graph.stage == Stage::BeforeCompilation && settings.orders == Orders::Both {
        let only = Settings { orders: Orders::Only(Order::Engine), ..settings.clone() };
        let engine = plan(&fill_in(graph.clone(), &only)?, &only, cancel);
        planned.findings.extend(findings::of_order(&planned, engine));
    }
    Ok(planned)
}

/// A graph with what compilation would find out; the same graph if that is known.
pub(crate) fn filled_in(graph: &Arc<Graph>, settings: &Settings) -> Result<Arc<Graph>, ScopeError> {
    if graph.stage != Stage::BeforeCompilation && settings.fusable.is_empty() {
        return Ok(Arc::clone(graph));
    }
    fill_in(Graph::clone(graph), settings).map(Arc::new)
}

/// Fills in what compilation would find out; of a graph from after it only types that the caller knows better.
pub(crate) fn fill_in(mut graph: Graph, settings: &Settings) -> Result<Graph, ScopeError> {
    match graph.stage {
        Stage::Compiled | Stage::Predicted(_) => {
            assume::fusable_types(&mut graph, settings);
            return Ok(graph);
        }
        Stage::BeforeCompilation => {}
    }
    let known = match settings.not_fusable.as_slice() {
        [] => " (`--not-fusable TYPE` for those that are not)".to_owned(),
        types => format!(", except those of type {}", types.join(", ")),
    };
    let mut notes = vec![format!(
        "prediction: no op of this graph has a support flag yet, so all ops of the AI cores are assumed to be \
         fusable{known}"
    )];
    if graph.has_streams() {
        assume::support(&mut graph, settings);
    } else {
        notes.extend(simplify::simplify(&mut graph));
        notes.extend(assume::support(&mut graph, settings));
        match settings.orders {
            Orders::Only(Order::Program) | Orders::Both => {}
            Orders::Only(Order::Engine) => engine_order::sort(&mut graph)?,
        }
        notes.extend(streams::assign(&mut graph));
    }
    graph.stage = Stage::Predicted(notes);
    Ok(graph)
}
