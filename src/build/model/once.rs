//! One build per kernel of a process, however many ask for it at the same time.
//!
//! | state of the kernel | a new request |
//! |---|---|
//! | absent | builds it; the kernel is *running* meanwhile |
//! | running | waits, and shares the outcome of the build that runs |
//! | finished, this round | shares it; a failure is not kept, the next request builds again |
//! | finished, earlier round | builds it again, which finds out whether it is still what its inputs make |
//! | running, given up | builds it: its caller was interrupted |
//! | other content, same round or running | is refused: two kernels of one model cannot have one name |

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use crate::cancel::{Cancel, Cancelled};

/// Finished kernels that are remembered.
const LIMIT: usize = 4096;
/// Longest pause between two looks at a request to stop.
const POLL: Duration = Duration::from_millis(20);

/// Finished and running kernels by name; `F` is why a build failed.
#[derive(Debug)]
pub struct Kernels<F> {
    limit: usize,
    entries: Mutex<Entries<F>>,
    ended: Condvar,
}

#[derive(Debug)]
struct Entries<F> {
    by_name: HashMap<String, Arc<Entry<F>>>,
    /// In the order they were begun; a name that was begun again stands here twice.
    begun: VecDeque<String>,
}

/// One build of a kernel.
#[derive(Debug)]
pub(super) struct Entry<F> {
    content: String,
    round: Round,
    outcome: OnceLock<Ended<F>>,
}

/// What became of a build that others waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ended<F> {
    /// The kernel is there.
    Built,
    /// It failed.
    Failed(F),
    /// Nobody finished it.
    GivenUp,
}

/// The build of a model: within one, files do not change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Round(u64);

impl Round {
    pub(super) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// What a request has to do.
#[derive(Debug)]
pub(super) enum Claim<'a, F> {
    /// Build the kernel.
    Mine(Owned<'a, F>),
    /// Wait for the one who does, or has done.
    Others(Arc<Entry<F>>),
    /// Give up: another kernel has this name.
    Conflict,
}

/// What is known of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KernelState {
    /// Nothing.
    Absent,
    /// It is being built.
    Running,
    /// It was built.
    Finished,
}

impl<F> Default for Kernels<F> {
    fn default() -> Self {
        Self::with_limit(LIMIT)
    }
}

impl<F> Kernels<F> {
    fn with_limit(limit: usize) -> Self {
        let entries = Entries { by_name: HashMap::new(), begun: VecDeque::new() };
        Self { limit, entries: Mutex::new(entries), ended: Condvar::new() }
    }

    /// Makes the caller the builder of a kernel, or names the build to wait for. `content` is what the kernel is made
    /// from, as far as the model says.
    pub(super) fn claim(&self, name: &str, content: &str, round: Round) -> Claim<'_, F> {
        let mut entries = self.lock();
        if let Some(entry) = entries.by_name.get(name) {
            let is_finished = entry.outcome.get().is_some();
            let is_of_now = !is_finished || entry.round == round;
            if is_of_now {
                let is_same = entry.content == content;
                return if is_same { Claim::Others(Arc::clone(entry)) } else { Claim::Conflict };
            }
        }
        let entry = Arc::new(Entry { content: content.to_owned(), round, outcome: OnceLock::new() });
        entries.by_name.insert(name.to_owned(), Arc::clone(&entry));
        entries.begun.push_back(name.to_owned());
        entries.forget_oldest(self.limit);
        Claim::Mine(Owned { kernels: self, name: name.to_owned(), entry })
    }

    /// Waits for somebody else's build.
    pub(super) fn wait(&self, entry: &Entry<F>, cancel: &Cancel) -> Result<Ended<F>, Cancelled>
    where
        F: Clone,
    {
        let mut entries = self.lock();
        loop {
            if let Some(outcome) = entry.outcome.get() {
                return Ok(outcome.clone());
            }
            cancel.check()?;
            entries = self.ended.wait_timeout(entries, POLL).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// What is known of a kernel.
    pub fn state(&self, name: &str) -> KernelState {
        match self.lock().by_name.get(name).map(|entry| entry.outcome.get().is_some()) {
            None => KernelState::Absent,
            Some(false) => KernelState::Running,
            Some(true) => KernelState::Finished,
        }
    }

    /// Forgets everything; builds that run go on for those who wait for them.
    pub fn clear(&self) {
        let mut entries = self.lock();
        entries.by_name.clear();
        entries.begun.clear();
    }

    /// Every change is one step: whoever panics while holding it leaves it whole.
    fn lock(&self) -> MutexGuard<'_, Entries<F>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<F> Entries<F> {
    /// The oldest finished ones beyond the limit.
    fn forget_oldest(&mut self, limit: usize) {
        let mut running = VecDeque::new();
        while self.by_name.len() > limit {
            let Some(name) = self.begun.pop_front() else { break };
            let is_finished = self.by_name.get(&name).map(|entry| entry.outcome.get().is_some());
            match is_finished {
                Some(true) => drop(self.by_name.remove(&name)),
                Some(false) => running.push_back(name),
                None => {}
            }
        }
        running.append(&mut self.begun);
        self.begun = running;
    }
}

/// The right and the duty to build a kernel; dropped without an end, the build is given up.
#[derive(Debug)]
pub(super) struct Owned<'a, F> {
    kernels: &'a Kernels<F>,
    name: String,
    entry: Arc<Entry<F>>,
}

impl<F> Owned<'_, F> {
    /// The build has ended.
    pub(super) fn end(self, ended: Ended<F>) {
        self.mark(ended);
    }

    /// One step for everybody who looks: the outcome is there, and nothing that failed is kept.
    fn mark(&self, ended: Ended<F>) {
        let mut entries = self.kernels.lock();
        let keeps = matches!(ended, Ended::Built);
        // Set already: this is the drop behind an end.
        if self.entry.outcome.set(ended).is_err() {
            return;
        }
        if !keeps && entries.by_name.get(&self.name).is_some_and(|entry| Arc::ptr_eq(entry, &self.entry)) {
            entries.by_name.remove(&self.name);
        }
        drop(entries);
        self.kernels.ended.notify_all();
    }
}

impl<F> Drop for Owned<'_, F> {
    fn drop(&mut self) {
        self.mark(Ended::GivenUp);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Test = Kernels<&'static str>;

    fn mine<'a>(kernels: &'a Test, name: &str, content: &str, round: Round) -> Owned<'a, &'static str> {
        match kernels.claim(name, content, round) {
            Claim::Mine(mine) => mine,
            other @ (Claim::Others(_) | Claim::Conflict) => panic!("{other:?}"),
        }
    }

    fn others(kernels: &Test, name: &str, content: &str, round: Round) -> Arc<Entry<&'static str>> {
        match kernels.claim(name, content, round) {
            Claim::Others(entry) => entry,
            other @ (Claim::Mine(_) | Claim::Conflict) => panic!("{other:?}"),
        }
    }

    #[test]
    fn absent_builds_and_finished_answers_at_once() {
        let (kernels, round) = (Test::default(), Round::new());
        assert_eq!(kernels.state("k"), KernelState::Absent);
        let first = mine(&kernels, "k", "content", round);
        assert_eq!(kernels.state("k"), KernelState::Running);
        first.end(Ended::Built);
        assert_eq!(kernels.state("k"), KernelState::Finished);
        let shared = others(&kernels, "k", "content", round);
        assert_eq!(kernels.wait(&shared, &Cancel::new()), Ok(Ended::Built));
    }

    #[test]
    fn running_is_waited_for_and_its_outcome_copied() {
        let (kernels, round) = (Test::default(), Round::new());
        for ended in [Ended::Built, Ended::Failed("disk full"), Ended::GivenUp] {
            let owner = mine(&kernels, "k", "content", round);
            std::thread::scope(|scope| {
                let waiting: Vec<_> = (0..5)
                    .map(|_| {
                        let entry = others(&kernels, "k", "content", round);
                        let kernels = &kernels;
                        scope.spawn(move || kernels.wait(&entry, &Cancel::new()))
                    })
                    .collect();
                if ended == Ended::GivenUp {
                    drop(owner)
                } else {
                    owner.end(ended.clone())
                }
                for waiter in waiting {
                    assert_eq!(waiter.join().unwrap(), Ok(ended.clone()));
                }
            });
            // A failure does not stick.
            let left = if ended == Ended::Built { KernelState::Finished } else { KernelState::Absent };
            assert_eq!(kernels.state("k"), left);
            kernels.clear();
        }
    }

    #[test]
    fn who_waits_can_be_stopped() {
        let (kernels, round, cancel) = (Test::default(), Round::new(), Cancel::new());
        let owner = mine(&kernels, "k", "content", round);
        let entry = others(&kernels, "k", "content", round);
        cancel.cancel();
        assert_eq!(kernels.wait(&entry, &cancel), Err(Cancelled));
        owner.end(Ended::Built);
    }

    #[test]
    fn two_kernels_of_one_name_are_refused() {
        let (kernels, round) = (Test::default(), Round::new());
        let owner = mine(&kernels, "k", "one", round);
        // While it is being built, whoever asks.
        assert!(matches!(kernels.claim("k", "two", Round::new()), Claim::Conflict));
        owner.end(Ended::Built);
        assert!(matches!(kernels.claim("k", "two", round), Claim::Conflict));
    }

    #[test]
    fn a_later_round_asks_again() {
        let kernels = Test::default();
        mine(&kernels, "k", "content", Round::new()).end(Ended::Built);
        let round = Round::new();
        mine(&kernels, "k", "content", round).end(Ended::Built);
        others(&kernels, "k", "content", round);
        // An earlier round may have had other content.
        mine(&kernels, "k", "other", Round::new()).end(Ended::Built);
    }

    #[test]
    fn the_oldest_finished_ones_are_forgotten() {
        let (kernels, round) = (Test::with_limit(3), Round::new());
        let running = mine(&kernels, "running", "content", round);
        for name in ["a", "b", "c", "d", "e"] {
            mine(&kernels, name, "content", round).end(Ended::Built);
        }
        let states = ["a", "b", "c", "d", "e"].map(|name| kernels.state(name) == KernelState::Finished);
        assert_eq!(states, [false, false, false, true, true]);
        assert_eq!(kernels.state("running"), KernelState::Running);
        running.end(Ended::Built);
    }
}
