//! Where the time of a launch goes.

use super::prices::{PerPrice, Price};
use crate::model::OpPosition;

/// A share of the time of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// The ops' own code.
    Work,
    /// Until the cores run.
    TaskStart,
    /// Fetching code.
    Code,
    /// Barriers between ops.
    Barrier,
    /// Early-start hand-overs between ops.
    HandOver,
    /// Flags between the cube and the vector side.
    CrossFlag,
    /// `SyncAll` inside ops, with idle cores following.
    SyncAll,
    /// Lock words: outer events, tiling.
    Event,
    /// Cache flushes, profiling records, clearing the workspace.
    Upkeep,
}

impl Part {
    /// How many there are.
    pub(crate) const COUNT: usize = 9;
    /// All of them.
    pub(crate) const ALL: [Self; Self::COUNT] = [
        Self::Work,
        Self::TaskStart,
        Self::Code,
        Self::Barrier,
        Self::HandOver,
        Self::CrossFlag,
        Self::SyncAll,
        Self::Event,
        Self::Upkeep,
    ];

    /// As printed in reports.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Work => "work",
            Self::TaskStart => "task start",
            Self::Code => "code misses",
            Self::Barrier => "barriers",
            Self::HandOver => "early-start hand-overs",
            Self::CrossFlag => "flags between cube and vector",
            Self::SyncAll => "SyncAll inside ops",
            Self::Event => "lock words",
            Self::Upkeep => "flushes, records, clearing",
        }
    }
}

/// What one stretch of a core's time was spent on: counts of up to three prices, or work.
#[derive(Debug, Clone, Copy)]
pub(super) enum Charge {
    /// Some of an op's own code.
    Work { op: OpPosition, share: Share },
    /// So many of a price.
    Price(Price, f64),
    /// A code fetch.
    Code(CodeUnits),
}

/// Some of an op's work: the work so many times, plus so many of the two prices that part it at its own wait and set.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Share {
    pub(super) times: f64,
    pub(super) heads: f64,
    pub(super) tails: f64,
}

impl Share {
    pub(super) const ALL: Self = Self { times: 1.0, heads: 0.0, tails: 0.0 };
    pub(super) const HALF: Self = Self { times: 0.5, heads: 0.0, tails: 0.0 };

    pub(super) fn time(self, work: f64, prices: &PerPrice) -> f64 {
        self.times * work + self.heads * prices[Price::OpHead as usize] + self.tails * prices[Price::OpTail as usize]
    }

    pub(super) fn without(self, other: Self) -> Self {
        Self { times: self.times - other.times, heads: self.heads - other.heads, tails: self.tails - other.tails }
    }
}

/// A code fetch in counts of its three prices.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CodeUnits {
    pub(super) misses: f64,
    pub(super) shares: f64,
    pub(super) copies: f64,
}

impl CodeUnits {
    pub(super) fn time(self, prices: &PerPrice) -> f64 {
        self.counts().iter().map(|(price, count)| prices[*price as usize] * count).sum()
    }

    pub(super) fn counts(self) -> [(Price, f64); 3] {
        [(Price::CodeMiss, self.misses), (Price::CodeShare, self.shares), (Price::CodeCopy, self.copies)]
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self {
            misses: self.misses + other.misses,
            shares: self.shares + other.shares,
            copies: self.copies + other.copies,
        }
    }
}

/// The chain of things that decides how long a launch takes: its time is the sum of its links.
#[derive(Debug, Clone, PartialEq)]
pub struct CriticalPath {
    /// How often each price stands in the sum; negative where time is hidden.
    pub counts: PerPrice,
    /// The ops whose work stands in the sum, and how many times (1, or less where halves overlap).
    pub ops: Vec<(OpPosition, f64)>,
    /// Microseconds by part.
    pub parts: [f64; Part::COUNT],
}

impl CriticalPath {
    pub(super) fn new() -> Self {
        Self { counts: [0.0; Price::COUNT], ops: Vec::new(), parts: [0.0; Part::COUNT] }
    }

    /// Microseconds of one part.
    pub fn part(&self, part: Part) -> f64 {
        self.parts[part as usize]
    }
}

/// One core's time.
#[derive(Debug, Clone, PartialEq)]
pub struct CoreAccount {
    /// Microseconds by part.
    pub parts: [f64; Part::COUNT],
    /// Microseconds of standing still: for slower cores, or because there was nothing to do.
    pub waiting: f64,
}

impl CoreAccount {
    pub(super) fn new() -> Self {
        Self { parts: [0.0; Part::COUNT], waiting: 0.0 }
    }
}

/// One op in a launch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OpSpan {
    /// When the first core started it.
    pub start: f64,
    /// When the last core ended it.
    pub end: f64,
    /// Time of the slowest core.
    pub slowest: f64,
    /// Sum over the cores that ran it, and their number.
    pub busy: f64,
    /// How many cores ran it.
    pub cores: usize,
}

impl OpSpan {
    pub(super) fn unseen() -> Self {
        Self { start: f64::INFINITY, end: 0.0, slowest: 0.0, busy: 0.0, cores: 0 }
    }

    pub(super) fn ran(&mut self, start: f64, end: f64) {
        self.start = self.start.min(start);
        self.end = self.end.max(end);
        self.slowest = self.slowest.max(end - start);
        self.busy += end - start;
        self.cores += 1;
    }

    /// By how much the slowest core is behind the average one.
    pub fn imbalance(&self) -> f64 {
        if self.cores == 0 { 0.0 } else { self.slowest - self.busy / self.cores as f64 }
    }
}
