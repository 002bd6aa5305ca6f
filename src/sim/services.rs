//! What each service does to the state of a run. The functions kernel code calls are in [`super::hooks`].

use super::flags::SetError;
use super::memory::LINE;
use super::order::{OrderLog, Precision};
use super::report::Status;
use super::request::{DelayPoint, EventsSpec};
use super::run::{LastFlush, Poll, Progress, Run};
use super::topology::CrossCoreFlags;
use crate::model::Chip;

/// What a core does after a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Goes on.
    Continue,
    /// Lets others run first.
    Switch,
    /// Cannot go on until something happens; then tries again.
    Block,
    /// Never goes on: the run has failed.
    Stop,
}

/// `pipe_t` values the runtime looks at.
const PIPE_S: u32 = 0;
const PIPE_V: u32 = 1;
const PIPE_ALL: u32 = 6;

/// Spins after which a core is put behind the others.
const SPIN_PATIENCE: u64 = 16;

/// `SkNote` of the header.
mod note {
    pub const SYNC_ALL_BEGIN: u32 = 1;
    pub const SYNC_ALL_END: u32 = 2;
    pub const SET_NEXT_TASK: u32 = 3;
    pub const WAIT_PRE_BEGIN: u32 = 4;
    pub const WAIT_PRE_END: u32 = 5;
    pub const COMPLEMENT_BEGIN: u32 = 6;
    pub const COMPLEMENT_END: u32 = 7;
    pub const PRELOAD: u32 = 8;
}

impl Run {
    /// One switching point.
    pub fn step(&mut self) -> Next {
        self.steps += 1;
        if self.steps > self.request.step_limit {
            let text = format!("the run passed its limit of {} steps", self.request.step_limit);
            self.fail(Status::StepLimit, text, None);
            return Next::Stop;
        }
        Next::Continue
    }

    /// The point before a synchronisation call.
    pub fn sync_point(&mut self) -> Next {
        self.active();
        if self.step() == Next::Stop {
            return Next::Stop;
        }
        if self.topology.flags == CrossCoreFlags::Absent {
            let text = format!("cross-core flags do not work in a launch of type {}", self.request.kernel_type);
            self.fail(Status::Api, text, None);
            return Next::Stop;
        }
        if self.chip == Chip::C220 && !self.ffts_known[self.current] {
            self.ffts_known.fill(true);
            let warning = format!(
                "{} used a cross-core flag before set_ffts_base_addr: on the device the flag would go nowhere",
                self.topology.name(self.current)
            );
            self.warnings.push(warning);
        }
        Next::Continue
    }

    /// `ffts_cross_core_sync`.
    pub fn set_flag(&mut self, pipe: u32, mode: u32, flag: u32) -> Next {
        if pipe == PIPE_S || pipe == PIPE_ALL {
            let text = format!("flag {flag} is set on pipe {pipe}: PIPE_S and PIPE_ALL cannot set flags");
            self.fail(Status::Api, text, None);
            return Next::Stop;
        }
        self.core().counts.sets += 1;
        self.event(EventsSpec::Sync, self.current, "set", || Some(format!("mode {mode} flag {flag}")));
        let moment = self.moment();
        self.tick();
        match self.flags.set(self.current, mode, flag, &moment) {
            Ok(gained) => {
                for &core in gained {
                    if self.cores[core].progress == Progress::Flag(flag) {
                        self.cores[core].progress = Progress::Ready;
                    }
                }
                Next::Continue
            }
            Err(error) => self.set_failed(flag, &error),
        }
    }

    fn set_failed(&mut self, flag: u32, error: &SetError) -> Next {
        let (status, text) = match error {
            SetError::Overflow(receiver) => (
                Status::Overflow,
                format!(
                    "the counter of flag {flag} on {} would exceed 15: {} sets it too far ahead of its waits",
                    self.topology.name(*receiver),
                    self.topology.name(self.current)
                ),
            ),
            SetError::UnknownMode(mode) => {
                (Status::Api, format!("flag {flag} is set in mode {mode}; modes are 0, 1, 2"))
            }
            SetError::InBlockId(id) => {
                (Status::Api, format!("in-block flag {id} has no partner on {}", self.topology.name(self.current)))
            }
        };
        self.fail(status, text, None);
        Next::Stop
    }

    /// `wait_flag_dev`: takes one, or blocks.
    pub fn wait_flag(&mut self, flag: u32) -> Next {
        let current = self.current;
        let Some(moment) = self.flags.take(current, flag) else {
            self.block(Progress::Flag(flag), || format!("flag {flag}"));
            return Next::Block;
        };
        self.taken(&moment, || format!("flag {flag}"));
        Next::Continue
    }

    /// `set_intra_block`.
    pub fn set_in_block(&mut self, id: u32) -> Next {
        if self.chip != Chip::C310 {
            self.fail(Status::Api, format!("in-block flag {id}: this chip has no in-block flags"), None);
            return Next::Stop;
        }
        self.core().counts.sets += 1;
        self.event(EventsSpec::Sync, self.current, "set", || Some(format!("in-block flag {id}")));
        let moment = self.moment();
        self.tick();
        match self.flags.set_in_block(self.current, id, &moment) {
            Ok(core) => {
                if matches!(self.cores[core].progress, Progress::InBlock(_)) {
                    self.cores[core].progress = Progress::Ready;
                }
                Next::Continue
            }
            Err(error) => self.set_failed(id, &error),
        }
    }

    /// `wait_intra_block`.
    pub fn wait_in_block(&mut self, id: u32) -> Next {
        let current = self.current;
        let Some(moment) = self.flags.take_in_block(current, id) else {
            self.block(Progress::InBlock(id), || format!("in-block flag {id}"));
            return Next::Block;
        };
        self.taken(&moment, || format!("in-block flag {id}"));
        Next::Continue
    }

    fn block(&mut self, progress: Progress, what: impl FnOnce() -> String) {
        self.core().progress = progress;
        self.core().counts.blocked += 1;
        self.event(EventsSpec::Sync, self.current, "blocked", || Some(what()));
    }

    fn taken(&mut self, moment: &super::clock::Clock, what: impl FnOnce() -> String) {
        self.core().counts.waits += 1;
        self.core().clock.join(moment);
        self.event(EventsSpec::Sync, self.current, "waited", || Some(what()));
    }

    fn tick(&mut self) {
        let current = self.current;
        self.core().clock.tick(current);
    }

    /// The first half of `dcci`: what the core wrote becomes visible; is it polling?
    pub fn flush(&mut self, address: u64, whole: bool) -> Next {
        self.core().counts.dcci += 1;
        if self.step() == Next::Stop {
            return Next::Stop;
        }
        let current = self.current;
        let last = self.core().last_flush;
        let view = if whole { None } else { self.memory.line(address) };
        let address = if whole { 0 } else { address };
        let now = view.map(|view| view.content());
        let repeated = last.is_some_and(|last| last.address == address && last.seen == now);
        if whole {
            let clock = &self.cores[current].clock;
            self.lines.release_all(clock);
            self.tick();
        } else if let Some(content) = now.filter(|_| self.order.is_some()) {
            // A reader that still sees what it saw has written nothing, even if nobody has flushed the line yet.
            if !repeated && self.lines.differs(&self.memory, address, &content) {
                let clock = &self.cores[current].clock;
                self.lines.release(&self.memory, address, &content, clock);
                self.tick();
            }
        }
        if repeated {
            let activity = self.activity;
            let core = self.core();
            core.spins += 1;
            let spins = core.spins;
            core.poll = Some(match (view, now) {
                (Some(view), Some(content)) => Poll::Line(view, content),
                _ => Poll::Whole(activity),
            });
            if spins.is_multiple_of(SPIN_PATIENCE) {
                self.scheduler.step_back(current);
            }
        } else {
            self.active();
        }
        Next::Switch
    }

    /// The second half: the core goes on and sees what others made visible.
    pub fn refill(&mut self, address: u64, whole: bool) {
        let current = self.current;
        let seen = if whole { None } else { self.memory.line(address).map(|view| view.content()) };
        if let Some(content) = seen.filter(|_| self.order.is_some()) {
            let core = &mut self.cores[current];
            self.lines.acquire(&self.memory, address, &content, &mut core.clock);
        }
        let core = self.core();
        core.poll = None;
        core.last_flush = Some(LastFlush { address: if whole { 0 } else { address }, seen });
    }

    /// `SetFlag` / `WaitFlag` between two pipes of a core.
    pub fn pipe_event(&mut self, is_wait: bool, key: (u32, u32, u32)) -> Next {
        let core = self.core();
        let at = match core.pipe_events.iter().position(|(known, _)| *known == key) {
            Some(at) => at,
            None => {
                core.pipe_events.push((key, 0));
                core.pipe_events.len() - 1
            }
        };
        let raised = &mut core.pipe_events[at].1;
        *raised += if is_wait { -1 } else { 1 };
        if *raised < 0 {
            let (source, target, id) = key;
            let text = format!(
                "WaitFlag from pipe {source} to pipe {target}, event {id}, without a SetFlag: it never returns"
            );
            self.fail(Status::Api, text, None);
            return Next::Stop;
        }
        Next::Continue
    }

    /// Bytes moved or computed.
    pub fn work(&mut self, pipe: u32, bytes: u64) {
        let counts = &mut self.core().counts;
        match pipe {
            PIPE_V => counts.vector_bytes += bytes,
            PIPE_S => {}
            _ => counts.moved_bytes += bytes,
        }
    }

    /// Output of the kernel, kept line by line.
    pub fn print(&mut self, text: &str) {
        const LIMIT: usize = 10_000;
        let current = self.current;
        let mut line = std::mem::take(&mut self.partial_output[current]);
        line.push_str(text);
        while let Some(end) = line.find('\n') {
            let rest = line.split_off(end + 1);
            if self.output.len() < LIMIT {
                self.output.push(format!("[{}] {}", self.topology.name(current), line.trim_end_matches('\n')));
            }
            line = rest;
        }
        self.partial_output[current] = line;
    }

    /// A point of interest. May hold the core back.
    pub fn note(&mut self, code: u32, value: u64) -> Next {
        let current = self.current;
        let (what, delay) = match code {
            note::SYNC_ALL_BEGIN => {
                self.core().counts.sync_all += 1;
                ("sync-all", Some(DelayPoint::SyncAll))
            }
            note::SYNC_ALL_END => ("sync-all-end", None),
            note::SET_NEXT_TASK => {
                self.core().counts.set_next_task += 1;
                let core = &mut self.cores[current];
                if let Some(part) = &mut core.part {
                    OrderLog::released(part, current, &mut core.clock);
                }
                ("set-next-task", Some(DelayPoint::SetNextTask))
            }
            note::WAIT_PRE_BEGIN => {
                self.core().counts.wait_pre_task += 1;
                ("wait-pre-task", Some(DelayPoint::WaitPreTask))
            }
            note::WAIT_PRE_END => {
                let core = &mut self.cores[current];
                if let Some(part) = &mut core.part {
                    OrderLog::waited(part, &core.clock);
                }
                ("wait-pre-task-end", None)
            }
            note::COMPLEMENT_BEGIN => {
                self.core().counts.complements += 1;
                ("complement", Some(DelayPoint::Complement))
            }
            note::COMPLEMENT_END => ("complement-end", None),
            note::PRELOAD => {
                self.core().counts.preloads += 1;
                return Next::Continue;
            }
            _ => return Next::Continue,
        };
        self.event(EventsSpec::Sync, current, what, || Some(value.to_string()));
        match delay {
            Some(point) if self.delay_at(point) => Next::Switch,
            _ => Next::Continue,
        }
    }

    /// A core enters an operator.
    pub fn op_begin(&mut self, position: u32, precision: Precision) -> Next {
        let current = self.current;
        let nested = self.cores[current].ops.last() == Some(&position);
        self.cores[current].ops.push(position);
        self.cores[current].last_op = Some(position);
        if !nested {
            self.core().counts.ops += 1;
            self.event(EventsSpec::Ops, current, "op-begin", || None);
            if self.request.poison_local_memory {
                self.poison();
            }
        }
        if let Some(order) = &mut self.order {
            let core = &mut self.cores[current];
            if core.part.as_ref().is_none_or(|part| part.precision < precision) {
                core.part = order.begin(position, precision, &core.clock);
                if core.part.is_some() {
                    order.resume(position, &self.memory);
                }
            }
        }
        if !nested && self.delay_at(DelayPoint::Op) { Next::Switch } else { Next::Continue }
    }

    /// A core leaves an operator.
    pub fn op_end(&mut self, precision: Precision) {
        let current = self.current;
        let core = &mut self.cores[current];
        let Some(position) = core.ops.pop() else { return };
        if let Some(order) = &mut self.order
            && core.part.as_ref().is_some_and(|part| part.op == position && part.precision == precision)
            && let Some(part) = core.part.take()
        {
            order.pause(position, &self.memory);
            order.end(part, current, &mut core.clock);
        }
        if core.ops.last() != Some(&position) {
            self.cores[current].ops.push(position);
            self.event(EventsSpec::Ops, current, "op-end", || None);
            self.cores[current].ops.pop();
        }
    }

    /// The operator whose parameters start at this slot.
    pub fn op_by_offset(&self, offset: u64) -> u32 {
        let after = self.cores[self.current].last_op.map_or(0, |last| last as usize);
        let ops = &self.request.ops;
        let found = ops.iter().skip(after).position(|op| op.param_offset == offset).map(|at| at + after);
        found.or_else(|| ops.iter().position(|op| op.param_offset == offset)).map_or(u32::MAX, |at| at as u32)
    }

    /// Local memory does not survive from operator to operator: make reliance on it visible.
    fn poison(&mut self) {
        for memory in self.local.of(self.current) {
            if memory.size > 0 {
                // SAFETY: the memory belongs to this core alone, which is inside this call.
                unsafe { std::ptr::write_bytes(memory.base, 0xa5, memory.size as usize) };
            }
        }
    }

    /// An agent writes: words change, and their readers hear of what the agent knew.
    pub fn agent_acts(&mut self, agent: usize) {
        let party = self.cores.len() + agent;
        if let Some(address) = self.agents.watched(agent)
            && let Some(view) = self.memory.line(address)
            && self.order.is_some()
        {
            let content = view.content();
            self.lines.acquire(&self.memory, address, &content, &mut self.agent_clocks[agent]);
        }
        let written = self.agents.act(agent);
        for address in written {
            let Some(view) = self.memory.line(address) else { continue };
            let content: [u8; LINE as usize] = view.content();
            if let Some(order) = &mut self.order {
                self.lines.release(&self.memory, address, &content, &self.agent_clocks[agent]);
                if let Some(buffer) = self.memory.find(address) {
                    order.written_outside(buffer);
                }
            }
        }
        self.agent_clocks[agent].tick(party);
        self.activity += 1;
        if self.request.events >= EventsSpec::Ops {
            let name = self.agents.name(agent).to_owned();
            self.events.push(super::report::Event(self.steps, name, "agent", None, None));
        }
    }
}
