//! What instructions, flags between pipes and queues mean for a run.

use super::run::{Next, Run};
use crate::aicore::Pipe;
use crate::model::OpPosition;
use crate::sim::interface::status::Status;
use crate::sim::machine::access::Site;
use crate::sim::machine::delayed::{Entry, Ready};
use crate::sim::machine::event::Flag;
use crate::sim::machine::event::{Event, EventSet};
use crate::sim::machine::instructions::Prepared;
use crate::sim::machine::pipe_clock::{PipeClock, Stamp};
use crate::sim::pipes::scene::{Issue, Scene};

/// `PIPE_ALL` of the device.
const PIPE_ALL: u32 = 6;
/// Events of an ordered pair of pipes.
const EVENTS: u32 = 8;
/// Waits of the scalar unit for its own pipes after which others get a turn.
const PATIENCE: u32 = 64;

/// `SkQueue` of the header.
mod action {
    pub(crate) const INIT: u32 = 0;
    pub(crate) const ENQUE: u32 = 1;
    pub(crate) const DEQUE: u32 = 2;
    pub(crate) const FREE: u32 = 3;
    pub(crate) const ALLOC: u32 = 4;
    pub(crate) const BUFFER: u32 = 5;
    pub(crate) const ADDRESS: u32 = 6;
}

/// `SkPipeFlag` of the header.
mod pipe_flag {
    pub(crate) const WAIT: u32 = 1;
    pub(crate) const BUFFER: u32 = 2;
}

/// A queue does something with one of its buffers.
pub(crate) struct QueueCall {
    /// `SkQueue`.
    pub(crate) action: u32,
    /// Where the buffer starts.
    pub(crate) buffer: u64,
    /// The pipe that fills or reads it.
    pub(crate) pipe: u32,
    /// Its size, when it is made.
    pub(crate) bytes: u64,
    /// Its position, when it is made.
    pub(crate) position: Option<String>,
    /// The call.
    pub(crate) site: Site,
}

impl Run {
    /// An instruction is issued; what it touches is in the machine's list of operands. Says which of its pipe it is, if
    /// pipes are watched.
    pub(crate) fn watch_instruction(&mut self, prepared: &Prepared, site: Site) -> Option<Stamp> {
        let current = self.current();
        let Prepared { op, bytes, on_results, .. } = *prepared;
        self.order_results(prepared);
        self.observer.instruction(self.driver.steps, current, op, bytes, site);
        let watch = self.observer.pipes.get_mut(current)?;
        let issue = Issue { op, operands: self.machine.operands.as_slice(), site, on_results };
        let memories = &self.machine.cores[current].unit.memories;
        let stamp = watch.instruction(&issue, &Scene { memories, global: &self.machine.memory });
        self.collect_findings();
        Some(stamp)
    }

    /// Multiplication and moves out of L0C that use its flags wait for each other.
    fn order_results(&mut self, prepared: &Prepared) {
        let current = self.current();
        let Some(other) = prepared.on_results.waits_for(prepared.op.pipe()) else { return };
        if self.machine.delayed.is_empty() && self.observer.times.is_empty() {
            return;
        }
        self.machine.cores[current].unit_waits += 1;
        let flag = Flag::Unit(self.machine.cores[current].unit_waits);
        self.raise(other, flag);
        // Only a wait of the scalar unit itself can end a run, and it has no part in this.
        self.wait_for(prepared.op.pipe(), flag);
    }

    /// `SetFlag` / `WaitFlag` between two pipes of a core; `form` has bits of `SkPipeFlag`.
    pub(crate) fn pipe_flag(&mut self, form: u32, key: (u32, u32, u32), site: Site) -> Next {
        self.machine.core().announced = 0..0;
        let (source, target, id) = key;
        let is_wait = form & pipe_flag::WAIT != 0;
        let set = if form & pipe_flag::BUFFER == 0 { EventSet::Flags } else { EventSet::BufferFlags };
        let call = if is_wait { set.wait_name() } else { set.set_name() };
        if id >= EVENTS {
            let text = format!("{call} with event id {id}; ids are 0 to 7");
            self.fail_at(Status::Api, text, site);
            return Next::Stop;
        }
        if !self.machine.pipe_event(is_wait, (set, source, target, id)) {
            let text = format!(
                "{call} from {} to {}, event {id}, without a {}: it never returns",
                Pipe::name_of(source),
                Pipe::name_of(target),
                set.set_name()
            );
            self.fail_at(Status::Api, text, site);
            return Next::Stop;
        }
        let (Some(source), Some(target)) = (Pipe::from_number(source), Pipe::from_number(target)) else {
            return Next::Continue;
        };
        let event = Event { set, source, target, id };
        let current = self.current();
        if let Some(watch) = self.observer.pipes.get_mut(current) {
            if is_wait {
                watch.wait_event(event);
            } else {
                watch.set_event(event, site);
            }
            self.collect_findings();
        }
        let flag = Flag::Event(event);
        if !is_wait {
            return self.raise(source, flag);
        }
        if self.wait_for(target, flag) == Next::Stop {
            return Next::Stop;
        }
        if target == Pipe::S { self.scalar_waited() } else { Next::Continue }
    }

    /// The scalar unit has waited for one of its pipes. A core that does nothing else for long may be polling global
    /// memory through its local memory: others must get their turn.
    fn scalar_waited(&mut self) -> Next {
        let core = self.machine.core();
        core.scalar_waits += 1;
        if core.scalar_waits < PATIENCE {
            return Next::Continue;
        }
        core.scalar_waits = 0;
        if self.step() == Next::Stop { Next::Stop } else { Next::Switch }
    }

    /// A flag is raised behind what `source` was given.
    fn raise(&mut self, source: Pipe, flag: Flag) -> Next {
        let current = self.current();
        if let Some(time) = self.observer.times.get_mut(current) {
            time.set(source, flag);
        }
        if let Some(pipes) = self.machine.delayed.get_mut(current) {
            pipes.push(source, Entry::Set(flag));
        }
        Next::Continue
    }

    /// `target` goes on when a flag is raised.
    fn wait_for(&mut self, target: Pipe, flag: Flag) -> Next {
        let current = self.current();
        if let Some(time) = self.observer.times.get_mut(current) {
            time.wait(target, flag);
        }
        if let Some(pipes) = self.machine.delayed.get_mut(current) {
            if target != Pipe::S {
                pipes.push(target, Entry::Wait(flag));
                return Next::Continue;
            }
            while !self.machine.delayed[current].lower(flag) {
                if self.any_pipe_goes_on(&[]) == Next::Stop {
                    return Next::Stop;
                }
            }
        }
        Next::Continue
    }

    /// `pipe_barrier`.
    pub(crate) fn pipe_barrier(&mut self, number: u32) -> Next {
        let current = self.current();
        self.machine.core().announced = 0..0;
        let pipe = Pipe::from_number(number);
        if let Some(watch) = self.observer.pipes.get_mut(current) {
            match pipe {
                Some(pipe) => watch.order().barrier(pipe),
                None if number == PIPE_ALL => watch.order().barrier_all(),
                None => {}
            }
        }
        // A pipe works its queue off in order: only the barrier of all is more.
        if number != PIPE_ALL {
            return Next::Continue;
        }
        if let Some(time) = self.observer.times.get_mut(current) {
            time.scalar_waits(&Pipe::ALL);
        }
        self.drain(&Pipe::ALL)
    }

    /// A queue does something with one of its buffers.
    pub(crate) fn queue(&mut self, call: QueueCall) -> Next {
        let current = self.current();
        let Some(pipe) = Pipe::from_number(call.pipe) else { return Next::Continue };
        let buffer = call.buffer;
        if let Some(watch) = self.observer.pipes.get_mut(current) {
            match call.action {
                action::INIT => watch.queue_buffer(buffer, call.bytes, call.position.unwrap_or_default()),
                action::ENQUE => watch.enqueue(buffer, pipe, call.site),
                action::DEQUE => watch.dequeue(buffer, pipe),
                action::FREE => watch.free(buffer, pipe),
                action::ALLOC => watch.allocate(buffer, pipe),
                action::BUFFER => watch.buffer(buffer, call.bytes),
                action::ADDRESS => watch.takes_address(buffer),
                _ => {}
            }
        }
        match call.action {
            action::ENQUE => self.raise(pipe, Flag::Filled(buffer)),
            action::DEQUE => self.wait_for(pipe, Flag::Filled(buffer)),
            action::FREE | action::ALLOC => {
                let is_free = call.action == action::FREE;
                if let Some(time) = self.observer.times.get_mut(current) {
                    let flag = Flag::Emptied(buffer);
                    if is_free { time.set(pipe, flag) } else { time.wait(pipe, flag) }
                }
                if let Some(pipes) = self.machine.delayed.get_mut(current) {
                    if is_free { pipes.give_back(buffer, pipe) } else { pipes.take(buffer, pipe) }
                }
                Next::Continue
            }
            _ => Next::Continue,
        }
    }

    /// A flag for other cores is set behind the work of a pipe.
    pub(crate) fn pipes_announce(&mut self, number: u32) -> Next {
        Pipe::from_number(number).map_or(Next::Continue, |pipe| self.drain(&[pipe]))
    }

    /// What has ended when a flag for other cores is raised behind the work of a pipe.
    pub(crate) fn pipes_ended(&mut self, number: u32) -> PipeClock {
        let current = self.current();
        match (self.observer.pipes.get_mut(current), Pipe::from_number(number)) {
            (Some(watch), Some(pipe)) => watch.order().ended(pipe),
            (None, _) | (_, None) => PipeClock::default(),
        }
    }

    /// Whatever the core hands on from now on tells what its scalar unit knows to have ended.
    pub(crate) fn scalar_tells(&mut self) {
        let current = self.current();
        if let Some(watch) = self.observer.pipes.get_mut(current) {
            self.machine.scalar_knows(&watch.order().known_to_scalar());
        }
    }

    /// Other cores rely on what the scalar unit did before a flag that they answer; so may the core's own pipes.
    pub(crate) fn scalar_is_over(&mut self) {
        let current = self.current();
        if let Some(watch) = self.observer.pipes.get_mut(current) {
            watch.order().scalar_is_over();
        }
    }

    /// The core has heard from others, perhaps of what it told them before.
    pub(crate) fn scalar_hears(&mut self) {
        let current = self.current();
        if let Some(watch) = self.observer.pipes.get_mut(current) {
            for pipe in Pipe::ALL.into_iter().filter(|pipe| *pipe != Pipe::S) {
                watch.order().hear(pipe, self.machine.heard_of(pipe));
            }
        }
    }

    /// The current core enters an operator.
    pub(crate) fn pipes_enter_op(&mut self, position: OpPosition) {
        let current = self.current();
        if !self.observer.pipes.is_empty() {
            let name = self.observer.op_name(position);
            self.observer.pipes[current].enter_op(Some(name));
        }
    }

    /// The current core leaves an operator, or has ended.
    pub(crate) fn pipes_leave_op(&mut self) {
        let current = self.current();
        if let Some(watch) = self.observer.pipes.get_mut(current) {
            let memories = &self.machine.cores[current].unit.memories;
            watch.leave_op(&Scene { memories, global: &self.machine.memory });
            self.collect_findings();
        }
    }

    /// Gives an instruction to its pipe, and lets pipes go on as chance has it.
    pub(crate) fn delay(&mut self, prepared: Prepared, site: Site) -> Next {
        let current = self.current();
        let pipe = prepared.op.pipe();
        self.machine.delayed[current].push(pipe, Entry::Instruction(Box::new(prepared), site));
        while let Some(pipe) = self.machine.delayed[current].wander() {
            match self.pipe_goes_on(pipe) {
                Next::Stop => return Next::Stop,
                Next::Continue => {}
                // It waits for another one, which goes on instead.
                Next::Switch | Next::Block => {
                    if self.any_pipe_goes_on(&[]) == Next::Stop {
                        return Next::Stop;
                    }
                }
            }
        }
        Next::Continue
    }

    /// Lets pipes go on until these have nothing left to do.
    pub(crate) fn drain(&mut self, pipes: &[Pipe]) -> Next {
        let current = self.current();
        if self.machine.delayed.is_empty() {
            return Next::Continue;
        }
        // Where all have to be through, any may be first.
        let first = if pipes.len() == Pipe::COUNT { &[] } else { pipes };
        while pipes.iter().any(|pipe| !self.machine.delayed[current].is_idle(*pipe)) {
            if self.any_pipe_goes_on(first) == Next::Stop {
                return Next::Stop;
            }
        }
        Next::Continue
    }

    /// One pipe does one thing, if possible one of `first`.
    fn any_pipe_goes_on(&mut self, first: &[Pipe]) -> Next {
        let current = self.current();
        let others = self.machine.delayed[current].shuffled();
        for &pipe in first.iter().chain(&others) {
            match self.pipe_goes_on(pipe) {
                Next::Stop => return Next::Stop,
                Next::Continue => return Next::Continue,
                Next::Switch | Next::Block => {}
            }
        }
        let text = "every pipe waits for a flag that is never raised again: a SetFlag comes too late".to_owned();
        self.stop(Status::Api, text)
    }

    /// A pipe does the next thing of its queue; `Block`: it cannot.
    fn pipe_goes_on(&mut self, pipe: Pipe) -> Next {
        let current = self.current();
        match self.machine.delayed[current].next(pipe) {
            Ready::Execute(prepared, site) => match self.carry_out(&prepared, site) {
                Ok(()) => Next::Continue,
                Err(fault) => self.faulted(fault, site),
            },
            Ready::Done => Next::Continue,
            Ready::Blocked | Ready::Idle => Next::Block,
        }
    }

    pub(crate) fn collect_findings(&mut self) {
        let current = self.current();
        for finding in self.observer.pipes[current].take_findings() {
            self.observer.findings.add(finding);
        }
    }
}
