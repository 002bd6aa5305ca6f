//! What a watcher is shown: the core's memories, and the instruction that is issued.

use crate::aicore::operand::Operand;
use crate::aicore::{LocalMemory, OnResults, OpCode};
use crate::sim::machine::access::Site;
use crate::sim::machine::memory::GlobalMemory;

/// A core as far as the watcher must know it.
pub(crate) struct Scene<'a> {
    /// Its local memories.
    pub memories: &'a [LocalMemory; 7],
    /// Global memory, for names.
    pub global: &'a GlobalMemory,
}

/// One instruction that is issued.
pub(crate) struct Issue<'a> {
    /// Which.
    pub op: OpCode,
    /// What it touches.
    pub operands: &'a [Operand],
    /// Where.
    pub site: Site,
    /// What it does to results in L0C.
    pub on_results: OnResults,
}
