//! From a record to a typed instruction, and what to do with one.

use super::arguments::{Arguments, Fault};
use super::core::Core;
use super::cube::{CubeInstruction, OnResults};
use super::issued::{Issued, OpCode};
use super::moves::burst::Burst;
use super::moves::fill::Fill;
use super::moves::nd2nz::Nd2Nz;
use super::operand::Operands;
use super::registers::Registers;
use super::vector::VectorInstruction;

/// One decoded instruction: everything it needs, as it was when it was issued.
#[derive(Debug, Clone)]
pub(crate) enum Instruction {
    /// The vector unit.
    Vector(VectorInstruction),
    /// The cube unit.
    Cube(CubeInstruction),
    /// Rows of bytes.
    Burst(Burst),
    /// Matrices into fractals.
    Nd2Nz(Nd2Nz),
    /// One value, many times.
    Fill(Fill),
}

impl Instruction {
    /// Decodes a record.
    pub(crate) fn decode(issued: &Issued, core: &Core) -> Result<(OpCode, Self), Fault> {
        let op = OpCode::from_number(issued.op)
            .ok_or_else(|| Fault(format!("there is no instruction number {}", issued.op)))?;
        let arguments = Arguments { op, issued, core };
        Ok((op, decode(&arguments)?))
    }

    /// Adds everything it reads and writes to `operands`.
    pub(crate) fn operands(&self, operands: &mut Operands) {
        match self {
            Self::Vector(vector) => vector.operands(operands),
            Self::Cube(cube) => cube.operands(operands),
            Self::Burst(burst) => burst.operands(operands),
            Self::Nd2Nz(nd2nz) => nd2nz.operands(operands),
            Self::Fill(fill) => fill.operands(operands),
        }
    }

    /// What it does to results in L0C.
    pub(crate) fn on_results(&self) -> OnResults {
        match self {
            Self::Cube(cube) => cube.on_results(),
            Self::Vector(_) | Self::Burst(_) | Self::Nd2Nz(_) | Self::Fill(_) => OnResults::default(),
        }
    }

    /// Does it. Registers that it leaves behind change in `registers`. What only the data can tell (an offset of a
    /// gather that leads out of memory) is a fault of execution.
    ///
    /// # Safety
    /// [`Instruction::operands`] must have passed [`Operands::check`], and its operands in global memory must be
    /// accessible.
    pub(crate) unsafe fn execute(&self, registers: &mut Registers) -> Result<(), Fault> {
        // SAFETY: the caller's promise is handed on.
        unsafe {
            match self {
                Self::Vector(vector) => return vector.execute(registers),
                Self::Cube(cube) => cube.execute(registers),
                Self::Burst(burst) => burst.execute(),
                Self::Nd2Nz(nd2nz) => nd2nz.execute(),
                Self::Fill(fill) => fill.execute(),
            }
        }
        Ok(())
    }
}

fn decode(arguments: &Arguments<'_>) -> Result<Instruction, Fault> {
    if let Some(vector) = VectorInstruction::decode(arguments)? {
        return Ok(Instruction::Vector(vector));
    }
    if let Some(burst) = Burst::decode(arguments)? {
        return Ok(Instruction::Burst(burst));
    }
    if let Some(cube) = CubeInstruction::decode(arguments)? {
        return Ok(Instruction::Cube(cube));
    }
    if let Some(nd2nz) = Nd2Nz::decode(arguments)? {
        return Ok(Instruction::Nd2Nz(nd2nz));
    }
    if let Some(fill) = Fill::decode(arguments)? {
        return Ok(Instruction::Fill(fill));
    }
    Err(arguments.not_emulated())
}
