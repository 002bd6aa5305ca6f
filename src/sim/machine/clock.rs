//! Vector clocks: who has heard of whose past.

use std::rc::Rc;

/// One counter per core and per host agent. Empty when order checking is off.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Clock(Vec<u32>);

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
