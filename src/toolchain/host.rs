//! The machine's own C++ compiler: what it makes runs on the simulator.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use super::command::{Command, Executed};
use super::error::ToolchainError;
use super::identity::ToolIdentity;
use super::job::{CompileJob, CompileUnit, DebugInfo, LinkJob, Optimization};
use super::linking::LinkStep;
use super::{Toolchain, ToolchainKind};
use crate::arguments::arguments;
use crate::cancel::Cancel;
use crate::fs;
use crate::model::{Chip, CoreKind};

/// Compilers in the order they are tried when `CXX` names none.
const COMPILERS: [&str; 3] = ["c++", "g++", "clang++"];

/// Where tools are looked for: the two variables of the environment, as values.
#[derive(Debug, Clone, Default)]
pub struct HostSearch {
    /// `CXX`: a program, perhaps with arguments (`ccache g++`).
    pub cxx: Option<OsString>,
    /// `PATH`.
    pub path: Option<OsString>,
}

impl HostSearch {
    fn program(&self, name: &OsStr) -> Option<PathBuf> {
        find_program(name, self.path.as_deref())
    }
}

/// A program by its name in `path`, or by its own path when it contains a `/`; from the root, since tools run elsewhere.
pub(crate) fn find_program(name: &OsStr, path: Option<&OsStr>) -> Option<PathBuf> {
    let candidate = Path::new(name);
    let found = if candidate.components().count() > 1 {
        is_program(candidate).then(|| candidate.to_path_buf())
    } else {
        std::env::split_paths(path?).map(|directory| directory.join(candidate)).find(|file| is_program(file))
    };
    found.map(|program| fs::absolute(&program))
}

fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(file).is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

/// The machine's C++ compiler.
#[derive(Debug, Clone)]
pub(crate) struct HostCompiler {
    program: PathBuf,
    /// Arguments that belong to the compiler itself (`CXX="ccache g++"`).
    arguments: Vec<OsString>,
    /// Programs among the arguments: the compiler proper behind a wrapper.
    wrapped: Vec<PathBuf>,
    /// A compiler cache in front of it all, which changes nothing about a result.
    launcher: Option<PathBuf>,
    limit: Option<Duration>,
}

impl HostCompiler {
    /// Finds it; no run of it takes longer than `limit`.
    pub(crate) fn find(search: &HostSearch, limit: Option<Duration>) -> Result<Self, ToolchainError> {
        let (program, arguments) = find_compiler(search)?;
        let is_flag = |word: &&OsString| word.to_string_lossy().starts_with('-');
        let words = arguments.iter().filter(|word| !is_flag(word));
        let wrapped = words.filter_map(|word| search.program(word)).collect();
        Ok(Self { program, arguments, wrapped, launcher: None, limit })
    }

    /// A call of it; `title` says what is being made.
    pub(crate) fn command(&self, title: impl Into<String>) -> Command {
        let command = match &self.launcher {
            Some(launcher) => Command::new(launcher, title).arg(&self.program),
            None => Command::new(&self.program, title),
        };
        command.args(&self.arguments).limit(self.limit)
    }

    /// Arguments that have code call a function of the simulator's shim before every load and store: the compiler's side of
    /// its race detector, without the detector. Accesses to volatile words call functions of their own. What the compiler
    /// would expand to code without such calls stays a call of the C library, which the shim stands in front of.
    ///
    /// Frame pointers tell who called the function that an access is in.
    ///
    /// `work_dir` is where the compiler runs if it must be asked whose arguments it takes.
    pub(crate) fn access_hooks(&self, work_dir: &Path, cancel: &Cancel) -> Result<Vec<String>, ToolchainError> {
        const BOTH: [&str; 6] = [
            // A call at the end of a function is a call: its line is looked up by the frame of the function.
            "-fno-optimize-sibling-calls",
            "-fsanitize=thread",
            "-fno-builtin-memcpy",
            "-fno-builtin-memmove",
            "-fno-builtin-memset",
            "-fno-omit-frame-pointer",
        ];
        const GCC: [&str; 3] = [
            "--param=tsan-distinguish-volatile=1",
            "--param=tsan-instrument-func-entry-exit=0",
            "-fno-tree-loop-distribute-patterns",
        ];
        const CLANG: [&str; 4] =
            ["-mllvm", "-tsan-distinguish-volatile=1", "-mllvm", "-tsan-instrument-func-entry-exit=0"];
        let own: &[&str] = match family(self, work_dir, cancel)? {
            Family::Gcc => &GCC,
            Family::Clang => &CLANG,
        };
        Ok(BOTH.iter().chain(own).map(|argument| (*argument).to_owned()).collect())
    }

    /// Every program that takes part. One that vanished since it was found cannot produce a result either, so leaving
    /// it out is harmless.
    pub(crate) fn identity(&self) -> Vec<ToolIdentity> {
        std::iter::once(&self.program).chain(&self.wrapped).filter_map(|tool| ToolIdentity::of(tool).ok()).collect()
    }
}

/// A C++ compiler and the emulation headers.
#[derive(Debug, Clone)]
pub struct HostToolchain {
    compiler: HostCompiler,
    include_dir: PathBuf,
}

impl HostToolchain {
    /// Finds the compiler; `include_dir` holds the emulation's `kernel_operator.h`.
    pub fn find(search: &HostSearch, include_dir: &Path, limit: Option<Duration>) -> Result<Self, ToolchainError> {
        let compiler = HostCompiler::find(search, limit)?;
        Ok(Self { compiler, include_dir: include_dir.to_path_buf() })
    }

    /// Puts a compiler cache in front of the compiler.
    pub(crate) fn with_launcher(mut self, launcher: &Path) -> Self {
        self.compiler.launcher = Some(launcher.to_path_buf());
        self
    }

    /// The directory of the emulation headers.
    pub(crate) fn include_dir(&self) -> &Path {
        &self.include_dir
    }

    /// As [`HostCompiler::access_hooks`].
    pub(crate) fn access_hooks(&self, work_dir: &Path, cancel: &Cancel) -> Result<Vec<String>, ToolchainError> {
        self.compiler.access_hooks(work_dir, cancel)
    }

    /// The source after preprocessing, with line markers, exactly as [`Toolchain::compile`] would see it.
    pub(crate) fn preprocess(&self, job: &CompileJob, cancel: &Cancel) -> Result<Executed, ToolchainError> {
        self.source_command(job).arg("-E").file(&job.source).shortened(&job.work_dir)?.run(cancel)
    }

    /// Reads `header` as [`Toolchain::compile`] would in front of the source of `job`, and keeps it in precompiled form.
    pub(crate) fn precompile(
        &self,
        job: &CompileJob,
        header: &Path,
        output: &Path,
        cancel: &Cancel,
    ) -> Result<Executed, ToolchainError> {
        let command = self.source_command(job).args(["-x", "c++-header"]).file(header).arg("-o").file(output);
        command.shortened(&job.work_dir)?.run(cancel)
    }

    /// Everything that decides the meaning of the source.
    fn source_command(&self, job: &CompileJob) -> Command {
        let (taken, dropped) = split_options(&job.options);
        if !dropped.is_empty() {
            log::info!(
                target: "superkernel.toolchain",
                "the host compiler does not take these of `compile-options`: {}",
                dropped.join(" ")
            );
        }
        let mut command = self.compiler.command(&job.title).current_dir(&job.work_dir).places(&job.places);
        command = command.args(["-std=c++17", "-fPIC", "-fno-strict-aliasing", optimization(job)]);
        if job.debug_info == DebugInfo::Keep {
            command = command.arg("-g");
        }
        for directory in job.include_dirs.iter().chain([&self.include_dir]) {
            command = command.arg("-I").arg(directory);
        }
        command = command.arg("-D__SK_HOST__=1").arg(format!("-D__NPU_ARCH__={}", job.chip.npu_arch()));
        command = command.arg("-D__CCE__=1").arg(format!("-D__CCE_AICORE__={}", job.chip.cce_aicore()));
        command = command.arg(match job.kind {
            CoreKind::Aic => "-D__DAV_CUBE__=1",
            CoreKind::Aiv => "-D__DAV_VEC__=1",
        });
        match job.chip {
            Chip::C220 => {}
            Chip::C310 => command = command.arg("-D__DAV_C310__"),
        }
        command.args(&job.defines).args(taken).args(&job.entry_defines)
    }
}

impl Toolchain for HostToolchain {
    fn kind(&self) -> ToolchainKind {
        ToolchainKind::Host
    }

    fn arguments(&self) -> Vec<String> {
        self.compiler.arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect()
    }

    fn identity(&self) -> Vec<ToolIdentity> {
        self.compiler.identity()
    }

    fn compile(&self, job: &CompileJob, cancel: &Cancel) -> Result<Vec<Executed>, ToolchainError> {
        // Or debug information would name a folder that is another one each time.
        let command = self
            .source_command(job)
            .without_folder(&job.work_dir, &job.source)
            .arg("-c")
            .file(&job.source)
            .arg("-o")
            .file(&job.output);
        Ok(vec![command.shortened(&job.work_dir)?.run(cancel)?])
    }

    /// What runs on the simulator is joined in process.
    fn link_steps(&self, _: &LinkJob) -> Vec<LinkStep> {
        Vec::new()
    }
}

fn find_compiler(search: &HostSearch) -> Result<(PathBuf, Vec<OsString>), ToolchainError> {
    let missing = |tried| ToolchainError::NotFound {
        what: "a C++ compiler",
        tried,
        remedy: "install g++ or clang++, or set `CXX` to a C++17 compiler",
    };
    if let Some(cxx) = &search.cxx {
        let text = cxx.to_string_lossy();
        let mut words = text.split_whitespace();
        let program = words.next().and_then(|word| search.program(OsStr::new(word)));
        let arguments = words.map(OsString::from).collect();
        // A user who names a compiler wants that one, not a silent second choice.
        return program.map(|found| (found, arguments)).ok_or_else(|| missing(vec![format!("`{text}` (from `CXX`)")]));
    }
    COMPILERS
        .iter()
        .find_map(|name| search.program(OsStr::new(name)))
        .map(|found| (found, Vec::new()))
        .ok_or_else(|| missing(COMPILERS.iter().map(|name| format!("`{name}`")).collect()))
}

/// Whose arguments a compiler takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Family {
    Gcc,
    Clang,
}

/// Asks the compiler for its predefined names, once.
fn family(compiler: &HostCompiler, work_dir: &Path, cancel: &Cancel) -> Result<Family, ToolchainError> {
    static KNOWN: Mutex<Vec<(ToolIdentity, Vec<OsString>, Family)>> = Mutex::new(Vec::new());
    let identity = ToolIdentity::of(&compiler.program)?;
    if let Ok(known) = KNOWN.try_lock()
        && let Some((.., family)) =
            known.iter().find(|(tool, words, _)| *tool == identity && *words == compiler.arguments)
    {
        return Ok(*family);
    }
    let ask = compiler.command("the compiler's predefined names").args(["-dM", "-E", "-x", "c++", "/dev/null"]);
    let answer = ask.current_dir(work_dir).limit(compiler.limit.or(Some(Duration::from_secs(60)))).run(cancel)?;
    let is_clang = String::from_utf8_lossy(&answer.stdout).contains("#define __clang__ ");
    let family = if is_clang { Family::Clang } else { Family::Gcc };
    if let Ok(mut known) = KNOWN.try_lock() {
        known.push((identity, compiler.arguments.clone(), family));
    }
    Ok(family)
}

fn optimization(job: &CompileJob) -> &'static str {
    match (job.optimization, job.unit) {
        (Optimization::None, _) => "-O0",
        // Run once per launch and mostly calls: compile time is what counts.
        (Optimization::Usual, CompileUnit::SuperKernel { .. } | CompileUnit::Entry) => "-O1",
        (Optimization::Usual, CompileUnit::SubKernel) => "-O2",
    }
}

/// The part of `compile-options` a host compiler understands, and the rest.
fn split_options(options: &[String]) -> (Vec<String>, Vec<String>) {
    let (mut taken, mut dropped) = (Vec::new(), Vec::new());
    for argument in arguments(options) {
        let list = if argument.is_for_host() { &mut taken } else { &mut dropped };
        list.extend_from_slice(argument.words());
    }
    (taken, dropped)
}

#[cfg(test)]
mod tests {
    use super::super::Places;
    use super::super::job::{CodeCopies, MemoryCheck};
    use super::*;

    fn job(directory: &Path, source: &str) -> CompileJob {
        let path = directory.join("unit.cpp");
        std::fs::write(&path, source).unwrap();
        CompileJob {
            title: "a test".to_owned(),
            source: path,
            output: directory.join("unit.o"),
            unit: CompileUnit::SubKernel,
            kind: CoreKind::Aiv,
            chip: Chip::C310,
            defines: vec!["-DWORD=1".to_owned()],
            options: vec!["-DWORD=2".to_owned(), "-UWORD".to_owned(), "-mllvm".to_owned(), "-x".to_owned()],
            entry_defines: vec!["-DNAME=entry".to_owned()],
            include_dirs: Vec::new(),
            optimization: Optimization::Usual,
            debug_info: DebugInfo::Omit,
            memory_check: MemoryCheck::Off,
            copies: CodeCopies::One,
            work_dir: directory.to_path_buf(),
            places: Places::inside(directory),
        }
    }

    fn host(directory: &Path) -> HostToolchain {
        let search = HostSearch { cxx: None, path: std::env::var_os("PATH") };
        HostToolchain::find(&search, directory, Some(Duration::from_secs(120))).unwrap()
    }

    #[test]
    fn compiles_with_the_defines_of_the_target() {
        let directory = tempfile::tempdir().unwrap();
        let source = "#if !defined __DAV_VEC__ || defined __DAV_CUBE__ || __NPU_ARCH__ != 3510 || defined WORD || \
                      !defined __SK_HOST__\n#error wrong defines\n#endif\nextern \"C\" int NAME() { return 7; }\n";
        let host = host(directory.path());
        let job = job(directory.path(), source);
        let ran = host.compile(&job, &Cancel::new()).unwrap();
        assert_eq!(ran.len(), 1);
        let bytes = std::fs::read(&job.output).unwrap();
        assert_eq!(&bytes[..4], b"\x7fELF");
        assert!(bytes.windows(6).any(|window| window == b"\0entry"));
    }

    #[test]
    fn a_compile_error_is_quoted() {
        let directory = tempfile::tempdir().unwrap();
        let error = host(directory.path()).compile(&job(directory.path(), "#error no way\n"), &Cancel::new());
        let text = error.unwrap_err().to_string();
        assert!(text.contains("no way") && text.contains("unit.cpp"), "{text}");
    }

    #[test]
    fn a_named_compiler_is_not_replaced() {
        let search = HostSearch { cxx: Some("/nowhere/cxx -m64".into()), path: std::env::var_os("PATH") };
        let error = HostToolchain::find(&search, Path::new("."), None).unwrap_err();
        assert!(error.to_string().contains("`/nowhere/cxx -m64` (from `CXX`)"), "{error}");
        let search = HostSearch { cxx: None, path: Some("/nowhere".into()) };
        let error = HostToolchain::find(&search, Path::new("."), None).unwrap_err();
        assert_eq!(error.to_string(), "cannot find a C++ compiler; looked for `c++`, `g++`, `clang++`");
    }

    #[test]
    fn device_options_are_dropped() {
        let options = ["-DA=1", "-I", "dir", "-mllvm", "-O", "--cce-x", "-O0", "-g", "-Wall", "-Wl,-s", "-std=c++20"];
        let (taken, dropped) = split_options(&options.map(str::to_owned));
        assert_eq!(taken, ["-DA=1", "-I", "dir", "-O0", "-g", "-Wall"]);
        assert_eq!(dropped, ["-mllvm", "-O", "--cce-x", "-Wl,-s", "-std=c++20"]);
    }
}
