//! The observer: what is recorded and judged about a run. It changes nothing of the machine it watches.

use std::collections::{HashMap, VecDeque};
use std::fmt;

use super::access::AccessEvent;
use super::clock::Clock;
use super::findings::FindingLog;
use super::machine::Machine;
use super::memory::GlobalMemory;
use super::order::{OrderLog, Part, Precision};
use super::pipes::order::AutoSync;
use super::pipes::watch::PipeWatch;
use super::report::{Counts, Event, Failure, Happening, Status};
use super::request::{EventsSpec, OpSpec, PipesSpec, Request};
use super::topology::{CoreIndex, Topology};
use crate::aicore::Memory;
use crate::model::{ByPosition, CoreKind, OpPosition};

impl fmt::Display for FlagName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cross(flag) => write!(formatter, "flag {flag}"),
            Self::InBlock(id) => write!(formatter, "in-block flag {id}"),
        }
    }
}

/// What is known about one core.
#[derive(Debug, Clone, Default)]
pub(super) struct Watched {
    /// Operators it is in, innermost last.
    pub(super) ops: Vec<OpPosition>,
    /// The last operator entered.
    pub(super) last_op: Option<OpPosition>,
    /// Its part of the operator it is in.
    pub(super) part: Option<Part>,
    /// What it has done.
    pub(super) counts: Counts,
    /// Its unfinished line of output.
    line: String,
    /// It failed: its report says so.
    pub(super) failed: bool,
}

/// Everything that is known about a run.
#[derive(Debug)]
pub(super) struct Observer {
    topology: Topology,
    /// The operators of the kernel.
    pub(super) ops: ByPosition<OpSpec>,
    /// The cores.
    pub(super) cores: Vec<Watched>,
    /// Order of operators, if checked.
    pub(super) order: Option<OrderLog>,
    /// The pipes of every core, if they are checked; else nothing.
    pub(super) pipes: Vec<PipeWatch>,
    /// Mistakes inside cores.
    pub(super) findings: FindingLog,
    /// The first failure.
    pub(super) failure: Option<(Status, Failure)>,
    level: EventsSpec,
    limit: usize,
    /// The timeline.
    pub(super) events: Vec<Event>,
    /// Events not kept.
    pub(super) events_dropped: u64,
    /// Output of the kernel.
    pub(super) output: Vec<String>,
    /// Things worth a look.
    pub(super) warnings: Vec<String>,
    /// By core and flag: who raised it to where it is, and when; kept only for the timeline.
    raised: HashMap<(CoreIndex, FlagName), VecDeque<(CoreIndex, u64)>>,
}

/// A flag of a core.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum FlagName {
    /// A cross-core flag.
    Cross(u32),
    /// An in-block flag.
    InBlock(u32),
}

impl Observer {
    /// Has seen nothing yet.
    pub(super) fn new(request: &Request, machine: &Machine) -> Self {
        let count = machine.cores.len();
        let order = machine.follows_order.then(|| OrderLog::new(&request.ops, &request.slots, &machine.memory, count));
        Self {
            topology: machine.topology.clone(),
            ops: request.ops.clone().into(),
            cores: vec![Watched::default(); count],
            order,
            pipes: watches(request, machine),
            findings: FindingLog::default(),
            failure: None,
            level: request.events,
            limit: request.event_limit,
            events: Vec::new(),
            events_dropped: 0,
            output: Vec::new(),
            warnings: Vec::new(),
            raised: HashMap::new(),
        }
    }

    /// `op 3 \`add\``, by position.
    pub(super) fn op_name(&self, position: OpPosition) -> String {
        match self.ops.get(position) {
            Some(op) => format!("op {} `{}`", position.0, op.name),
            None => format!("op {}", position.0),
        }
    }

    /// The operator a core is in.
    pub(super) fn op_of(&self, core: CoreIndex) -> Option<String> {
        self.cores[core].ops.last().map(|&position| self.op_name(position))
    }

    /// Records something a core did.
    pub(super) fn event(
        &mut self,
        level: EventsSpec,
        step: u64,
        core: CoreIndex,
        what: Happening,
        detail: impl FnOnce() -> Option<String>,
    ) {
        self.caused_event(level, step, core, what, detail, None);
    }

    fn caused_event(
        &mut self,
        level: EventsSpec,
        step: u64,
        core: CoreIndex,
        what: Happening,
        detail: impl FnOnce() -> Option<String>,
        cause: Option<(CoreIndex, u64)>,
    ) {
        let at = self.cores[core].ops.last().copied();
        self.record(level, |observer| {
            let op = at.map(|position| match observer.ops.get(position) {
                Some(op) => op.name.clone(),
                None => position.0.to_string(),
            });
            let cause = cause.map(|(setter, step)| (observer.topology.name(setter), step));
            let position = at.map(|position| position.0).filter(|position| *position < observer.ops.len());
            Event { step, core: observer.topology.name(core), what, op, detail: detail(), position, cause }
        });
    }

    /// A core's set raised a flag of other cores.
    pub(super) fn raised(&mut self, step: u64, setter: CoreIndex, receiver: CoreIndex, flag: FlagName) {
        if self.level >= EventsSpec::Sync {
            self.raised.entry((receiver, flag)).or_default().push_back((setter, step));
        }
    }

    /// A core's wait is over.
    pub(super) fn waited(&mut self, step: u64, core: CoreIndex, flag: FlagName) {
        let cause = self.raised.get_mut(&(core, flag)).and_then(VecDeque::pop_front);
        self.caused_event(EventsSpec::Sync, step, core, Happening::Waited, || Some(flag.to_string()), cause);
    }

    /// Records that an agent acted.
    pub(super) fn agent_acted(&mut self, step: u64, name: &str) {
        self.record(EventsSpec::Ops, |_| Event {
            step,
            core: name.to_owned(),
            what: Happening::Agent,
            op: None,
            detail: None,
            position: None,
            cause: None,
        });
    }

    fn record(&mut self, level: EventsSpec, event: impl FnOnce(&Self) -> Event) {
        if self.level < level {
            return;
        }
        if self.events.len() >= self.limit {
            self.events_dropped += 1;
            return;
        }
        let event = event(self);
        self.events.push(event);
    }

    /// A core failed. The first failure counts.
    pub(super) fn fail(
        &mut self,
        step: u64,
        core: CoreIndex,
        status: Status,
        text: String,
        site: Option<(String, u32)>,
    ) {
        self.cores[core].failed = true;
        let failure = Failure {
            core: Some(self.topology.name(core)),
            op: self.op_of(core),
            text,
            file: site.as_ref().map(|(file, _)| file.clone()),
            line: site.map(|(_, line)| line),
            function: None,
        };
        self.event(EventsSpec::Ops, step, core, Happening::Failure, || Some(failure.text.clone()));
        self.failure.get_or_insert((status, failure));
    }

    /// Output of the kernel, kept line by line.
    pub(super) fn print(&mut self, core: CoreIndex, text: &str) {
        const LIMIT: usize = 10_000;
        let mut line = std::mem::take(&mut self.cores[core].line);
        line.push_str(text);
        while let Some(end) = line.find('\n') {
            let rest = line.split_off(end + 1);
            if self.output.len() < LIMIT {
                self.output.push(format!("[{}] {}", self.topology.name(core), line.trim_end_matches('\n')));
            }
            line = rest;
        }
        self.cores[core].line = line;
    }

    /// The run is over: lines without an end are output, too.
    pub(super) fn finish_lines(&mut self) {
        for core in 0..self.cores.len() {
            if !self.cores[core].line.is_empty() {
                self.print(core, "\n");
            }
        }
    }

    /// A core enters an operator; says whether it was not in it already.
    pub(super) fn enter_op(&mut self, step: u64, core: CoreIndex, position: OpPosition) -> bool {
        let watched = &mut self.cores[core];
        let nested = watched.ops.last() == Some(&position);
        watched.ops.push(position);
        watched.last_op = Some(position);
        if !nested {
            watched.counts.ops += 1;
            self.event(EventsSpec::Ops, step, core, Happening::OpBegin, || None);
        }
        !nested
    }

    /// Its part of the operator begins, unless a more precise marker said so before.
    pub(super) fn begin_part(
        &mut self,
        core: CoreIndex,
        position: OpPosition,
        precision: Precision,
        clock: &Clock,
        memory: &GlobalMemory,
    ) {
        let Some(order) = &mut self.order else { return };
        let watched = &mut self.cores[core];
        if watched.part.as_ref().is_none_or(|part| part.precision < precision) {
            watched.part = order.begin(position, precision, clock);
            if watched.part.is_some() {
                order.resume(position, memory);
            }
        }
    }

    /// A core leaves an operator; says whether that was its outermost part. Its clock moves on, so that the end is a
    /// moment of its own.
    pub(super) fn leave_op(
        &mut self,
        step: u64,
        core: CoreIndex,
        precision: Precision,
        clock: &mut Clock,
        memory: &GlobalMemory,
    ) -> bool {
        let watched = &mut self.cores[core];
        let Some(&position) = watched.ops.last() else { return false };
        let outermost = watched.ops.iter().rev().nth(1) != Some(&position);
        if let Some(order) = &mut self.order
            && watched.part.as_ref().is_some_and(|part| part.op == position && part.precision == precision)
            && let Some(part) = watched.part.take()
        {
            order.pause(position, memory);
            order.end(part, core, clock);
        }
        if outermost {
            self.event(EventsSpec::Ops, step, core, Happening::OpEnd, || None);
        }
        self.cores[core].ops.pop();
        outermost
    }

    /// A core is about to run.
    pub(super) fn resume(&mut self, core: CoreIndex, memory: &GlobalMemory) {
        if let (Some(order), Some(part)) = (&mut self.order, &self.cores[core].part) {
            order.resume(part.op, memory);
        }
    }

    /// A core has run until now.
    pub(super) fn pause(&mut self, core: CoreIndex, memory: &GlobalMemory) {
        if let (Some(order), Some(part)) = (&mut self.order, &self.cores[core].part) {
            order.pause(part.op, memory);
        }
    }

    /// A core touched memory.
    pub(super) fn accessed(&mut self, event: &AccessEvent) {
        if let (Some(order), Some(op), Memory::Gm) = (&mut self.order, event.op, event.memory) {
            order.accessed(op, event);
        }
    }

    /// The operator whose parameters start at this slot, from the last one of `core` on.
    pub(super) fn op_by_offset(&self, core: CoreIndex, offset: u64) -> OpPosition {
        let after = self.cores[core].last_op.map_or(0, |last| last.0);
        let starts_there = |op: &OpSpec| op.param_offset == offset;
        let found = self.ops.iter().skip(after).position(starts_there).map(|at| at + after);
        OpPosition(found.or_else(|| self.ops.iter().position(starts_there)).unwrap_or(u32::MAX as usize))
    }
}

/// One watcher per core, if somebody wants to know about pipes. The compiler synchronises on vector cores only.
fn watches(request: &Request, machine: &Machine) -> Vec<PipeWatch> {
    if request.pipes != PipesSpec::Checked {
        return Vec::new();
    }
    let watch = |core| {
        let automatic = request.auto_sync && machine.topology.place(core).kind == CoreKind::Aiv;
        PipeWatch::new(machine.name(core), if automatic { AutoSync::On } else { AutoSync::Off })
    };
    machine.indices().map(watch).collect()
}
