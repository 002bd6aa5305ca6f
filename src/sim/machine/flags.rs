//! Cross-core flags: who is counted, when a round is complete, who receives it.
//!
//! The checker of programs has a model of the same flags (`src/program/launch/flags.rs`) that shares no code with this
//! one, on purpose: a mistake about the hardware in a shared model would let a wrong program pass both.
//! `agreement.rs` plays random programs in both and compares; `docs/decisions/two-flag-models.md` tells more.

use std::collections::VecDeque;
use std::rc::Rc;

use super::clock::{Clock, Moment};
use super::topology::{CoreIndex, Topology};
use crate::model::CoreKind;

/// Flag ids per core.
pub(crate) const FLAG_COUNT: usize = 16;
/// In-block flag ids of an AIC on 3510; an AIV has half of them.
pub(crate) const IN_BLOCK_COUNT: usize = 32;
/// The largest value of a counter; one more is a hardware exception.
pub(crate) const COUNTER_LIMIT: usize = 15;

/// How arrivals at a round are kept. Silicon's way is not documented, so programs must work under both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Arrivals {
    /// A round needs one arrival of every member.
    #[default]
    PerCore,
    /// A round needs as many arrivals as there are members, whoever they come from.
    Summed,
}

/// Why a set cannot be carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SetError {
    /// The counter of this core would exceed 15.
    Overflow(CoreIndex),
    /// Mode 3 does not exist.
    UnknownMode(u32),
    /// An in-block flag without a partner: the id, and whether the id itself is out of range.
    InBlockId(u32),
}

/// Raised flags that have not been waited for.
#[derive(Debug, Default, Clone)]
struct Counter {
    raised: VecDeque<Moment>,
}

/// Arrivals of the members of one group at one flag.
#[derive(Debug, Default, Clone)]
struct Round {
    /// Per member, in the order of the group.
    pending: Vec<VecDeque<Moment>>,
    /// Members with something pending.
    arrived: usize,
    /// Under summed arrivals: everything, in order.
    summed: VecDeque<(CoreIndex, Moment)>,
}

/// The flags of all cores of a launch.
#[derive(Debug, Clone)]
pub(crate) struct FlagBank {
    topology: Topology,
    arrivals: Arrivals,
    counters: Vec<[Counter; FLAG_COUNT]>,
    in_block: Vec<Vec<Counter>>,
    /// Groups: all AICs, all AIVs, the AIVs of block b among themselves, the AIVs of block b towards their AIC.
    rounds: Vec<[Round; FLAG_COUNT]>,
    /// Sets that no core can ever receive: (core, flag).
    lost: Vec<(CoreIndex, u32)>,
    /// Cores whose counters rose in the last call.
    gained: Vec<CoreIndex>,
    /// Flags by which cube cores answer the messages of one vector core, though both of a block receive them: what is too
    /// many for the other one is nobody's mistake. Counters start again behind their end.
    answers: [bool; FLAG_COUNT],
}

#[derive(Debug, Clone, Copy)]
enum Group {
    AllCubes,
    AllVectors,
    BlockVectors(u32),
    BlockVectorsToCube(u32),
}

impl Group {
    fn index(self, topology: &Topology) -> usize {
        match self {
            Self::AllCubes => 0,
            Self::AllVectors => 1,
            Self::BlockVectors(block) => 2 + block as usize,
            Self::BlockVectorsToCube(block) => 2 + (topology.blocks + block) as usize,
        }
    }

    fn members(self, topology: &Topology) -> std::ops::Range<CoreIndex> {
        match self {
            Self::AllCubes => topology.of_kind(CoreKind::Aic),
            Self::AllVectors => topology.of_kind(CoreKind::Aiv),
            Self::BlockVectors(block) | Self::BlockVectorsToCube(block) => topology.vectors_of(block),
        }
    }

    fn receivers(self, topology: &Topology) -> std::ops::Range<CoreIndex> {
        match self {
            Self::AllCubes | Self::AllVectors | Self::BlockVectors(_) => self.members(topology),
            Self::BlockVectorsToCube(block) => topology.cube_of(block).map_or(0..0, |cube| cube..cube + 1),
        }
    }

    fn all(topology: &Topology) -> impl Iterator<Item = Self> + use<> {
        let blocks = topology.blocks;
        [Self::AllCubes, Self::AllVectors]
            .into_iter()
            .chain((0..blocks).map(Self::BlockVectors))
            .chain((0..blocks).map(Self::BlockVectorsToCube))
    }
}

impl FlagBank {
    /// All counters 0, nothing pending.
    pub(crate) fn new(topology: &Topology, arrivals: Arrivals) -> Self {
        let cores = topology.core_count();
        let rounds = Group::all(topology)
            .map(|group| {
                let members = group.members(topology).len();
                std::array::from_fn(|_| Round { pending: vec![VecDeque::new(); members], ..Round::default() })
            })
            .collect();
        Self {
            topology: topology.clone(),
            arrivals,
            counters: vec![Default::default(); cores],
            in_block: vec![vec![Counter::default(); IN_BLOCK_COUNT]; cores],
            rounds,
            lost: Vec::new(),
            gained: Vec::new(),
            answers: [false; FLAG_COUNT],
        }
    }

    /// From now on `flag` answers messages.
    pub(crate) fn answers_messages(&mut self, flag: u32) {
        self.answers[flag as usize] = true;
    }

    /// Core `core` raises `flag` in `mode`. Returns the cores whose counter rose.
    pub(crate) fn set(
        &mut self,
        core: CoreIndex,
        mode: u32,
        flag: u32,
        now: &Moment,
    ) -> Result<&[CoreIndex], SetError> {
        self.gained.clear();
        let place = self.topology.place(core);
        let group = match (mode, place.kind) {
            (0, CoreKind::Aic) => Group::AllCubes,
            (0, CoreKind::Aiv) => Group::AllVectors,
            (1, _) => Group::BlockVectors(place.block),
            (2, CoreKind::Aiv) => Group::BlockVectorsToCube(place.block),
            (2, CoreKind::Aic) => {
                let receivers = self.topology.vectors_of(place.block);
                if receivers.is_empty() {
                    self.lost.push((core, flag));
                }
                self.raise(receivers, flag, now)?;
                return Ok(&self.gained);
            }
            (unknown, _) => return Err(SetError::UnknownMode(unknown)),
        };
        let members = group.members(&self.topology);
        if !members.contains(&core) || group.receivers(&self.topology).is_empty() {
            self.lost.push((core, flag));
            return Ok(&self.gained);
        }
        let round = &mut self.rounds[group.index(&self.topology)][flag as usize];
        let joined = match self.arrivals {
            Arrivals::PerCore => {
                let own = &mut round.pending[core - members.start];
                round.arrived += usize::from(own.is_empty());
                own.push_back(Rc::clone(now));
                if round.arrived < members.len() {
                    return Ok(&self.gained);
                }
                let joined = join_all(round.pending.iter_mut().filter_map(VecDeque::pop_front));
                round.arrived = round.pending.iter().filter(|pending| !pending.is_empty()).count();
                joined
            }
            Arrivals::Summed => {
                round.summed.push_back((core, Rc::clone(now)));
                if round.summed.len() < members.len() {
                    return Ok(&self.gained);
                }
                join_all(round.summed.drain(..members.len()).map(|(_, moment)| moment))
            }
        };
        self.raise(group.receivers(&self.topology), flag, &joined)?;
        Ok(&self.gained)
    }

    fn raise(&mut self, receivers: std::ops::Range<CoreIndex>, flag: u32, now: &Moment) -> Result<(), SetError> {
        for receiver in receivers {
            let counter = &mut self.counters[receiver][flag as usize];
            if counter.raised.len() == COUNTER_LIMIT {
                if !self.answers[flag as usize] {
                    return Err(SetError::Overflow(receiver));
                }
                counter.raised.clear();
                continue;
            }
            counter.raised.push_back(Rc::clone(now));
            self.gained.push(receiver);
        }
        Ok(())
    }

    /// The cores whose counters rose in the last [`FlagBank::set`].
    pub(crate) fn gained(&self) -> &[CoreIndex] {
        &self.gained
    }

    /// Takes one from the counter, with what the sender knew; `None` while it is 0.
    pub(crate) fn take(&mut self, core: CoreIndex, flag: u32) -> Option<Moment> {
        self.counters[core][flag as usize].raised.pop_front()
    }

    /// Value of a counter, for those who compare.
    #[cfg(test)]
    pub(crate) fn value(&self, core: CoreIndex, flag: u32) -> usize {
        self.counters[core][flag as usize].raised.len()
    }

    /// Value of an in-block counter, for those who compare.
    #[cfg(test)]
    pub(crate) fn value_in_block(&self, core: CoreIndex, id: u32) -> usize {
        self.in_block[core].get(id as usize).map_or(0, |counter| counter.raised.len())
    }

    /// Raises an in-block flag (3510). Returns the core whose counter rose.
    pub(crate) fn set_in_block(&mut self, core: CoreIndex, id: u32, now: &Moment) -> Result<CoreIndex, SetError> {
        let (receiver, target) = self.in_block_partner(core, id).ok_or(SetError::InBlockId(id))?;
        let counter = &mut self.in_block[receiver][target as usize];
        if counter.raised.len() == COUNTER_LIMIT {
            return Err(SetError::Overflow(receiver));
        }
        counter.raised.push_back(Rc::clone(now));
        Ok(receiver)
    }

    /// The core and the id that a set of `id` on `core` raises.
    pub(crate) fn in_block_partner(&self, core: CoreIndex, id: u32) -> Option<(CoreIndex, u32)> {
        let place = self.topology.place(core);
        let half = (IN_BLOCK_COUNT / 2) as u32;
        match place.kind {
            CoreKind::Aic => {
                let vector = self.topology.vectors_of(place.block).nth((id / half) as usize)?;
                (id < 2 * half).then_some((vector, id % half))
            }
            CoreKind::Aiv => {
                let cube = self.topology.cube_of(place.block)?;
                (id < half).then_some((cube, id + place.sub_block * half))
            }
        }
    }

    /// Takes one from an in-block counter.
    pub(crate) fn take_in_block(&mut self, core: CoreIndex, id: u32) -> Option<Moment> {
        self.in_block[core].get_mut(id as usize)?.raised.pop_front()
    }

    /// The counters of a core that are not 0: (flag, value). Answers that were for its neighbour do not count.
    pub(crate) fn raised(&self, core: CoreIndex) -> Vec<(u32, usize)> {
        let mut raised = non_zero(&self.counters[core]);
        raised.retain(|(flag, _)| !self.answers[*flag as usize]);
        raised
    }

    /// The in-block counters of a core that are not 0.
    pub(crate) fn raised_in_block(&self, core: CoreIndex) -> Vec<(u32, usize)> {
        non_zero(&self.in_block[core])
    }

    /// Arrivals of a core at rounds that are not complete: (flag, how many).
    pub(crate) fn pending(&self, core: CoreIndex) -> Vec<(u32, usize)> {
        let mut found = Vec::new();
        for group in Group::all(&self.topology) {
            let members = group.members(&self.topology);
            if !members.contains(&core) {
                continue;
            }
            for (flag, round) in self.rounds[group.index(&self.topology)].iter().enumerate() {
                let own = round.pending[core - members.start].len();
                let summed = round.summed.iter().filter(|(from, _)| *from == core).count();
                if own + summed > 0 {
                    found.push((flag as u32, own + summed));
                }
            }
        }
        found.extend(self.lost.iter().filter(|(from, _)| *from == core).map(|(_, flag)| (*flag, 1)));
        found
    }

    /// Cores that would have to set `flag` before `core` can go on, if some others already did.
    pub(crate) fn missing_for(&self, core: CoreIndex, flag: u32) -> Vec<CoreIndex> {
        let mut missing = Vec::new();
        for group in Group::all(&self.topology) {
            if !group.receivers(&self.topology).contains(&core) {
                continue;
            }
            let members = group.members(&self.topology);
            let round = &self.rounds[group.index(&self.topology)][flag as usize];
            let arrived = |member: CoreIndex| {
                !round.pending[member - members.start].is_empty()
                    || round.summed.iter().any(|(from, _)| *from == member)
            };
            if members.clone().any(arrived) {
                missing.extend(members.clone().filter(|&member| !arrived(member)));
            }
        }
        missing
    }
}

fn non_zero(counters: &[Counter]) -> Vec<(u32, usize)> {
    let values = counters.iter().enumerate().map(|(flag, counter)| (flag as u32, counter.raised.len()));
    values.filter(|(_, value)| *value > 0).collect()
}

fn join_all(moments: impl Iterator<Item = Moment>) -> Moment {
    let mut joined: Option<Clock> = None;
    for moment in moments {
        match &mut joined {
            None => joined = Some(Clock::clone(&moment)),
            Some(clock) => clock.join(&moment),
        }
    }
    Rc::new(joined.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::KernelType;
    use proptest::prelude::*;

    fn bank(kernel_type: KernelType, blocks: u32, arrivals: Arrivals) -> FlagBank {
        FlagBank::new(&Topology::new(kernel_type, blocks), arrivals)
    }

    fn set(bank: &mut FlagBank, core: CoreIndex, mode: u32, flag: u32) -> Vec<CoreIndex> {
        bank.set(core, mode, flag, &Moment::default()).unwrap().to_vec()
    }

    #[test]
    fn mode_0_needs_every_core_of_the_kind() {
        let mut bank = bank(KernelType::MixAic1_2, 2, Arrivals::PerCore);
        assert!(set(&mut bank, 0, 0, 11).is_empty());
        assert!(set(&mut bank, 2, 0, 11).is_empty()); // an AIV does not count for the AICs
        assert_eq!(bank.missing_for(0, 11), [1]);
        assert_eq!(set(&mut bank, 1, 0, 11), [0, 1]);
        assert!(bank.take(0, 11).is_some() && bank.take(0, 11).is_none());
    }

    #[test]
    fn mode_2_collects_the_vectors_of_the_block_and_spreads_from_the_cube() {
        let mut bank = bank(KernelType::MixAic1_2, 2, Arrivals::PerCore);
        assert!(set(&mut bank, 4, 2, 12).is_empty());
        assert_eq!(set(&mut bank, 5, 2, 12), [1]);
        assert_eq!(set(&mut bank, 1, 2, 13), [4, 5]);
        let mut single = super::tests::bank(KernelType::MixAic1_1, 2, Arrivals::PerCore);
        assert_eq!(set(&mut single, 3, 2, 12), [1]);
    }

    #[test]
    fn mode_1_stays_inside_the_block() {
        let mut bank = bank(KernelType::MixAic1_2, 2, Arrivals::PerCore);
        assert!(set(&mut bank, 2, 1, 3).is_empty());
        assert!(set(&mut bank, 4, 1, 3).is_empty());
        assert_eq!(set(&mut bank, 3, 1, 3), [2, 3]);
        assert_eq!(bank.pending(4), [(3, 1)]);
    }

    #[test]
    fn mode_2_without_a_partner_is_lost() {
        let mut cubes = bank(KernelType::MixAic1_0, 2, Arrivals::PerCore);
        assert!(set(&mut cubes, 0, 2, 13).is_empty());
        assert_eq!(cubes.pending(0), [(13, 1)]);
        let mut vectors = bank(KernelType::MixAiv1_0, 2, Arrivals::PerCore);
        assert!(set(&mut vectors, 1, 2, 12).is_empty());
        assert_eq!(vectors.pending(1), [(12, 1)]);
    }

    #[test]
    fn a_sixteenth_set_overflows() {
        let mut bank = bank(KernelType::MixAic1_1, 1, Arrivals::PerCore);
        for _ in 0..COUNTER_LIMIT {
            assert_eq!(set(&mut bank, 0, 2, 13), [1]);
        }
        assert_eq!(bank.set(0, 2, 13, &Moment::default()), Err(SetError::Overflow(1)));
    }

    #[test]
    fn answers_to_messages_start_again() {
        let mut bank = bank(KernelType::MixAic1_2, 1, Arrivals::PerCore);
        bank.answers_messages(3);
        for _ in 0..15 {
            set(&mut bank, 0, 2, 3);
            assert!(bank.take(1, 3).is_some());
        }
        assert_eq!(set(&mut bank, 0, 2, 3), [1]);
        assert_eq!((bank.raised(1), bank.raised(2)), (vec![], vec![]));
        assert!(bank.take(2, 3).is_none());
    }

    #[test]
    fn summed_arrivals_let_one_core_stand_in_for_another() {
        let mut per_core = bank(KernelType::MixAiv1_0, 2, Arrivals::PerCore);
        let mut summed = bank(KernelType::MixAiv1_0, 2, Arrivals::Summed);
        for bank in [&mut per_core, &mut summed] {
            assert!(set(bank, 0, 0, 14).is_empty());
        }
        assert!(set(&mut per_core, 0, 0, 14).is_empty());
        assert_eq!(set(&mut summed, 0, 0, 14), [0, 1]);
    }

    #[test]
    fn in_block_flags_pair_by_sub_block() {
        let mut bank = bank(KernelType::MixAic1_2, 1, Arrivals::PerCore);
        let now = Moment::default();
        assert_eq!(bank.set_in_block(0, 13, &now), Ok(1));
        assert_eq!(bank.set_in_block(0, 29, &now), Ok(2));
        assert_eq!(bank.set_in_block(2, 12, &now), Ok(0));
        assert_eq!(bank.raised_in_block(0), [(28, 1)]);
        assert!(bank.take_in_block(2, 13).is_some());
        assert_eq!(bank.set_in_block(1, 16, &now), Err(SetError::InBlockId(16)));
    }

    proptest! {
        /// Whatever the order of arrivals, k full rounds raise every counter k times and leave nothing behind.
        #[test]
        fn full_rounds_balance(order in Just((0..12usize).collect::<Vec<_>>()).prop_shuffle(), summed: bool) {
            let arrivals = if summed { Arrivals::Summed } else { Arrivals::PerCore };
            let mut bank = bank(KernelType::MixAiv1_0, 4, arrivals);
            for step in order {
                bank.set(step % 4, 0, 14, &Moment::default()).unwrap();
            }
            for core in 0..4 {
                prop_assert_eq!(bank.raised(core), vec![(14, 3)]);
                prop_assert!(bank.pending(core).is_empty());
            }
        }
    }
}
