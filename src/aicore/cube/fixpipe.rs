//! The way out of L0C, to global memory or to L1.

#![expect(clippy::wildcard_enum_match_arm, reason = "a family names its own among all instructions")]

use super::quantize::Quantizer;
use super::{ROW, ROWS, UnitFlag};
use crate::aicore::arguments::Arguments;
use crate::aicore::atomic::Atomic;
use crate::aicore::memory::Memory;
use crate::aicore::operand::{Access, Operand, Operands, Shape};
use crate::aicore::registers::Register;
use crate::aicore::{Fault, OpCode};

/// Bytes of a row of 16 results.
const RESULTS: u64 = 64;

/// How results lie in the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// Row by row, bytes from row to row.
    Rows(u64),
    /// In blocks of columns.
    Blocks {
        /// Columns of a block.
        columns: u64,
        /// Bytes from block to block.
        step: u64,
    },
}

/// `(dst, src, sid, n, m, dstStride, srcStride, unitFlag, quantisation, relu, split, rows)`.
#[derive(Debug, Clone)]
pub(crate) struct Fixpipe {
    to: Memory,
    source: u64,
    target: u64,
    n: u64,
    m: u64,
    /// Bytes from one 16 columns to the next.
    source_step: u64,
    layout: Layout,
    /// How often, and bytes from one matrix to the next of source and target.
    matrices: (u64, u64, u64),
    quantizer: Quantizer,
    atomic: Option<Atomic>,
    flag: UnitFlag,
}

impl Fixpipe {
    /// Decodes a record; `None` if it is of another family.
    pub(crate) fn decode(arguments: &Arguments<'_>) -> Result<Option<Self>, Fault> {
        let to = match arguments.op {
            OpCode::CopyMatrixCcToGm => Memory::Gm,
            OpCode::CopyMatrixCcToCbuf => Memory::L1,
            _ => return Ok(None),
        };
        let registers = &arguments.core.registers;
        let word = |at: usize| arguments.word(at);
        let n = arguments.at_most(3, "n", 4095)?;
        let quantizer = Quantizer::new(arguments, 8, 9, n)?;
        if to == Memory::L1 && quantizer.keeps_width() {
            return Err(arguments.fault("elements of 4 bytes cannot go to L1: choose a conversion"));
        }
        let bytes = quantizer.bytes();
        let (split, by_rows) = (word(10) & 1 != 0, word(11) & 1 != 0);
        if split && (to != Memory::Gm || by_rows || !quantizer.keeps_width() || !n.is_multiple_of(8)) {
            return Err(arguments.fault("channels are split for 4-byte elements in blocks of 8 columns to GM only"));
        }
        let layout = if by_rows {
            Layout::Rows(word(5) * bytes)
        } else {
            let columns = if split { 8 } else { ROWS.max(ROW / bytes) };
            Layout::Blocks { columns, step: word(5) * ROW }
        };
        let para = registers.get(Register::NdPara);
        let matrices = if by_rows {
            (para & 0xffff, (para >> 16 & 0xffff) * 1024, (para >> 32 & 0xffff) * bytes)
        } else {
            (1, 0, 0)
        };
        Ok(Some(Self {
            to,
            source: word(1),
            target: arguments.address(0, to),
            n,
            m: arguments.at_most(4, "m", 65_535)?,
            source_step: word(6) * RESULTS,
            layout,
            matrices,
            quantizer,
            atomic: (to == Memory::Gm).then(|| Atomic::from_registers(registers)).flatten(),
            flag: UnitFlag::from_word(word(7)),
        }))
    }

    /// Its part in the flags of L0C.
    pub(super) fn flag(&self) -> UnitFlag {
        self.flag
    }

    fn is_empty(&self) -> bool {
        self.n == 0 || self.m == 0 || self.matrices.0 == 0
    }

    /// Adds everything it reads and writes.
    pub(crate) fn operands(&self, operands: &mut Operands) {
        if self.is_empty() {
            return;
        }
        let (count, source, target) = self.matrices;
        let (whole, rest) = (self.n / ROWS, self.n % ROWS);
        let body = Shape::cube((count, source), (1, 0), (whole, self.source_step), self.m * RESULTS);
        operands.read("src", Memory::L0c, self.source, body, 64);
        let tail = Shape::cube((count, source), (1, 0), (self.m, RESULTS), rest * 4);
        operands.read("src", Memory::L0c, self.source + whole * self.source_step, tail, 64);
        if let Some(table) = self.quantizer.table() {
            operands.read("quantisation", Memory::Fb, table, Shape::row(self.n * 8), 128);
        }
        let bytes = self.quantizer.bytes();
        let alignment = if self.to == Memory::Gm { 1 } else { ROW };
        let access = if self.atomic.is_some() { Access::Combine } else { Access::Write };
        let mut write = |address, shape| {
            operands.push(Operand { name: "dst", memory: self.to, access, address, shape, alignment, repeat: 0 });
        };
        match self.layout {
            Layout::Rows(step) => {
                let shape = Shape::cube((count, target), (1, 0), (self.m, step), self.n * bytes);
                write(self.target, shape);
            }
            Layout::Blocks { columns, step } => {
                let (whole, rest) = (self.n / columns, self.n % columns);
                let body = Shape::rows(whole, step, self.m * columns * bytes);
                write(self.target, body);
                let tail = Shape::rows(self.m, columns * bytes, rest * bytes);
                write(self.target + whole * step, tail);
            }
        }
    }

    /// Does it.
    ///
    /// # Safety
    /// As for [`crate::aicore::Instruction::execute`].
    pub(crate) unsafe fn execute(&self) {
        if self.is_empty() {
            return;
        }
        let bytes = self.quantizer.bytes();
        let mut line = Vec::with_capacity((self.n * bytes) as usize);
        for matrix in 0..self.matrices.0 {
            let source = self.source + matrix * self.matrices.1;
            let target = self.target + matrix * self.matrices.2;
            for row in 0..self.m {
                line.clear();
                for column in 0..self.n {
                    let at = source + column / ROWS * self.source_step + row * RESULTS + column % ROWS * 4;
                    // SAFETY: declared and checked.
                    unsafe { self.quantizer.convert((at as *const u32).read_unaligned(), column, &mut line) };
                }
                match self.layout {
                    // SAFETY: declared and checked.
                    Layout::Rows(step) => unsafe { self.store(target + row * step, &line) },
                    Layout::Blocks { columns, step } => {
                        for (block, piece) in line.chunks((columns * bytes) as usize).enumerate() {
                            // SAFETY: declared and checked.
                            unsafe { self.store(target + block as u64 * step + row * columns * bytes, piece) };
                        }
                    }
                }
            }
        }
    }

    unsafe fn store(&self, target: u64, bytes: &[u8]) {
        // SAFETY: the caller's promise; the line is a copy.
        unsafe {
            match self.atomic {
                Some(atomic) => atomic.store(target as *mut u8, bytes.as_ptr(), bytes.len() as u64),
                None => std::ptr::copy_nonoverlapping(bytes.as_ptr(), target as *mut u8, bytes.len()),
            }
        }
    }
}
