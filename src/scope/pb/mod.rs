//! Graph dumps in protobuf binary form (`*.pb`), reduced to the fields the planner reads.
//!
//! [`wire`] walks the fields of a message, [`reduce`] picks the graphs out of them. Unknown fields are skipped.

mod reduce;
mod wire;

use super::dump;
use super::error::DumpPlace;
use super::error::ScopeError;
use super::graph::Graph;

/// What an offline model begins with.
const OFFLINE_MODEL: &[u8] = b"IMOD";

/// Is this a binary file? Texts, JSON included, hold no control characters but blanks and line ends; a binary dump has
/// at least one in front of the type of every op.
pub(crate) fn is_binary(bytes: &[u8]) -> bool {
    bytes.iter().any(|byte| byte.is_ascii_control() && !matches!(byte, b'\t' | b'\n' | 0x0b | 0x0c | b'\r' | 0x7f))
}

/// Reads a dump: a `ModelDef`, or a `GraphDef` alone.
pub(crate) fn read(bytes: &[u8]) -> Result<Graph, ScopeError> {
    let start = DumpPlace::Offset(0);
    if bytes.starts_with(OFFLINE_MODEL) {
        return Err(dump::wrong(start, "this is an offline model (.om), not a graph dump"));
    }
    dump::assemble(reduce::graphs(bytes)?, start)
}
