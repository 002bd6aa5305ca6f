//! What order checking found, told: who, where, and what is missing.

use crate::aicore::operand::Access;
use crate::model::{ByPosition, OpPosition};
use crate::sim::code::sites::Sites;
use crate::sim::interface::report::Hazard;
use crate::sim::interface::request::OpSpec;
use crate::sim::machine::access::Site;
use crate::sim::machine::memory::GlobalMemory;
use crate::sim::machine::topology::{CoreIndex, Topology};
use crate::sim::watch::order::{OrderLog, Overlap};
use crate::sim::watch::races::{Race, Use};

/// Everything a story is told with.
pub(crate) struct Words<'a> {
    /// The operators.
    pub(crate) ops: &'a ByPosition<OpSpec>,
    /// Names of buffers.
    pub(crate) memory: &'a GlobalMemory,
    /// Names of cores.
    pub(crate) topology: &'a Topology,
    /// Source lines.
    pub(crate) sites: &'a Sites,
}

impl Words<'_> {
    /// All of it: first what is known byte by byte, then operators taken as a whole that are not among it.
    pub(crate) fn hazards(&self, order: &OrderLog) -> Vec<Hazard> {
        let mut told: Vec<Hazard> = order.races().iter().map(|race| self.race(race)).collect();
        for overlap in order.overlaps() {
            let pair = (overlap.first.0.place(), overlap.second.0.place());
            if !told.iter().any(|hazard| (hazard.first_op, hazard.second_op) == pair) {
                told.push(self.overlap(&overlap));
            }
        }
        told
    }

    fn race(&self, race: &Race) -> Hazard {
        // As the operators stand in the list, whoever was first this time.
        let is_swapped = race.second.op < race.first.op;
        let (first, second) = if is_swapped { (race.second, race.first) } else { (race.first, race.second) };
        let conflict = conflict(first.access.writes(), second.access.writes());
        let (first_site, second_site) = (self.place(first.site), self.place(second.site));
        let bytes = race.end - race.start;
        let memory = self.memory.describe(race.start);
        let (first_core, second_core) = (self.topology.name(first.core), self.topology.name(second.core));
        let done = |usage: &Use, site: &Option<String>| {
            let what = match usage.access {
                Access::Read => "read",
                Access::Write => "written",
                Access::Combine => "combined into",
            };
            let at = site.as_ref().map(|site| format!(" at {site}")).unwrap_or_default();
            format!("{what} on {}{at}", self.topology.name(usage.core))
        };
        let both = format!("{}, {}", done(&first, &first_site), done(&second, &second_site));
        let mut text = if first.op == second.op {
            let op = self.op(first.op);
            format!(
                "two cores of {op} use {memory} ({bytes} bytes, {conflict}) and neither waits for the other: {both}"
            )
        } else {
            let (first_op, second_op) = (self.op(first.op), self.op(second.op));
            format!(
                "{second_op} on {second_core} does not wait for {first_op} on {first_core}, and both use {memory} \
                 ({bytes} bytes, {conflict}): {both}"
            )
        };
        if race.is_under_way {
            text.push_str(&self.under_way(&race.first));
        }
        for usage in [&first, &second] {
            if usage.is_late && usage.access.writes() {
                text.push_str(&self.late(usage.op));
                break;
            }
        }
        self.hazard([(first.op, first_core, first_site), (second.op, second_core, second_site)], memory, conflict, text)
    }

    /// The cores heard of each other, but not of the end of what a pipe was given before.
    fn under_way(&self, usage: &Use) -> String {
        let (core, pipe) = (self.topology.name(usage.core), usage.pipe.name());
        format!(
            "; what {core} told others afterwards does not say that its instruction on pipe {pipe} has ended: a flag for \
             other cores must be set on PIPE_{pipe}, and WaitFlag<HardEvent::{pipe}_S> come before a word is written"
        )
    }

    fn overlap(&self, overlap: &Overlap) -> Hazard {
        let (first, second) = (overlap.first, overlap.second);
        let conflict = conflict(overlap.writes.0, overlap.writes.1);
        let memory = self.memory.describe(overlap.address);
        let core = |core: CoreIndex| self.topology.name(core);
        let (first_op, second_op) = (self.op(first.0), self.op(second.0));
        let mut text = format!(
            "{second_op} on {} does not wait for {first_op} on {}, and both use {memory} ({conflict})",
            core(second.1),
            core(first.1)
        );
        if overlap.is_late {
            text.push_str(&self.late(first.0));
        }
        self.hazard([(first.0, core(first.1), None), (second.0, core(second.1), None)], memory, conflict, text)
    }

    fn late(&self, op: OpPosition) -> String {
        format!("; {} writes there after its own SetNextTaskStart, which says that all is written", self.op(op))
    }

    fn hazard(
        &self,
        [(first_op, first_core, first_site), (second_op, second_core, second_site)]: [(OpPosition, String, Option<String>);
            2],
        memory: String,
        conflict: &'static str,
        text: String,
    ) -> Hazard {
        let name = |op: OpPosition| self.ops[op].name.clone();
        Hazard {
            first: name(first_op),
            first_op: first_op.place(),
            second: name(second_op),
            second_op: second_op.place(),
            memory,
            conflict: conflict.into(),
            first_core,
            second_core,
            first_site,
            second_site,
            text,
        }
    }

    fn op(&self, position: OpPosition) -> String {
        format!("op {} `{}`", position.place(), self.ops[position].name)
    }

    fn place(&self, site: Site) -> Option<String> {
        self.sites.resolve(site).map(|(file, line)| format!("{file}:{line}"))
    }
}

fn conflict(first_writes: bool, second_writes: bool) -> &'static str {
    match (first_writes, second_writes) {
        (true, true) => "write after write",
        (true, false) => "read after write",
        (false, _) => "write after read",
    }
}
