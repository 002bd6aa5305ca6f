//! Runs one external program: nothing on its input, output captured, a time limit, and a way to stop it.

use std::ffi::OsString;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use super::error::ToolchainError;
use super::watcher::Watcher;
use crate::cancel::Cancel;
use crate::fs::{self, FileError};

/// Longest pause between two looks at a running program.
const POLL: Duration = Duration::from_millis(20);
/// How long output may lag behind the end of the program. A helper it left behind can hold the pipe open for ever.
const DRAIN: Duration = Duration::from_secs(2);
/// Bytes of output quoted in an error.
const TAIL: usize = 8 * 1024;
/// A command line longer than this goes through a response file: the system's limit is near 2 MiB, environment included.
const LONGEST_LINE: usize = 100_000;

/// A command that ran to its end.
#[derive(Debug, Clone)]
pub(crate) struct Executed {
    /// Ready to paste into a shell.
    pub command_line: String,
    /// Its standard output.
    pub stdout: Vec<u8>,
}

/// A program and how to run it.
#[derive(Debug, Clone)]
pub(crate) struct Command {
    title: String,
    program: PathBuf,
    arguments: Vec<OsString>,
    directory: Option<PathBuf>,
    limit: Option<Duration>,
}

impl Command {
    /// `title` says what is being made, for messages.
    pub(crate) fn new(program: impl Into<PathBuf>, title: impl Into<String>) -> Self {
        Self { title: title.into(), program: program.into(), arguments: Vec::new(), directory: None, limit: None }
    }

    /// Adds one argument.
    pub(crate) fn arg(mut self, argument: impl Into<OsString>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// Adds arguments.
    pub(crate) fn args(mut self, arguments: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// Sets the working directory.
    pub(crate) fn current_dir(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// Sets the time limit; without one the program may run for ever.
    pub(crate) fn limit(mut self, limit: Option<Duration>) -> Self {
        self.limit = limit;
        self
    }

    /// The command as one line for a shell.
    pub(crate) fn line(&self) -> String {
        let words = std::iter::once(self.program.as_os_str()).chain(self.arguments.iter().map(OsString::as_os_str));
        words.map(|word| quote(&word.to_string_lossy())).collect::<Vec<_>>().join(" ")
    }

    /// Moves the arguments into a response file in `directory` when they are too long for the system.
    ///
    /// Only for tools that read `@file` (compilers and linkers do).
    pub(crate) fn shortened(mut self, directory: &Path) -> Result<Self, FileError> {
        let length: usize = self.arguments.iter().map(|argument| argument.len() + 1).sum();
        if length <= LONGEST_LINE {
            return Ok(self);
        }
        // Both core kinds compile at the same time in one directory.
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let path = directory.join(format!("arguments{}.rsp", NUMBER.fetch_add(1, Ordering::Relaxed)));
        let words: Vec<String> = self.arguments.iter().map(|word| response_word(&word.to_string_lossy())).collect();
        fs::write(&path, words.join("\n").as_bytes())?;
        let mut reference = OsString::from("@");
        reference.push(path);
        self.arguments = vec![reference];
        Ok(self)
    }

    /// Runs it to its end, its time limit, or until `cancel` is raised; in the last two cases it is killed together
    /// with every process it started, as it is when this process ends before it.
    pub(crate) fn run(&self, cancel: &Cancel) -> Result<Executed, ToolchainError> {
        if cancel.is_cancelled() {
            return Err(ToolchainError::Cancelled { title: self.title.clone() });
        }
        let started = Instant::now();
        // First: it gets ready while the tool starts.
        let mut watcher = Watcher::start();
        let mut child = self.spawn()?;
        if let Some(watcher) = &mut watcher {
            watcher.guard(child.id());
        }
        let stdout = drain(child.stdout.take());
        let stderr = drain(child.stderr.take());
        let end = self.wait(&mut child, started, cancel);
        drop(watcher);
        let stdout = collect(&stdout);
        let stderr = collect(&stderr);
        match end.map_err(|source| self.start_error(source))? {
            End::Exited(status) if status.success() => Ok(Executed { command_line: self.line(), stdout }),
            End::Exited(status) => Err(ToolchainError::Failed {
                program: self.program.display().to_string(),
                title: self.title.clone(),
                command_line: self.line(),
                status,
                stderr: tail(if stderr.is_empty() { &stdout } else { &stderr }),
            }),
            End::TimedOut(limit) => Err(ToolchainError::TimedOut {
                program: self.program.display().to_string(),
                title: self.title.clone(),
                command_line: self.line(),
                limit,
                stderr: tail(&stderr),
            }),
            End::Cancelled => Err(ToolchainError::Cancelled { title: self.title.clone() }),
        }
    }

    fn spawn(&self) -> Result<Child, ToolchainError> {
        let mut command = std::process::Command::new(&self.program);
        command
            .args(&self.arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // A group of its own: a compiler driver starts further programs, and all of them must end with it.
            .process_group(0);
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        command.spawn().map_err(|source| self.start_error(source))
    }

    fn wait(&self, child: &mut Child, started: Instant, cancel: &Cancel) -> std::io::Result<End> {
        // Short at first: most tools that fail do so at once.
        let mut pause = Duration::from_millis(1);
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(End::Exited(status));
            }
            if cancel.is_cancelled() {
                kill_group(child)?;
                return Ok(End::Cancelled);
            }
            match self.limit {
                Some(limit) if started.elapsed() >= limit => {
                    kill_group(child)?;
                    return Ok(End::TimedOut(limit));
                }
                _ => {}
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(POLL);
        }
    }

    fn start_error(&self, source: std::io::Error) -> ToolchainError {
        ToolchainError::Start {
            program: self.program.display().to_string(),
            title: self.title.clone(),
            command_line: self.line(),
            source,
        }
    }
}

/// How a run ended.
enum End {
    Exited(ExitStatus),
    TimedOut(Duration),
    Cancelled,
}

/// Kills the program and its descendants, then collects it.
fn kill_group(child: &mut Child) -> std::io::Result<()> {
    if let Ok(group) = libc::pid_t::try_from(child.id()) {
        // SAFETY: `kill` takes plain integers. The child leads this group and has not been waited for, so the
        // number cannot belong to anyone else yet. A failure means that nobody is left to kill.
        let _ = unsafe { libc::kill(-group, libc::SIGKILL) };
    }
    child.wait().map(drop)
}

/// Reads a pipe on a thread of its own, so that neither pipe can fill up and block the program.
fn drain(pipe: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    if let Some(mut pipe) = pipe {
        std::thread::spawn(move || {
            let mut piece = [0; 16 * 1024];
            while let Ok(length) = pipe.read(&mut piece) {
                if length == 0 || sender.send(piece[..length].to_vec()).is_err() {
                    break;
                }
            }
        });
    }
    receiver
}

/// Everything the pipe delivered.
fn collect(pieces: &Receiver<Vec<u8>>) -> Vec<u8> {
    let deadline = Instant::now() + DRAIN;
    let mut bytes = Vec::new();
    while let Ok(piece) = pieces.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
        bytes.extend(piece);
    }
    bytes
}

/// The end of a tool's output, on line borders.
fn tail(output: &[u8]) -> String {
    let text = String::from_utf8_lossy(output);
    let text = text.trim_end();
    if text.len() <= TAIL {
        return text.to_owned();
    }
    let mut start = text.len() - TAIL;
    while !text.is_char_boundary(start) {
        start += 1;
    }
    let start = text[start..].find('\n').map_or(start, |newline| start + newline + 1);
    format!("[…]\n{}", &text[start..])
}

/// One word as a shell reads it.
fn quote(word: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_=+./,:@%".contains(letter);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// One word as compilers and linkers read it from a response file.
fn response_word(word: &str) -> String {
    let mut quoted = String::with_capacity(word.len() + 2);
    for letter in word.chars() {
        if letter.is_whitespace() || matches!(letter, '\\' | '"' | '\'') {
            quoted.push('\\');
        }
        quoted.push(letter);
    }
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        Command::new("/bin/sh", "a test").arg("-c").arg(script)
    }

    #[test]
    fn outputs_of_any_size_do_not_block() {
        let script = "i=0; while [ $i -lt 20000 ]; do echo 0123456789; echo 9876543210 >&2; i=$((i+1)); done";
        let done = shell(script).run(&Cancel::new()).unwrap();
        assert_eq!(done.stdout.len(), 11 * 20_000);
    }

    #[test]
    fn input_is_empty_and_directory_is_set() {
        let directory = tempfile::tempdir().unwrap();
        let command = shell("cat; echo word; pwd").current_dir(directory.path());
        let text = String::from_utf8(command.run(&Cancel::new()).unwrap().stdout).unwrap();
        let place = directory.path().canonicalize().unwrap();
        assert_eq!(text, format!("word\n{}\n", place.display()));
    }

    #[test]
    fn a_failure_carries_status_command_and_output() {
        let error = shell("echo broken >&2; exit 3").run(&Cancel::new()).unwrap_err();
        assert_eq!(error.to_string().lines().last(), Some("broken"));
        let ToolchainError::Failed { status, command_line, .. } = error else { panic!("{error}") };
        assert_eq!(status.code(), Some(3));
        assert_eq!(command_line, "/bin/sh -c 'echo broken >&2; exit 3'");
    }

    #[test]
    fn a_missing_program_is_named() {
        let error = Command::new("/nowhere/tool", "a test").run(&Cancel::new()).unwrap_err();
        assert!(matches!(&error, ToolchainError::Start { program, .. } if program == "/nowhere/tool"), "{error}");
    }

    #[test]
    fn the_time_limit_kills_grandchildren_too() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("pid");
        let script = format!("sleep 1000 & echo $! > {}; wait", file.display());
        let error = shell(&script).limit(Some(Duration::from_millis(300))).run(&Cancel::new()).unwrap_err();
        assert!(matches!(error, ToolchainError::TimedOut { .. }), "{error}");
        assert_gone(&file);
    }

    #[test]
    fn cancelling_stops_a_running_program() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("pid");
        let script = format!("sleep 1000 & echo $! > {}.new; mv {}.new {0}; wait", file.display(), file.display());
        let cancel = Cancel::new();
        let other = cancel.clone();
        let seen = file.clone();
        let stopper = std::thread::spawn(move || {
            while !seen.exists() {
                std::thread::sleep(Duration::from_millis(5));
            }
            other.cancel();
        });
        let error = shell(&script).run(&cancel).unwrap_err();
        stopper.join().unwrap();
        assert!(matches!(error, ToolchainError::Cancelled { .. }), "{error}");
        assert_gone(&file);
        assert!(matches!(shell("true").run(&cancel), Err(ToolchainError::Cancelled { .. })));
    }

    /// The process whose number is in `file` is dead (or dead and not yet collected).
    fn assert_gone(file: &Path) {
        let number = std::fs::read_to_string(file).unwrap();
        let alive = || match std::fs::read_to_string(format!("/proc/{}/stat", number.trim())) {
            Ok(line) => !line.rsplit(')').next().unwrap_or_default().trim_start().starts_with('Z'),
            Err(_) => false,
        };
        for _ in 0..200 {
            if !alive() {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("process {number} survived");
    }

    #[test]
    fn long_output_is_cut_at_a_line() {
        let text: String = (0..5000).map(|number| format!("line {number}\n")).collect();
        let tail = tail(text.as_bytes());
        assert!(tail.starts_with("[…]\nline "), "{}", &tail[..40]);
        assert!(tail.ends_with("line 4999"));
        assert!(tail.len() <= TAIL + 8);
    }

    #[test]
    fn long_command_lines_go_through_a_response_file() {
        let directory = tempfile::tempdir().unwrap();
        let words: Vec<String> = (0..20_000).map(|number| format!("a b'{number}\"\\")).collect();
        let short = Command::new("tool", "a test").args(&words[..2]).shortened(directory.path()).unwrap();
        assert_eq!(short.arguments.len(), 2);
        let long = Command::new("tool", "a test").args(&words).shortened(directory.path()).unwrap();
        assert_eq!(long.arguments.len(), 1);
        let stored = std::fs::read_to_string(&long.arguments[0].to_str().unwrap()[1..]).unwrap();
        assert_eq!(stored.lines().next(), Some(r#"a\ b\'0\"\\"#));
    }
}
