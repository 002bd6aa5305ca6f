//! Races: two accesses to the same bytes of global memory by different cores, at least one of them a write, with no
//! synchronisation between them.
//!
//! For every byte that was used: who wrote it last, and who read it, or combined into it, since. A new access must know of
//! those it conflicts with: its core's vector clock says whether it heard of them. That is exact for the run at hand and
//! does not depend on values, nor on who happened to be first.
//!
//! Bytes with the same history are one span, so a buffer costs what its use is made of, not its size.

use std::collections::{BTreeMap, HashSet};

use crate::aicore::Pipe;
use crate::aicore::operand::Access;
use crate::model::OpPosition;
use crate::sim::machine::access::Site;
use crate::sim::machine::clock::{Clock, Mark};
use crate::sim::machine::topology::CoreIndex;

/// More spans than this are not kept: memory would run out before the run ends.
const SPAN_LIMIT: usize = 4 << 20;
/// Enough to see the pattern.
const RACE_LIMIT: usize = 100;

/// An access, as far as later ones must know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Use {
    /// Who.
    pub core: CoreIndex,
    /// The moment of the core's own clock at which it was issued ...
    pub issued: Mark,
    /// ... and what those know who have heard of its end: another thing if it runs on a pipe that is watched.
    pub ended: Mark,
    /// The pipe it runs on.
    pub pipe: Pipe,
    /// In which operator.
    pub op: OpPosition,
    /// What was done.
    pub access: Access,
    /// Behind the operator's own `SetNextTaskStart`.
    pub is_late: bool,
    /// Where in the source.
    pub site: Site,
}

impl Use {
    /// May the two come in any order?
    fn agrees_with(&self, other: &Self) -> bool {
        match (self.access, other.access) {
            (Access::Read, Access::Read) | (Access::Combine, Access::Combine) => true,
            (Access::Read | Access::Write | Access::Combine, _) => self.core == other.core,
        }
    }
}

/// Two accesses without an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Race {
    /// The one that came first in this run.
    pub first: Use,
    /// The other one.
    pub second: Use,
    /// First byte they share.
    pub start: u64,
    /// Behind the last byte of the stretch they share.
    pub end: u64,
    /// The second one's core heard from the first one's after it had issued the access, but not that it had ended.
    pub is_under_way: bool,
}

/// The recent history of some bytes in a row.
#[derive(Debug, Clone)]
struct Span {
    end: u64,
    write: Option<Use>,
    /// Reads and combining stores since, of each core's pipe the last of its kind.
    since: Vec<Use>,
}

/// The record of a run.
#[derive(Debug, Default)]
pub(crate) struct Races {
    spans: BTreeMap<u64, Span>,
    found: Vec<Race>,
    /// Operators and buffer of what was found: one story is told once.
    told: HashSet<(OpPosition, OpPosition, usize)>,
    /// There were more spans than can be kept.
    pub(crate) is_full: bool,
}

impl Races {
    /// What was found so far.
    pub(crate) fn found(&self) -> &[Race] {
        &self.found
    }

    /// Bytes `start..end` are used by a core that knows `clock`. `buffer` tells the memory of one story from another.
    pub(crate) fn record(&mut self, start: u64, end: u64, usage: Use, clock: &Clock, buffer: usize) {
        if self.spans.len() > SPAN_LIMIT {
            self.is_full = true;
            return;
        }
        if self.is_repeated(start, end, &usage) {
            return;
        }
        self.cut(start);
        self.cut(end);
        let mut races = Vec::new();
        for (&from, span) in self.spans.range(start..end) {
            let conflicts = span.since.iter().chain(&span.write);
            let unknown = conflicts.filter(|other| !other.agrees_with(&usage) && !clock.knows(other.ended));
            races.extend(unknown.map(|other| {
                let is_under_way = clock.knows(other.issued);
                Race { first: *other, second: usage, start: from, end: span.end, is_under_way }
            }));
        }
        for race in races {
            self.tell(race, buffer);
        }
        match usage.access {
            Access::Write => self.overwrite(start, end, usage),
            Access::Read | Access::Combine => self.add(start, end, usage),
        }
    }

    /// A core that does the same again to the same bytes: most often in a loop.
    fn is_repeated(&self, start: u64, end: u64, usage: &Use) -> bool {
        let Some((_, span)) = self.spans.range(..=start).next_back().filter(|(_, span)| span.end >= end) else {
            return false;
        };
        let same = |other: &Use| other.core == usage.core && other.ended == usage.ended && other.op == usage.op;
        match usage.access {
            Access::Write => span.since.is_empty() && span.write.as_ref().is_some_and(same),
            Access::Read | Access::Combine => {
                span.since.iter().any(|other| other.access == usage.access && same(other))
            }
        }
    }

    fn tell(&mut self, race: Race, buffer: usize) {
        let (a, b) = (race.first.op, race.second.op);
        if self.found.len() < RACE_LIMIT && self.told.insert((a.min(b), a.max(b), buffer)) {
            self.found.push(race);
        }
    }

    /// Makes a span begin at `at`, if one goes across it.
    fn cut(&mut self, at: u64) {
        let Some((_, span)) = self.spans.range_mut(..at).next_back().filter(|(_, span)| span.end > at) else { return };
        let rest = Span { end: span.end, write: span.write, since: span.since.clone() };
        span.end = at;
        self.spans.insert(at, rest);
    }

    fn overwrite(&mut self, start: u64, end: u64, usage: Use) {
        let old: Vec<u64> = self.spans.range(start..end).map(|(&from, _)| from).collect();
        for from in old {
            self.spans.remove(&from);
        }
        if let Some((_, before)) = self.spans.range_mut(..start).next_back()
            && before.end == start
            && before.write == Some(usage)
            && before.since.is_empty()
        {
            before.end = end;
            return;
        }
        self.spans.insert(start, Span { end, write: Some(usage), since: Vec::new() });
    }

    fn add(&mut self, start: u64, end: u64, usage: Use) {
        let mut gaps = Vec::new();
        let mut at = start;
        for (&from, span) in self.spans.range_mut(start..end) {
            if at < from {
                gaps.push((at, from));
            }
            at = span.end;
            let party = usage.ended.party;
            let is_known = |other: &&mut Use| other.ended.party == party && other.access == usage.access;
            match span.since.iter_mut().find(is_known) {
                Some(known) => *known = usage,
                None => span.since.push(usage),
            }
        }
        if at < end {
            gaps.push((at, end));
        }
        for (from, end) in gaps {
            self.spans.insert(from, Span { end, write: None, since: vec![usage] });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What core `core` does at its moment `time` when it knows moment `knows` of the other one.
    fn does(races: &mut Races, core: CoreIndex, access: Access, bytes: std::ops::Range<u64>, time: u32, knows: u32) {
        let mut clock = Clock::new(2);
        (0..time).for_each(|_| clock.tick(core));
        (0..knows).for_each(|_| clock.tick(1 - core));
        let mark = Mark { party: core, time };
        let (op, pipe, site) = (OpPosition::at(core), Pipe::S, Site::Unknown);
        let usage = Use { core, issued: mark, ended: mark, pipe, op, access, is_late: false, site };
        races.record(bytes.start, bytes.end, usage, &clock, 0);
    }

    fn shared(races: &Races) -> Vec<(u64, u64)> {
        races.found().iter().map(|race| (race.start, race.end)).collect()
    }

    #[test]
    fn only_shared_bytes_meet() {
        let mut races = Races::default();
        does(&mut races, 0, Access::Write, 0..64, 1, 0);
        does(&mut races, 1, Access::Write, 64..128, 1, 0);
        does(&mut races, 1, Access::Read, 128..256, 1, 0);
        assert!(shared(&races).is_empty());
        does(&mut races, 1, Access::Read, 60..70, 1, 0);
        assert_eq!(shared(&races), [(60, 64)]);
    }

    #[test]
    fn who_heard_of_it_is_ordered() {
        for (knows, expected) in [(1, 0), (0, 1)] {
            let mut races = Races::default();
            does(&mut races, 0, Access::Read, 0..8, 1, 0);
            does(&mut races, 1, Access::Write, 4..12, 1, knows);
            assert_eq!(races.found().len(), expected);
        }
    }

    #[test]
    fn a_write_that_is_ordered_hides_what_came_before_it_and_nothing_else() {
        let mut races = Races::default();
        does(&mut races, 0, Access::Write, 0..100, 1, 0);
        does(&mut races, 0, Access::Write, 40..60, 2, 0);
        does(&mut races, 1, Access::Read, 0..40, 1, 1);
        does(&mut races, 1, Access::Read, 60..100, 1, 1);
        assert!(shared(&races).is_empty());
        does(&mut races, 1, Access::Read, 0..100, 1, 1);
        assert_eq!(shared(&races), [(40, 60)]);
    }

    #[test]
    fn combining_meets_reads_and_writes_but_not_its_kind() {
        let met = |first, second| {
            let mut races = Races::default();
            does(&mut races, 0, first, 0..8, 1, 0);
            does(&mut races, 1, second, 0..8, 1, 0);
            races.found().len()
        };
        let all = [Access::Read, Access::Write, Access::Combine];
        assert_eq!(all.map(|access| met(Access::Combine, access)), [1, 1, 0]);
        assert_eq!(all.map(|access| met(Access::Read, access)), [0, 1, 1]);
        assert_eq!(all.map(|access| met(Access::Write, access)), [1, 1, 1]);
    }

    #[test]
    fn bytes_with_one_history_are_one_span() {
        let mut races = Races::default();
        for at in 0..100 {
            does(&mut races, 0, Access::Write, at * 4..at * 4 + 4, 1, 0);
        }
        assert_eq!(races.spans.len(), 1);
    }
}
