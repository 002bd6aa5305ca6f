//! Ends tools when this process is gone, however it ended.
//!
//! Nobody in a process can act after `SIGKILL` or `_exit`, and a parent-death signal reaches a compiler driver but not the
//! programs it has started. So a tiny shell beside the tools waits on a pipe that the system closes with this process.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};

use crate::inherited::OwnFile;

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
    pipe: Option<OwnFile<ChildStdin>>,
    /// Whose end it waits for: a fork of that process has no watcher yet.
    process: u32,
    /// Somebody killed the shell.
    gone: AtomicBool,
}

/// The watcher of this process, and who wants it to stay.
#[derive(Debug)]
struct Watchers(Mutex<Current>);

#[derive(Debug)]
struct Current {
    watcher: Weak<Watcher>,
    /// Those who will run more tools.
    keepers: usize,
    /// The same watcher, as long as there are any.
    kept: Option<Arc<Watcher>>,
}

static WATCHERS: Watchers = Watchers::new();

impl Watchers {
    const fn new() -> Self {
        Self(Mutex::new(Current { watcher: Weak::new(), keepers: 0, kept: None }))
    }

    fn current(&self) -> Option<Arc<Watcher>> {
        // Never waits for it: in a fork the thread that holds it may not exist.
        let Ok(mut current) = self.0.try_lock() else { return Watcher::start().map(Arc::new) };
        if let Some(watcher) = current.watcher.upgrade().filter(|watcher| watcher.is_at_work()) {
            return Some(watcher);
        }
        let watcher = Arc::new(Watcher::start()?);
        current.watcher = Arc::downgrade(&watcher);
        let former = (current.keepers > 0).then(|| current.kept.replace(watcher.clone()));
        // The end of a watcher takes a moment.
        drop(current);
        drop(former);
        Some(watcher)
    }

    fn keep(&'static self) -> Keeper {
        // Without waiting, as above: at worst there is more than one watcher.
        let counted = self.0.try_lock().map(|mut current| current.keepers += 1).is_ok();
        Keeper { watchers: self, process: counted.then(std::process::id) }
    }
}

/// As long as one of these is there, all tools have one watcher in common, started with the first of them.
#[derive(Debug)]
pub(crate) struct Keeper {
    watchers: &'static Watchers,
    /// Where it was counted: a fork of it keeps nothing.
    process: Option<u32>,
}

impl Keeper {
    /// For somebody who will run tools one after the other.
    pub(crate) fn new() -> Self {
        WATCHERS.keep()
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        if self.process != Some(std::process::id()) {
            return;
        }
        let Ok(mut current) = self.watchers.0.lock() else { return };
        current.keepers -= 1;
        let over = if current.keepers == 0 { current.kept.take() } else { None };
        drop(current);
        drop(over);
    }
}

impl Watcher {
    /// The one that is at work, or a new one: tools at the same time have one in common. `None` where that is impossible,
    /// which is no reason not to run the tool.
    pub(super) fn current() -> Option<Arc<Self>> {
        WATCHERS.current()
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
        let pipe = OwnFile::new(shell.stdin.take()?);
        Some(Self { shell, pipe: Some(pipe), process: std::process::id(), gone: AtomicBool::new(false) })
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
        let Some(mut pipe) = self.pipe.as_ref().and_then(OwnFile::get) else { return };
        if let Err(error) = pipe.write_all(format!("{what} {group}\n").as_bytes()) {
            log::debug!(target: "superkernel.toolchain", "tools are not watched over any more: {error}");
            self.gone.store(true, Ordering::Relaxed);
        }
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            // In a fork: the shell is not its child.
            return;
        }
        // Guards are gone before it is: there is nobody left to end. By itself it would take a while to notice.
        let _ = self.shell.kill();
        drop(self.pipe.take());
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

#[cfg(test)]
mod tests {
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

    fn watchers() -> &'static Watchers {
        Box::leak(Box::new(Watchers::new()))
    }

    #[test]
    fn tools_at_the_same_time_have_one_watcher() {
        let watchers = watchers();
        let first = watchers.current().unwrap();
        assert!(Arc::ptr_eq(&first, &watchers.current().unwrap()));
        let _held = watchers.0.lock().unwrap();
        assert!(!Arc::ptr_eq(&first, &watchers.current().unwrap()));
    }

    #[test]
    fn tools_of_one_build_have_one_watcher() {
        let watchers = watchers();
        let keepers = [watchers.keep(), watchers.keep()];
        assert!(watchers.0.lock().unwrap().kept.is_none(), "none is started before it is needed");
        let shell = |_| watchers.current().unwrap().shell.id();
        let shells: Vec<u32> = (0..3).map(shell).collect();
        assert_eq!(shells, [shells[0]; 3], "one tool after the other");
        let [first, second] = keepers;
        drop(first);
        assert_eq!(shell(0), shells[0]);
        drop(second);
        let current = watchers.0.lock().unwrap();
        assert!(current.kept.is_none() && current.watcher.upgrade().is_none(), "and it is gone with the build");
    }

    #[test]
    fn a_watcher_that_was_killed_has_a_successor() {
        let watchers = watchers();
        let killed = watchers.current().unwrap();
        let shell = libc::pid_t::try_from(killed.shell.id()).unwrap();
        // SAFETY: plain integers, and the number of a child that was not waited for.
        assert_eq!(unsafe { libc::kill(shell, libc::SIGKILL) }, 0);
        let mut tool = sleeper();
        // The pipe breaks as soon as the shell is gone.
        let started = Instant::now();
        while killed.is_at_work() && started.elapsed() < Duration::from_secs(10) {
            drop(killed.guard(tool.id()));
        }
        let successor = watchers.current().unwrap();
        assert!(!Arc::ptr_eq(&killed, &successor) && successor.is_at_work());
        tool.kill().unwrap();
        tool.wait().unwrap();
    }

    #[test]
    fn a_forked_process_does_not_keep_the_pipe_open() {
        let watcher = Watcher::start().unwrap();
        let pipe = watcher.pipe.as_ref().and_then(OwnFile::get).unwrap();
        assert!(!crate::inherited::open_in_fork(pipe));
        // A watcher without anybody to guard ends, too.
        drop(watcher);
    }
}
