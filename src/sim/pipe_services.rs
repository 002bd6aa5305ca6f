//! What instructions, flags between pipes, queues and scalar accesses mean for a run.

use super::access::Site;
use super::pipes::watch::{Issue, Scene};
use super::report::Status;
use super::run::{Next, Run};
use crate::aicore::operand::Access;
use crate::aicore::{OpCode, Pipe, Register};
use crate::model::OpPosition;

/// `PIPE_ALL` of the device.
const PIPE_ALL: u32 = 6;
/// Events of an ordered pair of pipes.
const EVENTS: u32 = 8;

/// `SkQueue` of the header.
mod action {
    pub(super) const INIT: u32 = 0;
    pub(super) const ENQUE: u32 = 1;
    pub(super) const DEQUE: u32 = 2;
    pub(super) const FREE: u32 = 3;
    pub(super) const ALLOC: u32 = 4;
}

/// `SkAccess` of the header.
mod access {
    pub(super) const WRITE: u32 = 1;
    pub(super) const TENSOR: u32 = 2;
}

/// A queue does something with one of its buffers.
pub(super) struct QueueCall {
    /// `SkQueue`.
    pub(super) action: u32,
    /// Where the buffer starts.
    pub(super) buffer: u64,
    /// The pipe that fills or reads it.
    pub(super) pipe: u32,
    /// Its size, when it is made.
    pub(super) bytes: u64,
    /// Its position, when it is made.
    pub(super) position: Option<String>,
    /// The call.
    pub(super) site: Site,
}

impl Run {
    /// An instruction is issued; what it touches is in the machine's list of operands.
    pub(super) fn watch_instruction(&mut self, op: OpCode, site: Site) {
        let current = self.current();
        let Some(watch) = self.observer.pipes.get_mut(current) else { return };
        let issue = Issue { op, operands: self.machine.operands.as_slice(), site, unit: false, large: false };
        let memories = &self.machine.cores[current].unit.memories;
        watch.instruction(&issue, &Scene { memories, global: &self.machine.memory });
        self.collect_findings();
    }

    /// `SetFlag` / `WaitFlag` between two pipes of a core.
    pub(super) fn pipe_flag(&mut self, is_wait: bool, key: (u32, u32, u32), site: Site) -> Next {
        let (source, target, id) = key;
        let call = if is_wait { "WaitFlag" } else { "SetFlag" };
        if id >= EVENTS {
            let text = format!("{call} with event id {id}; ids are 0 to 7");
            self.fail(Status::Api, text, site.resolve());
            return Next::Stop;
        }
        if !self.machine.pipe_event(is_wait, key) {
            let text = format!(
                "WaitFlag from pipe {source} to pipe {target}, event {id}, without a SetFlag: it never returns"
            );
            self.fail(Status::Api, text, site.resolve());
            return Next::Stop;
        }
        let current = self.current();
        if let Some(watch) = self.observer.pipes.get_mut(current)
            && let (Some(source), Some(target)) = (Pipe::from_number(source), Pipe::from_number(target))
        {
            if is_wait {
                watch.wait_event((source, target, id));
            } else {
                watch.set_event((source, target, id), site);
            }
            self.collect_findings();
        }
        Next::Continue
    }

    /// `pipe_barrier`.
    pub(super) fn pipe_barrier(&mut self, pipe: u32) -> Next {
        let current = self.current();
        if let Some(watch) = self.observer.pipes.get_mut(current) {
            match Pipe::from_number(pipe) {
                Some(pipe) => watch.order().barrier(pipe),
                None if pipe == PIPE_ALL => watch.order().barrier_all(),
                None => {}
            }
        }
        Next::Continue
    }

    /// A queue does something with one of its buffers.
    pub(super) fn queue(&mut self, call: QueueCall) -> Next {
        let current = self.current();
        if let Some(watch) = self.observer.pipes.get_mut(current)
            && let Some(pipe) = Pipe::from_number(call.pipe)
        {
            match call.action {
                action::INIT => watch.queue_buffer(call.buffer, call.bytes, call.position.unwrap_or_default()),
                action::ENQUE => watch.enqueue(call.buffer, pipe, call.site),
                action::DEQUE => watch.dequeue(call.buffer, pipe),
                action::FREE => watch.free(call.buffer, pipe),
                action::ALLOC => watch.allocate(call.buffer, pipe),
                _ => {}
            }
        }
        Next::Continue
    }

    /// The scalar unit is about to access memory.
    pub(super) fn scalar(&mut self, address: u64, bytes: u64, bits: u32, site: Site) -> Next {
        let current = self.current();
        if let Some(watch) = self.observer.pipes.get_mut(current) {
            let kind = if bits & access::WRITE != 0 { Access::Write } else { Access::Read };
            let unit = &self.machine.cores[current].unit;
            let scene = Scene { memories: &unit.memories, global: &self.machine.memory };
            watch.scalar(address..address + bytes, kind, bits & access::TENSOR != 0, site, &scene);
            self.collect_findings();
        }
        Next::Continue
    }

    /// A special register is read.
    pub(super) fn get_register(&mut self, register: u32) -> u64 {
        let current = self.current();
        if register >= Register::AccVal as u32
            && register <= Register::Vms4Sr as u32
            && let Some(watch) = self.observer.pipes.get_mut(current)
        {
            watch.order().scalar_reads_result();
        }
        self.machine.core().unit.registers.get_number(register)
    }

    /// A flag for other cores is set behind the work of a pipe.
    pub(super) fn pipes_announce(&mut self, pipe: u32) {
        let current = self.current();
        if let Some(watch) = self.observer.pipes.get_mut(current)
            && let Some(pipe) = Pipe::from_number(pipe)
        {
            watch.order().announce(pipe);
        }
    }

    /// A flag of another core was waited for.
    pub(super) fn pipes_hear(&mut self) {
        let current = self.current();
        if let Some(watch) = self.observer.pipes.get_mut(current) {
            watch.order().hear();
        }
    }

    /// The current core enters an operator.
    pub(super) fn pipes_enter_op(&mut self, position: OpPosition) {
        let current = self.current();
        if !self.observer.pipes.is_empty() {
            let name = self.observer.op_name(position);
            self.observer.pipes[current].enter_op(Some(name));
        }
    }

    /// The current core leaves an operator, or has ended.
    pub(super) fn pipes_leave_op(&mut self) {
        let current = self.current();
        if let Some(watch) = self.observer.pipes.get_mut(current) {
            watch.leave_op();
            self.collect_findings();
        }
    }

    fn collect_findings(&mut self) {
        let current = self.current();
        for finding in self.observer.pipes[current].take_findings() {
            self.observer.findings.add(finding);
        }
    }
}
