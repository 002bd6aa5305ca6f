//! What each pipe of a core knows to have ended: vector clocks inside a core.
//!
//! The scalar unit issues in program order and does not wait; a pipe starts its instructions in order, and nothing else
//! is known about when they end, unless a flag, a barrier or a queue tells.

use std::collections::{HashMap, VecDeque};

use crate::aicore::Pipe;
use crate::sim::machine::event::{AutoSync, Flag};
use crate::sim::machine::pipe_clock::{PipeClock, Stamp};

/// The pipes that automatic synchronisation orders with the scalar unit.
const AUTOMATIC: [Pipe; 3] = [Pipe::V, Pipe::Mte2, Pipe::Mte3];

/// The pipes of one core.
#[derive(Debug)]
pub(crate) struct PipeOrder {
    auto: AutoSync,
    /// Instructions issued so far.
    issued: [u64; Pipe::COUNT],
    /// What the next instruction of a pipe starts after.
    known: [PipeClock; Pipe::COUNT],
    raised: HashMap<Flag, VecDeque<PipeClock>>,
}

impl PipeOrder {
    /// Nothing has been issued.
    pub(crate) fn new(auto: AutoSync) -> Self {
        Self { auto, issued: [0; Pipe::COUNT], known: [PipeClock::default(); Pipe::COUNT], raised: HashMap::new() }
    }

    /// An instruction is issued: its stamp, and what has ended when it starts.
    pub(crate) fn issue(&mut self, pipe: Pipe) -> (Stamp, PipeClock) {
        self.hears_scalar(pipe);
        if pipe == Pipe::V && self.auto == AutoSync::On {
            self.barrier(Pipe::V);
        }
        self.next(pipe)
    }

    /// An access of the scalar unit; `tensor`: by a call on a tensor, which automatic synchronisation sees.
    pub(crate) fn scalar(&mut self, tensor: bool) -> (Stamp, PipeClock) {
        let automatic = tensor && self.auto == AutoSync::On;
        if automatic {
            self.scalar_waits_for_pipes();
        }
        let (stamp, mut clock) = self.next(Pipe::S);
        // The scalar unit sees its own accesses in order.
        clock.reach(stamp);
        self.known[Pipe::S.index()] = clock;
        if automatic {
            for pipe in AUTOMATIC {
                self.known[pipe.index()].join(&clock);
            }
        }
        (stamp, clock)
    }

    /// A register that the vector unit leaves something in is read.
    pub(crate) fn scalar_reads_result(&mut self) {
        if self.auto == AutoSync::On {
            self.scalar_waits_for_pipes();
        }
    }

    /// Everything of `pipe` has ended before its next instruction starts.
    pub(crate) fn barrier(&mut self, pipe: Pipe) {
        self.hears_scalar(pipe);
        let latest = self.latest(pipe);
        self.known[pipe.index()].reach(latest);
    }

    /// Everything has ended.
    pub(crate) fn barrier_all(&mut self) {
        self.known = [PipeClock::all(self.issued); Pipe::COUNT];
    }

    /// `source` raises a flag once all it was given so far has ended; says how often it is raised now.
    pub(crate) fn set(&mut self, source: Pipe, flag: Flag) -> usize {
        let clock = self.ended(source);
        let raised = self.raised.entry(flag).or_default();
        raised.push_back(clock);
        raised.len()
    }

    /// `target` goes on when the flag is raised, and lowers it.
    pub(crate) fn wait(&mut self, target: Pipe, flag: Flag) {
        if let Some(clock) = self.raised.get_mut(&flag).and_then(VecDeque::pop_front) {
            self.known[target.index()].join(&clock);
        }
    }

    /// The next instruction of `pipe` starts when all of this has ended.
    pub(crate) fn starts_after(&mut self, pipe: Pipe, ended: &PipeClock) {
        self.known[pipe.index()].join(ended);
    }

    /// What the scalar unit knows to have ended: what it may tell other cores by a word.
    pub(crate) fn known_to_scalar(&self) -> PipeClock {
        self.known[Pipe::S.index()]
    }

    /// Another core answered: so much of the pipe must have ended.
    pub(crate) fn hear(&mut self, pipe: Pipe, number: u64) {
        self.known[Pipe::S.index()].reach(Stamp { pipe, number });
    }

    /// All accesses of the scalar unit have ended, whatever pipe goes on.
    pub(crate) fn scalar_is_over(&mut self) {
        let latest = self.latest(Pipe::S);
        for known in &mut self.known {
            known.reach(latest);
        }
    }

    /// What is over when all of `pipe` so far is: what a flag for other cores tells, which is raised behind its work.
    pub(crate) fn ended(&mut self, pipe: Pipe) -> PipeClock {
        self.hears_scalar(pipe);
        let mut clock = self.known[pipe.index()];
        clock.reach(self.latest(pipe));
        clock
    }

    /// The instruction of a pipe that was issued last.
    fn latest(&self, pipe: Pipe) -> Stamp {
        Stamp { pipe, number: self.issued[pipe.index()] }
    }

    fn next(&mut self, pipe: Pipe) -> (Stamp, PipeClock) {
        let number = &mut self.issued[pipe.index()];
        *number += 1;
        (Stamp { pipe, number: *number }, self.known[pipe.index()])
    }

    fn hears_scalar(&mut self, pipe: Pipe) {
        if pipe != Pipe::S {
            let scalar = self.known[Pipe::S.index()];
            self.known[pipe.index()].join_issued(&scalar);
        }
    }

    fn scalar_waits_for_pipes(&mut self) {
        for pipe in AUTOMATIC {
            let ended = self.ended(pipe);
            self.known[Pipe::S.index()].join(&ended);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::machine::event::Event;

    #[test]
    fn pipes_know_nothing_of_each_other() {
        let mut order = PipeOrder::new(AutoSync::On);
        let (copy, _) = order.issue(Pipe::Mte2);
        assert!(!order.issue(Pipe::V).1.knows(copy));
        assert!(!order.issue(Pipe::Mte2).1.knows(copy), "not even inside a pipe");
    }

    fn event(source: Pipe, target: Pipe) -> Flag {
        Flag::Event(Event::of_flags(source, target, 0))
    }

    #[test]
    fn flags_barriers_and_waits_of_the_scalar_unit_order() {
        let mut order = PipeOrder::new(AutoSync::Off);
        let (copy, _) = order.issue(Pipe::Mte2);
        let ready = event(Pipe::Mte2, Pipe::V);
        order.set(Pipe::Mte2, ready);
        let (later, _) = order.issue(Pipe::Mte2);
        order.wait(Pipe::V, ready);
        let (sum, clock) = order.issue(Pipe::V);
        assert!(clock.knows(copy) && !clock.knows(later));
        let stop = event(Pipe::V, Pipe::S);
        order.set(Pipe::V, stop);
        order.wait(Pipe::S, stop);
        assert!(order.issue(Pipe::Mte3).1.knows(copy), "the scalar unit issues it behind its wait");
        assert!(order.issue(Pipe::Mte3).1.knows(sum));
        order.barrier(Pipe::Mte2);
        assert!(order.issue(Pipe::Mte2).1.knows(later));
        let (last, _) = order.issue(Pipe::Fix);
        order.barrier_all();
        assert!(order.issue(Pipe::M).1.knows(last));
    }

    #[test]
    fn scalar_accesses_need_flags_unless_they_are_put_in() {
        for auto in [AutoSync::On, AutoSync::Off] {
            let mut order = PipeOrder::new(auto);
            let (store, _) = order.scalar(true);
            assert_eq!(order.issue(Pipe::V).1.knows(store), auto == AutoSync::On);
            let (sum, _) = order.issue(Pipe::V);
            assert_eq!(order.scalar(true).1.knows(sum), auto == AutoSync::On);
            let (plain, _) = order.scalar(false);
            assert!(!order.issue(Pipe::Mte2).1.knows(plain), "plain pointers are nobody's business");
        }
    }

    #[test]
    fn a_flag_for_others_tells_of_the_work_of_its_pipe_and_an_answer_comes_behind_it() {
        let mut order = PipeOrder::new(AutoSync::On);
        let (store, _) = order.issue(Pipe::Mte3);
        assert!(order.ended(Pipe::Mte3).knows(store));
        assert!(!order.ended(Pipe::V).knows(store), "no pipe speaks for another one");
        assert!(!order.known_to_scalar().knows(store), "nor does a word that the scalar unit writes");
        assert!(!order.issue(Pipe::Mte2).1.knows(store));
        order.hear(store.pipe, store.number);
        assert!(order.issue(Pipe::Mte2).1.knows(store));
    }
}
