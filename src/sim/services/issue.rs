//! Instructions: every one a kernel issues goes through [`Run::issue`].

use std::ops::Range;

use super::run::{Next, Run};
use crate::aicore::operand::Operand;
use crate::aicore::{Fault, Instruction, Issued, Memory, OnResults, OpCode, Pipe};
use crate::sim::interface::report::Status;
use crate::sim::machine::access::{AccessEvent, Site};
use crate::sim::machine::memory::SystemWorkspace;
use crate::sim::machine::state::Machine;

/// An instruction that may be executed: made by [`Machine::prepare`] alone, which checks what it touches.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// Which.
    pub(crate) op: OpCode,
    instruction: Instruction,
    /// Bytes it writes.
    pub(crate) bytes: u64,
    /// What it does to results in L0C.
    pub(crate) on_results: OnResults,
    /// What it touches of global memory, and whether it writes it: for caches that moves by-pass.
    pub(crate) global: Vec<(Range<u64>, bool)>,
}

impl Machine {
    /// Memory for the messages of matmul objects; null if there is no more memory.
    pub(crate) fn system_workspace(&mut self) -> *mut u8 {
        if self.workspace.is_none() {
            self.workspace = SystemWorkspace::new().ok();
        }
        self.workspace.as_ref().map_or(std::ptr::null_mut(), SystemWorkspace::base)
    }

    /// Decodes and checks one instruction of the current core. What it touches is in `operands` until the next one.
    pub(crate) fn prepare(&mut self, issued: &Issued) -> Result<Prepared, Fault> {
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
        let mut global = Vec::new();
        if self.cache.is_some() {
            for operand in operands.iter().filter(|operand| operand.memory == Memory::Gm) {
                operand.for_each_row(|row| global.push((row, operand.access.writes())));
            }
        }
        self.operands = operands;
        let on_results = instruction.on_results();
        Ok(Prepared { op, instruction, bytes, on_results, global })
    }

    /// Executes an instruction of the current core.
    pub(crate) fn execute(&mut self, prepared: &Prepared) -> Result<(), Fault> {
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

fn hull(a: Range<u64>, b: Range<u64>) -> Range<u64> {
    a.start.min(b.start)..a.end.max(b.end)
}

impl Run {
    /// An instruction.
    pub(crate) fn issue(&mut self, issued: &Issued, site: Site) -> Next {
        self.machine.core().announced = 0..0;
        self.after_scrambling();
        let prepared = match self.machine.prepare(issued) {
            Ok(prepared) => prepared,
            Err(fault) => return self.faulted(fault, site),
        };
        self.watch_instruction(&prepared, site);
        let (op_code, pipe, bytes) = (prepared.op, prepared.op.pipe(), prepared.bytes);
        if self.machine.delayed.is_empty() {
            if let Err(fault) = self.carry_out(&prepared, site) {
                return self.faulted(fault, site);
            }
        } else if self.delay(prepared, site) == Next::Stop {
            return Next::Stop;
        }
        // Instructions take their rows from address registers when they are issued: the scalar unit waits for what fills
        // one.
        if op_code == OpCode::VldVaReg && self.drain(&[pipe]) == Next::Stop {
            return Next::Stop;
        }
        let Self { machine, observer, .. } = self;
        let (core, op) = (machine.current, observer.cores[machine.current].ops.last().copied());
        for operand in machine.operands.iter() {
            let Operand { access, memory, address, shape, .. } = *operand;
            let event = AccessEvent { core, op, access, memory, address, shape, pipe: Some(pipe), site };
            observer.accessed(&event, &machine.cores[core].clock, &machine.memory);
        }
        self.work(pipe as u32, bytes);
        self.after_move(op_code, issued)
    }

    /// Does an instruction, which may by-pass a cache.
    pub(crate) fn carry_out(&mut self, prepared: &Prepared, site: Site) -> Result<(), Fault> {
        let Some(hull) = prepared.global.iter().map(|(bytes, _)| bytes.clone()).reduce(hull) else {
            return self.machine.execute(prepared);
        };
        let toucher = self.toucher(prepared.op.name(), prepared.op.pipe().name(), site);
        if let Some(cache) = &mut self.machine.cache {
            for (bytes, writes) in &prepared.global {
                if *writes {
                    cache.written(bytes, toucher);
                } else {
                    cache.look_for_unflushed(bytes, toucher, &self.machine.memory);
                }
            }
            cache.uncover(toucher.core, &hull, &self.machine.memory);
        }
        let done = self.machine.execute(prepared);
        if let Some(cache) = &mut self.machine.cache {
            cache.cover(toucher.core, &hull, &self.machine.memory);
        }
        self.collect_cache_findings();
        done
    }

    /// Stores to global memory may be what others wait for; a core that copies the same bytes again and again is waiting.
    fn after_move(&mut self, op: OpCode, issued: &Issued) -> Next {
        let before = self.machine.core().last_move.take();
        if matches!(op, OpCode::CopyGmToUbuf | OpCode::CopyGmToUbufAlign) {
            let this = [issued.words[0], issued.words[1], issued.words[4]];
            self.machine.core().last_move = Some(this);
            if before == Some(this) {
                return self.looks_again();
            }
        } else if matches!(op.pipe(), Pipe::Mte3 | Pipe::Fix) {
            self.driver.active();
        }
        Next::Continue
    }

    pub(crate) fn faulted(&mut self, fault: Fault, site: Site) -> Next {
        self.fail_at(Status::Api, fault.0, site);
        Next::Stop
    }
}
