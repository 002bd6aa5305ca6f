//! Transposition of small matrices.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a family names its own among all instructions and element types; the rest is not for it"
)]

use super::repeat::{BLOCK, repeat_count};
use crate::aicore::arguments::Arguments;
use crate::aicore::memory::Memory;
use crate::aicore::operand::{Operands, Shape};
use crate::aicore::registers::Registers;
use crate::aicore::{ElementType, Fault, OpCode};

const ROWS: usize = 16;
/// Addresses in an address register.
const ADDRESSES: u64 = 8;
/// Bytes of an address in UB: whole addresses, as headers leave them there in their CPU mode.
const ADDRESS_BYTES: u64 = 8;

/// `vtranspose` and `scatter_vnchwconv_*`: 16 rows of a block each become 16 rows of a block each.
#[derive(Debug, Clone)]
pub(crate) struct Transpose {
    /// Bytes of an element.
    size: usize,
    repeat: u64,
    dst: [u64; ROWS],
    src: [u64; ROWS],
    /// Bytes that repeats move on.
    dst_step: u64,
    src_step: u64,
    /// For single bytes: which half of a row.
    dst_high: bool,
    src_high: bool,
}

impl Transpose {
    /// Decodes a record; `None` if it is of another family.
    pub(crate) fn decode(arguments: &Arguments<'_>) -> Result<Option<Self>, Fault> {
        let word = |at: usize| arguments.word(at);
        match arguments.op {
            OpCode::Vtranspose => {
                if arguments.kind(0).bits() != 16 {
                    return Err(arguments.wrong_types());
                }
                let rows = |at: usize| {
                    let first = arguments.address(at, Memory::Ub);
                    std::array::from_fn(|row| first.wrapping_add(row as u64 * BLOCK))
                };
                Ok(Some(Self {
                    size: 2,
                    repeat: 1,
                    dst: rows(0),
                    src: rows(1),
                    dst_step: 0,
                    src_step: 0,
                    dst_high: false,
                    src_high: false,
                }))
            }
            OpCode::ScatterVnchwconv => {
                let size = match arguments.kind(0) {
                    ElementType::U8 => 1,
                    ElementType::U16 => 2,
                    ElementType::U32 => 4,
                    _ => return Err(arguments.wrong_types()),
                };
                let rows = |at: usize| {
                    let first = word(at) as usize;
                    let registers = &arguments.core.registers;
                    let (low, high) = (registers.addresses(first), registers.addresses(first + 1));
                    std::array::from_fn(|row| {
                        let address = if row < 8 { low[row] } else { high[row - 8] };
                        arguments.core.address(Memory::Ub, address)
                    })
                };
                let repeat = repeat_count(arguments, 2)?;
                let (dst_step, src_step) = (word(3) * BLOCK, word(4) * BLOCK);
                // A single repeat moves on by its stride too, as documented.
                let offset = |step: u64| move |address: u64| address.wrapping_add(if repeat == 1 { step } else { 0 });
                Ok(Some(Self {
                    size,
                    repeat,
                    dst: rows(0).map(offset(dst_step)),
                    src: rows(1).map(offset(src_step)),
                    dst_step,
                    src_step,
                    dst_high: word(5) != 0,
                    src_high: word(6) != 0,
                }))
            }
            _ => Ok(None),
        }
    }

    /// Bytes of a row that take part, and where they start.
    fn part(&self, high: bool) -> (u64, u64) {
        match (self.size, high) {
            (1, false) => (0, BLOCK / 2),
            (1, true) => (BLOCK / 2, BLOCK / 2),
            _ => (0, BLOCK),
        }
    }

    /// Adds everything it reads and writes.
    pub(crate) fn operands(&self, operands: &mut Operands) {
        let rows = |step, bytes| Shape::cube((self.repeat, step), (1, 0), (1, 0), bytes);
        let (from, bytes) = self.part(self.src_high);
        let alignment = |from: u64| if from == 0 { BLOCK } else { BLOCK / 2 };
        for address in self.src {
            operands.read("src", Memory::Ub, address + from, rows(self.src_step, bytes), alignment(from));
        }
        let (from, bytes) = self.part(self.dst_high);
        for address in self.dst {
            operands.write("dst", Memory::Ub, address + from, rows(self.dst_step, bytes), alignment(from));
        }
    }

    /// Does it.
    ///
    /// # Safety
    /// As for [`crate::aicore::Instruction::execute`].
    pub(crate) unsafe fn execute(&self) {
        let size = self.size;
        for repeat in 0..self.repeat {
            let mut rows = [[0u8; BLOCK as usize]; ROWS];
            let (from, bytes) = self.part(self.src_high);
            for (row, address) in rows.iter_mut().zip(self.src) {
                let start = (address + repeat * self.src_step + from) as *const u8;
                // SAFETY: declared and checked.
                unsafe { std::ptr::copy_nonoverlapping(start, row.as_mut_ptr(), bytes as usize) };
            }
            let (to, bytes) = self.part(self.dst_high);
            let columns = bytes as usize / size;
            for (row, address) in self.dst.into_iter().enumerate() {
                let mut line = [0u8; BLOCK as usize];
                for column in 0..columns {
                    // Four-byte elements: 8 fit in a row, so two rows take the 16 values of one position.
                    let (source_row, position) =
                        if size == 4 { (row % 2 * 8 + column, row / 2) } else { (column, row) };
                    let element = &rows[source_row][position * size..(position + 1) * size];
                    line[column * size..(column + 1) * size].copy_from_slice(element);
                }
                let start = (address + repeat * self.dst_step + to) as *mut u8;
                // SAFETY: as above.
                unsafe { std::ptr::copy_nonoverlapping(line.as_ptr(), start, bytes as usize) };
            }
        }
    }
}

/// `vld_va_reg`: half of a list of 16 addresses in UB becomes an address register.
#[derive(Debug, Clone)]
pub(crate) struct LoadAddresses {
    register: usize,
    /// Where its half of the list starts.
    from: u64,
}

impl LoadAddresses {
    /// Decodes a record; `None` if it is of another family.
    pub(crate) fn decode(arguments: &Arguments<'_>) -> Result<Option<Self>, Fault> {
        if arguments.op != OpCode::VldVaReg {
            return Ok(None);
        }
        let register = arguments.at_most(0, "the address register", ADDRESSES - 1)? as usize;
        let half = arguments.at_most(2, "the half of the list", 1)?;
        let list = arguments.address(1, Memory::Ub);
        Ok(Some(Self { register, from: list.wrapping_add(half * ADDRESSES * ADDRESS_BYTES) }))
    }

    /// Adds what it reads.
    pub(crate) fn operands(&self, operands: &mut Operands) {
        operands.read("src", Memory::Ub, self.from, Shape::row(ADDRESSES * ADDRESS_BYTES), BLOCK);
    }

    /// Does it.
    ///
    /// # Safety
    /// As for [`crate::aicore::Instruction::execute`].
    pub(crate) unsafe fn execute(&self, registers: &mut Registers) {
        let list = self.from as *const u64;
        // SAFETY: declared and checked; the alignment is that of a block.
        registers.set_addresses(self.register, std::array::from_fn(|at| unsafe { list.add(at).read() }));
    }
}
