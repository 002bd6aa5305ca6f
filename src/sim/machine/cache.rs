//! Strict caches: every core has lines of its own, and nobody keeps them the same.
//!
//! Only one core runs at a time. While it does, its lines lie over global memory, so that every load and store of its code
//! meets them; when another one goes on, memory is put back. Moves by-pass the lines. A line enters when a scalar access
//! is told of, and leaves by `dcci`.
//!
//! A line that a core has written to goes back as a whole, so from the moment it entered until it leaves nobody else may
//! write to it. Whether somebody could is decided by clocks: in another schedule what is unordered falls between. The same
//! goes for who reads before, or from a line that entered before, what a `dcci` writes back. A line that is still there when
//! the launch ends goes back at some time, too.

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use super::access::{ScalarAccess, Site};
use super::clock::{Clock, Mark, Moment};
use super::memory::{GlobalMemory, LINE, LineView};
use super::topology::CoreIndex;
use crate::aicore::operand::Access;
use crate::model::OpPosition;
use crate::sim::interface::findings::FindingKind;

type Content = [u8; LINE as usize];

/// What a cache maintenance call is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// The line with this address.
    Line(u64),
    /// The whole cache.
    Whole,
}

impl Extent {
    pub(crate) fn address(self) -> u64 {
        match self {
            Self::Line(address) => address,
            Self::Whole => 0,
        }
    }
}

/// Who touched memory, as reports name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Toucher {
    /// The core.
    pub core: CoreIndex,
    /// The operator it was in.
    pub op: Option<OpPosition>,
    /// The instruction, or what the scalar unit did.
    pub what: &'static str,
    /// The pipe's name.
    pub pipe: &'static str,
    /// The call.
    pub site: Site,
    /// Who knows of this has heard that it is over.
    pub mark: Mark,
}

/// How it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Evidence {
    /// It happened.
    Seen,
    /// It happens in another order, which nothing rules out.
    Unordered,
    /// A line that was written to is in a cache when the launch ends: nobody knows when it goes back.
    Left,
}

/// Something stayed in a cache that somebody else needed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CacheFinding {
    /// Which.
    pub kind: FindingKind,
    /// How it is known.
    pub evidence: Evidence,
    /// The byte it is about.
    pub address: u64,
    /// Whose cache it is.
    pub owner: CoreIndex,
    /// Who wrote; unknown if it was no access that is told of.
    pub writer: Option<Toucher>,
    /// Who read, or wrote back.
    pub reader: Toucher,
}

#[derive(Debug)]
struct Line {
    /// As it was when it entered: bytes that differ from it were written by the core.
    filled: Content,
    /// What its core had heard of when it entered.
    since: Moment,
    /// While the core runs: what memory really holds. Else: what the core sees.
    other: Content,
    /// A bit for every byte that the core has stored.
    stored: u64,
    /// A bit for every byte that a `dcci` has taken out and that nothing has brought back.
    gone: u64,
    /// The last scalar write of the core.
    written: Option<Toucher>,
    /// Who changed memory since the line entered.
    changed: Option<Toucher>,
}

impl Line {
    /// The core, which runs and has heard of `moment`, brings back what a `dcci` took out. What it sees now.
    fn enters_again(&mut self, view: &LineView, moment: Moment) -> Content {
        let mut now = view.content();
        for at in (0..now.len()).filter(|at| self.gone >> at & 1 != 0) {
            self.filled[at] = self.other[at];
            now[at] = self.other[at];
        }
        self.gone = 0;
        self.since = moment;
        view.store(&now);
        now
    }
}

/// What reached memory in a part of a line.
#[derive(Debug, Clone, Copy)]
struct Arrived {
    /// A bit for every byte that was written.
    bytes: u64,
    /// The same for those that went along.
    goes: u64,
    /// Who wrote.
    writer: Toucher,
    /// Who wrote the line back; `None` if it went around the caches, which no other line does harm to.
    by_line: Option<Toucher>,
}

/// The caches of all cores.
#[derive(Debug)]
pub(crate) struct StrictCache {
    cores: Vec<BTreeMap<u64, Line>>,
    /// By line: the last of each core, through its cache and around it.
    arrived: BTreeMap<u64, Vec<Arrived>>,
    /// By core: what its last line entered with, most often the same as for the next one.
    moments: Vec<Moment>,
    running: Option<CoreIndex>,
    found: Vec<CacheFinding>,
}

fn line_of(address: u64) -> u64 {
    address & !(LINE - 1)
}

/// The lines that hold `bytes`.
fn lines(bytes: &Range<u64>) -> Range<u64> {
    line_of(bytes.start)..bytes.end
}

/// What of `bytes` lies in a line, as places in it.
fn part(bytes: &Range<u64>, line: u64) -> Range<usize> {
    let start = bytes.start.max(line) - line;
    let end = bytes.end.min(line + LINE).saturating_sub(line);
    start as usize..end as usize
}

/// A bit for every byte of a line that lies in `places`.
fn bits(places: &Range<usize>) -> u64 {
    match places.len() as u64 {
        0 => 0,
        LINE.. => u64::MAX,
        count => (1u64 << count).wrapping_sub(1) << places.start,
    }
}

fn swap(memory: &GlobalMemory, address: u64, content: &mut Content) {
    if let Some(view) = memory.line(address) {
        let now = view.content();
        view.store(content);
        *content = now;
    }
}

impl Arrived {
    /// Who knows of this comes after it.
    fn ended(&self) -> Mark {
        self.by_line.map_or(self.writer.mark, |flush| flush.mark)
    }

    /// The first byte of another core that goes along as it was before, if this one comes later. Who stores the same bytes
    /// has a race of another kind.
    fn harms(&self, other: &Self) -> Option<u64> {
        let lost = other.bytes & self.goes;
        let is_neighbour = self.writer.core != other.writer.core && self.bytes & other.bytes == 0 && lost != 0;
        is_neighbour.then(|| u64::from(lost.trailing_zeros()))
    }

    fn loses(&self, address: u64, writer: Toucher) -> Option<CacheFinding> {
        let (kind, evidence, owner) = (FindingKind::LostNeighbour, Evidence::Unordered, self.writer.core);
        Some(CacheFinding { kind, evidence, address, owner, writer: Some(writer), reader: self.by_line? })
    }

    /// Of what another core reads, the first byte that this brought, if a reader who knows `clock` waits for the store and
    /// not for its way to memory. Who does not wait for the store has a race of another kind.
    fn comes_late_for(&self, core: CoreIndex, bytes: u64, clock: &Clock) -> Option<u64> {
        let flush = self.by_line.filter(|_| self.writer.core != core && self.bytes & bytes != 0)?;
        let is_late = clock.knows(self.writer.mark) && !clock.knows(flush.mark);
        is_late.then(|| u64::from((self.bytes & bytes).trailing_zeros()))
    }
}

/// Keeps `arrived` instead of what its core sent the same way before.
fn keep(before: &mut Vec<Arrived>, arrived: Arrived) {
    let same = |other: &&mut Arrived| {
        other.writer.core == arrived.writer.core && other.by_line.is_some() == arrived.by_line.is_some()
    };
    match before.iter_mut().find(same) {
        Some(other) => *other = arrived,
        None => before.push(arrived),
    }
}

impl StrictCache {
    /// Empty caches.
    pub(crate) fn new(cores: usize) -> Self {
        Self {
            cores: (0..cores).map(|_| BTreeMap::new()).collect(),
            arrived: BTreeMap::new(),
            moments: vec![Moment::default(); cores],
            running: None,
            found: Vec::new(),
        }
    }

    /// What was found since the last call.
    pub(crate) fn take_findings(&mut self) -> Vec<CacheFinding> {
        std::mem::take(&mut self.found)
    }

    /// A core goes on: it sees its own lines.
    pub(crate) fn enter(&mut self, core: CoreIndex, memory: &GlobalMemory) {
        for (&address, line) in &mut self.cores[core] {
            swap(memory, address, &mut line.other);
        }
        self.running = Some(core);
    }

    /// A core stops: memory is what it really is.
    pub(crate) fn leave(&mut self, memory: &GlobalMemory) {
        if let Some(core) = self.running.take() {
            for (&address, line) in &mut self.cores[core] {
                swap(memory, address, &mut line.other);
            }
        }
    }

    /// The scalar unit of the running core is about to access `bytes` of global memory. Who looks at a word that cores
    /// exchange may come too early, and looks again. `clock`: what the core has heard of.
    pub(crate) fn scalar(
        &mut self,
        bytes: Range<u64>,
        access: ScalarAccess,
        toucher: Toucher,
        clock: &Clock,
        memory: &GlobalMemory,
    ) {
        let is_write = access.writes();
        if access == ScalarAccess::Data(Access::Read) {
            self.look_for_unflushed(&bytes, toucher, clock, memory);
        }
        let (own, moment) = (&mut self.cores[toucher.core], &mut self.moments[toucher.core]);
        if **moment != *clock {
            *moment = Rc::new(clock.clone());
        }
        for address in lines(&bytes).step_by(LINE as usize) {
            let Some(view) = memory.line(address).filter(|view| view.starts_at(address)) else { continue };
            let now = view.content();
            let line = own.entry(address).or_insert_with(|| {
                let since = moment.clone();
                Line { filled: now, since, other: now, stored: 0, gone: 0, written: None, changed: None }
            });
            let mut places = part(&bytes, address);
            let now = if line.gone & bits(&places) == 0 { now } else { line.enters_again(&view, moment.clone()) };
            if is_write {
                line.written = Some(toucher);
                line.stored |= bits(&places);
                continue;
            }
            let read = bits(&places) & !line.stored;
            if let Some(at) = places.find(|&at| now[at] == line.filled[at] && line.other[at] != now[at]) {
                let address = address + at as u64;
                let (kind, evidence) = (FindingKind::StaleRead, Evidence::Seen);
                let (owner, writer) = (toucher.core, line.changed);
                self.found.push(CacheFinding { kind, evidence, address, owner, writer, reader: toucher });
            } else if access == ScalarAccess::Data(Access::Read) {
                // The line entered in time this time, but nothing made it wait.
                let before = self.arrived.get(&address).into_iter().flatten();
                let missed = before.filter(|other| other.writer.core != toucher.core && other.bytes & read != 0);
                let missed = missed.filter(|other| clock.knows(other.ended()) && !line.since.knows(other.ended()));
                self.found.extend(missed.take(1).map(|other| CacheFinding {
                    kind: FindingKind::StaleRead,
                    evidence: Evidence::Unordered,
                    address: address + u64::from((other.bytes & read).trailing_zeros()),
                    owner: toucher.core,
                    writer: Some(other.writer),
                    reader: toucher,
                }));
            }
        }
    }

    /// `dcci` of the running core. From an address on to the end of its line: what lies before it stays.
    pub(crate) fn flush(&mut self, extent: Extent, toucher: Toucher, clock: &Clock, memory: &GlobalMemory) {
        match extent {
            Extent::Line(address) => {
                self.flush_line(line_of(address), (address % LINE) as usize, toucher, clock, memory);
            }
            Extent::Whole => {
                let all: Vec<u64> = self.cores[toucher.core].keys().copied().collect();
                for address in all {
                    self.flush_line(address, 0, toucher, clock, memory);
                }
            }
        }
    }

    fn flush_line(&mut self, address: u64, from: usize, toucher: Toucher, clock: &Clock, memory: &GlobalMemory) {
        let Some(line) = self.cores[toucher.core].get_mut(&address) else { return };
        let Some(view) = memory.line(address) else { return };
        let (now, real) = (view.content(), line.other);
        let is_dirty = now[from..] != line.filled[from..];
        let goes = bits(&(from..now.len()));
        let stored = line.stored & goes;
        let writer = line.written.unwrap_or(toucher);
        let arrived = Arrived { bytes: stored, goes, writer, by_line: Some(toucher) };
        let is_met = stored != 0 && self.arrives(address, arrived);
        let Some(line) = self.cores[toucher.core].get_mut(&address) else { return };
        let mut after = real;
        if is_dirty {
            let lost = (from..now.len()).find(|&at| now[at] == line.filled[at] && real[at] != now[at]);
            if let Some(at) = lost.filter(|_| !is_met) {
                let (kind, evidence, address) = (FindingKind::LostNeighbour, Evidence::Seen, address + at as u64);
                let (owner, writer) = (toucher.core, line.changed);
                self.found.push(CacheFinding { kind, evidence, address, owner, writer, reader: toucher });
            }
            after[from..].copy_from_slice(&now[from..]);
        }
        if from == 0 {
            self.cores[toucher.core].remove(&address);
            view.store(&after);
        } else {
            // The front of the line stays as the core sees it.
            let mut seen = after;
            seen[..from].copy_from_slice(&now[..from]);
            line.filled[from..].copy_from_slice(&after[from..]);
            line.stored &= !stored;
            line.gone |= goes;
            line.since = Rc::new(clock.clone());
            line.other = after;
            view.store(&seen);
        }
        if is_dirty {
            let others = self.cores.iter_mut().enumerate().filter(|(core, _)| *core != toucher.core);
            for line in others.filter_map(|(_, lines)| lines.get_mut(&address)) {
                line.changed = Some(writer);
            }
        }
    }

    /// A line goes back. Says whether others write to it, which is reported.
    fn arrives(&mut self, address: u64, arrived: Arrived) -> bool {
        let Some(line) = self.cores[arrived.writer.core].get(&address) else { return false };
        let before = self.arrived.entry(address).or_default();
        let met = before.iter().filter(|other| !line.since.knows(other.ended())).find_map(|other| {
            let harm = arrived.harms(other).map(|at| (at, other.writer, arrived));
            let (at, writer, taken_along) = harm.or_else(|| Some((other.harms(&arrived)?, arrived.writer, *other)))?;
            taken_along.loses(address + at, writer)
        });
        keep(before, arrived);
        let is_met = met.is_some();
        self.found.extend(met);
        is_met
    }

    /// A part of a line is written around the caches, by a core that has heard of `clock`.
    fn passes(&mut self, address: u64, bytes: u64, writer: Toucher, clock: &Clock) {
        let arrived = Arrived { bytes, goes: 0, writer, by_line: None };
        let before = self.arrived.entry(address).or_default();
        let unordered = before.iter().filter(|other| !clock.knows(other.ended()));
        let met = unordered.filter_map(|other| other.loses(address + other.harms(&arrived)?, writer)).next();
        keep(before, arrived);
        self.found.extend(met);
    }

    /// The launch is over: what is left in caches reaches memory, in an order that nobody knows. Nothing inside the launch
    /// may count on it, and no two cores may have written to one line.
    pub(crate) fn write_back(&mut self, memory: &GlobalMemory) {
        self.leave(memory);
        self.judge_left();
        for (address, line) in self.cores.iter_mut().flat_map(std::mem::take) {
            let Some(view) = memory.line(address) else { continue };
            let mut content = view.content();
            for (at, byte) in content.iter_mut().enumerate() {
                if line.other[at] != line.filled[at] {
                    *byte = line.other[at];
                }
            }
            view.store(&content);
        }
    }

    /// Lines that cores have written to and not flushed: each destroys what others wrote beside it, be it in their caches
    /// still or in memory since it entered.
    fn judge_left(&mut self) {
        let mut left: BTreeMap<u64, Vec<(Arrived, Moment)>> = BTreeMap::new();
        for (&address, line) in self.cores.iter().flatten().filter(|(_, line)| line.stored != 0) {
            let Some(writer) = line.written else { continue };
            let arrived = Arrived { bytes: line.stored, goes: u64::MAX, writer, by_line: Some(writer) };
            left.entry(address).or_default().push((arrived, line.since.clone()));
        }
        for (address, lines) in left {
            for (at, (one, since)) in lines.iter().enumerate() {
                let before = self.arrived.get(&address).into_iter().flatten();
                let before = before.filter(|other| !since.knows(other.ended()));
                let met = before.chain(lines[at + 1..].iter().map(|(other, _)| other));
                let found = met.filter_map(|other| one.loses(address + one.harms(other)?, other.writer)).next();
                self.found.extend(found.map(|found| CacheFinding { evidence: Evidence::Left, ..found }));
            }
        }
    }

    /// The running core is about to reach `bytes` around its cache: memory is what it really is.
    pub(crate) fn uncover(&mut self, core: CoreIndex, bytes: &Range<u64>, memory: &GlobalMemory) {
        for (&address, line) in self.cores[core].range_mut(lines(bytes)) {
            swap(memory, address, &mut line.other);
        }
    }

    /// It has: it sees its lines again.
    pub(crate) fn cover(&mut self, core: CoreIndex, bytes: &Range<u64>, memory: &GlobalMemory) {
        self.uncover(core, bytes, memory);
    }

    /// Memory is written around the caches, by a core that has heard of `clock`.
    pub(crate) fn written(&mut self, bytes: &Range<u64>, toucher: Toucher, clock: &Clock) {
        // Whole lines have no neighbours.
        let ends = [line_of(bytes.start), line_of(bytes.end.saturating_sub(1))];
        let ends = if ends[0] == ends[1] { &ends[..1] } else { &ends[..] };
        for &address in ends {
            match bits(&part(bytes, address)) {
                0 | u64::MAX => {}
                partly => self.passes(address, partly, toucher, clock),
            }
        }
        for lines_of_core in &mut self.cores {
            for (_, line) in lines_of_core.range_mut(lines(bytes)) {
                line.changed = Some(toucher);
            }
        }
    }

    /// Has a core newer bytes in its cache than memory, which somebody who has heard of `clock` is about to read? Or had it,
    /// and the reader waits for the store alone? A scalar access does not miss what its own core wrote.
    pub(crate) fn look_for_unflushed(
        &mut self,
        bytes: &Range<u64>,
        reader: Toucher,
        clock: &Clock,
        memory: &GlobalMemory,
    ) {
        for (core, cached) in self.cores.iter().enumerate() {
            if core == reader.core && reader.pipe == "S" {
                continue;
            }
            for (&address, line) in cached.range(lines(bytes)) {
                let mine = match memory.line(address) {
                    Some(view) if self.running == Some(core) => view.content(),
                    Some(_) => line.other,
                    None => continue,
                };
                if let Some(at) = part(bytes, address).find(|&at| mine[at] != line.filled[at]) {
                    let (kind, evidence, address) = (FindingKind::Unflushed, Evidence::Seen, address + at as u64);
                    let (owner, writer) = (core, line.written);
                    self.found.push(CacheFinding { kind, evidence, address, owner, writer, reader });
                    return;
                }
            }
        }
        let late = self.arrived.range(lines(bytes)).find_map(|(&address, arrived)| {
            let read = bits(&part(bytes, address));
            let late = |other: &Arrived| other.comes_late_for(reader.core, read, clock);
            arrived.iter().find_map(|other| Some((address + late(other)?, *other)))
        });
        self.found.extend(late.map(|(address, other)| CacheFinding {
            kind: FindingKind::Unflushed,
            evidence: Evidence::Unordered,
            address,
            owner: other.writer.core,
            writer: Some(other.writer),
            reader,
        }));
    }
}
