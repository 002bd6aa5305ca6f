//! What the instructions of one core work on.

use std::cell::Cell;

use super::memory::{LocalMemory, Memory};
use super::registers::Registers;

/// Memories and registers of one core: what its instructions work on.
#[derive(Debug)]
pub(crate) struct Core {
    /// Local memories, in the order of [`Memory::LOCAL`].
    pub memories: [LocalMemory; 7],
    /// Registers.
    pub registers: Registers,
    /// The first word the compare-mask register was last told to load, as it was when it was told: a selection may take
    /// it for the address of its mask.
    pub mask_address: Cell<u64>,
}

impl Core {
    /// A core after reset.
    pub(crate) fn new(memories: [LocalMemory; 7]) -> Self {
        Self { memories, registers: Registers::default(), mask_address: Cell::new(0) }
    }

    /// A local memory; `None` for global memory.
    pub(crate) fn memory(&self, memory: Memory) -> Option<&LocalMemory> {
        self.memories.get(memory as usize)
    }

    /// The host address of an operand in `memory`: an address, or an offset where device code writes offsets.
    pub(crate) fn address(&self, memory: Memory, word: u64) -> u64 {
        match self.memory(memory) {
            Some(local) if memory.takes_offsets() && word < local.size => local.base as u64 + word,
            _ => word,
        }
    }
}
