//! Order checking: accesses that conflict must be ordered by synchronisation, not by luck.
//!
//! Every core carries a vector clock that follows flags, polled words and agents. What is known about an operator's
//! accesses decides how it is checked:
//!
//! - All of them are seen ([`crate::sim::machine::access`]): each is compared with those of other cores, byte by byte, in
//!   [`super::races`].
//! - They are declared, or its scalar accesses are not seen: it is taken as a whole. It keeps, per core, the moment its
//!   part ended, and the least that any of its parts knew when it began. Of two operators that use the same memory, at
//!   least one of them writing, one must have ended everywhere before the other began anywhere. What such an operator
//!   writes by scalar stores shows in changed bytes: while one core runs nobody else does.

use std::collections::BTreeMap;

use super::races::{Race, Races, Use};
use crate::model::{ByPosition, OpPosition};
use crate::sim::interface::request::OpSpec;
use crate::sim::machine::access::AccessEvent;
use crate::sim::machine::clock::Clock;
use crate::sim::machine::memory::GlobalMemory;
use crate::sim::machine::topology::CoreIndex;

/// Larger buffers are not compared: doing so at every switch would dominate the run.
const WATCH_LIMIT: u64 = 1 << 20;
/// Enough to see the pattern.
const HAZARD_LIMIT: usize = 100;

/// Which markers told about a part of an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Precision {
    /// Markers around the call in the generated code, which cores that do not run it may pass as well.
    Label,
    /// Markers inside the sub-kernel's own wrapper.
    Call,
}

/// One core's part of an operator, while it runs.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    /// The operator.
    pub op: OpPosition,
    /// How it was marked.
    pub precision: Precision,
    begin: Clock,
    end: Option<u32>,
}

impl Part {
    /// It told its successor to go on.
    pub(crate) fn is_released(&self) -> bool {
        self.end.is_some()
    }
}

#[derive(Debug)]
struct Region {
    address: u64,
    size: u64,
    buffer: usize,
    /// Several operators use it: memory of one alone needs no order between operators.
    shared: bool,
    writes: bool,
    /// Written by a core behind its own `SetNextTaskStart`.
    late: bool,
    /// A write was seen, whatever is declared.
    seen: bool,
}

#[derive(Debug)]
struct OpLog {
    regions: Vec<Region>,
    declared: bool,
    /// Its scalar accesses are seen.
    watched: bool,
    precision: Precision,
    /// Per core the moment its part ended, early if it told so; 0: it had no part.
    ends: Vec<u32>,
    /// Per core the moment it really left.
    exits: Vec<u32>,
    /// Per core the least any part knew of it at its begin, and which core that was.
    begin: Vec<u32>,
    begin_core: Vec<CoreIndex>,
    ran: bool,
}

impl OpLog {
    /// Every access is known: nothing needs to be assumed about the operator as a whole.
    fn is_exact(&self) -> bool {
        self.watched && !self.declared
    }
}

/// The record of a run.
#[derive(Debug)]
pub(crate) struct OrderLog {
    ops: ByPosition<OpLog>,
    shadows: Vec<Option<Shadow>>,
    races: Races,
}

#[derive(Debug)]
struct Shadow {
    bytes: Vec<u8>,
    stale: bool,
}

/// Two operators, each taken as a whole, that share memory without an order.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Overlap {
    /// The one that comes first in the list, and a core of it ...
    pub first: (OpPosition, CoreIndex),
    /// ... that this core of the other did not wait for.
    pub second: (OpPosition, CoreIndex),
    /// What they share.
    pub address: u64,
    /// Which of the two write.
    pub writes: (bool, bool),
    /// The first one writes behind its own `SetNextTaskStart`.
    pub is_late: bool,
}

/// Where the checks end.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Operators whose scalar accesses are not seen.
    pub unseen: Vec<OpPosition>,
    /// Buffers too large to be compared, for operators whose scalar stores are not seen.
    pub unwatched: Vec<usize>,
    /// More stretches of memory in use than are kept.
    pub is_full: bool,
}

impl OrderLog {
    /// Reads the operators' addresses from the parameter block, unless they are declared.
    pub(crate) fn new(ops: &[OpSpec], slots: &[u64], memory: &GlobalMemory, cores: usize) -> Self {
        let addresses: Vec<Vec<(u64, bool)>> = ops.iter().map(|op| accesses(op, slots)).collect();
        let mut starts: Vec<u64> = addresses.iter().flatten().map(|(address, _)| *address).collect();
        starts.sort_unstable();
        starts.dedup();
        let mut users: BTreeMap<u64, usize> = BTreeMap::new();
        for addresses in &addresses {
            let mut own: Vec<u64> = addresses.iter().map(|(address, _)| *address).collect();
            own.sort_unstable();
            own.dedup();
            own.into_iter().for_each(|address| *users.entry(address).or_default() += 1);
        }
        let shared = |address: u64| users.get(&address).is_some_and(|&ops| ops > 1);
        let logs = ops
            .iter()
            .zip(&addresses)
            .map(|(op, addresses)| OpLog {
                regions: addresses
                    .iter()
                    .filter_map(|&(address, writes)| region(memory, &starts, address, writes))
                    .map(|region| Region { shared: shared(region.address), ..region })
                    .collect(),
                declared: op.reads.is_some() || op.writes.is_some(),
                watched: false,
                precision: Precision::Label,
                ends: vec![0; cores],
                exits: vec![0; cores],
                begin: vec![u32::MAX; cores],
                begin_core: vec![0; cores],
                ran: false,
            })
            .collect();
        let shadows = memory.buffers().iter().map(|buffer| Shadow::new(buffer.size)).collect();
        Self { ops: logs, shadows, races: Races::default() }
    }

    /// Where the checks end, as far as this run came across it.
    pub(crate) fn limits(&self) -> Limits {
        let mut limits = Limits { is_full: self.races.is_full, ..Limits::default() };
        for (op, log) in self.ops.enumerate().filter(|(_, log)| log.ran && !log.watched) {
            limits.unseen.push(op);
            let large = |region: &&Region| region.shared && self.shadows[region.buffer].is_none();
            let regions = log.regions.iter().filter(|_| !log.declared).filter(large);
            limits.unwatched.extend(regions.map(|region| region.buffer));
        }
        limits.unwatched.sort_unstable();
        limits.unwatched.dedup();
        limits
    }

    /// The scalar accesses of an operator are seen.
    pub(crate) fn watches(&mut self, op: OpPosition) {
        if let Some(log) = self.ops.get_mut(op.place()) {
            log.watched = true;
        }
    }

    /// A core enters an operator.
    pub(crate) fn begin(&self, op: OpPosition, precision: Precision, clock: &Clock) -> Option<Part> {
        self.ops.get(op)?;
        Some(Part { op, precision, begin: clock.clone(), end: None })
    }

    /// The operator's own wait for its predecessor is over: its data access starts here.
    pub(crate) fn waited(part: &mut Part, clock: &Clock) {
        part.begin = clock.clone();
    }

    /// The operator told its successor to go on: its data access ends here.
    pub(crate) fn released(&mut self, part: &mut Part, core: CoreIndex, clock: &mut Clock, memory: &GlobalMemory) {
        self.pause(part, memory);
        clock.tick(core);
        part.end = Some(clock.of(core));
        // What changes from here on is compared with what is there now.
        self.refresh(part.op, memory);
    }

    /// A core leaves an operator.
    pub(crate) fn end(&mut self, part: Part, core: CoreIndex, clock: &mut Clock) {
        clock.tick(core);
        let log = &mut self.ops[part.op];
        if part.precision < log.precision {
            return;
        }
        if part.precision > log.precision {
            log.precision = part.precision;
            log.ends.fill(0);
            log.exits.fill(0);
            log.begin.fill(u32::MAX);
        }
        log.ran = true;
        log.exits[core] = clock.of(core);
        log.ends[core] = part.end.unwrap_or_else(|| clock.of(core));
        for (other, &known) in part.begin.counters().iter().take(log.begin.len()).enumerate() {
            if known < log.begin[other] {
                log.begin[other] = known;
                log.begin_core[other] = core;
            }
        }
    }

    /// A core that is inside `op` is about to run.
    pub(crate) fn resume(&mut self, part: &Part, memory: &GlobalMemory) {
        if part.is_released() {
            self.refresh(part.op, memory);
            return;
        }
        let log = &self.ops[part.op];
        if log.watched || log.declared {
            return;
        }
        for region in log.regions.iter().filter(|region| region.shared && !region.writes) {
            if let Some(shadow) = self.shadows[region.buffer].as_mut().filter(|shadow| shadow.stale) {
                shadow.take(memory.bytes(region.buffer));
            }
        }
    }

    fn refresh(&mut self, op: OpPosition, memory: &GlobalMemory) {
        let log = &self.ops[op];
        if log.watched {
            return;
        }
        for region in log.regions.iter().filter(|region| region.shared) {
            if let Some(shadow) = &mut self.shadows[region.buffer] {
                shadow.take(memory.bytes(region.buffer));
            }
        }
    }

    /// A core that is inside an operator has run until now: whatever changed, the operator wrote.
    pub(crate) fn pause(&mut self, part: &Part, memory: &GlobalMemory) {
        let log = &mut self.ops[part.op];
        if log.watched || (log.declared && !part.is_released()) {
            return;
        }
        for region in log.regions.iter_mut().filter(|region| region.shared) {
            let Some(shadow) = self.shadows[region.buffer].as_mut() else { continue };
            if region.writes && (!part.is_released() || region.late) {
                shadow.stale = true;
                continue;
            }
            let start = (region.address - memory.buffers()[region.buffer].address) as usize;
            let range = start..start + region.size as usize;
            let now = &memory.bytes(region.buffer)[range.clone()];
            if shadow.bytes.get(range).is_some_and(|before| before != now) {
                region.writes |= !log.declared;
                region.late |= part.is_released();
                shadow.stale = true;
            }
        }
    }

    /// An operator was seen touching global memory: no value tells it, and no value hides it. `usage` is `None` for
    /// words that cores exchange: they are written, but need no order.
    pub(crate) fn accessed(
        &mut self,
        op: OpPosition,
        event: &AccessEvent,
        usage: Option<Use>,
        clock: &Clock,
        memory: &GlobalMemory,
    ) {
        let Some(log) = self.ops.get_mut(op.place()) else { return };
        let is_late = usage.is_some_and(|usage| usage.is_late);
        let races = &mut self.races;
        event.stretches(|start, end| {
            let Some(buffer) = memory.find(start) else { return };
            if event.access.writes() {
                for region in &mut log.regions {
                    if start < region.address + region.size && region.address < end {
                        region.seen = true;
                        region.writes |= !log.declared;
                        region.late |= is_late;
                    }
                }
            }
            if let Some(usage) = usage {
                races.record(start, end, usage, clock, buffer);
            }
        });
    }

    /// Declared writes of operators that ran, all of whose accesses are seen, and none of these writes among them.
    pub(crate) fn missing_writes(&self) -> Vec<(OpPosition, u64)> {
        let missing = |(op, log): (OpPosition, &OpLog)| {
            let regions = log.regions.iter().filter(|region| region.writes && !region.seen);
            regions.map(|region| (op, region.address)).collect::<Vec<_>>()
        };
        let watched = self.ops.enumerate().filter(|(_, log)| log.ran && log.declared && log.watched);
        watched.flat_map(missing).collect()
    }

    /// Somebody else wrote to a buffer.
    pub(crate) fn written_outside(&mut self, buffer: usize) {
        if let Some(shadow) = self.shadows[buffer].as_mut() {
            shadow.stale = true;
        }
    }

    /// Pairs of accesses without an order.
    pub(crate) fn races(&self) -> &[Race] {
        self.races.found()
    }

    /// Pairs of operators, at least one of them taken as a whole, that share memory without an order.
    pub(crate) fn overlaps(&self) -> Vec<Overlap> {
        let mut by_address: BTreeMap<u64, Vec<(OpPosition, bool, bool)>> = BTreeMap::new();
        for (op, log) in self.ops.enumerate().filter(|(_, log)| log.ran) {
            for region in &log.regions {
                let users = by_address.entry(region.address).or_default();
                match users.last_mut() {
                    Some((last, writes, late)) if *last == op => {
                        *writes |= region.writes;
                        *late |= region.late;
                    }
                    _ => users.push((op, region.writes, region.late)),
                }
            }
        }
        let mut found: Vec<Overlap> = Vec::new();
        for (address, users) in by_address {
            // Only against the last writer and the readers since: order is transitive.
            let mut since_write: Vec<(OpPosition, bool, bool)> = Vec::new();
            for (op, writes, late) in users {
                for &(earlier, earlier_writes, earlier_late) in &since_write {
                    let exact = self.ops[op].is_exact() && self.ops[earlier].is_exact();
                    if exact || !(writes || earlier_writes) || found.len() >= HAZARD_LIMIT {
                        continue;
                    }
                    let early = self.unordered(earlier, op, false);
                    let pair = early.or_else(|| earlier_late.then(|| self.unordered(earlier, op, true)).flatten());
                    let known = |overlap: &Overlap| overlap.first.0 == earlier && overlap.second.0 == op;
                    if let Some((first, second)) = pair.filter(|_| !found.iter().any(known)) {
                        found.push(Overlap {
                            first: (earlier, first),
                            second: (op, second),
                            address,
                            writes: (earlier_writes, writes),
                            is_late: early.is_none(),
                        });
                    }
                }
                if writes {
                    since_write.clear();
                }
                since_write.push((op, writes, late));
            }
        }
        found
    }

    /// A core of `first` whose end a core of `second` did not know of, unless it is the other way round.
    fn unordered(&self, first: OpPosition, second: OpPosition, late: bool) -> Option<(CoreIndex, CoreIndex)> {
        let missing = self.missing_edge(first, second, late)?;
        self.missing_edge(second, first, false)?;
        Some(missing)
    }

    fn missing_edge(&self, first: OpPosition, second: OpPosition, late: bool) -> Option<(CoreIndex, CoreIndex)> {
        let (first, second) = (&self.ops[first], &self.ops[second]);
        let ends = if late { &first.exits } else { &first.ends };
        let late = (0..ends.len()).find(|&core| ends[core] > second.begin[core])?;
        Some((late, second.begin_core[late]))
    }
}

impl Shadow {
    /// Of a buffer of `size` bytes, to be filled when somebody looks.
    fn new(size: u64) -> Option<Self> {
        (size <= WATCH_LIMIT).then_some(Self { bytes: Vec::new(), stale: true })
    }

    fn take(&mut self, bytes: &[u8]) {
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
        self.stale = false;
    }
}

/// The addresses an operator uses, and whether it is declared to write them.
fn accesses(op: &OpSpec, slots: &[u64]) -> Vec<(u64, bool)> {
    if op.reads.is_none() && op.writes.is_none() {
        let first = op.param_offset as usize;
        let slots = slots.iter().skip(first).take(op.param_count as usize);
        return slots.map(|&address| (address, false)).collect();
    }
    let reads = op.reads.iter().flatten().map(|&address| (address, false));
    let writes = op.writes.iter().flatten().map(|&address| (address, true));
    reads.chain(writes).collect()
}

/// From `address` to the next address that any operator names, or to the end of the buffer.
fn region(memory: &GlobalMemory, starts: &[u64], address: u64, writes: bool) -> Option<Region> {
    let buffer = memory.find(address)?;
    let end = memory.buffers()[buffer].address + memory.buffers()[buffer].size;
    let next = starts[starts.partition_point(|&start| start <= address)..].first().copied().unwrap_or(u64::MAX);
    Some(Region { address, size: next.min(end) - address, buffer, shared: false, writes, late: false, seen: false })
}
