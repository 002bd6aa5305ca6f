//! The counters of all cores, and sets that are not complete yet.
//!
//! The simulator has a model of the same flags (`src/sim/machine/flags.rs`) that shares no code with this one, on purpose: a
//! mistake about the hardware in a shared model would let a wrong program pass both. `tests/program/agreement.rs` plays
//! random programs in both and compares; `docs/decisions/two-flag-models.md` tells more.

use std::collections::VecDeque;
use std::rc::Rc;

use super::super::{CoreId, Program, Violation};
use super::micro::{Flag, Tag};
use crate::model::CoreKind;

/// A counter goes to 15.
const LARGEST_COUNT: usize = 15;

/// What a set carries to those who wait for it: what the setter knew (the checker), or when it was made (the cost
/// model).
pub(crate) trait Carried: Clone {
    /// A round is complete with its last set: takes in what another set of it carries.
    fn join(&mut self, other: &Self);
}

/// One count of a counter: what the set was for, and what its setters carry.
#[derive(Debug, Clone)]
pub(crate) struct Received<C> {
    pub(crate) tag: Tag,
    pub(crate) carried: C,
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
pub(crate) struct Flags<C> {
    cores: Vec<CoreId>,
    accounting: Accounting,
    /// By core and flag, oldest count first.
    counters: Vec<[VecDeque<Received<C>>; Flag::ALL.len()]>,
    /// Sets that wait for those of other cores.
    pending: Vec<[VecDeque<Received<C>>; Flag::ALL.len()]>,
    /// By core: whom its flags concern.
    groups: Vec<Groups>,
}

/// The cores a core's flags concern.
struct Groups {
    /// All of its kind.
    kind: Rc<[usize]>,
    /// Those of its kind in its block.
    block: Rc<[usize]>,
    /// Those of the other kind in its block.
    others: Rc<[usize]>,
}

impl<C: Carried> Flags<C> {
    pub(crate) fn new(cores: Vec<CoreId>, accounting: Accounting) -> Self {
        let counters = cores.iter().map(|_| Default::default()).collect();
        let pending = cores.iter().map(|_| Default::default()).collect();
        let select = |wanted: &dyn Fn(CoreId) -> bool| -> Rc<[usize]> {
            (0..cores.len()).filter(|&core| wanted(cores[core])).collect()
        };
        let kinds = CoreKind::BOTH.map(|kind| select(&|core| core.kind == kind));
        let groups = cores
            .iter()
            .map(|id| Groups {
                kind: match id.kind {
                    CoreKind::Aic => Rc::clone(&kinds[0]),
                    CoreKind::Aiv => Rc::clone(&kinds[1]),
                },
                block: select(&|other| other.kind == id.kind && other.block == id.block),
                others: select(&|other| other.kind != id.kind && other.block == id.block),
            })
            .collect();
        Self { cores, accounting, counters, pending, groups }
    }

    /// Value of a counter.
    pub(crate) fn count(&self, core: usize, flag: Flag) -> usize {
        self.counters[core][flag as usize].len()
    }

    /// Takes one count; there is one.
    pub(crate) fn take(&mut self, core: usize, flag: Flag) -> Received<C> {
        self.counters[core][flag as usize].pop_front().expect("the core was not blocked, so its counter is not 0")
    }

    /// Raises a flag; gives the largest counter it led to.
    pub(crate) fn set(
        &mut self,
        program: &Program,
        core: usize,
        flag: Flag,
        arrival: Received<C>,
    ) -> Result<usize, Violation> {
        let id = self.cores[core];
        let senders = self.senders(core, flag);
        let Some(arrivals) = self.complete(core, flag, arrival, &senders) else { return Ok(0) };
        let Some(first) = arrivals.first() else { return Ok(0) };
        let strict = self.accounting == Accounting::PerCore;
        if let Some(other) = arrivals.iter().find(|other| strict && other.tag != first.tag) {
            let (wait, set) = (first.tag.describe(program), other.tag.describe(program));
            return Err(Violation::WrongPartner { core: id, flag: flag.number(), wait, set });
        }
        let mut carried = first.carried.clone();
        for other in &arrivals[1..] {
            carried.join(&other.carried);
        }
        let complete = Received { tag: first.tag, carried };
        self.deliver(core, flag, &complete)
    }

    /// Notes a set; gives the sets of a round that it completes.
    fn complete(
        &mut self,
        core: usize,
        flag: Flag,
        arrival: Received<C>,
        senders: &[usize],
    ) -> Option<Vec<Received<C>>> {
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

    fn deliver(&mut self, sender: usize, flag: Flag, complete: &Received<C>) -> Result<usize, Violation> {
        let receivers = self.receivers(sender, flag);
        if receivers.is_empty() {
            return Err(Violation::NoPartner { core: self.cores[sender], flag: flag.number() });
        }
        let mut most = 0;
        for &receiver in receivers.iter() {
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
    fn senders(&self, core: usize, flag: Flag) -> Rc<[usize]> {
        let groups = &self.groups[core];
        Rc::clone(match flag {
            Flag::AllCubes | Flag::AllOfKind => &groups.kind,
            Flag::Arrive | Flag::Release | Flag::ArriveInBlock | Flag::ReleaseInBlock => &groups.block,
        })
    }

    /// The cores that then count one more.
    fn receivers(&self, core: usize, flag: Flag) -> Rc<[usize]> {
        let groups = &self.groups[core];
        match (flag, self.cores[core].kind) {
            (Flag::AllCubes | Flag::AllOfKind, _) => Rc::clone(&groups.kind),
            (Flag::Release | Flag::ReleaseInBlock, CoreKind::Aic)
            | (Flag::Arrive | Flag::ArriveInBlock, CoreKind::Aiv) => Rc::clone(&groups.others),
            // A flag raised by the wrong kind reaches nobody.
            (Flag::Release | Flag::ReleaseInBlock, CoreKind::Aiv)
            | (Flag::Arrive | Flag::ArriveInBlock, CoreKind::Aic) => Rc::new([]),
        }
    }

    /// Sets that wait for those of other cores; under [`Accounting::Summed`] kept at the first core of the group.
    pub(crate) fn pending(&self, core: usize, flag: Flag) -> usize {
        self.pending[core][flag as usize].len()
    }

    /// Counters that are not 0, and sets that never completed.
    pub(crate) fn left_over(&self) -> Vec<(usize, Flag)> {
        let raised = |core, flag| self.count(core, flag) > 0 || self.pending(core, flag) > 0;
        (0..self.cores.len())
            .flat_map(|core| Flag::ALL.into_iter().map(move |flag| (core, flag)))
            .filter(|&(core, flag)| raised(core, flag))
            .collect()
    }
}
