//! Fills of L1, L0A and L0B with one value.

#![expect(clippy::wildcard_enum_match_arm, reason = "a family names its own among all instructions")]

use crate::aicore::arguments::Arguments;
use crate::aicore::memory::Memory;
use crate::aicore::operand::{Operands, Shape};
use crate::aicore::{Fault, OpCode};

/// `(dst, config, value, bytes of the value)`; the configuration word has repeats [15:0], blocks of a repeat [31:16] and
/// blocks between repeats [47:32].
#[derive(Debug, Clone)]
pub(crate) struct Fill {
    memory: Memory,
    target: u64,
    repeats: u64,
    /// Bytes of a repeat.
    bytes: u64,
    /// Bytes from repeat to repeat.
    step: u64,
    value: [u8; 4],
    /// Bytes of the value.
    size: usize,
}

impl Fill {
    /// Decodes a record; `None` if it is of another family.
    pub(crate) fn decode(arguments: &Arguments<'_>) -> Result<Option<Self>, Fault> {
        let (memory, block) = match arguments.op {
            OpCode::CreateCbufMatrix => (Memory::L1, 32),
            OpCode::CreateCaMatrix => (Memory::L0a, 512),
            OpCode::CreateCbMatrix => (Memory::L0b, 512),
            _ => return Ok(None),
        };
        let config = arguments.word(1);
        let size = arguments.word(3) as usize;
        if !matches!(size, 1 | 2 | 4) {
            return Err(arguments.wrong_types());
        }
        let blocks = config >> 16 & 0xffff;
        Ok(Some(Self {
            memory,
            target: arguments.address(0, memory),
            repeats: config & 0xffff,
            bytes: blocks * block,
            step: (blocks + (config >> 32 & 0xffff)) * block,
            value: (arguments.word(2) as u32).to_le_bytes(),
            size,
        }))
    }

    /// Adds everything it writes.
    pub(crate) fn operands(&self, operands: &mut Operands) {
        let alignment = if self.memory == Memory::L1 { 32 } else { 512 };
        operands.write("dst", self.memory, self.target, Shape::rows(self.repeats, self.step, self.bytes), alignment);
    }

    /// Does it.
    ///
    /// # Safety
    /// As for [`crate::aicore::Instruction::execute`].
    pub(crate) unsafe fn execute(&self) {
        for repeat in 0..self.repeats {
            let start = (self.target + repeat * self.step) as *mut u8;
            // SAFETY: declared and checked.
            let row = unsafe { std::slice::from_raw_parts_mut(start, self.bytes as usize) };
            for piece in row.chunks_exact_mut(self.size) {
                piece.copy_from_slice(&self.value[..self.size]);
            }
        }
    }
}
