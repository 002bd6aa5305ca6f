//! The counters of all cores, and sets that are not complete yet.

use std::collections::VecDeque;
use std::rc::Rc;

use super::super::{CoreId, Violation};
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

/// Counters and pending sets.
pub(super) struct Flags {
    cores: Vec<CoreId>,
    /// By core and flag, oldest count first.
    counters: Vec<[VecDeque<Received>; Flag::ALL.len()]>,
    /// Sets that wait for those of other cores.
    pending: Vec<[VecDeque<Received>; Flag::ALL.len()]>,
}

impl Flags {
    pub(super) fn new(cores: Vec<CoreId>) -> Self {
        let counters = cores.iter().map(|_| Default::default()).collect();
        let pending = cores.iter().map(|_| Default::default()).collect();
        Self { cores, counters, pending }
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
    pub(super) fn set(&mut self, core: usize, flag: Flag, arrival: Received) -> Result<usize, Violation> {
        let id = self.cores[core];
        let senders = self.senders(id, flag);
        let pending = &mut self.pending[core][flag as usize];
        pending.push_back(arrival);
        // Whether a scheduler counts arrivals per core or in sum must make no difference, so nobody may be two ahead.
        if pending.len() > 1 {
            return Err(Violation::SetTwice { core: id, flag: flag.number() });
        }
        if senders.iter().any(|&sender| self.pending[sender][flag as usize].is_empty()) {
            return Ok(0);
        }
        let arrivals: Vec<Received> =
            senders.iter().filter_map(|&sender| self.pending[sender][flag as usize].pop_front()).collect();
        let Some(first) = arrivals.first() else { return Ok(0) };
        if let Some(other) = arrivals.iter().find(|other| other.tag != first.tag) {
            let (wait, set) = (first.tag.to_string(), other.tag.to_string());
            return Err(Violation::WrongPartner { core: id, flag: flag.number(), wait, set });
        }
        let mut clock = (*first.clock).clone();
        for other in &arrivals[1..] {
            clock.join(&other.clock);
        }
        let complete = Received { tag: first.tag, clock: Rc::new(clock) };
        self.deliver(id, flag, &complete)
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
