//! The observer: what is recorded and judged about a run. It changes nothing of the machine it watches.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::fmt;

use super::order::{OrderLog, Part, Precision};
use super::races::Use;
use crate::aicore::operand::{Access, Shape};
use crate::aicore::{Memory, OpCode, Pipe};
use crate::model::{ByPosition, CoreKind, OpPosition};
use crate::sim::code::access_log::{AccessLog, ScalarRun};
use crate::sim::code::sites::Sites;
use crate::sim::interface::findings::FindingLog;
use crate::sim::interface::report::{Counts, Event, Happening, Work};
use crate::sim::interface::request::{CacheSpec, EventsSpec, OpSpec, PipesSpec, Request};
use crate::sim::interface::status::{Failure, Status};
use crate::sim::machine::access::{AccessEvent, ScalarAccess, Site};
use crate::sim::machine::clock::{Clock, Mark};
use crate::sim::machine::event::AutoSync;
use crate::sim::machine::memory::{GlobalMemory, LINE};
use crate::sim::machine::state::{Looking, Machine};
use crate::sim::machine::topology::{CoreIndex, Topology};
use crate::sim::pipes::timeline::CoreTime;
use crate::sim::pipes::watch::PipeWatch;

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
pub(crate) struct Watched {
    /// Operators it is in, innermost last.
    pub(crate) ops: Vec<OpPosition>,
    /// The last operator entered.
    pub(crate) last_op: Option<OpPosition>,
    /// The step in which it entered the one it is in.
    pub(crate) entered: u64,
    /// Its part of the operator it is in.
    pub(crate) part: Option<Part>,
    /// What it has done.
    pub(crate) counts: Counts,
    /// Its unfinished line of output.
    line: String,
    /// What it has just read of a line that it looked at again, and what it knew then.
    looks: Option<(Clock, Vec<ScalarRun>)>,
    /// It is inside a barrier made of words in memory, whose accesses are its own matter.
    pub(crate) exchanges: bool,
    /// It failed: its report says so.
    pub(crate) failed: bool,
    /// It has done something since it entered its operator.
    is_busy: bool,
}

/// Everything that is known about a run.
#[derive(Debug)]
pub(crate) struct Observer {
    topology: Topology,
    /// The operators of the kernel.
    pub(crate) ops: ByPosition<OpSpec>,
    /// The cores.
    pub(crate) cores: Vec<Watched>,
    /// Order of operators, if checked.
    pub(crate) order: Option<OrderLog>,
    /// The pipes of every core, if they are checked; else nothing.
    pub(crate) pipes: Vec<PipeWatch>,
    /// When instructions would run, if asked for.
    pub(crate) times: Vec<CoreTime>,
    /// Instructions, if asked for.
    pub(crate) instructions: Vec<Work>,
    /// Mistakes inside cores.
    pub(crate) findings: FindingLog,
    /// Operators that a core entered, and whether one did anything in them: issued an instruction, used a flag or memory.
    pub(crate) entered: BTreeMap<OpPosition, bool>,
    /// Operators whose scalar accesses are seen.
    watched: BTreeSet<OpPosition>,
    /// Cores that called `SyncAll`, by the operator they were in.
    pub(crate) sync_alls: BTreeMap<OpPosition, Vec<CoreIndex>>,
    /// Scalar accesses that were not looked at yet.
    pub(crate) log: AccessLog,
    /// Lines of the source.
    pub(crate) sites: Sites,
    /// The first failure.
    pub(crate) failure: Option<(Status, Failure)>,
    level: EventsSpec,
    limit: usize,
    /// The timeline.
    pub(crate) events: Vec<Event>,
    /// Events not kept.
    pub(crate) events_dropped: u64,
    /// Output of the kernel.
    pub(crate) output: Vec<String>,
    /// Things worth a look.
    pub(crate) warnings: Vec<String>,
    /// What the vendor's headers complained about.
    pub(crate) complaints: BTreeSet<String>,
    /// By core and flag: who raised it to where it is, and when; kept only for the timeline.
    raised: HashMap<(CoreIndex, FlagName), VecDeque<(CoreIndex, u64)>>,
}

/// A flag of a core.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum FlagName {
    /// A cross-core flag.
    Cross(u32),
    /// An in-block flag.
    InBlock(u32),
}

impl Observer {
    /// Has seen nothing yet.
    pub(crate) fn new(request: &Request, machine: &Machine, sites: Sites) -> Self {
        let count = machine.cores.len();
        let checks_order = request.check_order && !request.ops.is_empty();
        let order = checks_order.then(|| OrderLog::new(&request.ops, &request.slots, &machine.memory, count));
        Self {
            topology: machine.topology.clone(),
            ops: request.ops.clone().into(),
            cores: vec![Watched::default(); count],
            log: access_log(request, machine, order.is_some()),
            order,
            pipes: watches(request, machine, &sites),
            sites,
            times: (0..count)
                .filter(|_| request.events >= EventsSpec::Instructions)
                .map(|_| CoreTime::default())
                .collect(),
            instructions: Vec::new(),
            findings: FindingLog::default(),
            entered: BTreeMap::new(),
            watched: BTreeSet::new(),
            sync_alls: BTreeMap::new(),
            failure: None,
            level: request.events,
            limit: request.event_limit,
            events: Vec::new(),
            events_dropped: 0,
            output: Vec::new(),
            warnings: Vec::new(),
            complaints: BTreeSet::new(),
            raised: HashMap::new(),
        }
    }

    /// `op 3 \`add\``, by position.
    pub(crate) fn op_name(&self, position: OpPosition) -> String {
        match self.ops.get(position) {
            Some(op) => format!("op {} `{}`", position.place(), op.name),
            None => format!("op {}", position.place()),
        }
    }

    /// The operator a core is in.
    pub(crate) fn op_of(&self, core: CoreIndex) -> Option<String> {
        self.cores[core].ops.last().map(|&position| self.op_name(position))
    }

    /// Its position, if that is known.
    fn position_of(&self, core: CoreIndex) -> Option<usize> {
        self.cores[core].ops.last().map(|position| position.place()).filter(|position| *position < self.ops.len())
    }

    /// Records something a core did.
    pub(crate) fn event(
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
                None => position.place().to_string(),
            });
            let cause = cause.map(|(setter, step)| (observer.topology.name(setter), step));
            let position = observer.position_of(core);
            Event { step, core: observer.topology.name(core), what, op, detail: detail(), position, cause }
        });
    }

    /// A core's set raised a flag of other cores.
    pub(crate) fn raised(&mut self, step: u64, setter: CoreIndex, receiver: CoreIndex, flag: FlagName) {
        if self.level >= EventsSpec::Sync {
            self.raised.entry((receiver, flag)).or_default().push_back((setter, step));
        }
    }

    /// A core's wait is over.
    pub(crate) fn waited(&mut self, step: u64, core: CoreIndex, flag: FlagName) {
        let cause = self.raised.get_mut(&(core, flag)).and_then(VecDeque::pop_front);
        self.caused_event(EventsSpec::Sync, step, core, Happening::Waited, || Some(flag.to_string()), cause);
    }

    /// Records an instruction with the time it would take.
    pub(crate) fn instruction(&mut self, step: u64, core: CoreIndex, op: OpCode, bytes: u64, site: Site) {
        let Some(time) = self.times.get_mut(core) else { return };
        let (start, cycles) = time.issue(op.pipe(), bytes);
        if self.instructions.len() >= self.limit {
            self.events_dropped += 1;
            return;
        }
        let (file, line) = self.sites.resolve(site).unzip();
        let (name, pipe) = (op.name().into(), op.pipe().name().into());
        let position = self.position_of(core);
        let (core, op) = (self.topology.name(core), self.op_of(core));
        self.instructions.push(Work { core, op, position, step, pipe, name, start, cycles, bytes, file, line });
    }

    /// Records that an agent acted.
    pub(crate) fn agent_acted(&mut self, step: u64, name: &str) {
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
    pub(crate) fn fail(
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
    pub(crate) fn print(&mut self, core: CoreIndex, text: &str) {
        self.is_busy(core);
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
    pub(crate) fn finish_lines(&mut self) {
        for core in 0..self.cores.len() {
            if !self.cores[core].line.is_empty() {
                self.print(core, "\n");
            }
        }
    }

    /// A core enters an operator; says whether it was not in it already.
    pub(crate) fn enter_op(&mut self, step: u64, core: CoreIndex, position: OpPosition) -> bool {
        let watched = &mut self.cores[core];
        let nested = watched.ops.last() == Some(&position);
        watched.ops.push(position);
        watched.last_op = Some(position);
        if !nested {
            watched.is_busy = false;
            self.entered.entry(position).or_default();
            watched.counts.ops += 1;
            watched.entered = step;
            self.event(EventsSpec::Ops, step, core, Happening::OpBegin, || None);
        }
        !nested
    }

    /// Its part of the operator begins, unless a more precise marker said so before.
    pub(crate) fn begin_part(
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
            if let Some(part) = &watched.part {
                order.resume(part, memory);
            }
        }
    }

    /// A core leaves an operator; says whether that was its outermost part. Its clock moves on, so that the end is a
    /// moment of its own.
    pub(crate) fn leave_op(
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
            order.pause(&part, memory);
            order.end(part, core, clock);
        }
        if outermost {
            self.event(EventsSpec::Ops, step, core, Happening::OpEnd, || None);
        }
        self.cores[core].ops.pop();
        outermost
    }

    /// A core is about to run.
    pub(crate) fn resume(&mut self, core: CoreIndex, memory: &GlobalMemory) {
        if let (Some(order), Some(part)) = (&mut self.order, &self.cores[core].part) {
            order.resume(part, memory);
        }
    }

    /// A core has run until now.
    pub(crate) fn pause(&mut self, core: CoreIndex, memory: &GlobalMemory) {
        if let (Some(order), Some(part)) = (&mut self.order, &self.cores[core].part) {
            order.pause(part, memory);
        }
    }

    /// A core calls `SyncAll`.
    pub(crate) fn calls_sync_all(&mut self, core: CoreIndex) {
        let watched = &mut self.cores[core];
        watched.counts.sync_all += 1;
        if let Some(&op) = watched.ops.last() {
            let callers = self.sync_alls.entry(op).or_default();
            if !callers.contains(&core) {
                callers.push(core);
            }
        }
    }

    /// The operator that a core is in starts its successor.
    pub(crate) fn released(&mut self, core: CoreIndex, clock: &mut Clock, memory: &GlobalMemory) {
        if let (Some(order), Some(part)) = (&mut self.order, &mut self.cores[core].part) {
            order.released(part, core, clock, memory);
        }
    }

    /// The scalar accesses of the operator that a core is in are seen.
    pub(crate) fn watches(&mut self, core: CoreIndex) {
        let Some(&op) = self.cores[core].ops.last() else { return };
        self.watched.insert(op);
        if let Some(order) = &mut self.order {
            order.watches(op);
        }
    }

    /// The core does something in its operator.
    pub(crate) fn is_busy(&mut self, core: CoreIndex) {
        let watched = &mut self.cores[core];
        if !watched.is_busy
            && let Some(&op) = watched.ops.last()
        {
            watched.is_busy = true;
            self.entered.insert(op, true);
        }
    }

    /// Operators that ran and did nothing, as far as that can be seen.
    pub(crate) fn idle(&self) -> Vec<OpPosition> {
        let sees_scalar = |op: &OpPosition| self.order.is_some() && self.watched.contains(op);
        let idle = self.entered.iter().filter(|(op, is_busy)| !**is_busy && sees_scalar(op));
        idle.map(|(op, _)| *op).collect()
    }

    /// Takes over what the scalar unit of a core has done since the last time.
    pub(crate) fn settle(&mut self, core: CoreIndex, clock: &Clock, memory: &GlobalMemory) {
        self.settle_looks(core, None, clock, memory);
    }

    /// The same; `looking`, if given, is about to be looked at again. What was read there may have been a word that the core
    /// waits for, which needs no order. It was if the same is read again; if not, it was data after all.
    pub(crate) fn settle_looks(
        &mut self,
        core: CoreIndex,
        looking: Option<Looking>,
        clock: &Clock,
        memory: &GlobalMemory,
    ) {
        let log = &mut self.log;
        if log.is_empty() {
            return;
        }
        if self.cores[core].ops.is_empty() {
            log.clear();
            self.cores[core].looks = None;
            return;
        }
        let runs = log.take();
        self.is_busy(core);
        if let Some((then, looks)) = self.cores[core].looks.take() {
            // The compiler may have made two places of one.
            let again = |look: &&ScalarRun| {
                runs.iter().any(|run| run.access == look.access && run.begin <= look.begin && look.end <= run.end)
            };
            for look in looks.iter().filter(|look| !again(look)) {
                self.scalar(core, look, &then, memory);
            }
        }
        let is_look = |run: &ScalarRun| {
            let inside = looking.is_some_and(|Looking { line, most }| {
                run.begin >= line && run.end <= line + LINE && run.end - run.begin <= most
            });
            inside && run.access == ScalarAccess::Data(Access::Read)
        };
        for run in runs.iter().filter(|run| !is_look(run)) {
            self.scalar(core, run, clock, memory);
        }
        let looks: Vec<ScalarRun> = runs.into_iter().filter(is_look).collect();
        if !looks.is_empty() {
            self.cores[core].looks = Some((clock.clone(), looks));
        }
    }

    /// The core is about to hand on what it knows, or leaves its operator: what it looked at and did not read again
    /// until now was data, and whoever hears of this moment hears of that.
    pub(crate) fn decide_looks(&mut self, core: CoreIndex, memory: &GlobalMemory) {
        let Some((then, looks)) = self.cores[core].looks.take() else { return };
        for look in &looks {
            self.scalar(core, look, &then, memory);
        }
    }

    fn scalar(&mut self, core: CoreIndex, run: &ScalarRun, clock: &Clock, memory: &GlobalMemory) {
        let event = AccessEvent {
            core,
            op: self.cores[core].ops.last().copied(),
            access: match run.access {
                ScalarAccess::Data(access) => access,
                ScalarAccess::Exchange => Access::Write,
                ScalarAccess::Look => Access::Read,
            },
            memory: Memory::Gm,
            address: run.begin,
            shape: Shape::row(run.end - run.begin),
            pipe: Pipe::S,
            mark: None,
            site: run.site,
        };
        self.touched(&event, run.access == ScalarAccess::Exchange, clock, memory);
    }

    /// A core touched memory by an instruction.
    pub(crate) fn accessed(&mut self, event: &AccessEvent, clock: &Clock, memory: &GlobalMemory) {
        self.touched(event, false, clock, memory);
    }

    /// `is_exchange`: words by which cores hear of each other need no order.
    fn touched(&mut self, event: &AccessEvent, is_exchange: bool, clock: &Clock, memory: &GlobalMemory) {
        let (Some(order), Some(op), Memory::Gm) = (&mut self.order, event.op, event.memory) else { return };
        let watched = &self.cores[event.core];
        if watched.exchanges {
            return;
        }
        let issued = Mark { party: event.core, time: clock.of(event.core) };
        let usage = (!is_exchange).then(|| Use {
            core: event.core,
            issued,
            ended: event.mark.unwrap_or(issued),
            pipe: event.pipe,
            op,
            access: event.access,
            is_late: watched.part.as_ref().is_some_and(Part::is_released),
            site: event.site,
        });
        order.accessed(op, event, usage, clock, memory);
    }

    /// The operator whose parameters start at this slot, from the last one of `core` on.
    pub(crate) fn op_by_offset(&self, core: CoreIndex, offset: u64) -> OpPosition {
        let after = self.cores[core].last_op.map_or(0, |last| last.place());
        let starts_there = |op: &OpSpec| op.param_offset == offset;
        let found = self.ops.iter().skip(after).position(starts_there).map(|at| at + after);
        OpPosition::at(found.or_else(|| self.ops.iter().position(starts_there)).unwrap_or(u32::MAX as usize))
    }
}

/// One watcher per core, if somebody wants to know about pipes.
fn watches(request: &Request, machine: &Machine, sites: &Sites) -> Vec<PipeWatch> {
    if request.pipes != PipesSpec::Checked {
        return Vec::new();
    }
    let watch = |core| PipeWatch::new(machine.name(core), auto_sync(request, machine, core), sites.clone());
    machine.indices().map(watch).collect()
}

/// What code built with hooks tells its loads and stores to, as far as anybody wants to know.
fn access_log(request: &Request, machine: &Machine, checks_order: bool) -> AccessLog {
    let watches = request.pipes != PipesSpec::InOrder || request.cache == CacheSpec::Strict;
    let global = if checks_order || watches { machine.memory.extent() } else { (0, 0) };
    let local = if watches { machine.local.extent() } else { (0, 0) };
    AccessLog::new([global, local], checks_order, watches)
}

/// What the compiler puts in for a core.
pub(crate) fn auto_sync(request: &Request, machine: &Machine, core: CoreIndex) -> AutoSync {
    let automatic = request.auto_sync && machine.topology.place(core).kind == CoreKind::Aiv;
    if automatic { AutoSync::On } else { AutoSync::Off }
}
