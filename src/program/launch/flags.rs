//! The counters of all cores, and sets that are not complete yet.

use std::collections::VecDeque;
use std::rc::Rc;

use super::super::{CoreId, Program, Violation};
use super::clock::Clock;
use super::micro::{Flag, Tag};
use crate::model::CoreKind;

/// A counter goes to 15.
const LARGEST_COUNT: usize = 15;

/// One count of a counter: what the set was for, and what its setters knew.
#[derive(Debug, Clone)]
pub(super) struct Received {
    pub(super) tag: Tag,
    pub(super) clock: Rc<Clock>,
}

/// How sets that complete each other are counted. The hardware's way is not documented, so a program must be right
/// under both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accounting {
    /// A round is complete when every core of the group has set.
    PerCore,
    /// A round is complete when as many sets have come as the group has cores, whoever made them.
    Summed,
}

/// Counters and pending sets.
pub(super) struct Flags {
    cores: Vec<CoreId>,
    accounting: Accounting,
    /// By core and flag, oldest count first.
    counters: Vec<[VecDeque<Received>; Flag::ALL.len()]>,
    /// Sets that wait for those of other cores.
    pending: Vec<[VecDeque<Received>; Flag::ALL.len()]>,
}

impl Flags {
    pub(super) fn new(cores: Vec<CoreId>, accounting: Accounting) -> Self {
        let counters = cores.iter().map(|_| Default::default()).collect();
        let pending = cores.iter().map(|_| Default::default()).collect();
        Self { cores, accounting, counters, pending }
    }

    /// Value of a counter.
    pub(super) fn count(&self, core: usize, flag: Flag) -> usize {
        self.counters[core][flag as usize].len()
    }

    /// Takes one count; there is one.
    pub(super) fn take(&mut self, core: usize, flag: Flag) -> Received {
        self.counters[core][flag as usize].pop_front().expect("the core was not blocked, so its counter is not 0")
    }

    /// Raises a flag; gives the largest counter it led to.
    pub(super) fn set(
        &mut self,
        program: &Program,
        core: usize,
        flag: Flag,
        arrival: Received,
    ) -> Result<usize, Violation> {
        let id = self.cores[core];
        let senders = self.senders(id, flag);
        let Some(arrivals) = self.complete(core, flag, arrival, &senders) else { return Ok(0) };
        let Some(first) = arrivals.first() else { return Ok(0) };
        let strict = self.accounting == Accounting::PerCore;
        if let Some(other) = arrivals.iter().find(|other| strict && other.tag != first.tag) {
            let (wait, set) = (first.tag.describe(program), other.tag.describe(program));
            return Err(Violation::WrongPartner { core: id, flag: flag.number(), wait, set });
        }
        let mut clock = (*first.clock).clone();
        for other in &arrivals[1..] {
            clock.join(&other.clock);
        }
        let complete = Received { tag: first.tag, clock: Rc::new(clock) };
        self.deliver(id, flag, &complete)
    }

    /// Notes a set; gives the sets of a round that it completes.
    fn complete(&mut self, core: usize, flag: Flag, arrival: Received, senders: &[usize]) -> Option<Vec<Received>> {
        let flag = flag as usize;
        match self.accounting {
            Accounting::PerCore => {
                self.pending[core][flag].push_back(arrival);
                if senders.iter().any(|&sender| self.pending[sender][flag].is_empty()) {
                    return None;
                }
                Some(senders.iter().filter_map(|&sender| self.pending[sender][flag].pop_front()).collect())
            }
            Accounting::Summed => {
                // The group's sets are kept at its first core.
                let group = &mut self.pending[*senders.first()?][flag];
                group.push_back(arrival);
                (group.len() >= senders.len()).then(|| group.drain(..senders.len()).collect())
            }
        }
    }

    fn deliver(&mut self, sender: CoreId, flag: Flag, complete: &Received) -> Result<usize, Violation> {
        let receivers = self.receivers(sender, flag);
        if receivers.is_empty() {
            return Err(Violation::NoPartner { core: sender, flag: flag.number() });
        }
        let mut most = 0;
        for receiver in receivers {
            let counter = &mut self.counters[receiver][flag as usize];
            counter.push_back(complete.clone());
            most = most.max(counter.len());
            if counter.len() > LARGEST_COUNT {
                return Err(Violation::Overflow { core: self.cores[receiver], flag: flag.number() });
            }
        }
        Ok(most)
    }

    /// The cores whose sets complete each other.
    fn senders(&self, id: CoreId, flag: Flag) -> Vec<usize> {
        match flag {
            Flag::AllCubes | Flag::AllOfKind => self.select(|other| other.kind == id.kind),
            Flag::Arrive | Flag::Release | Flag::ArriveInBlock | Flag::ReleaseInBlock => {
                self.select(|other| other.kind == id.kind && other.block == id.block)
            }
        }
    }

    /// The cores that then count one more.
    fn receivers(&self, id: CoreId, flag: Flag) -> Vec<usize> {
        let to = |kind| self.select(|other: CoreId| other.kind == kind && other.block == id.block);
        match (flag, id.kind) {
            (Flag::AllCubes | Flag::AllOfKind, kind) => self.select(|other| other.kind == kind),
            (Flag::Release | Flag::ReleaseInBlock, CoreKind::Aic) => to(CoreKind::Aiv),
            (Flag::Arrive | Flag::ArriveInBlock, CoreKind::Aiv) => to(CoreKind::Aic),
            // A flag raised by the wrong kind reaches nobody.
            (Flag::Release | Flag::ReleaseInBlock, CoreKind::Aiv)
            | (Flag::Arrive | Flag::ArriveInBlock, CoreKind::Aic) => Vec::new(),
        }
    }

    fn select(&self, wanted: impl Fn(CoreId) -> bool) -> Vec<usize> {
        (0..self.cores.len()).filter(|&core| wanted(self.cores[core])).collect()
    }

    /// Counters that are not 0, and sets that never completed.
    pub(super) fn left_over(&self) -> Vec<(usize, Flag)> {
        let raised = |core: usize, flag: Flag| {
            !self.counters[core][flag as usize].is_empty() || !self.pending[core][flag as usize].is_empty()
        };
        (0..self.cores.len())
            .flat_map(|core| Flag::ALL.into_iter().map(move |flag| (core, flag)))
            .filter(|&(core, flag)| raised(core, flag))
            .collect()
    }
}
