//! Instructions that were decoded and checked.

use std::ops::Range;

use super::clock::Mark;
use crate::aicore::operand::{Operand, Operands};
use crate::aicore::{Core, Fault, Instruction, Issued, Memory, OnResults, OpCode};

/// An instruction that may be executed: made by [`Prepared::new`] alone, which checks what it touches.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// Which.
    pub(crate) op: OpCode,
    instruction: Instruction,
    /// Bytes it writes.
    pub(crate) bytes: u64,
    /// What it does to results in L0C.
    pub(crate) on_results: OnResults,
    /// What it touches of global memory, and whether it writes it: for caches that moves by-pass.
    pub(crate) global: Vec<(Range<u64>, bool)>,
    /// Who knows of this has heard that it has ended, if pipes are watched.
    pub(crate) mark: Option<Mark>,
}

impl Prepared {
    /// Decodes and checks an instruction of a core; `operands` then holds what it touches. `check_global`: is an operand
    /// in global memory all inside a buffer? `keeps_rows`: does somebody want to know the rows there?
    pub(crate) fn new(
        issued: &Issued,
        core: &Core,
        operands: &mut Operands,
        check_global: impl Fn(OpCode, &Operand) -> Result<(), Fault>,
        keeps_rows: bool,
    ) -> Result<Self, Fault> {
        operands.clear();
        let (op, instruction) = Instruction::decode(issued, core)?;
        instruction.operands(operands);
        operands.check(op, core)?;
        let mut bytes = 0;
        let mut global = Vec::new();
        for operand in operands.iter() {
            if operand.memory == Memory::Gm {
                check_global(op, operand)?;
                if keeps_rows {
                    operand.for_each_row(|row| global.push((row, operand.access.writes())));
                }
            }
            if operand.access.writes() {
                bytes += operand.shape.volume();
            }
        }
        Ok(Self { op, on_results: instruction.on_results(), instruction, bytes, global, mark: None })
    }

    /// Executes it.
    ///
    /// # Safety
    ///
    /// The memories it was checked against are mapped, and `core` is the one it was checked for.
    pub(crate) unsafe fn execute(&self, core: &mut Core) -> Result<(), Fault> {
        // SAFETY: every operand was checked; the caller keeps the memories.
        unsafe { self.instruction.execute(&mut core.registers) }
    }
}
