//! Instructions: every one a kernel issues goes through [`Run::issue`].

use std::ops::Range;

use super::run::{Next, Run};
use crate::aicore::operand::Operand;
use crate::aicore::{Fault, Issued, OpCode, Pipe};
use crate::sim::interface::status::Status;
use crate::sim::machine::access::{AccessEvent, Site};
use crate::sim::machine::cache::Toucher;
use crate::sim::machine::instructions::Prepared;

fn hull(a: Range<u64>, b: Range<u64>) -> Range<u64> {
    a.start.min(b.start)..a.end.max(b.end)
}

impl Run {
    /// An instruction.
    pub(crate) fn issue(&mut self, issued: &Issued, site: Site) -> Next {
        self.machine.core().announced = 0..0;
        self.after_scrambling();
        let mut prepared = match self.machine.prepare(issued) {
            Ok(prepared) => prepared,
            Err(fault) => return self.faulted(fault, site),
        };
        let stamp = self.watch_instruction(&prepared, site);
        let mark = stamp.map(|stamp| self.machine.parties.mark(self.machine.current, stamp));
        prepared.mark = mark;
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
            let event = AccessEvent { core, op, access, memory, address, shape, pipe, mark, site };
            observer.accessed(&event, &machine.cores[core].clock, &machine.memory);
        }
        self.observer.is_busy(self.machine.current);
        self.work(pipe as u32, bytes);
        self.after_move(op_code, issued)
    }

    /// Does an instruction, which may by-pass a cache.
    pub(crate) fn carry_out(&mut self, prepared: &Prepared, site: Site) -> Result<(), Fault> {
        let Some(hull) = prepared.global.iter().map(|(bytes, _)| bytes.clone()).reduce(hull) else {
            return self.machine.execute(prepared);
        };
        let toucher = self.toucher(prepared.op.name(), prepared.op.pipe().name(), site);
        let toucher = Toucher { mark: prepared.mark.unwrap_or(toucher.mark), ..toucher };
        if let Some(cache) = &mut self.machine.cache {
            for (bytes, writes) in &prepared.global {
                if *writes {
                    cache.written(bytes, toucher, &self.machine.cores[toucher.core].clock);
                } else {
                    let clock = &self.machine.cores[toucher.core].clock;
                    cache.look_for_unflushed(bytes, toucher, clock, &self.machine.memory);
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
