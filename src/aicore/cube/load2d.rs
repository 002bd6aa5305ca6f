//! Fractal by fractal, at most transposed inside.

#![expect(clippy::wildcard_enum_match_arm, reason = "a family names its own among all instructions")]

use super::{FRACTAL, ROWS};
use crate::aicore::arguments::Arguments;
use crate::aicore::memory::Memory;
use crate::aicore::operand::{Operands, Shape};
use crate::aicore::{Fault, OpCode};

/// `(dst, src, start, repeats, srcStride, dstGap, sid, transpose, downwards)`, in fractals.
#[derive(Debug, Clone)]
pub(crate) struct Load2d {
    from: Memory,
    to: Memory,
    /// Address of the first fractal.
    source: u64,
    target: u64,
    repeats: u64,
    /// Bytes from fractal to fractal.
    source_step: u64,
    target_step: u64,
    downwards: bool,
    transpose: bool,
}

impl Load2d {
    /// Decodes a record; `None` if it is of another family.
    pub(crate) fn decode(arguments: &Arguments<'_>) -> Result<Option<Self>, Fault> {
        let (to, from) = match arguments.op {
            OpCode::LoadCbufToCa => (Memory::L0a, Memory::L1),
            OpCode::LoadCbufToCb => (Memory::L0b, Memory::L1),
            OpCode::LoadGmToCa => (Memory::L0a, Memory::Gm),
            OpCode::LoadGmToCb => (Memory::L0b, Memory::Gm),
            OpCode::LoadGmToCbuf => (Memory::L1, Memory::Gm),
            _ => return Ok(None),
        };
        let transpose = arguments.word(7) & 1 != 0;
        if transpose && arguments.kind(0).bits() != 16 {
            return Err(arguments.fault("only elements of 2 bytes are transposed inside a fractal"));
        }
        let repeats = arguments.at_most(3, "repeat", 255)?;
        let start = arguments.word(2) & 0xffff;
        let stride = arguments.word(4) & 0xffff;
        let downwards = arguments.word(8) & 1 != 0;
        if downwards && start < repeats.saturating_sub(1) * stride {
            return Err(
                arguments.fault(format!("from fractal {start} {repeats} times {stride} down is below the start"))
            );
        }
        Ok(Some(Self {
            from,
            to,
            source: arguments.address(1, from) + start * FRACTAL,
            target: arguments.address(0, to),
            repeats,
            source_step: stride * FRACTAL,
            target_step: ((arguments.word(5) & 0xffff) + 1) * FRACTAL,
            downwards,
            transpose,
        }))
    }

    /// Adds everything it reads and writes.
    pub(crate) fn operands(&self, operands: &mut Operands) {
        let down = if self.downwards { self.repeats.saturating_sub(1) * self.source_step } else { 0 };
        let source = Shape::rows(self.repeats, self.source_step, FRACTAL);
        let alignment = |memory| match memory {
            Memory::Gm => 1,
            Memory::L0a | Memory::L0b => FRACTAL,
            _ => 32,
        };
        operands.read("src", self.from, self.source - down, source, alignment(self.from));
        let target = Shape::rows(self.repeats, self.target_step, FRACTAL);
        operands.write("dst", self.to, self.target, target, alignment(self.to));
    }

    /// Does it.
    ///
    /// # Safety
    /// As for [`crate::aicore::Instruction::execute`].
    pub(crate) unsafe fn execute(&self) {
        type Halves = [[u16; ROWS as usize]; ROWS as usize];
        for repeat in 0..self.repeats {
            let distance = repeat * self.source_step;
            let from = if self.downwards { self.source - distance } else { self.source + distance };
            let to = self.target + repeat * self.target_step;
            // SAFETY: declared and checked. L1 and L0 are different memories, so the fractals do not overlap.
            unsafe {
                let fractal = (from as *const Halves).read_unaligned();
                let result = if self.transpose {
                    std::array::from_fn(|row| std::array::from_fn(|column| fractal[column][row]))
                } else {
                    fractal
                };
                (to as *mut Halves).write_unaligned(result);
            }
        }
    }
}
