//! Instructions: every one a kernel issues goes through [`Machine::issue`].

use super::access::{AccessEvent, Site};
use super::machine::Machine;
use super::memory::SystemWorkspace;
use super::report::Status;
use super::run::{Next, Run};
use crate::aicore::issued::Pipe;
use crate::aicore::operand::Operand;
use crate::aicore::{Fault, Instruction, Issued, Memory, OpCode};

impl Machine {
    /// Memory for the messages of matmul objects; null if there is no more memory.
    pub(super) fn system_workspace(&mut self) -> *mut u8 {
        if self.workspace.is_none() {
            self.workspace = SystemWorkspace::new().ok();
        }
        self.workspace.as_ref().map_or(std::ptr::null_mut(), SystemWorkspace::base)
    }

    /// Decodes, checks and executes one instruction of the current core; its pipe, and the bytes it wrote. What it
    /// touched stays in `operands` until the next one.
    pub(super) fn issue(&mut self, issued: &Issued) -> Result<(Pipe, u64), Fault> {
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
            if operand.access.writes() {
                bytes += operand.shape.volume();
            }
        }
        // SAFETY: operands in local memory were checked against the memories of this core, those in global memory
        // against the buffers of the launch, which are mapped while it runs.
        unsafe { instruction.execute(&mut self.cores[current].unit.registers)? };
        self.operands = operands;
        Ok((op.pipe(), bytes))
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

impl Run {
    /// An instruction.
    pub(super) fn issue(&mut self, issued: &Issued) -> Next {
        let site = Site::line(issued.file, issued.line);
        let (pipe, bytes) = match self.machine.issue(issued) {
            Ok(done) => done,
            Err(fault) => {
                self.fail(Status::Api, fault.0, site.resolve());
                return Next::Stop;
            }
        };
        let Self { machine, observer, .. } = self;
        let (core, op) = (machine.current, observer.cores[machine.current].ops.last().copied());
        for operand in machine.operands.iter() {
            let Operand { access, memory, address, shape, .. } = *operand;
            observer.accessed(&AccessEvent { core, op, access, memory, address, shape, pipe: Some(pipe), site });
        }
        self.work(pipe as u32, bytes);
        Next::Continue
    }
}
