//! From a marked graph to the op lists that a super kernel is compiled from.
//!
//! | step | module |
//! |---|---|
//! | read a graph | [`json`], [`pbtxt`], [`pb`], [`code_form`] (with [`dump`]) into [`graph`] (attributes: [`attributes`], events: [`short_events`]) |
//! | what compilation would find out, if it has not run | [`prediction`] |
//! | who may fuse | [`eligibility`], [`strict`], `mistakes`, [`membership`] |
//! | cut into pieces | [`cut`], then [`order`] for pieces that would wait for themselves |
//! | streams and events | [`events`], `coverage`, [`rewrite`] |
//! | names and op lists | [`naming`], `piece`, `listing` into [`outcome`] |
//! | for people | [`report`] |
//!
//! [`plan`] calls them in turn. [`launch`] lays out the arguments of the finished kernel.

pub(crate) mod attributes;
pub(crate) mod code_form;
mod coverage;
pub(crate) mod cut;
pub(crate) mod dump;
pub(crate) mod eligibility;
pub(crate) mod error;
pub(crate) mod events;
pub(crate) mod graph;
pub(crate) mod json;
pub(crate) mod launch;
mod layers;
mod listing;
pub(crate) mod membership;
mod mistakes;
pub(crate) mod naming;
pub(crate) mod order;
pub(crate) mod outcome;
pub(crate) mod pb;
pub(crate) mod pbtxt;
mod piece;
mod plan;
pub(crate) mod prediction;
pub(crate) mod reason;
pub(crate) mod report;
pub(crate) mod rewrite;
pub(crate) mod settings;
pub(crate) mod short_events;
pub(crate) mod strict;
mod tasks;

#[cfg(test)]
mod tests;

pub use error::ScopeError;
pub use graph::Graph;
pub use outcome::{Piece, Problem, ScopePlan};
pub(crate) use plan::plan;
pub(crate) use prediction::{filled_in, plan_model};
pub use settings::{Cuts, Hazards, Mode, Order, Orders, Settings, SingleOps, Target};

/// Reads a graph from its JSON form or from a dump of any form, told apart by content.
pub fn read_graph(bytes: &[u8]) -> Result<Graph, ScopeError> {
    if pb::is_binary(bytes) {
        return pb::read(bytes);
    }
    let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    match (first, std::str::from_utf8(bytes)) {
        (Some(b'{'), Ok(text)) => json::read(text),
        (_, Ok(text)) if code_form::is_python(text) => code_form::read(text),
        _ => pbtxt::read(bytes),
    }
}
