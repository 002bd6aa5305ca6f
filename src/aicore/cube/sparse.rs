//! Fractals of a matrix of which every second element is left out, with the indices that tell which.

#![expect(clippy::wildcard_enum_match_arm, reason = "a family names its own among all instructions")]

use super::{FRACTAL, ROW};
use crate::aicore::arguments::Arguments;
use crate::aicore::memory::Memory;
use crate::aicore::operand::{Operands, Shape};
use crate::aicore::registers::{Register, Registers};
use crate::aicore::{Fault, OpCode};

/// Bytes of the indices of a fractal: 2 bits for every byte.
pub(crate) const INDICES: u64 = FRACTAL / 4;

/// `(dst, src, start, repeats)`: fractals that follow each other, and their indices from the index matrix.
#[derive(Debug, Clone)]
pub(crate) struct LoadSparse {
    source: u64,
    indices: u64,
    target: u64,
    repeats: u64,
    /// Where L0B starts.
    base: u64,
}

impl LoadSparse {
    /// Decodes a record; `None` if it is of another family.
    pub(crate) fn decode(arguments: &Arguments<'_>) -> Result<Option<Self>, Fault> {
        match arguments.op {
            OpCode::LoadCbufToCbSp => {}
            _ => return Ok(None),
        }
        let start = arguments.word(2) & 0xffff;
        let indices = arguments.core.registers.get(Register::IndexMatrix);
        Ok(Some(Self {
            source: arguments.address(1, Memory::L1) + start * FRACTAL,
            indices: arguments.core.address(Memory::L1, indices).wrapping_add(start * INDICES),
            target: arguments.address(0, Memory::L0b),
            repeats: arguments.at_most(3, "repeat", 255)?,
            base: arguments.core.memory(Memory::L0b).map_or(0, |memory| memory.base as u64),
        }))
    }

    /// Adds everything it reads and writes.
    pub(crate) fn operands(&self, operands: &mut Operands) {
        let fractals = Shape::row(self.repeats * FRACTAL);
        operands.read("src", Memory::L1, self.source, fractals, ROW);
        operands.read("indices", Memory::L1, self.indices, Shape::row(self.repeats * INDICES), ROW);
        operands.write("dst", Memory::L0b, self.target, fractals, FRACTAL);
    }

    /// Does it.
    ///
    /// # Safety
    /// As for [`crate::aicore::Instruction::execute`].
    pub(crate) unsafe fn execute(&self, registers: &mut Registers) {
        if self.repeats == 0 {
            return;
        }
        let place = ((self.target - self.base) / FRACTAL * INDICES) as usize;
        // SAFETY: declared and checked.
        unsafe {
            let bytes = (self.repeats * FRACTAL) as usize;
            std::ptr::copy_nonoverlapping(self.source as *const u8, self.target as *mut u8, bytes);
            let indices = std::slice::from_raw_parts(self.indices as *const u8, (self.repeats * INDICES) as usize);
            registers.sparse_indices()[place..place + indices.len()].copy_from_slice(indices);
        }
    }
}
