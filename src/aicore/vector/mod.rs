//! The vector unit.
//!
//! | file | instructions |
//! |---|---|
//! | [`repeat`] | what they share: repeats, strides, masks |
//! | [`elementwise`] | arithmetic, logic, shifts, copies and fills element by element |

pub mod elementwise;
pub mod repeat;

use super::Fault;
use super::instruction::Arguments;
use super::operand::Operands;
use super::registers::Registers;
use elementwise::Elementwise;

/// A decoded instruction of the vector unit.
#[derive(Debug, Clone)]
pub enum VectorInstruction {
    /// Arithmetic, logic, shifts, copies and fills.
    Elementwise(Elementwise),
}

impl VectorInstruction {
    /// Decodes a record; `None` if it is not for the vector unit.
    pub fn decode(arguments: &Arguments<'_>) -> Result<Option<Self>, Fault> {
        if let Some(elementwise) = Elementwise::decode(arguments)? {
            return Ok(Some(Self::Elementwise(elementwise)));
        }
        Ok(None)
    }

    /// Adds everything it reads and writes.
    pub fn operands(&self, operands: &mut Operands) {
        match self {
            Self::Elementwise(elementwise) => elementwise.operands(operands),
        }
    }

    /// Does it.
    ///
    /// # Safety
    /// As for [`super::Instruction::execute`].
    pub unsafe fn execute(&self, _registers: &mut Registers) -> Result<(), Fault> {
        match self {
            // SAFETY: the caller's promise.
            Self::Elementwise(elementwise) => unsafe { elementwise.execute() },
        }
        Ok(())
    }
}
