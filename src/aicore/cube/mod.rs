//! The cube unit: what fills its operands, the multiplication, and the way out of L0C.
//!
//! | file | instructions |
//! |---|---|
//! | [`load2d`] | fractals into L1, L0A and L0B, as they are or transposed |
//! | [`square`] | squares of fractals into L0A and L0B, transposed |
//! | [`sparse`] | fractals of a matrix of which every second element is left out |
//! | [`img2col`] | pictures as matrices |
//! | [`mad`] | multiplication |
//! | [`quantize`] | conversions on the way out of L0C |
//! | [`fixpipe`] | the way out of L0C |
//!
//! A fractal is 16 rows of 32 bytes. L0A holds fractals row by row of the matrix (Zz). L0B holds them row by row too, each
//! of them column by column inside (Zn). L0C holds 16x16 elements of 4 bytes column by column of the matrix (Nz).

pub(crate) mod fixpipe;
pub(crate) mod img2col;
pub(crate) mod load2d;
pub(crate) mod mad;
pub(crate) mod quantize;
pub(crate) mod sparse;
pub(crate) mod square;

use super::Fault;
use super::instruction::Arguments;
use super::operand::Operands;
use super::registers::Registers;
use fixpipe::Fixpipe;
use img2col::Img2col;
use load2d::Load2d;
use mad::Mad;
use sparse::LoadSparse;
use square::LoadSquare;

/// Bytes of a fractal.
pub(crate) const FRACTAL: u64 = 512;
/// Bytes of a row of a fractal.
pub(crate) const ROW: u64 = 32;
/// Rows of a fractal.
pub(crate) const ROWS: u64 = 16;

/// A decoded instruction of the cube unit.
#[derive(Debug, Clone)]
pub(crate) enum CubeInstruction {
    Load2d(Load2d),
    LoadSquare(LoadSquare),
    LoadSparse(LoadSparse),
    Img2col(Img2col),
    Mad(Mad),
    Fixpipe(Fixpipe),
}

impl CubeInstruction {
    /// Decodes a record; `None` if it is not for the cube unit.
    pub(crate) fn decode(arguments: &Arguments<'_>) -> Result<Option<Self>, Fault> {
        first_of!(arguments; Mad, Load2d, Fixpipe, Img2col, LoadSquare, LoadSparse);
        Ok(None)
    }

    /// Adds everything it reads and writes.
    pub(crate) fn operands(&self, operands: &mut Operands) {
        match self {
            Self::Load2d(it) => it.operands(operands),
            Self::LoadSquare(it) => it.operands(operands),
            Self::LoadSparse(it) => it.operands(operands),
            Self::Img2col(it) => it.operands(operands),
            Self::Mad(it) => it.operands(operands),
            Self::Fixpipe(it) => it.operands(operands),
        }
    }

    /// Does it.
    ///
    /// # Safety
    /// As for [`super::Instruction::execute`].
    pub(crate) unsafe fn execute(&self, registers: &mut Registers) {
        // SAFETY: the caller's promise is handed on.
        unsafe {
            match self {
                Self::Load2d(it) => it.execute(),
                Self::LoadSquare(it) => it.execute(),
                Self::LoadSparse(it) => it.execute(registers),
                Self::Img2col(it) => it.execute(),
                Self::Mad(it) => it.execute(registers),
                Self::Fixpipe(it) => it.execute(),
            }
        }
    }
}
