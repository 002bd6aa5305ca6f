//! Order checking: operators that share memory must be ordered by synchronisation, not by luck.
//!
//! Every core carries a vector clock that follows flags, polled words and agents. Each operator keeps, per core, the
//! moment its part ended, and the least that any of its parts knew when it began. Of two operators that use the same
//! memory, at least one of them writing, one must have ended everywhere before the other began anywhere.
//!
//! What an operator writes is declared, or seen: while one core runs nobody else does, so a buffer that changed between
//! two switches was changed by that core's operator.

use std::collections::BTreeMap;

use super::access::AccessEvent;
use super::clock::Clock;
use super::memory::GlobalMemory;
use super::report::Hazard;
use super::request::OpSpec;
use super::topology::{CoreIndex, Topology};
use crate::model::{ByPosition, OpPosition};

/// Larger buffers are not watched: comparing them at every switch would dominate the run.
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

#[derive(Debug)]
struct Region {
    address: u64,
    size: u64,
    buffer: usize,
    writes: bool,
}

#[derive(Debug)]
struct OpLog {
    regions: Vec<Region>,
    declared: bool,
    precision: Precision,
    /// Per core the moment its part ended; 0: it had no part.
    ends: Vec<u32>,
    /// Per core the least any part knew of it at its begin, and which core that was.
    begin: Vec<u32>,
    begin_core: Vec<CoreIndex>,
    ran: bool,
}

/// The record of a run.
#[derive(Debug)]
pub(crate) struct OrderLog {
    ops: ByPosition<OpLog>,
    shadows: Vec<Option<Shadow>>,
    unwatched: Vec<usize>,
}

#[derive(Debug)]
struct Shadow {
    bytes: Vec<u8>,
    stale: bool,
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
        let mut shadows: Vec<Option<Shadow>> = (0..memory.buffers().len()).map(|_| None).collect();
        let mut unwatched = Vec::new();
        let logs = ops
            .iter()
            .zip(&addresses)
            .map(|(op, addresses)| {
                let declared = op.reads.is_some() || op.writes.is_some();
                let regions: Vec<Region> = addresses
                    .iter()
                    .filter_map(|&(address, writes)| region(memory, &starts, address, writes))
                    .collect();
                // Memory of one operator alone needs no order, so it need not be watched.
                let shared = |region: &&Region| users.get(&region.address).is_some_and(|&ops| ops > 1);
                for region in regions.iter().filter(|_| !declared).filter(shared) {
                    if memory.buffers()[region.buffer].size > WATCH_LIMIT {
                        unwatched.push(region.buffer);
                    } else if shadows[region.buffer].is_none() {
                        shadows[region.buffer] =
                            Some(Shadow { bytes: memory.bytes(region.buffer).to_vec(), stale: false });
                    }
                }
                OpLog {
                    regions,
                    declared,
                    precision: Precision::Label,
                    ends: vec![0; cores],
                    begin: vec![u32::MAX; cores],
                    begin_core: vec![0; cores],
                    ran: false,
                }
            })
            .collect();
        unwatched.sort_unstable();
        unwatched.dedup();
        Self { ops: logs, shadows, unwatched }
    }

    /// Buffers too large to be watched for writes.
    pub(crate) fn unwatched(&self) -> &[usize] {
        &self.unwatched
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
    pub(crate) fn released(part: &mut Part, core: CoreIndex, clock: &mut Clock) {
        clock.tick(core);
        part.end = Some(clock.of(core));
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
            log.begin.fill(u32::MAX);
        }
        log.ran = true;
        log.ends[core] = part.end.unwrap_or_else(|| clock.of(core));
        for (other, &known) in part.begin.counters().iter().take(log.begin.len()).enumerate() {
            if known < log.begin[other] {
                log.begin[other] = known;
                log.begin_core[other] = core;
            }
        }
    }

    /// A core that is inside `op` is about to run.
    pub(crate) fn resume(&mut self, op: OpPosition, memory: &GlobalMemory) {
        for region in self.ops[op].regions.iter().filter(|region| !region.writes) {
            if let Some(shadow) = self.shadows[region.buffer].as_mut().filter(|shadow| shadow.stale) {
                shadow.bytes.copy_from_slice(memory.bytes(region.buffer));
                shadow.stale = false;
            }
        }
    }

    /// A core that is inside `op` has run until now: whatever changed, the operator wrote.
    pub(crate) fn pause(&mut self, op: OpPosition, memory: &GlobalMemory) {
        let log = &mut self.ops[op];
        if log.declared {
            return;
        }
        for region in &mut log.regions {
            let Some(shadow) = self.shadows[region.buffer].as_mut() else { continue };
            if region.writes {
                shadow.stale = true;
                continue;
            }
            let start = (region.address - memory.buffers()[region.buffer].address) as usize;
            let range = start..start + region.size as usize;
            let now = &memory.bytes(region.buffer)[range.clone()];
            if shadow.bytes[range] != *now {
                region.writes = true;
                shadow.stale = true;
            }
        }
    }

    /// An operator was seen touching global memory: no value tells it, and no value hides it.
    pub(crate) fn accessed(&mut self, op: OpPosition, event: &AccessEvent) {
        let Some(log) = self.ops.get_mut(op.0).filter(|log| !log.declared && event.access.writes()) else { return };
        event.stretches(|start, end| {
            for region in &mut log.regions {
                region.writes |= start < region.address + region.size && region.address < end;
            }
        });
    }

    /// Somebody else wrote to a buffer.
    pub(crate) fn written_outside(&mut self, buffer: usize) {
        if let Some(shadow) = self.shadows[buffer].as_mut() {
            shadow.stale = true;
        }
    }

    /// All pairs of operators that share memory without an order.
    pub(crate) fn hazards(
        &self,
        specs: &ByPosition<OpSpec>,
        memory: &GlobalMemory,
        topology: &Topology,
    ) -> Vec<Hazard> {
        let mut by_address: BTreeMap<u64, Vec<(OpPosition, bool)>> = BTreeMap::new();
        for (op, log) in self.ops.enumerate().filter(|(_, log)| log.ran) {
            for region in &log.regions {
                let users = by_address.entry(region.address).or_default();
                match users.last_mut() {
                    Some((last, writes)) if *last == op => *writes |= region.writes,
                    _ => users.push((op, region.writes)),
                }
            }
        }
        let mut found: Vec<Hazard> = Vec::new();
        for (address, users) in by_address {
            // Only against the last writer and the readers since: order is transitive.
            let mut since_write: Vec<(OpPosition, bool)> = Vec::new();
            for (op, writes) in users {
                for &(earlier, earlier_writes) in &since_write {
                    if !(writes || earlier_writes) || found.len() >= HAZARD_LIMIT {
                        continue;
                    }
                    let known = |hazard: &Hazard| hazard.first_op == earlier.0 && hazard.second_op == op.0;
                    if let Some((first_core, second_core)) = self.unordered(earlier, op)
                        && !found.iter().any(known)
                    {
                        let conflict = match (earlier_writes, writes) {
                            (true, true) => "write after write",
                            (true, false) => "read after write",
                            (false, _) => "write after read",
                        };
                        found.push(hazard(
                            [(earlier, first_core), (op, second_core)],
                            specs,
                            topology,
                            memory.describe(address),
                            conflict,
                        ));
                    }
                }
                if writes {
                    since_write.clear();
                }
                since_write.push((op, writes));
            }
        }
        found
    }

    /// A core of `first` whose end a core of `second` did not know of, unless it is the other way round.
    fn unordered(&self, first: OpPosition, second: OpPosition) -> Option<(CoreIndex, CoreIndex)> {
        let missing = self.missing_edge(first, second)?;
        self.missing_edge(second, first)?;
        Some(missing)
    }

    fn missing_edge(&self, first: OpPosition, second: OpPosition) -> Option<(CoreIndex, CoreIndex)> {
        let (first, second) = (&self.ops[first], &self.ops[second]);
        let late = (0..first.ends.len()).find(|&core| first.ends[core] > second.begin[core])?;
        Some((late, second.begin_core[late]))
    }
}

fn hazard(
    [(first_op, first_core), (second_op, second_core)]: [(OpPosition, CoreIndex); 2],
    specs: &ByPosition<OpSpec>,
    topology: &Topology,
    memory: String,
    conflict: &'static str,
) -> Hazard {
    let (first, second) = (specs[first_op].name.clone(), specs[second_op].name.clone());
    let (first_op, second_op) = (first_op.0, second_op.0);
    let (first_core, second_core) = (topology.name(first_core), topology.name(second_core));
    let text = format!(
        "op {second_op} `{second}` on {second_core} does not wait for op {first_op} `{first}` on {first_core}, and both \
         use {memory} ({conflict})"
    );
    let conflict = conflict.into();
    Hazard { first, first_op, second, second_op, memory, conflict, first_core, second_core, text }
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
    let next = starts.iter().find(|&&start| start > address).copied().unwrap_or(u64::MAX);
    Some(Region { address, size: next.min(end) - address, buffer, writes })
}
