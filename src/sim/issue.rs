//! Instructions: every one a kernel issues goes through [`Run::issue`].

use super::access::{AccessEvent, Site};
use super::machine::Machine;
use super::memory::SystemWorkspace;
use super::report::Status;
use super::run::{Next, Run};
use crate::aicore::operand::Operand;
use crate::aicore::{Fault, Instruction, Issued, Memory, OpCode};

/// An instruction that may be executed: made by [`Machine::prepare`] alone, which checks what it touches.
#[derive(Debug)]
pub(super) struct Prepared {
    /// Which.
    pub(super) op: OpCode,
    instruction: Instruction,
    /// Bytes it writes.
    pub(super) bytes: u64,
}

impl Machine {
    /// Memory for the messages of matmul objects; null if there is no more memory.
    pub(super) fn system_workspace(&mut self) -> *mut u8 {
        if self.workspace.is_none() {
            self.workspace = SystemWorkspace::new().ok();
        }
        self.workspace.as_ref().map_or(std::ptr::null_mut(), SystemWorkspace::base)
    }

    /// Decodes and checks one instruction of the current core. What it touches is in `operands` until the next one.
    pub(super) fn prepare(&mut self, issued: &Issued) -> Result<Prepared, Fault> {
        let mut operands = std::mem::take(&mut self.operands);
        operands.clear();
        let unit = &self.cores[self.current].unit;
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
        self.operands = operands;
        Ok(Prepared { op, instruction, bytes })
    }

    /// Executes an instruction of the current core.
    pub(super) fn execute(&mut self, prepared: &Prepared) -> Result<(), Fault> {
        // SAFETY: operands in local memory were checked against the memories of this core, those in global memory
        // against the buffers of the launch, which are mapped while it runs.
        unsafe { prepared.instruction.execute(&mut self.cores[self.current].unit.registers) }
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
        let prepared = match self.machine.prepare(issued) {
            Ok(prepared) => prepared,
            Err(fault) => return self.faulted(fault, site),
        };
        self.watch_instruction(prepared.op, site);
        if let Err(fault) = self.machine.execute(&prepared) {
            return self.faulted(fault, site);
        }
        let pipe = prepared.op.pipe();
        let Self { machine, observer, .. } = self;
        let (core, op) = (machine.current, observer.cores[machine.current].ops.last().copied());
        for operand in machine.operands.iter() {
            let Operand { access, memory, address, shape, .. } = *operand;
            let event = AccessEvent { core, op, access, memory, address, shape, pipe: Some(pipe), site };
            observer.accessed(&event, &machine.cores[core].clock, &machine.memory);
        }
        self.work(pipe as u32, prepared.bytes);
        Next::Continue
    }

    fn faulted(&mut self, fault: Fault, site: Site) -> Next {
        self.fail(Status::Api, fault.0, site.resolve());
        Next::Stop
    }
}
