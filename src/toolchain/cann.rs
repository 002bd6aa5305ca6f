//! The vendor's device compiler and linker: what they make runs on a device.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::command::{Command, Executed};
use super::error::ToolchainError;
use super::host::find_program;
use super::identity::ToolIdentity;
use super::job::{CodeCopies, CompileJob, CompileUnit, DebugInfo, LinkJob, MemoryCheck, Optimization};
use super::linking::{LinkStep, Unusable};
use super::{Toolchain, ToolchainKind};
use crate::cancel::Cancel;
use crate::fs;
use crate::model::Chip;

/// Where the toolkit is installed when nothing else says; the second is where it was before 2026.
const USUAL_TOOLKITS: [&str; 2] = ["/usr/local/Ascend/cann", "/usr/local/Ascend/latest"];

/// Include directories below `asc`, in the order the compiler must see them. `micro_api` is of toolkits before 2026,
/// `reg_compute` and `asc` itself of those since; only those that exist are used.
const INCLUDE_DIRS: [&str; 25] = [
    "impl/adv_api",
    "impl/basic_api",
    "impl/c_api",
    "impl/micro_api",
    "impl/basic_api/reg_compute",
    "impl/simt_api",
    "impl/utils",
    "include",
    "include/adv_api",
    "include/basic_api",
    "include/aicpu_api",
    "include/c_api",
    "include/micro_api",
    "include/basic_api/reg_compute",
    "include/simt_api",
    "include/utils",
    "../ascendc/act",
    "impl",
    "",
    "../tikcpp",
    "../../include",
    "../../include/ascendc",
    "../tikcpp/tikcfw",
    "../tikcpp/tikcfw/impl",
    "../tikcpp/tikcfw/interface",
];

/// Where tools are looked for: the variables of the environment, as values.
#[derive(Debug, Clone, Default)]
pub(crate) struct CannSearch {
    /// `PATH`.
    pub path: Option<OsString>,
    /// `ASCEND_HOME_PATH`.
    pub home: Option<OsString>,
    /// `ASCENDC_CCACHE_EXECUTABLE`: a compiler cache to put in front of the compiler.
    pub launcher: Option<PathBuf>,
}

impl CannSearch {
    /// The toolkit's directory, whether it exists or not.
    pub(crate) fn toolkit(&self) -> PathBuf {
        if let Some(home) = &self.home {
            return PathBuf::from(home);
        }
        // The program may be a link into the toolkit, or the directory one: only the real one has the toolkit above it.
        let beside_compiler = find_program(OsStr::new("asc_opc"), self.path.as_deref()).and_then(|program| {
            let directory = fs::canonical(program.parent()?).ok()?;
            Some(directory.parent()?.parent()?.to_path_buf())
        });
        beside_compiler.unwrap_or_else(|| first_existing(&USUAL_TOOLKITS.map(Path::new)))
    }

    /// A tool from `PATH`, else from the toolkit's own compiler directory.
    fn tool(&self, name: &str) -> Option<PathBuf> {
        let inside = || find_program(self.compiler_dir().join(name).as_os_str(), None);
        find_program(OsStr::new(name), self.path.as_deref()).or_else(inside)
    }

    fn compiler_dir(&self) -> PathBuf {
        self.toolkit().join(format!("{}-linux/ccec_compiler/bin", std::env::consts::ARCH))
    }

    /// The error for an object that needs the device compiler, which is not there.
    pub(crate) fn missing_compiler(&self, object: String, machine: u16) -> ToolchainError {
        ToolchainError::NoDeviceCompiler { object, machine, tried: self.tried("bisheng") }
    }

    /// All linkers there are, without those that are the same file.
    fn linkers(&self) -> Vec<PathBuf> {
        let on_path = find_program(OsStr::new("ld.lld"), self.path.as_deref());
        let inside = find_program(self.compiler_dir().join("ld.lld").as_os_str(), None);
        let mut found: Vec<PathBuf> = Vec::new();
        for linker in on_path.into_iter().chain(inside) {
            let same = |other: &PathBuf| fs::canonical(other).ok() == fs::canonical(&linker).ok();
            if !found.iter().any(same) {
                found.push(linker);
            }
        }
        found
    }

    /// The places where a tool is looked for.
    fn tried(&self, name: &str) -> Vec<String> {
        vec![format!("`{name}` in `PATH`"), format!("`{}`", self.compiler_dir().join(name).display())]
    }

    /// Is there a device compiler at all?
    pub(crate) fn has_compiler(&self) -> bool {
        self.tool("bisheng").is_some()
    }
}

/// Whether the vendor's linker will be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LinkerUse {
    /// It must be there.
    Needed,
    /// Kernels are linked in process.
    None,
}

/// `bisheng`, `ccec` and `ld.lld`, and the toolkit's headers.
#[derive(Debug, Clone)]
pub(crate) struct CannToolchain {
    search: CannSearch,
    toolkit: PathBuf,
    compiler: PathBuf,
    /// Those to try, in this order: a distribution's `ld.lld` does not link for a device.
    linkers: Vec<PathBuf>,
    limit: Option<Duration>,
}

impl CannToolchain {
    /// Finds compiler and linker. `ccec` is looked for when it is needed: only split super kernels need it.
    pub(crate) fn find(search: CannSearch, linker: LinkerUse, limit: Option<Duration>) -> Result<Self, ToolchainError> {
        let compiler = require(&search, "bisheng", "the device compiler `bisheng`")?;
        let linkers = search.linkers();
        match linker {
            LinkerUse::None => {}
            LinkerUse::Needed if linkers.is_empty() => return Err(no_linker(search.tried("ld.lld"))),
            LinkerUse::Needed => {}
        }
        Ok(Self { toolkit: search.toolkit(), search, compiler, linkers, limit })
    }

    /// The toolkit's directory.
    pub(crate) fn toolkit(&self) -> &Path {
        &self.toolkit
    }

    /// Directories of the toolkit's headers, in the order the compiler sees them.
    pub(crate) fn include_dirs(&self) -> Vec<PathBuf> {
        let asc = self.toolkit.join(format!("{}-linux/asc", std::env::consts::ARCH));
        // Not `join("")`, which would leave a `/` at the end.
        let below = |directory: &&str| if directory.is_empty() { asc.clone() } else { asc.join(directory) };
        INCLUDE_DIRS.iter().map(below).filter(|directory| directory.is_dir()).collect()
    }

    fn include_arguments(&self, job: &CompileJob) -> Vec<OsString> {
        let joined = |directory: &PathBuf| {
            let mut argument = OsString::from("-I");
            argument.push(directory);
            argument
        };
        job.include_dirs.iter().map(joined).chain(self.include_dirs().iter().map(joined)).collect()
    }

    /// The generated super kernel (or an operator's source), by the full command line.
    fn kernel_command(&self, job: &CompileJob, attempt: Attempt) -> Command {
        let c310 = job.chip == Chip::C310;
        let (optimization, debug_info) = attempt.levels(job);
        let mut command = match &self.search.launcher {
            Some(launcher) => Command::new(launcher, &job.title).arg(&self.compiler),
            None => Command::new(&self.compiler, &job.title),
        };
        command = command.args(["-c", optimization]);
        if debug_info == DebugInfo::Keep {
            command = command.arg("-g");
        }
        // A compiler cache does not know the language `cce`; the second spelling looks like any flag to it.
        command = match &self.search.launcher {
            Some(_) => command.arg("--cce-aicore-lang"),
            None => command.args(["-x", "cce"]),
        };
        command = command.args(self.include_arguments(job)).args(&job.defines).args(memory_check_arguments(job));
        command = command.args(&job.options);
        command = command.arg("--cce-disable-kernel-global-attr-check");
        if let CompileUnit::SuperKernel { core_dump_size: Some(size) } = job.unit {
            command = command.arg(format!("-DONE_CORE_DUMP_SIZE={size}"));
        }
        if c310 {
            command = command.arg("--cce-no-dcache-flush");
        }
        command = command.file(&job.source).arg(arch_argument(job));
        if c310 {
            command = command.arg("-D__DAV_C310__");
        }
        command = command.args(["--cce-aicore-only", "-o"]).file(&job.output);
        command = command.args(["-mllvm", "-cce-aicore-stack-size=0x8000"]);
        command = command.args(["-mllvm", "-cce-aicore-function-stack-size=0x8000"]);
        command = command.args(["-mllvm", "-cce-aicore-record-overflow=false"]);
        command = command.args(["-mllvm", "-cce-aicore-addr-transform"]);
        if c310 {
            command = command.args(["-mllvm", "--cce-aicore-jump-expand=true"]);
        }
        command = command.args(["-mllvm", "-cce-aicore-dcci-insert-for-scalar=false"]);
        if job.copies == CodeCopies::Several {
            command = command.args(["-mllvm", "-cce-aicore-jump-expand=true", "--cce-long-call=true"]);
            command = command.args(["-mllvm", "-cce-aicore-long-call"]);
        }
        command = command.arg("-std=c++17").args(&job.entry_defines).args(attempt.extra_arguments());
        command.limit(self.limit).current_dir(&job.work_dir).places(&job.places)
    }

    /// The small source that picks one copy of the super kernel.
    fn entry_command(&self, job: &CompileJob) -> Result<Command, ToolchainError> {
        let compiler = require(&self.search, "ccec", "the device compiler `ccec` (for the entry of a split kernel)")?;
        let mut command = Command::new(compiler, &job.title).args(["-x", "cce"]).args(self.include_arguments(job));
        if job.chip == Chip::C310 {
            command = command.arg("-D__DAV_C310__");
        }
        command = command.arg("-O3").arg(arch_argument(job)).arg("--cce-aicore-only");
        command = command.args(["-mllvm", "-cce-aicore-addr-transform"]);
        command = command.args(["-mllvm", "-cce-aicore-dcci-insert-for-scalar=false"]);
        command = command.args(["-mllvm", "-cce-aicore-stack-size=0x8000"]);
        command = command.args(["-std=c++17", "-DTILING_KEY_VAR=0", "-o"]).file(&job.output);
        command = command.arg("-c").file(&job.source).limit(self.limit);
        Ok(command.current_dir(&job.work_dir).places(&job.places))
    }

    /// Runs the attempts in turn. If none succeeds the first failure is the one to report: the later ones
    /// only tell what the gentler settings could not cure.
    fn compile_kernel(&self, job: &CompileJob, cancel: &Cancel) -> Result<Vec<Executed>, ToolchainError> {
        let mut first_failure = None;
        for attempt in Attempt::for_job(job) {
            match self.kernel_command(job, attempt).shortened(&job.work_dir)?.run(cancel) {
                Ok(executed) => return Ok(vec![executed]),
                Err(failure @ ToolchainError::Failed { .. }) => {
                    log::warn!(target: "superkernel.toolchain", "{}: the compiler failed {attempt}", job.title);
                    first_failure.get_or_insert(failure);
                }
                Err(other) => return Err(other),
            }
        }
        Err(first_failure.expect("there is at least one attempt, and each either succeeds or fails"))
    }
}

impl Toolchain for CannToolchain {
    fn kind(&self) -> ToolchainKind {
        ToolchainKind::Cann
    }

    fn arguments(&self) -> Vec<String> {
        Vec::new()
    }

    fn identity(&self) -> Vec<ToolIdentity> {
        // A tool that vanished since it was found cannot produce a result either, so leaving it out is harmless.
        let tools = [Some(self.compiler.clone()), self.search.tool("ccec")];
        let tools = tools.into_iter().flatten().chain(self.linkers.iter().cloned());
        tools.filter_map(|tool| ToolIdentity::of(&tool).ok()).collect()
    }

    fn compile(&self, job: &CompileJob, cancel: &Cancel) -> Result<Vec<Executed>, ToolchainError> {
        match job.unit {
            CompileUnit::SuperKernel { .. } | CompileUnit::SubKernel => self.compile_kernel(job, cancel),
            CompileUnit::Entry => Ok(vec![self.entry_command(job)?.shortened(&job.work_dir)?.run(cancel)?]),
        }
    }

    fn link_steps(&self, job: &LinkJob) -> Vec<LinkStep> {
        let steps = |arguments: &dyn Fn(Command) -> Command| {
            let linker = |program: &PathBuf| {
                let command = Command::new(program, &job.title).limit(self.limit).current_dir(&job.work_dir);
                arguments(command.places(&job.places).args(["-m", EMULATION]))
            };
            LinkStep::first_of(
                self.linkers.iter().map(linker).collect(),
                Unusable { emulation: EMULATION, error: no_linker },
            )
        };
        let merge = |command: Command| {
            let mut merge = command.args(["-r", "-Ttext=0", "-q"]);
            if job.debug_info == DebugInfo::Omit {
                merge = merge.arg("-x");
            }
            merge.inputs(&job.inputs).args(["-static", "-o"]).file(&job.output)
        };
        let place = |command: Command| {
            command.arg("-Ttext=0").file(&job.output).args(["-static", "-o"]).file(&job.output).arg("-q")
        };
        vec![steps(&merge), steps(&place)]
    }
}

/// What a linker for devices knows and others do not.
const EMULATION: &str = "aicorelinux";

fn no_linker(tried: Vec<String>) -> ToolchainError {
    ToolchainError::NotFound {
        what: "the device linker `ld.lld`",
        tried,
        remedy: "install the CANN toolkit and source its `set_env.sh`, link in process with `superkernel.configure(linker=\"own\")`, or build for the simulator with `superkernel.configure(toolchain=\"host\")`",
    }
}

fn require(search: &CannSearch, name: &str, what: &'static str) -> Result<PathBuf, ToolchainError> {
    search.tool(name).ok_or_else(|| ToolchainError::NotFound {
        what,
        tried: search.tried(name),
        remedy: "install the CANN toolkit and source its `set_env.sh`, or build for the simulator with `superkernel.configure(toolchain=\"host\")`",
    })
}

/// The first of these that is there, else the first.
fn first_existing(places: &[&Path; 2]) -> PathBuf {
    places.iter().find(|place| place.is_dir()).unwrap_or(&places[0]).to_path_buf()
}

fn memory_check_arguments(job: &CompileJob) -> &'static [&'static str] {
    match (job.memory_check, job.chip) {
        (MemoryCheck::Off, _) => &[],
        (MemoryCheck::On, Chip::C220) => &["-DASCENDC_OOM=1"],
        (MemoryCheck::On, Chip::C310) => &["-DASCENDC_OOM=1", "-mllvm", "-cce-block-local-relocate=false"],
    }
}

fn arch_argument(job: &CompileJob) -> String {
    format!("--cce-aicore-arch={}", job.chip.arch(job.kind))
}

/// How hard the compiler is asked to try; each attempt is gentler than the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Attempt {
    /// As the user asked.
    AsAsked,
    /// -O0 with -g can exceed the compiler's limits where optimised code does not.
    OptimizedWithoutDebugInfo(Gentleness),
    /// As asked, with passes switched off that are known to crash.
    Gentler(Gentleness),
}

/// Passes switched off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gentleness {
    Usual,
    NoHoisting,
    NoHoistingNoLoops,
}

impl Attempt {
    fn for_job(job: &CompileJob) -> Vec<Self> {
        use Gentleness::{NoHoisting, NoHoistingNoLoops, Usual};
        match (job.optimization, job.debug_info) {
            (Optimization::None, DebugInfo::Keep) => vec![
                Self::AsAsked,
                Self::OptimizedWithoutDebugInfo(Usual),
                Self::OptimizedWithoutDebugInfo(NoHoisting),
                Self::OptimizedWithoutDebugInfo(NoHoistingNoLoops),
            ],
            (Optimization::None, DebugInfo::Omit) | (Optimization::Usual, DebugInfo::Keep | DebugInfo::Omit) => {
                vec![Self::AsAsked, Self::Gentler(NoHoisting), Self::Gentler(NoHoistingNoLoops)]
            }
        }
    }

    fn levels(self, job: &CompileJob) -> (&'static str, DebugInfo) {
        match (self, job.optimization) {
            (Self::OptimizedWithoutDebugInfo(_), _) => ("-O2", DebugInfo::Omit),
            (Self::AsAsked | Self::Gentler(_), Optimization::Usual) => ("-O3", job.debug_info),
            (Self::AsAsked | Self::Gentler(_), Optimization::None) => ("-O0", job.debug_info),
        }
    }

    fn extra_arguments(self) -> &'static [&'static str] {
        match self {
            Self::AsAsked => &[],
            Self::OptimizedWithoutDebugInfo(gentleness) | Self::Gentler(gentleness) => match gentleness {
                Gentleness::Usual => &[],
                Gentleness::NoHoisting => &["-mllvm", "-disable-machine-licm"],
                Gentleness::NoHoistingNoLoops => {
                    &["-mllvm", "-disable-machine-licm", "-mllvm", "-disable-lsr", "-fno-unroll-loops"]
                }
            },
        }
    }
}

impl std::fmt::Display for Attempt {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::AsAsked => formatter.write_str("with the usual arguments"),
            Self::OptimizedWithoutDebugInfo(_) => {
                write!(formatter, "at -O2 without -g {}", self.extra_arguments().join(" "))
            }
            Self::Gentler(_) => write!(formatter, "with {}", self.extra_arguments().join(" ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Places;
    use super::*;
    use crate::model::CoreKind;

    fn job(unit: CompileUnit, chip: Chip) -> CompileJob {
        CompileJob {
            title: "a test".to_owned(),
            source: PathBuf::from("k_1_kernel.cpp"),
            output: PathBuf::from("k_mix_aic.o"),
            unit,
            kind: CoreKind::Aic,
            chip,
            defines: vec!["-DASCENDC_DUMP".to_owned()],
            options: vec!["-DUSER".to_owned()],
            entry_defines: vec!["-Dauto_gen_k_kernel=k_mix_aic".to_owned(), "-DTILING_KEY_VAR=0UL".to_owned()],
            include_dirs: Vec::new(),
            optimization: Optimization::Usual,
            debug_info: DebugInfo::Omit,
            memory_check: MemoryCheck::Off,
            copies: CodeCopies::One,
            work_dir: PathBuf::from("/work"),
            places: Places::inside("/kept"),
        }
    }

    fn toolchain(launcher: Option<&str>) -> CannToolchain {
        CannToolchain {
            search: CannSearch { launcher: launcher.map(PathBuf::from), home: Some("/cann".into()), path: None },
            toolkit: PathBuf::from("/cann"),
            compiler: PathBuf::from("/cann/bin/bisheng"),
            linkers: vec![PathBuf::from("/cann/bin/ld.lld")],
            limit: None,
        }
    }

    /// The command line without its include directories.
    fn line(command: &Command) -> String {
        command.line().split(' ').filter(|word| !word.starts_with("-I")).collect::<Vec<_>>().join(" ")
    }

    const C220: &str = "/cann/bin/bisheng -c -O3 -x cce -DASCENDC_DUMP -DUSER --cce-disable-kernel-global-attr-check \
        /kept/k_1_kernel.cpp --cce-aicore-arch=dav-c220-cube --cce-aicore-only -o /kept/k_mix_aic.o \
        -mllvm -cce-aicore-stack-size=0x8000 -mllvm -cce-aicore-function-stack-size=0x8000 \
        -mllvm -cce-aicore-record-overflow=false -mllvm -cce-aicore-addr-transform \
        -mllvm -cce-aicore-dcci-insert-for-scalar=false \
        -std=c++17 -Dauto_gen_k_kernel=k_mix_aic -DTILING_KEY_VAR=0UL";
    const C310_DEBUG: &str = "/cann/bin/bisheng -c -O0 -g -x cce -DASCENDC_DUMP -DUSER \
        --cce-disable-kernel-global-attr-check -DONE_CORE_DUMP_SIZE=1024 --cce-no-dcache-flush \
        /kept/k_1_kernel.cpp --cce-aicore-arch=dav-c310-cube -D__DAV_C310__ --cce-aicore-only -o /kept/k_mix_aic.o \
        -mllvm -cce-aicore-stack-size=0x8000 -mllvm -cce-aicore-function-stack-size=0x8000 \
        -mllvm -cce-aicore-record-overflow=false -mllvm -cce-aicore-addr-transform \
        -mllvm --cce-aicore-jump-expand=true -mllvm -cce-aicore-dcci-insert-for-scalar=false \
        -mllvm -cce-aicore-jump-expand=true --cce-long-call=true -mllvm -cce-aicore-long-call \
        -std=c++17 -Dauto_gen_k_kernel=k_mix_aic -DTILING_KEY_VAR=0UL";

    #[test]
    fn the_kernel_command_is_complete_and_in_order() {
        let plain = job(CompileUnit::SuperKernel { core_dump_size: None }, Chip::C220);
        assert_eq!(line(&toolchain(None).kernel_command(&plain, Attempt::AsAsked)), C220);

        let mut debug = job(CompileUnit::SuperKernel { core_dump_size: Some(1024) }, Chip::C310);
        debug.optimization = Optimization::None;
        debug.debug_info = DebugInfo::Keep;
        debug.copies = CodeCopies::Several;
        assert_eq!(line(&toolchain(None).kernel_command(&debug, Attempt::AsAsked)), C310_DEBUG);
    }

    #[test]
    fn a_compiler_cache_goes_in_front() {
        let plain = job(CompileUnit::SuperKernel { core_dump_size: None }, Chip::C220);
        let cached = line(&toolchain(Some("/bin/ccache")).kernel_command(&plain, Attempt::AsAsked));
        assert_eq!(cached, format!("/bin/ccache {}", C220.replace("-x cce", "--cce-aicore-lang")));
    }

    #[test]
    fn attempts_become_gentler() {
        let plain = job(CompileUnit::SuperKernel { core_dump_size: None }, Chip::C220);
        let attempts = |job: &CompileJob| {
            let arguments = |attempt: Attempt| {
                let (level, debug_info) = attempt.levels(job);
                let extra = attempt.extra_arguments().join(" ");
                format!("{level}{} {extra}", if debug_info == DebugInfo::Keep { " -g" } else { "" })
            };
            Attempt::for_job(job).into_iter().map(arguments).collect::<Vec<_>>()
        };
        let licm = "-mllvm -disable-machine-licm";
        let all = "-mllvm -disable-machine-licm -mllvm -disable-lsr -fno-unroll-loops";
        assert_eq!(attempts(&plain), ["-O3 ".to_owned(), format!("-O3 {licm}"), format!("-O3 {all}")]);
        let debug = CompileJob { optimization: Optimization::None, debug_info: DebugInfo::Keep, ..plain };
        let expected = ["-O0 -g ".to_owned(), "-O2 ".to_owned(), format!("-O2 {licm}"), format!("-O2 {all}")];
        assert_eq!(attempts(&debug), expected);
    }

    #[test]
    fn memory_checks_need_more_on_the_newer_chip() {
        let mut checked = job(CompileUnit::SuperKernel { core_dump_size: None }, Chip::C220);
        checked.memory_check = MemoryCheck::On;
        let command = line(&toolchain(None).kernel_command(&checked, Attempt::AsAsked));
        assert!(command.contains(" -DASCENDC_DUMP -DASCENDC_OOM=1 -DUSER "), "{command}");
        checked.chip = Chip::C310;
        let command = line(&toolchain(None).kernel_command(&checked, Attempt::AsAsked));
        assert!(command.contains(" -DASCENDC_OOM=1 -mllvm -cce-block-local-relocate=false -DUSER "), "{command}");
    }

    #[test]
    fn headers_come_in_the_documented_order_and_only_where_they_are() {
        let directory = tempfile::tempdir().unwrap();
        let linux = directory.path().join(format!("{}-linux", std::env::consts::ARCH));
        for below in ["asc/include/utils", "asc/impl/basic_api/reg_compute", "tikcpp"] {
            std::fs::create_dir_all(linux.join(below)).unwrap();
        }
        let asc = linux.join("asc");
        let found = CannToolchain { toolkit: directory.path().to_path_buf(), ..toolchain(None) }.include_dirs();
        let names = ["impl/basic_api", "impl/basic_api/reg_compute", "include", "include/utils", "impl"];
        let mut expected: Vec<PathBuf> = names.iter().map(|name| asc.join(name)).collect();
        expected.extend([asc.clone(), asc.join("../tikcpp")]);
        assert_eq!(found, expected);
    }

    #[test]
    fn the_toolkit_is_above_the_real_directory_of_its_programs() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        let programs = root.join("toolkit/8.5/tools/bin");
        std::fs::create_dir_all(&programs).unwrap();
        std::fs::write(programs.join("asc_opc"), "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(programs.join("asc_opc"), std::os::unix::fs::PermissionsExt::from_mode(0o755))
            .unwrap();
        std::os::unix::fs::symlink(&programs, root.join("bin")).unwrap();
        let search = CannSearch { path: Some(root.join("bin").into_os_string()), ..CannSearch::default() };
        assert_eq!(search.toolkit(), root.join("toolkit/8.5"));
    }

    #[test]
    fn the_newer_of_the_usual_places_comes_first() {
        let directory = tempfile::tempdir().unwrap();
        let (new, old) = (directory.path().join("cann"), directory.path().join("latest"));
        assert_eq!(first_existing(&[&new, &old]), new);
        std::fs::create_dir(&old).unwrap();
        assert_eq!(first_existing(&[&new, &old]), old);
        std::fs::create_dir(&new).unwrap();
        assert_eq!(first_existing(&[&new, &old]), new);
    }

    #[test]
    fn a_missing_tool_is_named_with_both_places() {
        let search = CannSearch { home: Some("/nowhere".into()), path: Some("/nowhere/bin".into()), launcher: None };
        assert!(!search.has_compiler());
        let text = CannToolchain::find(search, LinkerUse::Needed, None).unwrap_err().to_string();
        let inside = format!("/nowhere/{}-linux/ccec_compiler/bin/bisheng", std::env::consts::ARCH);
        let expected = format!("cannot find the device compiler `bisheng`; looked for `bisheng` in `PATH`, `{inside}`");
        assert_eq!(text, expected);
    }
}
