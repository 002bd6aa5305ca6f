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

use super::arguments::Arguments;
use super::operand::Operands;
use super::registers::Registers;
use super::{Fault, Pipe};
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

/// How an instruction uses the flags of L0C, one per 512 bytes: a multiplication waits until they are down, a move out of
/// L0C until they are up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum UnitFlag {
    /// It does not look at them.
    #[default]
    Unused,
    /// It waits, and leaves them.
    Kept,
    /// It waits, and turns them over when it is done.
    Turned,
}

impl UnitFlag {
    /// From the argument of an instruction.
    fn from_word(word: u64) -> Self {
        match word & 3 {
            2 => Self::Kept,
            3 => Self::Turned,
            _ => Self::Unused,
        }
    }
}

/// What an instruction does to results in L0C, as far as others must wait for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct OnResults {
    /// Its part in the flags of L0C.
    pub flag: UnitFlag,
    /// A multiplication so large that the next one on the same results may follow at once.
    pub large: bool,
}

impl OnResults {
    /// The pipe that an instruction of `pipe` waits for by the flags of L0C.
    pub(crate) fn waits_for(self, pipe: Pipe) -> Option<Pipe> {
        let other = if pipe == Pipe::M { Pipe::Fix } else { Pipe::M };
        (self.flag != UnitFlag::Unused).then_some(other)
    }
}

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

    /// What it does to results in L0C.
    pub(crate) fn on_results(&self) -> OnResults {
        match self {
            Self::Load2d(_) | Self::LoadSquare(_) | Self::LoadSparse(_) | Self::Img2col(_) => OnResults::default(),
            Self::Mad(it) => it.on_results(),
            Self::Fixpipe(it) => OnResults { flag: it.flag(), large: false },
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
