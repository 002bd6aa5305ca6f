//! Strict caches: every core has lines of its own, and nobody keeps them the same.
//!
//! Only one core runs at a time. While it does, its lines lie over global memory, so that every load and store of its code
//! meets them; when another one goes on, memory is put back. Moves by-pass the lines. A line enters when a scalar access
//! is told of, and leaves by `dcci`.

use std::collections::BTreeMap;
use std::ops::Range;

use super::access::{ScalarAccess, Site};
use super::memory::{GlobalMemory, LINE};
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
}

/// Something stayed in a cache that somebody else needed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CacheFinding {
    /// Which.
    pub kind: FindingKind,
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
    /// While the core runs: what memory really holds. Else: what the core sees.
    other: Content,
    /// The last scalar write of the core.
    written: Option<Toucher>,
    /// Who changed memory since the line entered.
    changed: Option<Toucher>,
}

/// The caches of all cores.
#[derive(Debug)]
pub(crate) struct StrictCache {
    cores: Vec<BTreeMap<u64, Line>>,
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

fn swap(memory: &GlobalMemory, address: u64, content: &mut Content) {
    if let Some(view) = memory.line(address) {
        let now = view.content();
        view.store(content);
        *content = now;
    }
}

impl StrictCache {
    /// Empty caches.
    pub(crate) fn new(cores: usize) -> Self {
        Self { cores: (0..cores).map(|_| BTreeMap::new()).collect(), running: None, found: Vec::new() }
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
    /// exchange may come too early, and looks again.
    pub(crate) fn scalar(&mut self, bytes: Range<u64>, access: ScalarAccess, toucher: Toucher, memory: &GlobalMemory) {
        let is_write = access.writes();
        if access == ScalarAccess::Data(Access::Read) {
            self.look_for_unflushed(&bytes, toucher, memory);
        }
        let own = &mut self.cores[toucher.core];
        for address in lines(&bytes).step_by(LINE as usize) {
            let Some(view) = memory.line(address).filter(|view| view.starts_at(address)) else { continue };
            let now = view.content();
            let line = own.entry(address).or_insert(Line { filled: now, other: now, written: None, changed: None });
            if is_write {
                line.written = Some(toucher);
                continue;
            }
            let mut places = part(&bytes, address);
            if let Some(at) = places.find(|&at| now[at] == line.filled[at] && line.other[at] != now[at]) {
                let address = address + at as u64;
                let kind = FindingKind::StaleRead;
                let (owner, writer) = (toucher.core, line.changed);
                self.found.push(CacheFinding { kind, address, owner, writer, reader: toucher });
            }
        }
    }

    /// `dcci` of the running core. From an address on to the end of its line: what lies before it stays.
    pub(crate) fn flush(&mut self, extent: Extent, toucher: Toucher, memory: &GlobalMemory) {
        match extent {
            Extent::Line(address) => self.flush_line(line_of(address), (address % LINE) as usize, toucher, memory),
            Extent::Whole => {
                let all: Vec<u64> = self.cores[toucher.core].keys().copied().collect();
                for address in all {
                    self.flush_line(address, 0, toucher, memory);
                }
            }
        }
    }

    fn flush_line(&mut self, address: u64, from: usize, toucher: Toucher, memory: &GlobalMemory) {
        let Some(line) = self.cores[toucher.core].get_mut(&address) else { return };
        let Some(view) = memory.line(address) else { return };
        let (now, real) = (view.content(), line.other);
        let is_dirty = now[from..] != line.filled[from..];
        let mut after = real;
        if is_dirty {
            let lost = (from..now.len()).find(|&at| now[at] == line.filled[at] && real[at] != now[at]);
            if let Some(at) = lost {
                let (kind, address) = (FindingKind::LostNeighbour, address + at as u64);
                let (owner, writer) = (toucher.core, line.changed);
                self.found.push(CacheFinding { kind, address, owner, writer, reader: toucher });
            }
            after[from..].copy_from_slice(&now[from..]);
        }
        let writer = line.written.unwrap_or(toucher);
        if from == 0 {
            self.cores[toucher.core].remove(&address);
            view.store(&after);
        } else {
            // The front of the line stays as the core sees it.
            let mut seen = after;
            seen[..from].copy_from_slice(&now[..from]);
            line.filled[from..].copy_from_slice(&after[from..]);
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

    /// The launch is over: what is left in caches reaches memory. Nothing inside the launch may count on it.
    pub(crate) fn write_back(&mut self, memory: &GlobalMemory) {
        self.leave(memory);
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

    /// Memory is written around the caches.
    pub(crate) fn written(&mut self, bytes: &Range<u64>, toucher: Toucher) {
        for lines_of_core in &mut self.cores {
            for (_, line) in lines_of_core.range_mut(lines(bytes)) {
                line.changed = Some(toucher);
            }
        }
    }

    /// Has a core newer bytes in its cache than memory, which somebody is about to read? A scalar access does not miss
    /// what its own core wrote.
    pub(crate) fn look_for_unflushed(&mut self, bytes: &Range<u64>, reader: Toucher, memory: &GlobalMemory) {
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
                    let (kind, address) = (FindingKind::Unflushed, address + at as u64);
                    let (owner, writer) = (core, line.written);
                    self.found.push(CacheFinding { kind, address, owner, writer, reader });
                    return;
                }
            }
        }
    }
}
