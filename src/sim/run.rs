//! The state of one run: what every hook reads and changes.

use std::rc::Rc;

use super::agents::Agents;
use super::clock::{Clock, Moment};
use super::core_state::CoreState;
use super::flags::FlagBank;
use super::lines::Lines;
use super::memory::{GlobalMemory, LINE, LineView, LocalMemories, SystemWorkspace};
use super::order::{OrderLog, Part};
use super::report::{Counts, Event, Failure, Status};
use super::request::{DelayPoint, DelaySpec, EventsSpec, Request};
use super::schedule::Scheduler;
use super::topology::{CoreIndex, Topology};
use crate::aicore::operand::Operands;
use crate::model::Chip;

/// Why a core does not go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// It can.
    Ready,
    /// It waits for a flag.
    Flag(u32),
    /// It waits for an in-block flag.
    InBlock(u32),
    /// It is held back until this step.
    Delayed(u64),
    /// Its entry returned.
    Finished,
}

/// A core that looks at the same memory again and again.
#[derive(Debug, Clone, Copy)]
pub enum Poll {
    /// One line that still reads as it did.
    Line(LineView, [u8; LINE as usize]),
    /// The whole cache: worth another look once anything happened since.
    Whole(u64),
}

/// The last cache maintenance call of a core, if nothing else came after it.
#[derive(Debug, Clone, Copy)]
pub struct LastFlush {
    /// The address, 0 for the whole cache.
    pub address: u64,
    /// What the line held when the core went on.
    pub seen: Option<[u8; LINE as usize]>,
}

/// One simulated core.
#[derive(Debug)]
pub struct Core {
    /// What kernel code sees. Boxed: the kernel holds its address.
    pub state: Box<CoreState>,
    /// Its memories and registers, as instructions see them.
    pub unit: crate::aicore::Core,
    /// Whether it can go on.
    pub progress: Progress,
    /// Whether it is polling.
    pub poll: Option<Poll>,
    /// For finding polls.
    pub last_flush: Option<LastFlush>,
    /// Consecutive flushes without anything else.
    pub spins: u64,
    /// Operators it is in, innermost last; `None` for a position without a name.
    pub ops: Vec<u32>,
    /// The last operator entered.
    pub last_op: Option<u32>,
    /// What it knows of the others.
    pub clock: Clock,
    /// Its part of the operator it is in.
    pub part: Option<Part>,
    /// What it has done.
    pub counts: Counts,
    /// Raised flags between its pipes: (source, target, id) and how many.
    pub pipe_events: Vec<((u32, u32, u32), i32)>,
    /// Its copy of per-core variables of the kernel.
    pub block_local: Vec<u8>,
    /// It failed: its report says so.
    pub failed: bool,
}

/// Everything about a run except the fibers.
pub struct Run {
    /// The cores' numbering.
    pub topology: Topology,
    /// The chip.
    pub chip: Chip,
    /// The cores.
    pub cores: Vec<Core>,
    /// The core that runs.
    pub current: CoreIndex,
    /// Cross-core flags.
    pub flags: FlagBank,
    /// Who goes on next.
    pub scheduler: Scheduler,
    /// Global memory.
    pub memory: GlobalMemory,
    /// Words cores exchange.
    pub lines: Lines,
    /// Local memories; kept alive for the cores.
    pub local: LocalMemories,
    /// Host agents and their clocks.
    pub agents: Agents,
    /// What each agent knows.
    pub agent_clocks: Vec<Clock>,
    /// Order of operators, if checked.
    pub order: Option<OrderLog>,
    /// Cores still to be held back.
    pub delays: Vec<(CoreIndex, DelaySpec)>,
    /// The request, for limits and names.
    pub request: Request,
    /// The parameter block, with some zeroes behind it.
    pub slots: Vec<u64>,
    /// Switching points so far.
    pub steps: u64,
    /// Times another core went on.
    pub switches: u64,
    /// Counts anything but repeated polling.
    pub activity: u64,
    /// Looks of polling cores since anything else happened.
    pub idle: u64,
    /// The first failure.
    pub failure: Option<(Status, Failure)>,
    /// The timeline.
    pub events: Vec<Event>,
    /// Events not kept.
    pub events_dropped: u64,
    /// Output of the kernel.
    pub output: Vec<String>,
    /// Unfinished output line of each core.
    pub partial_output: Vec<String>,
    /// Things worth a look.
    pub warnings: Vec<String>,
    /// Whether a core used a flag before it had the scheduler's address.
    pub ffts_known: Vec<bool>,
    /// Per-core variables of the kernel.
    pub block_local: Vec<(*mut u8, usize)>,
    /// Their values at the start.
    pub block_local_initial: Vec<u8>,
    /// Memory for the messages of matmul objects, once somebody asked for it.
    pub workspace: Option<SystemWorkspace>,
    /// What the instruction at hand touches; kept for its allocation.
    pub operands: Operands,
}

impl Run {
    /// The core that runs.
    pub fn core(&mut self) -> &mut Core {
        &mut self.cores[self.current]
    }

    /// The core's knowledge at this moment, to be handed on.
    pub fn moment(&self) -> Moment {
        Rc::new(self.cores[self.current].clock.clone())
    }

    /// `op 3 \`add\``, by position.
    pub fn op_name(&self, position: u32) -> String {
        match self.request.ops.get(position as usize) {
            Some(op) => format!("op {position} `{}`", op.name),
            None => format!("op {position}"),
        }
    }

    /// The operator a core is in.
    pub fn op_of(&self, core: CoreIndex) -> Option<String> {
        self.cores[core].ops.last().map(|&position| self.op_name(position))
    }

    /// Records an event.
    pub fn event(
        &mut self,
        level: EventsSpec,
        core: CoreIndex,
        what: &'static str,
        detail: impl FnOnce() -> Option<String>,
    ) {
        if self.request.events < level {
            return;
        }
        if self.events.len() >= self.request.event_limit {
            self.events_dropped += 1;
            return;
        }
        let op = self.cores[core].ops.last().map(|&position| match self.request.ops.get(position as usize) {
            Some(op) => op.name.clone(),
            None => position.to_string(),
        });
        self.events.push(Event(self.steps, self.topology.name(core), what, op, detail()));
    }

    /// Ends the run with a failure of the current core. The first failure counts.
    pub fn fail(&mut self, status: Status, text: String, site: Option<(String, u32)>) {
        let core = self.current;
        self.cores[core].failed = true;
        let failure = Failure {
            core: Some(self.topology.name(core)),
            op: self.op_of(core),
            text,
            file: site.as_ref().map(|(file, _)| file.clone()),
            line: site.map(|(_, line)| line),
        };
        self.event(EventsSpec::Ops, core, "failure", || Some(failure.text.clone()));
        self.failure.get_or_insert((status, failure));
    }

    /// Anything other than repeated polling happened on the current core.
    pub fn active(&mut self) {
        self.activity += 1;
        let core = self.core();
        core.last_flush = None;
        core.poll = None;
        core.spins = 0;
    }

    /// Holds the current core back if a delay says so; true if it must stop now.
    pub fn delay_at(&mut self, point: DelayPoint) -> bool {
        if self.delays.is_empty() {
            return false;
        }
        let current = self.current;
        let op = self.cores[current].ops.last().copied();
        let matches = |(core, delay): &(CoreIndex, DelaySpec)| {
            *core == current && delay.at == point && (delay.op.is_none() || delay.op == op)
        };
        let Some(found) = self.delays.iter().position(matches) else { return false };
        let (_, delay) = self.delays.remove(found);
        self.cores[current].progress = Progress::Delayed(self.steps + delay.steps);
        true
    }
}

/// Can this core go on, as far as anybody can tell? `activity` and `steps` are those of the run.
pub fn can_go(core: &Core, activity: u64, steps: u64) -> bool {
    match core.progress {
        Progress::Ready => match &core.poll {
            None => true,
            Some(Poll::Line(view, seen)) => !view.is(seen),
            Some(Poll::Whole(seen)) => activity != *seen,
        },
        Progress::Delayed(until) => steps >= until,
        Progress::Flag(_) | Progress::InBlock(_) | Progress::Finished => false,
    }
}
