//! Squares of as many fractals as it takes, transposed on their way into L0A and L0B.

#![expect(clippy::wildcard_enum_match_arm, reason = "a family names its own among all instructions")]

use super::{FRACTAL, ROW, ROWS};
use crate::aicore::arguments::Arguments;
use crate::aicore::memory::Memory;
use crate::aicore::operand::{Operands, Shape};
use crate::aicore::{ElementType, Fault, OpCode};

/// `(dst, src, start, repeats, srcStride, dstGap, mode, dstFractalGap)`: the source counts squares, the target fractals.
#[derive(Debug, Clone)]
pub(crate) struct LoadSquare {
    to: Memory,
    source: u64,
    target: u64,
    repeats: u64,
    /// Fractals of a square.
    parts: u64,
    /// Bits of an element.
    bits: u64,
    source_step: u64,
    /// Bytes from square to square, and from part to part of one.
    target_steps: (u64, u64),
}

impl LoadSquare {
    /// Decodes a record; `None` if it is of another family.
    pub(crate) fn decode(arguments: &Arguments<'_>) -> Result<Option<Self>, Fault> {
        let to = match arguments.op {
            OpCode::LoadCbufToCaTranspose => Memory::L0a,
            OpCode::LoadCbufToCbTranspose => Memory::L0b,
            _ => return Ok(None),
        };
        let kind = arguments.kind(0);
        let parts = match kind.bits() {
            16 => 1,
            8 | 32 => 2,
            4 if to == Memory::L0b => 4,
            _ => return Err(arguments.wrong_types()),
        };
        debug_assert!(kind != ElementType::None);
        let square = parts * FRACTAL;
        let word = |at: usize| arguments.word(at) & 0xffff;
        Ok(Some(Self {
            to,
            source: arguments.address(1, Memory::L1) + word(2) * square,
            target: arguments.address(0, to),
            repeats: arguments.at_most(3, "repeat", 255)?,
            parts,
            bits: kind.bits(),
            source_step: word(4) * square,
            target_steps: ((word(5) + 1) * FRACTAL, (word(7) + 1) * FRACTAL),
        }))
    }

    /// Adds everything it reads and writes.
    pub(crate) fn operands(&self, operands: &mut Operands) {
        let source = Shape::rows(self.repeats, self.source_step, self.parts * FRACTAL);
        operands.read("src", Memory::L1, self.source, source, ROW);
        let (square, part) = self.target_steps;
        let target = Shape::cube((self.repeats, square), (1, 0), (self.parts, part), FRACTAL);
        operands.write("dst", self.to, self.target, target, FRACTAL);
    }

    /// Does it.
    ///
    /// # Safety
    /// As for [`crate::aicore::Instruction::execute`].
    pub(crate) unsafe fn execute(&self) {
        let bytes = (self.parts * FRACTAL) as usize;
        for repeat in 0..self.repeats {
            let mut square = [0u8; 4 * FRACTAL as usize];
            let from = (self.source + repeat * self.source_step) as *const u8;
            // SAFETY: declared and checked.
            unsafe { std::ptr::copy_nonoverlapping(from, square.as_mut_ptr(), bytes) };
            let turned = self.transposed(&square);
            for part in 0..self.parts {
                let to = self.target + repeat * self.target_steps.0 + part * self.target_steps.1;
                let piece = turned[(part * FRACTAL) as usize..].as_ptr();
                // SAFETY: declared and checked.
                unsafe { std::ptr::copy_nonoverlapping(piece, to as *mut u8, FRACTAL as usize) };
            }
        }
    }

    /// Where the element in `row` and `column` of the square lies: its number among all elements.
    fn place(&self, row: usize, column: usize) -> usize {
        let width = (ROW * 8 / self.bits) as usize;
        if self.bits == 32 {
            // Two fractals side by side.
            column / width * ROWS as usize * width + row * width + column % width
        } else {
            row * width + column
        }
    }

    fn transposed(&self, square: &[u8; 4 * FRACTAL as usize]) -> [u8; 4 * FRACTAL as usize] {
        let mut result = [0u8; 4 * FRACTAL as usize];
        let side = match self.bits {
            4 => 64,
            8 => 32,
            _ => 16,
        };
        for row in 0..side {
            for column in 0..side {
                let (from, to) = (self.place(row, column), self.place(column, row));
                if self.bits == 4 {
                    let nibble = square[from / 2] >> (from % 2 * 4) & 0xf;
                    result[to / 2] |= nibble << (to % 2 * 4);
                } else {
                    let size = (self.bits / 8) as usize;
                    result[to * size..(to + 1) * size].copy_from_slice(&square[from * size..(from + 1) * size]);
                }
            }
        }
        result
    }
}
