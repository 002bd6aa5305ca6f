//! Graph dumps in protobuf text form (`ge_proto_*.txt`, `*.pbtxt`), reduced to the fields the planner reads.
//!
//! [`lexer`] splits the text into tokens, [`message`] builds the tree of fields, [`reduce`] picks the graph out of
//! it, [`node_form`] from TorchAir's list of nodes; [`fields`] is what both read. Unknown fields and messages are skipped.

mod fields;
mod lexer;
mod message;
mod node_form;
mod reduce;

use super::dump;
use super::error::DumpPlace;
use super::error::ScopeError;
use super::graph::Graph;

/// Reads a dump: a `ModelDef`, or a `GraphDef` alone.
pub(crate) fn read(text: &[u8]) -> Result<Graph, ScopeError> {
    dump::assemble(reduce::graphs(&message::parse(text)?)?, DumpPlace::Line(1))
}
