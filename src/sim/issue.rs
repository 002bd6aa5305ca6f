//! Instructions: every one a kernel issues goes through [`Machine::issue`].

use std::ffi::CStr;

use super::machine::Machine;
use super::memory::SystemWorkspace;
use crate::aicore::operand::{Access, Operand};
use crate::aicore::{Fault, Instruction, Issued, Memory, OpCode};

impl Machine {
    /// Memory for the messages of matmul objects; null if there is no more memory.
    pub(super) fn system_workspace(&mut self) -> *mut u8 {
        if self.workspace.is_none() {
            self.workspace = SystemWorkspace::new().ok();
        }
        self.workspace.as_ref().map_or(std::ptr::null_mut(), SystemWorkspace::base)
    }

    /// Decodes, checks and executes one instruction of the current core; its pipe, and the bytes it wrote.
    pub(super) fn issue(&mut self, issued: &Issued) -> Result<(u32, u64), Fault> {
        let current = self.current;
        let mut operands = std::mem::take(&mut self.operands);
        operands.clear();
        let unit = &self.cores[current].unit;
        let (op, instruction) = Instruction::decode(issued, unit)?;
        instruction.operands(&mut operands);
        operands.check(op, unit)?;
        let mut bytes = 0;
        for operand in operands.iter() {
            if operand.memory == Memory::Gm {
                self.check_global(op, operand)?;
            }
            if operand.access == Access::Write {
                bytes += operand.shape.volume();
            }
        }
        // SAFETY: operands in local memory were checked against the memories of this core, those in global memory
        // against the buffers of the launch, which are mapped while it runs.
        unsafe { instruction.execute(&mut self.cores[current].unit.registers)? };
        self.operands = operands;
        Ok((op.pipe() as u32, bytes))
    }

    fn check_global(&self, op: OpCode, operand: &Operand) -> Result<(), Fault> {
        let extent = operand.shape.extent();
        let inside = |workspace: &SystemWorkspace| workspace.holds(operand.address, extent);
        if self.memory.holds(operand.address, extent) || self.workspace.as_ref().is_some_and(inside) {
            return Ok(());
        }
        let place = self.memory.describe(operand.address);
        Err(Fault::of(
            op,
            format!("{} covers {extent} bytes of GM at {place}, which are not all in one buffer", operand.name),
        ))
    }
}

/// The line of the call, if the record has it.
pub(super) fn site(issued: &Issued) -> Option<(String, u32)> {
    if issued.file.is_null() {
        return None;
    }
    // SAFETY: the header passes a string literal.
    let file = unsafe { CStr::from_ptr(issued.file) }.to_string_lossy().into_owned();
    Some((file, issued.line))
}
