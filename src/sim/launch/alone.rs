//! One run at a time in a process: hooks and signal handlers find it through globals.

use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::sim::interface::error::SimError;

/// The launches of one process.
struct Launches {
    process: u32,
    lock: Mutex<()>,
    /// A launch has begun and not ended.
    busy: AtomicBool,
}

/// Of this process, or of the one it was forked from.
static LAUNCHES: AtomicPtr<Launches> = AtomicPtr::new(std::ptr::null_mut());

/// As long as it lives nobody else launches.
pub(super) struct Alone(&'static Launches, #[expect(dead_code, reason = "held")] MutexGuard<'static, ()>);

impl Alone {
    /// Waits for it. A process that was forked in the middle of a launch has half of that one in its memory, and nobody
    /// who would end it.
    pub(super) fn take(kernel: &str) -> Result<Self, SimError> {
        loop {
            let found = LAUNCHES.load(Ordering::Acquire);
            // SAFETY: null, or a box that was leaked below and is never freed.
            match unsafe { found.as_ref() } {
                Some(turns) if turns.process == std::process::id() => {
                    let guard = turns.lock.lock().unwrap_or_else(PoisonError::into_inner);
                    turns.busy.store(true, Ordering::Release);
                    return Ok(Self(turns, guard));
                }
                Some(parents) if parents.busy.load(Ordering::Acquire) => {
                    return Err(SimError::ForkedInLaunch { kernel: kernel.to_owned() });
                }
                Some(_) | None => {
                    let own =
                        Launches { process: std::process::id(), lock: Mutex::new(()), busy: AtomicBool::new(false) };
                    let own = Box::into_raw(Box::new(own));
                    if LAUNCHES.compare_exchange(found, own, Ordering::AcqRel, Ordering::Acquire).is_err() {
                        // SAFETY: made above, and nobody else has seen it.
                        drop(unsafe { Box::from_raw(own) });
                    }
                }
            }
        }
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        self.0.busy.store(false, Ordering::Release);
    }
}
