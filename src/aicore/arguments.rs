//! The arguments of an instruction, and why one cannot be executed.

use super::core::Core;
use super::issued::{ElementType, Issued, OpCode};
use super::memory::Memory;

/// Why an instruction cannot be executed: a rule of the core was broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault(pub String);

impl Fault {
    /// A fault of `op`.
    pub(crate) fn of(op: OpCode, problem: impl std::fmt::Display) -> Self {
        Self(format!("{}: {problem}", op.name()))
    }
}

/// The arguments of a record, with the names of what is wrong with them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arguments<'a> {
    /// The instruction.
    pub op: OpCode,
    /// The record.
    pub issued: &'a Issued,
    /// Where it is issued.
    pub core: &'a Core,
}

impl Arguments<'_> {
    /// Argument number `at`.
    pub(crate) fn word(&self, at: usize) -> u64 {
        self.issued.words[at]
    }

    /// Argument number `at` as an address in `memory`.
    pub(crate) fn address(&self, at: usize, memory: Memory) -> u64 {
        self.core.address(memory, self.word(at))
    }

    /// The element type of operand number `at`.
    pub(crate) fn kind(&self, at: usize) -> ElementType {
        ElementType::from_number(self.issued.types[at]).unwrap_or(ElementType::None)
    }

    /// A number that must not exceed `limit`.
    pub(crate) fn at_most(&self, at: usize, name: &str, limit: u64) -> Result<u64, Fault> {
        let value = self.word(at);
        if value > limit {
            return Err(self.fault(format!("{name} is {value}; at most {limit} is possible")));
        }
        Ok(value)
    }

    /// A fault of this instruction.
    pub(crate) fn fault(&self, problem: impl std::fmt::Display) -> Fault {
        Fault::of(self.op, problem)
    }

    /// The element types do not fit the instruction.
    pub(crate) fn wrong_types(&self) -> Fault {
        let names: Vec<&str> = (0..self.issued.types.len())
            .map(|at| self.kind(at))
            .filter(|kind| *kind != ElementType::None)
            .map(ElementType::name)
            .collect();
        self.fault(format!("the chip has no form for {}", names.join(", ")))
    }

    /// There is an instruction of this name, but it is not emulated: only pictures are converted by nobody here.
    pub(crate) fn not_emulated(&self) -> Fault {
        self.fault(
            "the simulator does not cut pictures or convert their colours, so it cannot go on. Convert the picture on the \
             host and move the result into L1 (DataCopy, copy_gm_to_cbuf)",
        )
    }
}
