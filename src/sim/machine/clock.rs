//! Vector clocks: who has heard of whose past.

use std::rc::Rc;

use super::pipe_clock::{PipeClock, Stamp};
use super::topology::CoreIndex;
use crate::aicore::Pipe;

/// One counter per party, see [`Parties`]. Empty when nobody asks for order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Clock(Vec<u32>);

/// Whose past is counted apart: cores, agents, and, if pipes are watched, every pipe of every core, which runs behind the
/// scalar unit that issues to it. The scalar unit's party is that of its core.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Parties {
    /// Cores, then agents.
    actors: usize,
    /// Cores whose pipes follow behind the agents; 0 if no pipe is watched.
    piped: usize,
}

/// Pipes of a core beside its scalar unit.
const FOLLOWERS: usize = Pipe::COUNT - 1;

impl Parties {
    /// Of a run that keeps clocks. `piped`: cores whose pipes are watched.
    pub(crate) fn new(actors: usize, piped: usize) -> Self {
        Self { actors, piped }
    }

    /// How many there are.
    pub(crate) fn width(self) -> usize {
        self.actors + self.piped * FOLLOWERS
    }

    /// A pipe of a core.
    pub(crate) fn of(self, core: CoreIndex, pipe: Pipe) -> usize {
        match pipe.index().checked_sub(1) {
            Some(follower) if core < self.piped => self.actors + core * FOLLOWERS + follower,
            Some(_) | None => core,
        }
    }

    /// An instruction of a core whose pipes are watched.
    pub(crate) fn mark(self, core: CoreIndex, stamp: Stamp) -> Mark {
        Mark { party: self.of(core, stamp.pipe), time: counter(stamp.number) }
    }

    /// `clock` hears that so much of a core's pipes has ended.
    pub(crate) fn learn(self, clock: &mut Clock, core: CoreIndex, ended: &PipeClock) {
        if self.piped == 0 {
            return;
        }
        for pipe in Pipe::ALL.into_iter().filter(|pipe| *pipe != Pipe::S) {
            if let Some(known) = clock.0.get_mut(self.of(core, pipe)) {
                *known = (*known).max(counter(ended.of(pipe)));
            }
        }
    }
}

/// Instructions of one run: more than fit are not issued before its limits end it.
fn counter(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Something that happened: whoever knows as much of the party has heard of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    /// Whose counter tells.
    pub party: usize,
    /// What the counter was.
    pub time: u32,
}

/// A clock at one moment, shared by everybody who will hear of it.
pub(crate) type Moment = Rc<Clock>;

impl Clock {
    /// A clock for `width` parties that have not done anything.
    pub(crate) fn new(width: usize) -> Self {
        Self(vec![0; width])
    }

    /// Hears of everything `other` knows.
    pub(crate) fn join(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine = (*mine).max(*theirs);
        }
    }

    /// The latest moment of `party` known here.
    pub(crate) fn of(&self, party: usize) -> u32 {
        self.0.get(party).copied().unwrap_or(0)
    }

    /// Has this been heard of?
    pub(crate) fn knows(&self, mark: Mark) -> bool {
        self.of(mark.party) >= mark.time
    }

    /// Starts a new moment of `party`.
    pub(crate) fn tick(&mut self, party: usize) {
        if let Some(own) = self.0.get_mut(party) {
            *own += 1;
        }
    }

    /// The counters.
    pub(crate) fn counters(&self) -> &[u32] {
        &self.0
    }
}
