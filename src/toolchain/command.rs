//! Runs one external program: nothing on its input, output captured, a time limit, and a way to stop it.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant, SystemTime};

use super::error::ToolchainError;
use super::job::LinkInput;
use super::output::Output;
use super::places::Places;
use super::watcher::Watcher;
use crate::cancel::Cancel;
use crate::fs::{self, FileError};

/// Longest pause between two looks at a running program.
const POLL: Duration = Duration::from_millis(20);
/// How long output may lag behind the end of the program.
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
    /// When it was started.
    pub began: SystemTime,
    /// How long it ran.
    pub took: Duration,
}

/// A program and how to run it.
#[derive(Debug, Clone)]
pub(crate) struct Command {
    title: String,
    program: PathBuf,
    arguments: Vec<Argument>,
    directory: Option<PathBuf>,
    places: Option<Places>,
    limit: Option<Duration>,
}

/// One argument.
#[derive(Debug, Clone)]
enum Argument {
    /// The same for everybody.
    Text(OsString),
    /// A file by its name in the directory where the program runs.
    File(PathBuf),
    /// An option that has debug information leave out the folder where the program runs; for people, that of this file.
    NoFolder { run: PathBuf, of: PathBuf },
    /// A file with the arguments, and another one with the arguments as people need them.
    Response { run: PathBuf, shown: PathBuf },
}

impl Argument {
    /// As the program gets it.
    fn run(&self) -> OsString {
        match self {
            Self::Text(text) => text.clone(),
            Self::File(path) => path.clone().into_os_string(),
            Self::NoFolder { run, .. } => without_folder(run),
            Self::Response { run, .. } => response(run),
        }
    }

    /// As people can repeat it.
    fn shown(&self, places: Option<&Places>) -> OsString {
        let place = |path: &Path| places.map_or_else(|| path.to_path_buf(), |places| places.of(path));
        match self {
            Self::Text(text) => text.clone(),
            Self::File(path) => place(path).into_os_string(),
            Self::NoFolder { of, .. } => without_folder(place(of).parent().unwrap_or(Path::new(""))),
            Self::Response { shown, .. } => response(&place(shown)),
        }
    }
}

fn without_folder(folder: &Path) -> OsString {
    let mut option = OsString::from("-ffile-prefix-map=");
    option.push(folder);
    option.push("=.");
    option
}

fn response(path: &Path) -> OsString {
    let mut reference = OsString::from("@");
    reference.push(path);
    reference
}

impl Command {
    /// `title` says what is being made, for messages.
    pub(crate) fn new(program: impl Into<PathBuf>, title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            program: program.into(),
            arguments: Vec::new(),
            directory: None,
            places: None,
            limit: None,
        }
    }

    /// Adds one argument.
    pub(crate) fn arg(mut self, argument: impl Into<OsString>) -> Self {
        self.arguments.push(Argument::Text(argument.into()));
        self
    }

    /// Adds arguments.
    pub(crate) fn args(mut self, arguments: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        self.arguments.extend(arguments.into_iter().map(|argument| Argument::Text(argument.into())));
        self
    }

    /// Adds a file, by its name in the directory where the command runs.
    pub(crate) fn file(mut self, path: impl Into<PathBuf>) -> Self {
        self.arguments.push(Argument::File(path.into()));
        self
    }

    /// Has debug information leave out `folder`, in which the program runs on `source`.
    pub(crate) fn without_folder(mut self, folder: &Path, source: &Path) -> Self {
        self.arguments.push(Argument::NoFolder { run: folder.to_path_buf(), of: source.to_path_buf() });
        self
    }

    /// Adds what is to be linked.
    pub(super) fn inputs(self, inputs: &[LinkInput]) -> Self {
        inputs.iter().fold(self, |command, input| match input {
            LinkInput::Object(path) => command.file(path),
            LinkInput::Archive(path) => command.arg("--whole-archive").file(path).arg("--no-whole-archive"),
        })
    }

    /// Sets the working directory.
    pub(crate) fn current_dir(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// Says where its files can be found afterwards, for people who repeat it.
    pub(crate) fn places(mut self, places: &Places) -> Self {
        self.places = Some(places.clone());
        self
    }

    /// Sets the time limit; without one the program may run for ever.
    pub(crate) fn limit(mut self, limit: Option<Duration>) -> Self {
        self.limit = limit;
        self
    }

    /// The command as one line for a shell, wherever that runs.
    pub(crate) fn line(&self) -> String {
        let arguments = self.arguments.iter().map(|argument| argument.shown(self.places.as_ref()));
        shell_line(std::iter::once(self.program.clone().into_os_string()).chain(arguments))
    }

    /// Moves the arguments into a response file in `directory` when they are too long for the system.
    ///
    /// Only for tools that read `@file` (compilers and linkers do).
    pub(crate) fn shortened(mut self, directory: &Path) -> Result<Self, FileError> {
        let length: usize = self.arguments.iter().map(|argument| argument.run().len() + 1).sum();
        if length <= LONGEST_LINE {
            return Ok(self);
        }
        // Both core kinds compile at the same time in one directory.
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let write = |name: &str, words: Vec<OsString>| -> Result<(), FileError> {
            let words: Vec<String> = words.iter().map(|word| response_word(&word.to_string_lossy())).collect();
            fs::write(&directory.join(name), words.join("\n").as_bytes())
        };
        let (run, shown) = (format!("arguments{number}.rsp"), format!("arguments{number}_full_paths.rsp"));
        write(&run, self.arguments.iter().map(Argument::run).collect())?;
        write(&shown, self.arguments.iter().map(|argument| argument.shown(self.places.as_ref())).collect())?;
        self.arguments = vec![Argument::Response { run: directory.join(run), shown: PathBuf::from(shown) }];
        Ok(self)
    }

    /// Runs it to its end, its time limit, or until `cancel` is raised; in the last two cases it is killed together
    /// with every process it started, as it is when this process ends before it.
    pub(crate) fn run(&self, cancel: &Cancel) -> Result<Executed, ToolchainError> {
        if cancel.is_cancelled() {
            return Err(ToolchainError::Cancelled { title: self.title.clone() });
        }
        log::debug!(target: "superkernel.toolchain", "runs: {}", self.line());
        let (began, started) = (SystemTime::now(), Instant::now());
        // First: it gets ready while the tool starts.
        let watcher = Watcher::current();
        let mut child = self.spawn()?;
        let guarded = watcher.as_ref().map(|watcher| watcher.guard(child.id()));
        let mut output = Output::of(&mut child);
        let end = self.wait(&mut child, &mut output, started, cancel);
        let took = started.elapsed();
        drop(guarded);
        let (stdout, stderr) = output.finish(DRAIN);
        match end.map_err(|source| self.start_error(source))? {
            End::Exited(status) if status.success() => Ok(Executed { command_line: self.line(), stdout, began, took }),
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
            .args(self.arguments.iter().map(Argument::run))
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

    fn wait(&self, child: &mut Child, output: &mut Output, started: Instant, cancel: &Cancel) -> std::io::Result<End> {
        // Short at first: a program closes its outputs a moment before it is gone.
        let mut pause = Duration::from_micros(50);
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
            if output.is_closed() {
                std::thread::sleep(pause);
                pause = (pause * 2).min(POLL);
            } else {
                output.wait(POLL);
            }
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

/// The beginning and the end of a tool's output, on line borders: compilers say first what is wrong first, others last.
fn tail(output: &[u8]) -> String {
    let text = String::from_utf8_lossy(output);
    let text = text.trim_end();
    if text.len() <= TAIL {
        return text.to_owned();
    }
    let is_border = |at: &usize| text.is_char_boundary(*at);
    let start = (text.len() - TAIL / 2..text.len()).find(is_border).unwrap_or(text.len());
    let start = text[start..].find('\n').map_or(start, |newline| start + newline + 1);
    let end = (0..TAIL / 2).rev().find(is_border).unwrap_or(0);
    let end = text[..end].rfind('\n').unwrap_or(0);
    format!("{}\n[…]\n{}", &text[..end], &text[start..])
}

/// A command as one line for a shell.
pub(crate) fn shell_line(words: impl IntoIterator<Item = impl AsRef<OsStr>>) -> String {
    words.into_iter().map(|word| quote(&word.as_ref().to_string_lossy())).collect::<Vec<_>>().join(" ")
}

/// One word as a shell reads it.
pub(crate) fn quote(word: &str) -> String {
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
    fn a_command_is_shown_with_the_places_of_its_files() {
        let directory = tempfile::tempdir().unwrap();
        let command = Command::new("/bin/cat", "a test").file("it's.txt").current_dir(directory.path());
        std::fs::write(directory.path().join("it's.txt"), "text").unwrap();
        let command = command.places(&Places::inside("/kept"));
        let done = command.run(&Cancel::new()).unwrap();
        assert_eq!(done.stdout, b"text");
        assert_eq!(done.command_line, r"/bin/cat '/kept/it'\''s.txt'");
        let long = command.args(vec!["word"; 50_000]).shortened(directory.path()).unwrap();
        let shown = long.line();
        let name = shown.strip_prefix("/bin/cat @/kept/").unwrap();
        let words = std::fs::read_to_string(directory.path().join(name)).unwrap();
        assert!(words.starts_with(r"/kept/it\'s.txt"), "{}", &words[..40]);
    }

    #[test]
    fn long_output_is_cut_at_a_line() {
        let text: String = (0..5000).map(|number| format!("line {number}\n")).collect();
        let tail = tail(text.as_bytes());
        assert!(tail.starts_with("line 0\nline 1\n") && tail.contains("\n[…]\nline "), "{}", &tail[..40]);
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
        let stored = std::fs::read_to_string(&long.arguments[0].run().to_str().unwrap()[1..]).unwrap();
        assert_eq!(stored.lines().next(), Some(r#"a\ b\'0\"\\"#));
    }
}
