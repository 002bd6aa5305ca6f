//! Who may run a tool now: never more of them at the same time than were asked for, and of those that wait the one that
//! will take longest first, so that none is left over when the others have ended.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use super::watcher::Watcher;
use crate::cancel::Cancel;

/// Longest pause between two looks at a request to stop.
const POLL: Duration = Duration::from_millis(20);

/// How long a tool will take, compared with others: the bytes it reads will do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Weight(u64);

impl Weight {
    /// Goes in front of all others: what is nearly finished is finished first.
    pub(crate) const LAST_STEP: Self = Self(u64::MAX);

    /// Of a source with so many bytes.
    pub(crate) fn of_source(bytes: usize) -> Self {
        Self(bytes as u64)
    }
}

/// The tools that run, and those that wait for their turn.
#[derive(Debug)]
pub(crate) struct ToolSlots {
    most: usize,
    state: Mutex<State>,
    changed: Condvar,
    /// Kept from the first tool to the last: a watcher for each of them would cost as much as a small tool.
    watcher: OnceLock<Option<Arc<Watcher>>>,
}

#[derive(Debug, Default)]
struct State {
    running: usize,
    /// The heaviest first; of equals the one that came first.
    waiting: BTreeSet<(Reverse<Weight>, u64)>,
    tickets: u64,
}

impl ToolSlots {
    /// At most `most` tools at the same time.
    pub(crate) fn new(most: usize) -> Self {
        Self { most: most.max(1), state: Mutex::default(), changed: Condvar::new(), watcher: OnceLock::new() }
    }

    /// Runs `tool` when it is its turn. A request to stop ends the wait: the tool is told of it, too.
    pub(crate) fn run<T>(&self, weight: Weight, cancel: &Cancel, tool: impl FnOnce() -> T) -> T {
        let _slot = self.wait(weight, cancel);
        self.watcher.get_or_init(Watcher::current);
        tool()
    }

    fn wait(&self, weight: Weight, cancel: &Cancel) -> Slot<'_> {
        let mut state = self.lock();
        let place = (Reverse(weight), state.tickets);
        state.tickets += 1;
        state.waiting.insert(place);
        while !cancel.is_cancelled() && (state.running >= self.most || state.waiting.first() != Some(&place)) {
            state = self.changed.wait_timeout(state, POLL).unwrap_or_else(PoisonError::into_inner).0;
        }
        state.waiting.remove(&place);
        state.running += 1;
        drop(state);
        // There may be a slot left for the next in the row.
        self.changed.notify_all();
        Slot(self)
    }

    /// Nobody panics while holding it, and the counts are right at every moment.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The right to run one tool.
struct Slot<'a>(&'a ToolSlots);

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        self.0.lock().running -= 1;
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn waiting(slots: &ToolSlots) -> usize {
        slots.lock().waiting.len()
    }

    fn until(condition: impl Fn() -> bool) {
        for _ in 0..10_000 {
            if condition() {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        panic!("it never happened");
    }

    #[test]
    fn never_more_than_asked_for_and_the_longest_first() {
        let (slots, cancel) = (ToolSlots::new(1), Cancel::new());
        let (running, order) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        std::thread::scope(|scope| {
            let first = slots.wait(Weight::of_source(1), &cancel);
            for (queued, bytes) in [3, 9, 5, 9].into_iter().enumerate() {
                let (slots, cancel, running, order) = (&slots, &cancel, &running, &order);
                scope.spawn(move || {
                    slots.run(Weight::of_source(bytes), cancel, || {
                        assert_eq!(running.fetch_add(1, Ordering::SeqCst), 0);
                        order.lock().unwrap().push(bytes);
                        std::thread::sleep(Duration::from_millis(2));
                        running.fetch_sub(1, Ordering::SeqCst);
                    });
                });
                until(|| waiting(slots) == queued + 1);
            }
            scope.spawn(|| slots.run(Weight::LAST_STEP, &cancel, || order.lock().unwrap().push(0)));
            until(|| waiting(&slots) == 5);
            drop(first);
        });
        assert_eq!(*order.lock().unwrap(), [0, 9, 9, 5, 3]);
    }

    #[test]
    fn as_many_as_asked_for_run_side_by_side() {
        let (slots, cancel) = (ToolSlots::new(3), Cancel::new());
        let meeting = std::sync::Barrier::new(3);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| slots.run(Weight::of_source(1), &cancel, || meeting.wait()));
            }
        });
    }

    #[test]
    fn a_request_to_stop_ends_the_wait() {
        let (slots, cancel) = (ToolSlots::new(1), Cancel::new());
        let _held = slots.wait(Weight::of_source(1), &cancel);
        cancel.cancel();
        assert!(slots.run(Weight::of_source(1), &cancel, || cancel.is_cancelled()));
    }
}
