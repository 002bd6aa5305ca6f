//! Which instructions of a core have ended, as far as somebody knows.

use crate::aicore::Pipe;

/// One instruction: the how manyth of its pipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    /// Its pipe.
    pub pipe: Pipe,
    /// Counted from 1.
    pub number: u64,
}

/// How many instructions of every pipe have ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct PipeClock([u64; Pipe::COUNT]);

impl PipeClock {
    /// So many of each.
    pub(crate) fn all(ended: [u64; Pipe::COUNT]) -> Self {
        Self(ended)
    }

    /// Has this instruction ended?
    pub(crate) fn knows(&self, stamp: Stamp) -> bool {
        self.0[stamp.pipe.index()] >= stamp.number
    }

    /// How many of a pipe.
    pub(crate) fn of(&self, pipe: Pipe) -> u64 {
        self.0[pipe.index()]
    }

    /// All of a pipe until this instruction have ended, too.
    pub(crate) fn reach(&mut self, stamp: Stamp) {
        let known = &mut self.0[stamp.pipe.index()];
        *known = (*known).max(stamp.number);
    }

    /// The same, and all of a pipe until this instruction.
    pub(crate) fn through(mut self, stamp: Stamp) -> Self {
        self.reach(stamp);
        self
    }

    /// Hears of all that another one knows.
    pub(crate) fn join(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine = (*mine).max(*theirs);
        }
    }

    /// Hears of all but the scalar unit's own accesses: issuing an instruction does not wait for them.
    pub(crate) fn join_issued(&mut self, scalar: &Self) {
        let own = self.0[Pipe::S.index()];
        self.join(scalar);
        self.0[Pipe::S.index()] = own;
    }
}
