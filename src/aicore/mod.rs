//! An AI core at instruction level (chip family c220): what one instruction means.
//!
//! Kernel code is compiled for the host; every instruction it issues arrives here as plain data, an
//! [`Issued`] record of opcode, element types and argument words. From there on there is one path:
//!
//! 1. [`Instruction::decode`] turns the record into a typed instruction. Register values that matter to it (mask, control
//!    bits, ...) are taken now: a register write acts on instructions issued after it.
//! 2. [`Instruction::operands`] declares every byte it reads or writes, as strided [`operand::Operand`]s. Bounds,
//!    alignment, hazards between pipes, races between cores and the timeline all hang on this declaration.
//! 3. [`Instruction::execute`] does it, at once or later.
//!
//! One file per family: [`vector`] for the vector unit, [`cube`] for the cube unit, [`moves`] for data movement. This
//! module knows nothing of runs, fibers or other cores.

/// Decodes as the first of these kinds whose instruction it is; each kind is a type and a variant of the same name.
macro_rules! first_of {
    ($arguments:expr; $($variant:ident),*) => { $(
        if let Some(found) = $variant::decode($arguments)? {
            return Ok(Some(Self::$variant(found)));
        }
    )* };
}

pub(crate) mod arguments;
pub(crate) mod atomic;
pub(crate) mod core;
pub(crate) mod cube;
pub(crate) mod element;
pub(crate) mod float16;
pub(crate) mod instruction;
pub(crate) mod issued;
pub(crate) mod memory;
pub(crate) mod moves;
pub(crate) mod operand;
pub(crate) mod registers;
pub(crate) mod vector;
pub(crate) mod workbench;

pub(crate) use self::core::Core;
pub(crate) use arguments::Fault;
pub(crate) use atomic::Atomic;
pub(crate) use cube::{OnResults, UnitFlag};
pub(crate) use instruction::Instruction;
pub(crate) use issued::{ElementType, Issued, OpCode, Pipe};
pub(crate) use memory::{LocalMemory, Memory};
pub(crate) use registers::Register;
