//! Which core goes on next. Deterministic: the same seed gives the same order.

use crate::sim::interface::request::{PolicySpec, ScheduleSpec};
use crate::sim::machine::random::Random;
use crate::sim::machine::topology::CoreIndex;

/// One in this many picks, a priority of the skewed policy changes.
const SKEW_CHANGE: usize = 48;

/// Cores guessed at before all are looked at.
const GUESSES: usize = 6;

/// Chooses among the cores that can go on.
#[derive(Debug)]
pub(crate) struct Scheduler {
    policy: PolicySpec,
    random: Random,
    last: CoreIndex,
    priorities: Vec<u64>,
    candidates: Vec<CoreIndex>,
}

impl Scheduler {
    /// A scheduler for `cores` cores.
    pub(crate) fn new(spec: &ScheduleSpec, cores: usize) -> Self {
        let mut random = Random::new(spec.seed);
        let priorities = (0..cores).map(|_| random.draw()).collect();
        Self {
            policy: spec.policy,
            random,
            last: cores.saturating_sub(1),
            priorities,
            candidates: Vec::with_capacity(cores),
        }
    }

    /// Must a core stop at every switching point, or only where it blocks or polls?
    ///
    /// Under round robin it makes no difference to what can happen, except that raising a flag lets others go on, so
    /// only sets and polls switch.
    pub(crate) fn switches_at_waits(&self) -> bool {
        self.policy != PolicySpec::RoundRobin
    }

    /// The next core among those for which `can_go` holds.
    pub(crate) fn pick(&mut self, cores: usize, can_go: impl Fn(CoreIndex) -> bool) -> Option<CoreIndex> {
        let chosen = match self.policy {
            PolicySpec::RoundRobin => {
                (self.last + 1..cores).chain(0..=self.last.min(cores.saturating_sub(1))).find(|&core| can_go(core))
            }
            PolicySpec::Random => 'chosen: {
                // Guessing is as fair as counting, and faster while many can go on.
                for _ in 0..GUESSES {
                    let guess = self.random.below(cores);
                    if can_go(guess) {
                        break 'chosen Some(guess);
                    }
                }
                self.candidates.clear();
                self.candidates.extend((0..cores).filter(|&core| can_go(core)));
                (!self.candidates.is_empty()).then(|| self.candidates[self.random.below(self.candidates.len())])
            }
            PolicySpec::Skewed => {
                if self.random.below(SKEW_CHANGE) == 0 {
                    self.priorities[self.last] = self.random.draw();
                }
                (0..cores).filter(|&core| can_go(core)).max_by_key(|&core| self.priorities[core])
            }
        }?;
        self.last = chosen;
        Some(chosen)
    }

    /// Puts a core behind all others: it spins without getting anywhere.
    pub(crate) fn step_back(&mut self, core: CoreIndex) {
        self.priorities[core] = self.random.draw() >> 32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(policy: PolicySpec, seed: u64) -> Vec<CoreIndex> {
        let mut scheduler = Scheduler::new(&ScheduleSpec { policy, seed }, 5);
        (0..40).map(|_| scheduler.pick(5, |core| core != 3).unwrap()).collect()
    }

    #[test]
    fn round_robin_goes_around() {
        assert_eq!(order(PolicySpec::RoundRobin, 0)[..6], [0, 1, 2, 4, 0, 1]);
    }

    #[test]
    fn seeds_repeat_and_differ() {
        for policy in [PolicySpec::Random, PolicySpec::Skewed] {
            assert_eq!(order(policy, 7), order(policy, 7));
            assert_ne!(order(policy, 7), order(policy, 8));
            assert!(order(policy, 7).iter().all(|&core| core != 3));
        }
    }

    #[test]
    fn nobody_can_go() {
        for policy in [PolicySpec::RoundRobin, PolicySpec::Random, PolicySpec::Skewed] {
            assert_eq!(Scheduler::new(&ScheduleSpec { policy, seed: 1 }, 3).pick(3, |_| false), None);
        }
    }
}
