//! Ends a tool when this process is gone, however it ended.
//!
//! Nobody in a process can act after `SIGKILL` or `_exit`, and a parent-death signal reaches a compiler driver but not the
//! programs it has started. So a tiny shell beside each tool waits on a pipe that the system closes with this process.

use std::io::Write;
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Once;
use std::sync::atomic::{AtomicI32, Ordering};

/// Reads the number of a process group, then a line that says that all is over; without that line the group is killed.
const SCRIPT: &str = "trap '' HUP INT TERM; read group && { read over || kill -s KILL -- \"-$group\"; }";

/// A shell that waits for the end of this process.
#[derive(Debug)]
pub(super) struct Watcher {
    shell: Child,
    /// Until the watch is over.
    pipe: Option<ChildStdin>,
    guards: bool,
    slot: Option<&'static AtomicI32>,
}

impl Watcher {
    /// Starts one; `None` where that is impossible, which is no reason not to run the tool.
    pub(super) fn start() -> Option<Self> {
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
        Some(Self { shell, pipe: Some(pipe), guards: false, slot })
    }

    /// Has the group killed when this process is gone.
    pub(super) fn guard(&mut self, group: u32) {
        if let Some(pipe) = &mut self.pipe {
            self.guards = writeln!(pipe, "{group}").is_ok();
        }
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        if let Some(mut pipe) = self.pipe.take() {
            // The shell ends with a line for each question it has, or with the pipe.
            if self.guards {
                let _ = pipe.write_all(b"over\n");
            }
            if let Some(slot) = self.slot {
                inherited::remove(slot);
            }
        }
        let _ = self.shell.wait();
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
    fn a_closed_pipe_ends_the_group() {
        let mut lost = sleeper();
        let mut shell = Command::new("/bin/sh").arg("-c").arg(SCRIPT).stdin(Stdio::piped()).spawn().unwrap();
        let mut pipe = shell.stdin.take().unwrap();
        writeln!(pipe, "{}", lost.id()).unwrap();
        // As at the end of the process.
        drop(pipe);
        assert!(ends(&mut lost));
        shell.wait().unwrap();
    }

    #[test]
    fn a_watch_that_is_over_ends_nothing() {
        let mut finished = sleeper();
        let mut watcher = Watcher::start().unwrap();
        watcher.guard(finished.id());
        drop(watcher);
        assert!(finished.try_wait().unwrap().is_none());
        finished.kill().unwrap();
        finished.wait().unwrap();
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
