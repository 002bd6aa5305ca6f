//! Row-major matrices of global memory into L1, cut into fractals on the way.

#![expect(clippy::wildcard_enum_match_arm, reason = "a family names its own among all instructions")]

use crate::aicore::arguments::Arguments;
use crate::aicore::memory::Memory;
use crate::aicore::operand::{Operands, Shape};
use crate::aicore::{Fault, OpCode};

const BLOCK: u64 = 32;

/// `(dst, src, sid, matrices, rows, columns, srcMatrixStride, srcRowStride, dstColumnBlockStride, dstRowStride,
/// dstMatrixStride)`: strides of the source and between matrices in elements, the other two in blocks.
#[derive(Debug, Clone)]
pub(crate) struct Nd2Nz {
    target: u64,
    source: u64,
    matrices: u64,
    rows: u64,
    /// Bytes of a row.
    row: u64,
    /// Bytes from matrix to matrix and from row to row.
    source_steps: (u64, u64),
    /// Bytes from matrix to matrix, from block to block of a row, and from row to row.
    target_steps: (u64, u64, u64),
}

impl Nd2Nz {
    /// Decodes a record; `None` if it is of another family.
    pub(crate) fn decode(arguments: &Arguments<'_>) -> Result<Option<Self>, Fault> {
        match arguments.op {
            OpCode::CopyGmToCbufMultiNd2nz => {}
            _ => return Ok(None),
        }
        let size = arguments.kind(0).bits() / 8;
        if !matches!(size, 1 | 2 | 4) {
            return Err(arguments.wrong_types());
        }
        let word = |at: usize| arguments.word(at);
        Ok(Some(Self {
            target: arguments.address(0, Memory::L1),
            source: word(1),
            matrices: arguments.at_most(3, "matrices", 4095)?,
            rows: arguments.at_most(4, "rows", 16_384)?,
            row: arguments.at_most(5, "columns", 65_535)? * size,
            source_steps: (word(6) * size, word(7) * size),
            target_steps: (word(10) * size, word(8) * BLOCK, word(9) * BLOCK),
        }))
    }

    /// Adds everything it reads and writes.
    pub(crate) fn operands(&self, operands: &mut Operands) {
        let (matrix, row) = self.source_steps;
        let source = Shape::cube((self.matrices, matrix), (1, 0), (self.rows, row), self.row);
        operands.read("src", Memory::Gm, self.source, source, 1);
        let (matrix, block, row) = self.target_steps;
        let blocks = self.row.div_ceil(BLOCK);
        let target = Shape::cube((self.matrices, matrix), (blocks, block), (self.rows, row), BLOCK);
        operands.write("dst", Memory::L1, self.target, target, BLOCK);
    }

    /// Does it.
    ///
    /// # Safety
    /// As for [`crate::aicore::Instruction::execute`].
    pub(crate) unsafe fn execute(&self) {
        for matrix in 0..self.matrices {
            for row in 0..self.rows {
                let from = self.source + matrix * self.source_steps.0 + row * self.source_steps.1;
                let to = self.target + matrix * self.target_steps.0 + row * self.target_steps.2;
                for block in 0..self.row.div_ceil(BLOCK) {
                    // What the last block lacks is 0.
                    let mut bytes = [0u8; BLOCK as usize];
                    let count = (self.row - block * BLOCK).min(BLOCK) as usize;
                    // SAFETY: declared and checked.
                    unsafe {
                        let piece = (from + block * BLOCK) as *const u8;
                        std::ptr::copy_nonoverlapping(piece, bytes.as_mut_ptr(), count);
                        ((to + block * self.target_steps.1) as *mut [u8; BLOCK as usize]).write_unaligned(bytes);
                    }
                }
            }
        }
    }
}
