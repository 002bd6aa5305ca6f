//! A run: the machine, who watches it and who drives it, and what each service of the runtime means for the three.
//!
//! The functions kernel code calls are in [`super::hooks`]; the fibers it runs on are in [`crate::sim::launch::engine`].

use crate::aicore::Pipe;
use crate::model::{Chip, OpPosition};
use crate::sim::code::signals::Crash;
use crate::sim::drive::driver::Driver;
use crate::sim::interface::report::Happening;
use crate::sim::interface::request::{AssertsSpec, DelayPoint, EventsSpec, Request};
use crate::sim::interface::status::Status;
use crate::sim::machine::access::Site;
use crate::sim::machine::cache::Extent;
use crate::sim::machine::flags::SetError;
use crate::sim::machine::state::{Looks, Machine, Poll, Progress, Wait};
use crate::sim::machine::topology::{CoreIndex, CrossCoreFlags};
use crate::sim::watch::guard::Guards;
use crate::sim::watch::observer::{FlagName, Observer};
use crate::sim::watch::order::{OrderLog, Precision};

/// What a core does after a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// Goes on.
    Continue,
    /// Lets others run first.
    Switch,
    /// Cannot go on until something happens; then tries again.
    Block,
    /// Never goes on: the run has failed.
    Stop,
}

/// Different complaints of headers that are told.
const COMPLAINTS: usize = 16;

/// `pipe_t` values the runtime looks at.
const PIPE_S: u32 = 0;
const PIPE_V: u32 = 1;
const PIPE_ALL: u32 = 6;
const PIPE_FIX: u32 = 10;

/// Spins after which a core is put behind the others.
const SPIN_PATIENCE: u64 = 16;

/// `SkNote` of the header.
mod note {
    pub(crate) const SYNC_ALL_BEGIN: u32 = 1;
    pub(crate) const SYNC_ALL_END: u32 = 2;
    pub(crate) const SET_NEXT_TASK: u32 = 3;
    pub(crate) const WAIT_PRE_BEGIN: u32 = 4;
    pub(crate) const WAIT_PRE_END: u32 = 5;
    pub(crate) const COMPLEMENT_BEGIN: u32 = 6;
    pub(crate) const COMPLEMENT_END: u32 = 7;
    pub(crate) const PRELOAD: u32 = 8;
    pub(crate) const UNKNOWN_KEY: u32 = 9;
    pub(crate) const WATCHED: u32 = 10;
    pub(crate) const EXCHANGE: u32 = 11;
}

/// Everything about a run except the fibers.
pub(crate) struct Run {
    pub(crate) machine: Machine,
    pub(crate) observer: Observer,
    pub(crate) driver: Driver,
    /// What was asked for, for messages.
    pub(crate) request: Request,
    /// What lies behind the buffers.
    pub(crate) guards: Guards,
    /// How kernel code crashed, if it did.
    pub(crate) crash: Option<Crash>,
}

impl Run {
    /// One switching point.
    pub(crate) fn step(&mut self) -> Next {
        self.observer.log.looks_anew();
        match self.driver.step() {
            Ok(()) => Next::Continue,
            Err(text) => self.stop(Status::StepLimit, text),
        }
    }

    /// Takes over what the scalar unit has done until now: before anything that changes order, or whose turn it is.
    pub(crate) fn settle_accesses(&mut self) {
        let Self { machine, observer, .. } = self;
        observer.settle(machine.current, &machine.cores[machine.current].clock, &machine.memory);
    }

    /// The same before cache maintenance: a core that looks at one line again and again waits for a word there.
    fn settle_looks(&mut self, extent: Extent) {
        let Self { machine, observer, .. } = self;
        let again = machine.looks_again(extent);
        observer.settle_looks(machine.current, again, &machine.cores[machine.current].clock, &machine.memory);
        if again.is_none() {
            observer.decide_looks(machine.current, &machine.memory);
        }
    }

    /// The same before the core hands on what it knows, or leaves an operator.
    pub(crate) fn settle_finally(&mut self) {
        self.settle_accesses();
        self.observer.decide_looks(self.machine.current, &self.machine.memory);
    }

    /// The point before a synchronisation call.
    pub(crate) fn sync_point(&mut self) -> Next {
        self.settle_accesses();
        self.observer.is_busy(self.machine.current);
        self.machine.core().announced = 0..0;
        self.active();
        if self.step() == Next::Stop {
            return Next::Stop;
        }
        if self.machine.topology.flags == CrossCoreFlags::Absent {
            let text = format!(
                "cross-core flags do not work in a launch of type {}: build the operator as MIX_AIV_1_0, or another mixed type",
                self.request.kernel_type
            );
            return self.stop(Status::Api, text);
        }
        if self.machine.chip == Chip::C220 && !self.machine.core().ffts_known {
            // One warning says it all.
            self.machine.cores.iter_mut().for_each(|core| core.ffts_known = true);
            self.observer.warnings.push(format!(
                "{} used a cross-core flag before set_ffts_base_addr: on the device the flag would go nowhere",
                self.machine.name(self.current())
            ));
        }
        Next::Continue
    }

    /// `ffts_cross_core_sync`.
    pub(crate) fn set_flag(&mut self, pipe: u32, mode: u32, flag: u32) -> Next {
        if pipe == PIPE_S || pipe == PIPE_ALL {
            let text = format!("flag {flag} is set on pipe {pipe}: PIPE_S and PIPE_ALL cannot set flags");
            return self.stop(Status::Api, text);
        }
        self.observer.cores[self.machine.current].counts.sets += 1;
        self.event(EventsSpec::Sync, Happening::Set, || Some(format!("mode {mode} flag {flag}")));
        if self.pipes_announce(pipe) == Next::Stop {
            return Next::Stop;
        }
        if pipe == PIPE_FIX && mode == 2 && self.machine.workspace.is_some() {
            self.machine.flags.answers_messages(flag);
        }
        self.settle_finally();
        self.scalar_tells();
        let ended = self.pipes_ended(pipe);
        let set = self.machine.set_flag(mode, flag, &ended);
        for &receiver in self.machine.flags.gained() {
            self.observer.raised(self.driver.steps, self.machine.current, receiver, FlagName::Cross(flag));
        }
        self.after_set(flag, set)
    }

    /// `set_intra_block`.
    pub(crate) fn set_in_block(&mut self, pipe: u32, id: u32) -> Next {
        if self.machine.chip != Chip::C310 {
            return self.stop(Status::Api, format!("in-block flag {id}: this chip has no in-block flags"));
        }
        self.observer.cores[self.machine.current].counts.sets += 1;
        self.event(EventsSpec::Sync, Happening::Set, || Some(format!("in-block flag {id}")));
        if self.pipes_announce(pipe) == Next::Stop {
            return Next::Stop;
        }
        self.settle_finally();
        self.scalar_tells();
        let ended = self.pipes_ended(pipe);
        let set = self.machine.set_in_block(id, &ended);
        if let Some((receiver, target)) = self.machine.flags.in_block_partner(self.machine.current, id) {
            self.observer.raised(self.driver.steps, self.machine.current, receiver, FlagName::InBlock(target));
        }
        self.after_set(id, set)
    }

    fn after_set(&mut self, flag: u32, set: Result<(), SetError>) -> Next {
        let setter = |run: &Self| run.machine.name(run.current());
        match set {
            Ok(()) => Next::Continue,
            Err(SetError::Overflow(receiver)) => {
                let text = format!(
                    "the counter of flag {flag} on {} would exceed 15: {} sets it too far ahead of its waits",
                    self.machine.name(receiver),
                    setter(self)
                );
                self.stop(Status::Overflow, text)
            }
            Err(SetError::UnknownMode(mode)) => {
                self.stop(Status::Api, format!("flag {flag} is set in mode {mode}; modes are 0, 1, 2"))
            }
            Err(SetError::InBlockId(id)) => {
                self.stop(Status::Api, format!("in-block flag {id} has no partner on {}", setter(self)))
            }
        }
    }

    /// `wait_flag_dev`: takes one, or blocks.
    pub(crate) fn wait_flag(&mut self, flag: u32) -> Next {
        let wait = self.machine.wait_flag(flag);
        self.after_wait(wait, FlagName::Cross(flag))
    }

    /// `wait_intra_block`.
    pub(crate) fn wait_in_block(&mut self, id: u32) -> Next {
        let wait = self.machine.wait_in_block(id);
        self.after_wait(wait, FlagName::InBlock(id))
    }

    fn after_wait(&mut self, wait: Wait, flag: FlagName) -> Next {
        let counts = &mut self.observer.cores[self.machine.current].counts;
        match wait {
            Wait::Taken => {
                counts.waits += 1;
                self.observer.waited(self.driver.steps, self.machine.current, flag);
                self.scalar_hears();
                self.scalar_is_over();
                Next::Continue
            }
            Wait::Blocked => {
                counts.blocked += 1;
                self.event(EventsSpec::Sync, Happening::Blocked, || Some(flag.to_string()));
                // Nobody waits for ever for what this core has already been told to do.
                if self.drain(&Pipe::ALL) == Next::Stop { Next::Stop } else { Next::Block }
            }
        }
    }

    /// The core waits, or polls, perhaps for ever: a function whose frame is `frame` was called for that.
    pub(crate) fn may_stay(&mut self, frame: *const usize) {
        let core = self.machine.current;
        let stays = matches!(self.machine.cores[core].progress, Progress::Flag(_) | Progress::InBlock(_));
        if stays || self.machine.cores[core].poll.is_some() {
            self.machine.cores[core].stays_at = self.observer.sites.calls(frame);
        }
    }

    /// The first half of `dcci`: what the core wrote becomes visible; is it polling?
    pub(crate) fn flush(&mut self, extent: Extent) -> Next {
        self.settle_looks(extent);
        self.observer.is_busy(self.machine.current);
        self.observer.cores[self.machine.current].counts.dcci += 1;
        if self.step() == Next::Stop {
            return Next::Stop;
        }
        match extent {
            Extent::Whole => self.event(EventsSpec::Sync, Happening::Flush, || None),
            Extent::Line(_) => {}
        }
        self.scalar_tells();
        match self.machine.write_back(extent, self.driver.activity) {
            Looks::AtNews => self.active(),
            Looks::Again(_) if self.drain(&Pipe::ALL) == Next::Stop => return Next::Stop,
            Looks::Again(times) if times.is_multiple_of(SPIN_PATIENCE) => {
                self.driver.scheduler.step_back(self.machine.current);
            }
            Looks::Again(_) => {}
        }
        Next::Switch
    }

    /// The second half: the core goes on and sees what others made visible.
    pub(crate) fn refill(&mut self, extent: Extent) {
        self.machine.refill(extent);
        self.scalar_hears();
    }

    /// The core has written a word around its cache: others may go first, and see it.
    pub(crate) fn told(&mut self) -> Next {
        self.observer.is_busy(self.machine.current);
        self.active();
        self.machine.stops_polling();
        if self.step() == Next::Stop { Next::Stop } else { Next::Switch }
    }

    /// The core moves what it has moved before: it waits for others, who go first.
    pub(crate) fn looks_again(&mut self) -> Next {
        self.polls(Poll::Whole(self.driver.activity))
    }

    /// The core reads one address again and again without a flush: it waits for others, who go first.
    pub(crate) fn stares(&mut self, address: u64, site: Site) -> Next {
        self.machine.core().stays_at = site;
        self.polls(Poll::Stare(self.driver.activity, address))
    }

    fn polls(&mut self, poll: Poll) -> Next {
        if self.step() == Next::Stop || self.drain(&Pipe::ALL) == Next::Stop {
            return Next::Stop;
        }
        let core = self.machine.core();
        core.spins += 1;
        core.poll = Some(poll);
        if core.spins.is_multiple_of(SPIN_PATIENCE) {
            self.driver.scheduler.step_back(self.machine.current);
        }
        Next::Switch
    }

    /// Bytes moved or computed.
    pub(crate) fn work(&mut self, pipe: u32, bytes: u64) {
        let counts = &mut self.observer.cores[self.machine.current].counts;
        match pipe {
            PIPE_V => counts.vector_bytes += bytes,
            PIPE_S => {}
            _ => counts.moved_bytes += bytes,
        }
    }

    /// A point of interest. May hold the core back.
    pub(crate) fn note(&mut self, code: u32, value: u64) -> Next {
        self.settle_finally();
        let current = self.current();
        let (watched, clock) = (&mut self.observer.cores[current], &mut self.machine.cores[current].clock);
        let counts = &mut watched.counts;
        let (what, delay) = match code {
            note::SYNC_ALL_BEGIN => {
                self.observer.calls_sync_all(current);
                (Happening::SyncAll, Some(DelayPoint::SyncAll))
            }
            note::SYNC_ALL_END => (Happening::SyncAllEnd, None),
            note::SET_NEXT_TASK => {
                counts.set_next_task += 1;
                self.observer.released(current, clock, &self.machine.memory);
                (Happening::SetNextTask, Some(DelayPoint::SetNextTask))
            }
            note::WAIT_PRE_BEGIN => {
                counts.wait_pre_task += 1;
                (Happening::WaitPreTask, Some(DelayPoint::WaitPreTask))
            }
            note::WAIT_PRE_END => {
                if let Some(part) = &mut watched.part {
                    OrderLog::waited(part, clock);
                }
                (Happening::WaitPreTaskEnd, None)
            }
            note::COMPLEMENT_BEGIN => {
                counts.complements += 1;
                (Happening::Complement, Some(DelayPoint::Complement))
            }
            note::COMPLEMENT_END => (Happening::ComplementEnd, None),
            note::PRELOAD => {
                counts.preloads += 1;
                (Happening::Preload, None)
            }
            note::UNKNOWN_KEY => return self.unknown_key(value),
            note::WATCHED => {
                self.observer.watches(current);
                return Next::Continue;
            }
            note::EXCHANGE => {
                watched.exchanges = !watched.exchanges;
                let entered = watched.exchanges;
                self.scalar_tells();
                self.machine.exchange(entered);
                self.scalar_hears();
                return Next::Continue;
            }
            _ => return Next::Continue,
        };
        self.event(EventsSpec::Sync, what, || Some(value.to_string()));
        match delay {
            Some(point) => self.delay_at(point),
            None => Next::Continue,
        }
    }

    /// A core enters an operator.
    pub(crate) fn op_begin(&mut self, position: OpPosition, precision: Precision) -> Next {
        self.settle_accesses();
        let current = self.current();
        let is_new = self.observer.enter_op(self.driver.steps, current, position);
        if is_new && (self.request.poison_local_memory || !self.observer.pipes.is_empty()) {
            if self.drain(&Pipe::ALL) == Next::Stop {
                return Next::Stop;
            }
            self.machine.poison();
        }
        if is_new {
            self.pipes_enter_op(position);
        }
        let (clock, memory) = (&self.machine.cores[current].clock, &self.machine.memory);
        self.observer.begin_part(current, position, precision, clock, memory);
        if is_new { self.delay_at(DelayPoint::Op) } else { Next::Continue }
    }

    /// Has the current core written behind the end of a buffer of its operator since it went on?
    pub(crate) fn check_guards(&mut self) -> Next {
        let Some(&op) = self.observer.cores[self.machine.current].ops.last() else { return Next::Continue };
        let Some((buffer, distance)) = self.guards.broken(op) else { return Next::Continue };
        let name = &self.machine.memory.buffers()[buffer].name;
        self.stop(Status::Overrun, format!("something was written {distance} bytes past the end of buffer `{name}`"))
    }

    /// A core leaves an operator.
    pub(crate) fn op_end(&mut self, precision: Precision) -> Next {
        if self.check_guards() == Next::Stop {
            return Next::Stop;
        }
        self.settle_finally();
        let current = self.current();
        // An operator takes a step at least: its end comes after its beginning.
        self.driver.steps = self.driver.steps.max(self.observer.cores[current].entered + 1);
        let (clock, memory) = (&mut self.machine.cores[current].clock, &self.machine.memory);
        if self.observer.leave_op(self.driver.steps, current, precision, clock, memory) {
            self.pipes_leave_op();
        }
        Next::Continue
    }

    /// A tiling key that is in none of the operator's tables; its address is in slot `slot`.
    fn unknown_key(&mut self, slot: u64) -> Next {
        let key = self.request.slots.get(slot as usize).and_then(|address| self.machine.memory.word(*address));
        let key = key.map_or_else(|| "that cannot be read".to_owned(), |key| key.to_string());
        let ops = &self.observer.ops;
        let owner =
            ops.iter().rposition(|op| op.param_offset <= slot).map(|at| self.observer.op_name(OpPosition::at(at)));
        let owner = owner.unwrap_or_else(|| format!("the op of slot {slot}"));
        self.stop(Status::Trap, format!("{owner} has no function for tiling key {key}"))
    }

    /// An agent writes: words change, and their readers hear of what the agent knew.
    pub(crate) fn agent_acts(&mut self, agent: usize) {
        let Self { machine, observer, driver, .. } = self;
        let party = machine.cores.len() + agent;
        let clock = &mut driver.agent_clocks[agent];
        if let Some(address) = driver.agents.watched(agent)
            && let Some(view) = machine.memory.line(address)
            && machine.follows_order
        {
            machine.lines.acquire(&machine.memory, address, &view.content(), clock);
        }
        for address in driver.agents.act(agent) {
            let Some(view) = machine.memory.line(address) else { continue };
            if machine.follows_order {
                machine.lines.release(&machine.memory, address, &view.content(), clock);
            }
            if let (Some(order), Some(buffer)) = (&mut observer.order, machine.memory.find(address)) {
                order.written_outside(buffer);
            }
        }
        clock.tick(party);
        driver.active();
        observer.agent_acted(driver.steps, driver.agents.name(agent));
    }

    /// Ends the run with a failure of the current core. The first failure counts.
    pub(crate) fn fail(&mut self, status: Status, text: String, site: Option<(String, u32)>) {
        let hint = match status {
            Status::Overrun | Status::Api | Status::Crash => self.surplus_core(),
            Status::Ok
            | Status::Deadlock
            | Status::Overflow
            | Status::Leak
            | Status::Trap
            | Status::Assert
            | Status::NullCall
            | Status::StepLimit
            | Status::Timeout
            | Status::Hazard
            | Status::Agent
            | Status::Pipe
            | Status::Cache => None,
        };
        let text = text + &hint.unwrap_or_default();
        self.observer.fail(self.driver.steps, self.machine.current, status, text, site);
    }

    /// The current core is in an op that was tiled at run time for fewer cores.
    fn surplus_core(&self) -> Option<String> {
        let core = self.current();
        let op = *self.observer.cores[core].ops.last()?;
        let parameters = &self.request.parameters;
        let owner = parameters.get(self.observer.ops.get(op)?.param_offset as usize)?.op?;
        let slot = parameters.iter().position(|slot| slot.op == Some(owner) && slot.is_run_time_block_num())?;
        let blocks = self.machine.memory.word(*self.request.slots.get(slot)?)?;
        let state = &self.machine.cores[core].state;
        let index = state.block_idx * state.sub_block_dim + state.sub_block_idx;
        (index as u64 >= blocks).then(|| {
            format!(
                "; {} was tiled at run time for {blocks} blocks, and all cores enter it: if this one is none of them, compile \
                 with dynamic-cores=tiled",
                self.observer.op_name(op)
            )
        })
    }

    /// The same, at a place in the kernel.
    pub(crate) fn fail_at(&mut self, status: Status, text: String, site: Site) {
        let place = self.observer.sites.resolve(site);
        self.fail(status, text, place);
    }

    /// The vendor's headers found something that device builds do not look for.
    pub(crate) fn complain(&mut self, text: &str, site: Site) -> Next {
        if self.request.asserts == AssertsSpec::Strict {
            self.fail_at(Status::Api, text.to_owned(), site);
            return Next::Stop;
        }
        // `[ERROR][Block_0][AIV_0][file:line]…`: every core says the same.
        let told = ["[ERROR]", "[Block_", "[AI"].iter().fold(text.trim(), |text, mark| {
            let rest = text.strip_prefix(mark);
            rest.map_or(
                text,
                |rest| if mark.ends_with(']') { rest } else { rest.split_once(']').map_or(text, |it| it.1) },
            )
        });
        if self.observer.complaints.insert(told.to_owned()) && self.observer.complaints.len() <= COMPLAINTS {
            let place = self.observer.sites.resolve(site).map(|(file, line)| format!("{file}:{line}: "));
            self.observer.warnings.push(format!(
                "{}{}: {told} (an assert of the headers' CPU mode, which device builds do not have; `asserts=strict` \
                 ends the run)",
                place.unwrap_or_default(),
                self.machine.name(self.current())
            ));
        }
        Next::Continue
    }

    /// Holds a core back if a delay says so.
    pub(crate) fn delay_at(&mut self, point: DelayPoint) -> Next {
        let current = self.current();
        let op = self.observer.cores[current].ops.last().copied();
        match self.driver.delay(current, op, point) {
            Some(until) => {
                self.machine.core().progress = Progress::Delayed(until);
                Next::Switch
            }
            None => Next::Continue,
        }
    }

    pub(crate) fn stop(&mut self, status: Status, text: String) -> Next {
        self.fail(status, text, None);
        Next::Stop
    }

    pub(crate) fn current(&self) -> CoreIndex {
        self.machine.current
    }

    /// Anything other than repeated polling happened on the current core.
    pub(crate) fn active(&mut self) {
        self.driver.active();
        self.machine.stops_polling();
    }

    fn event(&mut self, level: EventsSpec, what: Happening, detail: impl FnOnce() -> Option<String>) {
        self.observer.event(level, self.driver.steps, self.machine.current, what, detail);
    }
}
