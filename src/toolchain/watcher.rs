//! Ends tools when this process is gone, however it ended.
//!
//! Nobody in a process can act after `SIGKILL` or `_exit`, and a parent-death signal reaches a compiler driver but not the
//! programs it has started. So a tiny shell beside the tools waits on a pipe that the system closes with this process.

use std::io::Write;
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, Mutex, Once, Weak};

/// Reads which process groups begin (`+ 12`) and end (`- 12`); when there is nothing more to read, those that have not
/// ended are killed.
const SCRIPT: &str = "trap '' HUP INT TERM; groups=' '
while read -r what group; do
    case $what in
    +) groups=\"$groups$group \" ;;
    -) groups=\"${groups%% $group *} ${groups#* $group }\" ;;
    esac
done
for group in $groups; do kill -s KILL -- \"-$group\"; done";

/// A shell that waits for the end of this process.
#[derive(Debug)]
pub(super) struct Watcher {
    shell: Child,
    /// Until the watch is over.
    pipe: Option<ChildStdin>,
    /// Whose end it waits for: a fork of that process has no watcher yet.
    process: u32,
    /// Somebody killed the shell.
    gone: AtomicBool,
    slot: Option<&'static AtomicI32>,
}

impl Watcher {
    /// The one that is at work, or a new one: as long as somebody keeps it, all tools have one in common. `None` where
    /// that is impossible, which is no reason not to run the tool.
    pub(super) fn current() -> Option<Arc<Self>> {
        static CURRENT: Mutex<Weak<Watcher>> = Mutex::new(Weak::new());
        Self::shared(&CURRENT)
    }

    fn shared(current: &Mutex<Weak<Self>>) -> Option<Arc<Self>> {
        // Never waits for it: in a fork the thread that holds it may not exist.
        let Ok(mut current) = current.try_lock() else { return Self::start().map(Arc::new) };
        if let Some(watcher) = current.upgrade().filter(|watcher| watcher.is_at_work()) {
            return Some(watcher);
        }
        let watcher = Arc::new(Self::start()?);
        *current = Arc::downgrade(&watcher);
        Some(watcher)
    }

    fn start() -> Option<Self> {
        let mut shell = Command::new("/bin/sh");
        shell.arg("-c").arg(SCRIPT).current_dir("/");
        // In a group of its own: whoever kills ours must not kill the watcher with it.
        shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        let mut shell = match shell.spawn() {
            Ok(shell) => shell,
            Err(error) => {
                log::debug!(target: "superkernel.toolchain", "tools are not watched over: {error}");
                return None;
            }
        };
        let pipe = shell.stdin.take()?;
        let slot = inherited::add(pipe.as_raw_fd());
        Some(Self { shell, pipe: Some(pipe), process: std::process::id(), gone: AtomicBool::new(false), slot })
    }

    fn is_at_work(&self) -> bool {
        self.process == std::process::id() && !self.gone.load(Ordering::Relaxed)
    }

    /// Has the group killed when this process is gone before the guard is dropped.
    pub(super) fn guard(&self, group: u32) -> Guard<'_> {
        self.tell("+", group);
        Guard { watcher: self, group }
    }

    /// In one write, so that lines of several threads do not mix.
    fn tell(&self, what: &str, group: u32) {
        let Some(mut pipe) = self.pipe.as_ref() else { return };
        if let Err(error) = pipe.write_all(format!("{what} {group}\n").as_bytes()) {
            log::debug!(target: "superkernel.toolchain", "tools are not watched over any more: {error}");
            self.gone.store(true, Ordering::Relaxed);
        }
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        // Guards are gone before it is: there is nobody left to end. By itself it would take a while to notice.
        let _ = self.shell.kill();
        drop(self.pipe.take());
        if let Some(slot) = self.slot {
            inherited::remove(slot);
        }
        let _ = self.shell.wait();
    }
}

/// A process group that does not outlive this process.
#[derive(Debug)]
pub(super) struct Guard<'a> {
    watcher: &'a Watcher,
    group: u32,
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.watcher.tell("-", self.group);
    }
}

/// A process that is forked from this one has our ends of the pipes, too, and would keep them open after our end: it
/// closes them at once.
mod inherited {
    use super::{AtomicI32, Once, Ordering};

    const NONE: i32 = -1;
    static PIPES: [AtomicI32; 128] = [const { AtomicI32::new(NONE) }; 128];

    /// Remembers a pipe; `None` when too many are open, which only weakens the guard against forks.
    pub(super) fn add(pipe: i32) -> Option<&'static AtomicI32> {
        static REGISTERED: Once = Once::new();
        REGISTERED.call_once(|| {
            // SAFETY: the handler lives as long as the program, and calls nothing but `close`, which is safe between
            // `fork` and `exec` in a program with threads.
            let _ = unsafe { libc::pthread_atfork(None, None, Some(close_all)) };
        });
        PIPES.iter().find(|slot| slot.compare_exchange(NONE, pipe, Ordering::SeqCst, Ordering::SeqCst).is_ok())
    }

    pub(super) fn remove(slot: &AtomicI32) {
        slot.store(NONE, Ordering::SeqCst);
    }

    unsafe extern "C" fn close_all() {
        for slot in &PIPES {
            let pipe = slot.swap(NONE, Ordering::SeqCst);
            if pipe != NONE {
                // SAFETY: the descriptor was open in the parent when it was put there, and is taken out before it is
                // closed. Its owner in this copy of the process never runs: only the forking thread lives on.
                let _ = unsafe { libc::close(pipe) };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::time::{Duration, Instant};

    use super::*;

    fn sleeper() -> Child {
        Command::new("sleep").arg("1000").process_group(0).spawn().unwrap()
    }

    fn ends(child: &mut Child) -> bool {
        let started = Instant::now();
        while started.elapsed() < Duration::from_secs(10) {
            if child.try_wait().unwrap().is_some() {
                return true;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        false
    }

    #[test]
    fn the_end_of_the_process_ends_the_groups_that_are_left() {
        let mut sleepers = [sleeper(), sleeper(), sleeper(), sleeper()];
        let mut watcher = Watcher::start().unwrap();
        let guards: Vec<Guard<'_>> = sleepers.iter().map(|child| watcher.guard(child.id())).collect();
        // The first, one between others, and the last are over; the one that is left is killed.
        for (number, guard) in guards.into_iter().enumerate() {
            if number == 2 { std::mem::forget(guard) } else { drop(guard) }
        }
        // As at the end of the process.
        drop(watcher.pipe.take());
        assert!(ends(&mut sleepers[2]));
        drop(watcher);
        for number in [0, 1, 3] {
            assert!(sleepers[number].try_wait().unwrap().is_none(), "{number}");
            sleepers[number].kill().unwrap();
            sleepers[number].wait().unwrap();
        }
    }

    #[test]
    fn tools_at_the_same_time_have_one_watcher() {
        let current = Mutex::default();
        let first = Watcher::shared(&current).unwrap();
        assert!(Arc::ptr_eq(&first, &Watcher::shared(&current).unwrap()));
        let _held = current.lock().unwrap();
        assert!(!Arc::ptr_eq(&first, &Watcher::shared(&current).unwrap()));
    }

    #[test]
    fn a_watcher_that_was_killed_has_a_successor() {
        let current = Mutex::default();
        let killed = Watcher::shared(&current).unwrap();
        let shell = libc::pid_t::try_from(killed.shell.id()).unwrap();
        // SAFETY: plain integers, and the number of a child that was not waited for.
        assert_eq!(unsafe { libc::kill(shell, libc::SIGKILL) }, 0);
        let mut tool = sleeper();
        // The pipe breaks as soon as the shell is gone.
        let started = Instant::now();
        while killed.is_at_work() && started.elapsed() < Duration::from_secs(10) {
            drop(killed.guard(tool.id()));
        }
        let successor = Watcher::shared(&current).unwrap();
        assert!(!Arc::ptr_eq(&killed, &successor) && successor.is_at_work());
        tool.kill().unwrap();
        tool.wait().unwrap();
    }

    #[test]
    fn a_forked_process_does_not_keep_the_pipe_open() {
        let watcher = Watcher::start().unwrap();
        let pipe = watcher.pipe.as_ref().unwrap().as_raw_fd();
        let mut answer = [0; 1];
        let (mut reader, writer) = std::io::pipe().unwrap();
        // SAFETY: the child calls nothing but `fcntl`, `write` and `_exit`.
        match unsafe { libc::fork() } {
            // SAFETY: the three may be called after a `fork`; the one byte that is written lives on this stack.
            0 => unsafe {
                let open = u8::from(libc::fcntl(pipe, libc::F_GETFD) != -1);
                libc::write(writer.as_raw_fd(), (&raw const open).cast(), 1);
                libc::_exit(0);
            },
            child => {
                assert!(child > 0);
                reader.read_exact(&mut answer).unwrap();
                // SAFETY: our own child, and no status is asked for.
                unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) };
            }
        }
        assert_eq!(answer, [0]);
        // A watcher without anybody to guard ends, too.
        drop(watcher);
    }
}
