//! From a record to a typed instruction, and what to do with one.

use super::Fault;
use std::cell::Cell;

use super::cube::{CubeInstruction, OnResults};
use super::issued::{ElementType, Issued, OpCode};
use super::memory::{LocalMemory, Memory};
use super::moves::burst::Burst;
use super::moves::fill::Fill;
use super::moves::nd2nz::Nd2Nz;
use super::operand::Operands;
use super::registers::Registers;
use super::vector::VectorInstruction;

/// Memories and registers of one core: what its instructions work on.
#[derive(Debug)]
pub(crate) struct Core {
    /// Local memories, in the order of [`Memory::LOCAL`].
    pub memories: [LocalMemory; 7],
    /// Registers.
    pub registers: Registers,
    /// The first word the compare-mask register was last told to load, as it was when it was told: a selection may take
    /// it for the address of its mask.
    pub mask_address: Cell<u64>,
}

impl Core {
    /// A core after reset.
    pub(crate) fn new(memories: [LocalMemory; 7]) -> Self {
        Self { memories, registers: Registers::default(), mask_address: Cell::new(0) }
    }

    /// A local memory; `None` for global memory.
    pub(crate) fn memory(&self, memory: Memory) -> Option<&LocalMemory> {
        self.memories.get(memory as usize)
    }

    /// The host address of an operand in `memory`: an address, or an offset where device code writes offsets.
    pub(crate) fn address(&self, memory: Memory, word: u64) -> u64 {
        match self.memory(memory) {
            Some(local) if memory.takes_offsets() && word < local.size => local.base as u64 + word,
            _ => word,
        }
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
    fn not_emulated(&self) -> Fault {
        self.fault(
            "the simulator does not cut pictures or convert their colours, so it cannot go on. Convert the picture on the \
             host and move the result into L1 (DataCopy, copy_gm_to_cbuf)",
        )
    }
}

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
