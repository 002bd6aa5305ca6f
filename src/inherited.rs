//! Open files that stay this process's own.
//!
//! A process that is forked from this one, by whatever thread, has a copy of every open file. It would keep a pipe open
//! and a lock locked after our end, for as long as it lives, so it closes those at once.

use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

const NONE: i32 = -1;
static FILES: [AtomicI32; 128] = [const { AtomicI32::new(NONE) }; 128];

/// An open file that forks of this process close.
#[derive(Debug)]
pub(crate) struct OwnFile<F> {
    slot: Option<&'static AtomicI32>,
    /// Until it is dropped.
    file: Option<F>,
    /// Whose it is.
    process: u32,
}

impl<F: AsRawFd> OwnFile<F> {
    pub(crate) fn new(file: F) -> Self {
        Self { slot: add(file.as_raw_fd()), file: Some(file), process: std::process::id() }
    }
}

impl<F> OwnFile<F> {
    /// Nothing in a fork: the number may belong to another file by now.
    pub(crate) fn get(&self) -> Option<&F> {
        self.file.as_ref().filter(|_| self.process == std::process::id())
    }
}

impl<F> Drop for OwnFile<F> {
    fn drop(&mut self) {
        let file = self.file.take();
        if self.process != std::process::id() {
            std::mem::forget(file);
            return;
        }
        // First of all: as soon as the file is closed, its number may be that of a file of somebody else, which a fork
        // must not close.
        if let Some(slot) = self.slot {
            slot.store(NONE, Ordering::SeqCst);
        }
        drop(file);
    }
}

/// Remembers a file; `None` when too many are open, which only means that forks keep it.
fn add(file: i32) -> Option<&'static AtomicI32> {
    // Nobody waits for who registers: a fork could come between.
    static REGISTERED: AtomicBool = AtomicBool::new(false);
    if !REGISTERED.swap(true, Ordering::SeqCst) {
        // SAFETY: the handler lives as long as the program, and calls nothing but `close`, which is safe between `fork`
        // and `exec` in a program with threads.
        let _ = unsafe { libc::pthread_atfork(None, None, Some(close_all)) };
    }
    FILES.iter().find(|slot| slot.compare_exchange(NONE, file, Ordering::SeqCst, Ordering::SeqCst).is_ok())
}

unsafe extern "C" fn close_all() {
    for slot in &FILES {
        let file = slot.swap(NONE, Ordering::SeqCst);
        if file != NONE {
            // SAFETY: the descriptor was open in the parent when it was put there, and is taken out before it is closed. Its
            // owner leaves it alone in this copy of the process.
            let _ = unsafe { libc::close(file) };
        }
    }
}

/// Whether a process that is forked now has a file open. For tests.
#[cfg(test)]
pub(crate) fn open_in_fork(file: &impl AsRawFd) -> bool {
    let file = file.as_raw_fd();
    // SAFETY: the child calls nothing but `fcntl` and `_exit`, which may be called after a `fork`; the parent waits for its
    // own child.
    unsafe {
        let child = libc::fork();
        if child == 0 {
            libc::_exit(i32::from(libc::fcntl(file, libc::F_GETFD) != -1));
        }
        let mut status = 0;
        assert!(child > 0 && libc::waitpid(child, &raw mut status, 0) == child && libc::WIFEXITED(status));
        libc::WEXITSTATUS(status) == 1
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::{FromRawFd, OwnedFd};

    use super::*;

    #[test]
    fn what_a_fork_would_close_is_open() {
        static OVER: AtomicBool = AtomicBool::new(false);
        let looking = std::thread::spawn(|| {
            let mut wrong = 0;
            while !OVER.load(Ordering::Relaxed) {
                for slot in &FILES {
                    let file = slot.load(Ordering::SeqCst);
                    // SAFETY: asks about a number.
                    let open = file == NONE || unsafe { libc::fcntl(file, libc::F_GETFD) } != -1;
                    wrong += usize::from(!open && slot.load(Ordering::SeqCst) == file);
                }
            }
            wrong
        });
        let null = std::fs::File::open("/dev/null").unwrap();
        for number in 0..40_000 {
            // Each time another number, so that what is remembered late is not open again by chance.
            // SAFETY: a copy of an open file; the new number is ours.
            let copy =
                unsafe { OwnedFd::from_raw_fd(libc::fcntl(null.as_raw_fd(), libc::F_DUPFD, 300 + number % 500)) };
            drop(OwnFile::new(copy));
        }
        OVER.store(true, Ordering::Relaxed);
        assert_eq!(looking.join().unwrap(), 0);
    }

    #[test]
    fn a_fork_has_the_files_of_others_only() {
        let others = std::fs::File::open("/dev/null").unwrap();
        let own = OwnFile::new(std::fs::File::open("/dev/null").unwrap());
        assert!(open_in_fork(&others));
        assert!(!open_in_fork(own.get().unwrap()));
    }
}
