//! Reordered mode: pipes really run behind the scalar unit, and a seed decides how far.
//!
//! Every pipe has a queue of what it was given: instructions, flags to raise, flags to wait for. A pipe works off its
//! queue in order; the scalar unit goes on. Where it must wait, pipes go on until it need not.

use std::collections::{HashMap, VecDeque};

use super::access::Site;
use super::event::{AutoSync, Flag};
use super::instructions::Prepared;
use super::random::Random;
use crate::aicore::Pipe;

/// A queue does not grow beyond this: the scalar unit waits for its pipe.
const DEPTH: usize = 32;
/// One in this many instructions, the pipes that are slow change.
const CHANGE: usize = 16;

/// What a pipe was given.
#[derive(Debug)]
pub(crate) enum Entry {
    /// An instruction, and where it was issued.
    Instruction(Box<Prepared>, Site),
    /// Raise a flag.
    Set(Flag),
    /// Go on when a flag is raised, and lower it.
    Wait(Flag),
}

/// What a pipe may do next.
pub(crate) enum Ready {
    /// Execute this.
    Execute(Box<Prepared>, Site),
    /// It did something that is no instruction.
    Done,
    /// It waits for a flag.
    Blocked,
    /// Its queue is empty.
    Idle,
}

/// The queues of one core.
#[derive(Debug)]
pub(crate) struct DelayedPipes {
    auto: AutoSync,
    random: Random,
    queues: [VecDeque<Entry>; Pipe::COUNT],
    raised: HashMap<Flag, u64>,
    /// Buffers given back and not taken again: only then there is something to wait for.
    given_back: HashMap<u64, u64>,
    slow: [bool; Pipe::COUNT],
}

impl DelayedPipes {
    /// Nothing was issued. `seed` decides how far pipes run behind.
    pub(crate) fn new(auto: AutoSync, seed: u64) -> Self {
        Self {
            auto,
            random: Random::new(seed),
            queues: Default::default(),
            raised: HashMap::new(),
            given_back: HashMap::new(),
            slow: [false; Pipe::COUNT],
        }
    }

    /// Gives a pipe something to do. What the scalar unit raises is raised at once.
    pub(crate) fn push(&mut self, pipe: Pipe, entry: Entry) {
        if let (Pipe::S, Entry::Set(flag)) = (pipe, &entry) {
            *self.raised.entry(*flag).or_default() += 1;
        } else {
            self.queues[pipe.index()].push_back(entry);
        }
    }

    /// `FreeTensor`.
    pub(crate) fn give_back(&mut self, buffer: u64, reading: Pipe) {
        *self.given_back.entry(buffer).or_default() += 1;
        self.push(reading, Entry::Set(Flag::Emptied(buffer)));
    }

    /// `AllocTensor`.
    pub(crate) fn take(&mut self, buffer: u64, filling: Pipe) {
        if let Some(times) = self.given_back.get_mut(&buffer).filter(|times| **times > 0) {
            *times -= 1;
            self.push(filling, Entry::Wait(Flag::Emptied(buffer)));
        }
    }

    /// A pipe that shall go on now, by chance or because its queue is full; `None`: the scalar unit goes on.
    pub(crate) fn wander(&mut self) -> Option<Pipe> {
        if let Some(full) = Pipe::ALL.into_iter().find(|pipe| self.queues[pipe.index()].len() > DEPTH) {
            return Some(full);
        }
        if self.random.below(CHANGE) == 0 {
            let bits = self.random.draw();
            self.slow = std::array::from_fn(|pipe| bits >> pipe & 1 != 0);
        }
        let chosen = Pipe::ALL[self.random.below(Pipe::COUNT)];
        let goes = !self.slow[chosen.index()] && !self.queues[chosen.index()].is_empty();
        (goes && self.random.below(2) == 0).then_some(chosen)
    }

    /// All pipes, from any of them on.
    pub(crate) fn shuffled(&mut self) -> [Pipe; Pipe::COUNT] {
        let mut pipes = Pipe::ALL;
        pipes.rotate_left(self.random.below(Pipe::COUNT));
        pipes
    }

    /// The pipes a scalar access to a tensor waits for.
    pub(crate) fn before_scalar(&self) -> &'static [Pipe] {
        match self.auto {
            AutoSync::On => &[Pipe::V, Pipe::Mte2, Pipe::Mte3],
            AutoSync::Off => &[],
        }
    }

    /// Is a flag raised that the scalar unit waits for? Lowers it.
    pub(crate) fn lower(&mut self, flag: Flag) -> bool {
        match self.raised.get_mut(&flag).filter(|times| **times > 0) {
            Some(times) => {
                *times -= 1;
                true
            }
            None => false,
        }
    }

    /// Has a pipe nothing left to do?
    pub(crate) fn is_idle(&self, pipe: Pipe) -> bool {
        self.queues[pipe.index()].is_empty()
    }

    /// The next step of a pipe.
    pub(crate) fn next(&mut self, pipe: Pipe) -> Ready {
        match self.queues[pipe.index()].front() {
            None => return Ready::Idle,
            Some(Entry::Wait(flag)) => {
                let flag = *flag;
                if !self.lower(flag) {
                    return Ready::Blocked;
                }
            }
            Some(Entry::Instruction(..) | Entry::Set(_)) => {}
        }
        match self.queues[pipe.index()].pop_front() {
            Some(Entry::Instruction(prepared, site)) => Ready::Execute(prepared, site),
            Some(Entry::Set(flag)) => {
                *self.raised.entry(flag).or_default() += 1;
                Ready::Done
            }
            Some(Entry::Wait(_)) => Ready::Done,
            None => Ready::Idle,
        }
    }
}
