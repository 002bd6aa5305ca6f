//! What a running program writes, read as it comes: its pipes never fill up, and their end tells that it has ended.

use std::fs::File;
use std::io::Read;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::process::Child;
use std::time::{Duration, Instant};

/// Both outputs of a program.
#[derive(Debug)]
pub(super) struct Output {
    stdout: Stream,
    stderr: Stream,
}

#[derive(Debug)]
struct Stream {
    /// Until the other end is closed.
    pipe: Option<File>,
    bytes: Vec<u8>,
}

impl Stream {
    fn of(pipe: Option<impl Into<OwnedFd>>) -> Self {
        Self { pipe: pipe.map(|pipe| File::from(pipe.into())), bytes: Vec::new() }
    }

    /// `-1` after the end, which [`poll`] passes over.
    fn descriptor(&self) -> RawFd {
        self.pipe.as_ref().map_or(-1, AsRawFd::as_raw_fd)
    }

    /// Takes what is there; to be called when there is something, or the other end is closed.
    fn read(&mut self) {
        let mut piece = [0; 16 * 1024];
        let Some(pipe) = &mut self.pipe else { return };
        match pipe.read(&mut piece) {
            Ok(length) if length > 0 => self.bytes.extend_from_slice(&piece[..length]),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Ok(_) | Err(_) => self.pipe = None,
        }
    }
}

impl Output {
    /// Of a program that was just started, with both outputs piped.
    pub(super) fn of(child: &mut Child) -> Self {
        Self { stdout: Stream::of(child.stdout.take()), stderr: Stream::of(child.stderr.take()) }
    }

    /// Has everybody who could write closed both?
    pub(super) fn is_closed(&self) -> bool {
        self.stdout.pipe.is_none() && self.stderr.pipe.is_none()
    }

    /// Waits until something was written or an output was closed, at most so long, and takes what is there.
    pub(super) fn wait(&mut self, longest: Duration) {
        let streams = [&mut self.stdout, &mut self.stderr];
        let ready = poll([streams[0].descriptor(), streams[1].descriptor()], longest);
        for (stream, _) in streams.into_iter().zip(ready).filter(|(_, ready)| *ready) {
            stream.read();
        }
    }

    /// What was written to the standard output and to the error output, waiting at most so long for what is still on
    /// its way: a helper the program left behind can hold its outputs open for ever.
    pub(super) fn finish(mut self, longest: Duration) -> (Vec<u8>, Vec<u8>) {
        let deadline = Instant::now() + longest;
        while !self.is_closed() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            self.wait(left);
        }
        (self.stdout.bytes, self.stderr.bytes)
    }
}

/// Which of these can be read without waiting, after a wait of at most so long for the first of them.
fn poll(descriptors: [RawFd; 2], longest: Duration) -> [bool; 2] {
    let mut asked = descriptors.map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 });
    let milliseconds = libc::c_int::try_from(longest.as_micros().div_ceil(1000)).unwrap_or(libc::c_int::MAX);
    // SAFETY: the pointer is that of an array of two which lives until the call is over; `poll` writes into its items.
    let found = unsafe { libc::poll(asked.as_mut_ptr(), 2, milliseconds) };
    // An interrupted question says nothing about any of them.
    asked.map(|asked| found > 0 && asked.revents != 0)
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    fn start(script: &str) -> (Child, Output) {
        let mut shell = Command::new("/bin/sh");
        let mut child = shell.args(["-c", script]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let output = Output::of(&mut child);
        (child, output)
    }

    #[test]
    fn both_outputs_are_told_apart() {
        let (mut child, output) = start("echo one; echo two >&2");
        assert_eq!(output.finish(Duration::from_secs(60)), (b"one\n".to_vec(), b"two\n".to_vec()));
        child.wait().unwrap();
    }

    #[test]
    fn the_end_of_the_program_ends_a_wait() {
        let (mut child, mut output) = start("sleep 0.05");
        while !output.is_closed() {
            // Would take for ever if nothing but time ended it.
            output.wait(Duration::from_secs(3600));
        }
        child.wait().unwrap();
    }

    #[test]
    fn a_helper_that_holds_the_output_is_not_waited_for() {
        let (mut child, output) = start("echo said; sleep 1000 & echo $!");
        child.wait().unwrap();
        let (stdout, _) = output.finish(Duration::from_millis(50));
        let text = String::from_utf8(stdout).unwrap();
        let helper = text.strip_prefix("said\n").unwrap().trim();
        assert!(Command::new("kill").arg(helper).status().unwrap().success());
    }
}
