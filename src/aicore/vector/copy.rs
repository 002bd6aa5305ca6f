//! Copies in count mode: unlike elsewhere the count is that of every repeat, and a repeat goes on behind its eighth block.

use super::elementwise;
use super::repeat::{BLOCK, Strided, repeat_count, repeat_stride};
use crate::aicore::arguments::Arguments;
use crate::aicore::memory::Memory;
use crate::aicore::operand::{Access, Operand, Operands, Shape};
use crate::aicore::registers::{MaskMode, Register};
use crate::aicore::{Fault, OpCode};

/// `vcopy` in count mode.
#[derive(Debug, Clone)]
pub(crate) struct CountedCopy {
    repeat: u64,
    /// Bytes of a repeat.
    bytes: u64,
    dst: Strided,
    src: Strided,
}

impl CountedCopy {
    /// Decodes a record; `None` if it is of another family.
    pub(crate) fn decode(arguments: &Arguments<'_>) -> Result<Option<Self>, Fault> {
        let registers = &arguments.core.registers;
        if arguments.op != OpCode::Vcopy || registers.mask_mode() != MaskMode::Count {
            return Ok(None);
        }
        let kind = arguments.kind(0);
        if !elementwise::exists(arguments.op, kind, arguments.kind(1)) {
            return Err(arguments.wrong_types());
        }
        let strided = |address: usize, name: &str| {
            let repeat = repeat_stride(arguments, 5 + address, name, 16)?;
            Ok::<_, Fault>(Strided::new(arguments, address, arguments.word(3 + address), repeat, kind.bits()))
        };
        let (dst, src) = (strided(0, "dst")?, strided(1, "src0")?);
        let bytes = (registers.get(Register::MaskLow) & 0xffff_ffff) * kind.bits() / 8;
        if dst.block == 0 && bytes > BLOCK {
            return Err(arguments.fault("the destination's block stride is 0"));
        }
        Ok(Some(Self { repeat: repeat_count(arguments, 2)?, bytes, dst, src }))
    }

    /// Adds everything it reads and writes.
    pub(crate) fn operands(&self, operands: &mut Operands) {
        for (name, access, operand) in [("src0", Access::Read, &self.src), ("dst", Access::Write, &self.dst)] {
            let mut push = |first: u64, blocks: u64, bytes: u64| {
                let shape = Shape::cube((self.repeat, operand.repeat), (1, 0), (blocks, operand.block), bytes);
                let address = operand.block_address(0, first);
                operands.push(Operand {
                    name,
                    memory: Memory::Ub,
                    access,
                    address,
                    shape,
                    alignment: BLOCK,
                    repeat: 0,
                });
            };
            let blocks = self.bytes / BLOCK;
            push(0, blocks, BLOCK);
            push(blocks, 1, self.bytes % BLOCK);
        }
    }

    /// Does it.
    ///
    /// # Safety
    /// As for [`crate::aicore::Instruction::execute`].
    pub(crate) unsafe fn execute(&self) {
        let mut row = vec![0u8; self.bytes as usize];
        for repeat in 0..self.repeat {
            for (block, chunk) in row.chunks_mut(BLOCK as usize).enumerate() {
                let from = self.src.block_address(repeat, block as u64) as *const u8;
                // SAFETY: declared and checked; a chunk is at most a block.
                unsafe { std::ptr::copy_nonoverlapping(from, chunk.as_mut_ptr(), chunk.len()) };
            }
            for (block, chunk) in row.chunks(BLOCK as usize).enumerate() {
                let to = self.dst.block_address(repeat, block as u64) as *mut u8;
                // SAFETY: as above.
                unsafe { std::ptr::copy_nonoverlapping(chunk.as_ptr(), to, chunk.len()) };
            }
        }
    }
}
