//! From a marked graph to the op lists that a super kernel is compiled from.
//!
//! | step | module |
//! |---|---|
//! | read a graph | [`json`], [`pbtxt`], [`pb`] (with [`dump`]) into [`graph`] (attributes: [`attributes`]) |
//! | ranges between calls | [`brackets`] |
//! | who may fuse | [`eligibility`], [`strict`], [`membership`] |
//! | cut into pieces | [`cut`], then [`order`] for pieces that would wait for themselves |
//! | streams and events | [`events`], [`rewrite`] |
//! | names and op lists | [`naming`], `piece`, `listing` into [`outcome`] |
//! | for people | [`report`] |
//!
//! [`plan`] calls them in turn. [`launch`] lays out the arguments of the finished kernel.

pub mod attributes;
pub mod brackets;
pub mod cut;
pub mod dump;
pub mod eligibility;
pub mod error;
pub mod events;
pub mod graph;
pub mod json;
pub mod launch;
mod layers;
mod listing;
pub mod membership;
pub mod naming;
pub mod order;
pub mod outcome;
pub mod pb;
pub mod pbtxt;
mod piece;
mod plan;
pub mod report;
pub mod rewrite;
pub mod settings;
pub mod strict;

#[cfg(test)]
mod tests;

pub use error::ScopeError;
pub use graph::Graph;
pub use outcome::{Piece, Problem, ScopePlan};
pub use plan::plan;
pub use settings::{Cuts, Hazards, Mode, Settings, SingleOps, Target};

/// Reads a graph from its JSON form or from a dump, text or binary, told apart by content.
pub fn read_graph(bytes: &[u8]) -> Result<Graph, ScopeError> {
    if pb::is_binary(bytes) {
        return pb::read(bytes);
    }
    let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    match (first, std::str::from_utf8(bytes)) {
        (Some(b'{'), Ok(text)) => json::read(text),
        _ => pbtxt::read(bytes),
    }
}
