//! Graph dumps in protobuf text form (`ge_proto_*.txt`, `*.pbtxt`), reduced to the fields the planner reads.
//!
//! [`lexer`] splits the text into tokens, [`message`] builds the tree of fields, [`reduce`] picks the graph out of
//! it. Unknown fields and messages are skipped.

mod lexer;
mod message;
mod reduce;

use super::dump;
use super::error::DumpPlace;
use super::error::ScopeError;
use super::graph::Graph;

/// Reads a dump: a `ModelDef`, or a `GraphDef` alone.
pub(crate) fn read(text: &[u8]) -> Result<Graph, ScopeError> {
    dump::assemble(reduce::graphs(&message::parse(text)?)?, DumpPlace::Line(1))
}
