//! A core on its own, with memories and a piece of global memory: for trying instructions one by one.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};

use super::operand::Operands;
use super::{Core, Fault, Instruction, Issued, LocalMemory, Memory};

/// FB must start at a multiple of this (kernels put its addresses into words with other fields).
const ALIGNMENT: usize = 4 << 20;

/// See the module.
#[derive(Debug)]
pub(crate) struct Workbench {
    core: Core,
    global: LocalMemory,
    blocks: Vec<(*mut u8, Layout)>,
    operands: Operands,
}

// SAFETY: the memory is owned, and nothing in here is bound to a thread.
unsafe impl Send for Workbench {}
// SAFETY: a shared reference gives access to nothing that changes through it.
unsafe impl Sync for Workbench {}

impl Workbench {
    /// Zeroed local memories of these sizes, and `global` bytes of global memory.
    pub(crate) fn new(sizes: [u64; 7], global: u64) -> Self {
        let mut blocks = Vec::new();
        let mut place = |size: u64| {
            let Ok(layout) = Layout::from_size_align(size.max(1) as usize, ALIGNMENT) else {
                return LocalMemory::ABSENT;
            };
            // SAFETY: the layout is not empty.
            let base = unsafe { alloc_zeroed(layout) };
            if base.is_null() {
                handle_alloc_error(layout);
            }
            blocks.push((base, layout));
            LocalMemory { base, size }
        };
        let memories = sizes.map(&mut place);
        let global = place(global);
        Self { core: Core::new(memories), global, blocks, operands: Operands::default() }
    }

    /// Memories and registers.
    pub(crate) fn core(&mut self) -> &mut Core {
        &mut self.core
    }

    /// The bytes of a memory.
    pub(crate) fn bytes(&mut self, memory: Memory) -> &mut [u8] {
        let place = self.core.memory(memory).copied().unwrap_or(self.global);
        // SAFETY: a block of this workbench, borrowed like the workbench itself.
        unsafe { std::slice::from_raw_parts_mut(place.base, place.size as usize) }
    }

    /// Executes one instruction.
    pub(crate) fn issue(&mut self, issued: &Issued) -> Result<(), Fault> {
        let (op, instruction) = Instruction::decode(issued, &self.core)?;
        self.operands.clear();
        instruction.operands(&mut self.operands);
        self.operands.check(op, &self.core)?;
        for operand in self.operands.iter().filter(|operand| operand.memory == Memory::Gm) {
            let inside = self.global.offset_of(operand.address);
            if inside.is_none_or(|offset| offset.saturating_add(operand.shape.extent()) > self.global.size) {
                return Err(Fault::of(op, format!("{} is not inside the global memory at hand", operand.name)));
            }
        }
        // SAFETY: all operands were checked against the blocks of this workbench.
        unsafe { instruction.execute(&mut self.core.registers) }
    }

    /// What the last instruction declared to touch.
    pub(crate) fn operands(&self) -> &Operands {
        &self.operands
    }
}

impl Drop for Workbench {
    fn drop(&mut self) {
        for (block, layout) in &self.blocks {
            // SAFETY: allocated in `new` with this layout.
            unsafe { dealloc(*block, *layout) };
        }
    }
}
