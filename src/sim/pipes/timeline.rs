//! When instructions would run: a rough model of the pipes in cycles, for timelines and prices.
//!
//! An instruction starts when the scalar unit has issued it, its pipe is free and the flags it waits for are raised. What it
//! takes is a start-up time and a time per byte of its pipe ([`Pipe::price`]).

use std::collections::{HashMap, VecDeque};

use crate::aicore::Pipe;
use crate::sim::machine::event::Flag;

/// Cycles the scalar unit needs to issue one instruction.
const ISSUE: u64 = 2;

/// The pipes of one core, in cycles since its start.
#[derive(Debug, Default)]
pub(crate) struct CoreTime {
    free: [u64; Pipe::COUNT],
    raised: HashMap<Flag, VecDeque<u64>>,
}

impl CoreTime {
    /// An instruction that writes so many bytes: when it starts, and how long it takes.
    pub(crate) fn issue(&mut self, pipe: Pipe, bytes: u64) -> (u64, u64) {
        self.free[Pipe::S.index()] += ISSUE;
        let start = self.free[pipe.index()].max(self.free[Pipe::S.index()]);
        let (start_up, rate) = pipe.price();
        let cycles = start_up + bytes.div_ceil(rate);
        self.free[pipe.index()] = start + cycles;
        (start, cycles)
    }

    /// A flag is raised when `source` is through.
    pub(crate) fn set(&mut self, source: Pipe, flag: Flag) {
        let free = self.free[source.index()].max(self.free[Pipe::S.index()]);
        self.raised.entry(flag).or_default().push_back(free);
    }

    /// `target` goes on when it is raised.
    pub(crate) fn wait(&mut self, target: Pipe, flag: Flag) {
        if let Some(moment) = self.raised.get_mut(&flag).and_then(VecDeque::pop_front) {
            let free = &mut self.free[target.index()];
            *free = (*free).max(moment);
        }
    }

    /// The scalar unit waits for these pipes.
    pub(crate) fn scalar_waits(&mut self, pipes: &[Pipe]) {
        let latest = pipes.iter().map(|pipe| self.free[pipe.index()]).max().unwrap_or(0);
        let free = &mut self.free[Pipe::S.index()];
        *free = (*free).max(latest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::machine::event::Event;

    #[test]
    fn pipes_overlap_unless_a_flag_orders_them() {
        let mut time = CoreTime::default();
        let (copy, took) = time.issue(Pipe::Mte2, 4096);
        let (sum, _) = time.issue(Pipe::V, 4096);
        assert!(sum < copy + took);
        let flag = Flag::Event(Event::of_flags(Pipe::Mte2, Pipe::V, 0));
        time.set(Pipe::Mte2, flag);
        time.wait(Pipe::V, flag);
        let (sum, _) = time.issue(Pipe::V, 4096);
        assert!(sum >= copy + took);
    }
}
