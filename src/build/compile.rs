//! Compiles the generated source and the entries, core kinds side by side.

use std::path::{Path, PathBuf};

use super::entry::{RunConfig, entry_source};
use super::error::BuildError;
use super::response_files;
use crate::artifact::SuperKernelSymbols;
use crate::cancel::Cancel;
use crate::elf;
use crate::environment::Environment;
use crate::fs;
use crate::model::{Chip, CoreKind, SuperKernel, SuperKernelType, function_name_problem};
use crate::store::work_dir::WorkDir;
use crate::toolchain::{
    CodeCopies, CompileJob, CompileUnit, DebugInfo, Executed, MemoryCheck, Optimization, Places, ToolSlots, Toolchain,
    ToolchainKind, Weight,
};

/// The super kernel's own code for one core kind, compiled.
#[derive(Debug)]
pub(crate) struct CompiledKind {
    /// The kind.
    pub kind: CoreKind,
    /// The object of the generated source.
    pub object: Vec<u8>,
    /// The object of the entry that picks a copy; `None` with one copy.
    pub entry: Option<Vec<u8>>,
    /// The commands that ran.
    pub executed: Vec<Executed>,
}

/// Everything the compile jobs of one kernel share.
pub(crate) struct Compilation<'a> {
    /// The kernel.
    pub kernel: &'a SuperKernel,
    /// Its symbols.
    pub symbols: &'a SuperKernelSymbols,
    /// Settings.
    pub environment: &'a Environment,
    /// The tools.
    pub toolchain: &'a dyn Toolchain,
    /// Who may run one of them.
    pub slots: &'a ToolSlots,
    /// Where to work.
    pub work: &'a WorkDir,
    /// The generated source's file name in the work directory.
    pub source: PathBuf,
    /// How long it will take to compile.
    pub weight: Weight,
    /// Where the files can be found afterwards.
    pub places: Places,
}

impl Compilation<'_> {
    /// Compiles for all core kinds the kernel has, at the same time.
    pub(crate) fn run(&self, cancel: &Cancel) -> Result<Vec<CompiledKind>, BuildError> {
        // Threads that only wait for tools; how many tools run is decided where all builds of a model meet.
        let compile = |kind| self.slots.run(self.weight, cancel, || self.compile_kind(kind, cancel));
        match *self.kernel.kernel_type.class().kinds() {
            [first, second] => std::thread::scope(|scope| {
                let beside = std::thread::Builder::new().spawn_scoped(scope, move || compile(second));
                let first = compile(first);
                let second = match beside.map(std::thread::ScopedJoinHandle::join) {
                    Ok(Ok(done)) => done,
                    Ok(Err(panic)) => std::panic::resume_unwind(panic),
                    // No thread to be had (a limit of the system): one after the other.
                    Err(_) => compile(second),
                };
                Ok(vec![first?, second?])
            }),
            ref kinds => kinds.iter().map(|&kind| compile(kind)).collect(),
        }
    }

    fn compile_kind(&self, kind: CoreKind, cancel: &Cancel) -> Result<CompiledKind, BuildError> {
        let mut executed = Vec::new();
        let copies = self.kernel.options.split.get();
        let mut entry = None;
        if copies > 1 {
            // First, because it is quick: a missing tool is found before the long compilation.
            let job = self.entry_job(kind, copies)?;
            executed.extend(self.toolchain.compile(&job, cancel)?);
            entry = Some(self.read_output(&job, &self.symbols.entry(kind))?);
        }
        let job = self.kernel_job(kind);
        executed.extend(self.toolchain.compile(&job, cancel)?);
        let object = self.read_output(&job, &self.symbols.entry(kind))?;
        Ok(CompiledKind { kind, object, entry, executed })
    }

    fn kernel_job(&self, kind: CoreKind) -> CompileJob {
        let kernel = self.kernel;
        let debug_config = self.environment.debug_config();
        let entry = self.symbols.entry(kind);
        let mut entry_defines = vec![format!("-Dauto_gen_{}_kernel={entry}", kernel.name)];
        match kernel.kernel_type {
            SuperKernelType::Aic | SuperKernelType::Aiv => {}
            SuperKernelType::Mix1_1 => {
                entry_defines.push("-D__MIX_CORE_MACRO__=1".to_owned());
                entry_defines.push("-D__MIX_CORE_AIC_RATION__=1".to_owned());
            }
            SuperKernelType::Mix1_2 => entry_defines.push("-D__MIX_CORE_MACRO__=1".to_owned()),
        }
        entry_defines.push("-DTILING_KEY_VAR=0UL".to_owned());
        match self.toolchain.kind() {
            // A kernel may have any name, but a macro may not: no header would survive `class` being another word.
            // Nothing in our source is called by the kernel's bare name.
            ToolchainKind::Cann if function_name_problem(&kernel.name).is_some() => {}
            ToolchainKind::Cann => entry_defines.push(format!("-D{0}={0}_0_tilingkey", kernel.name)),
            // The emulation headers include the C++ library: a kernel named like one of its words would rename that.
            ToolchainKind::Host => {}
        }
        CompileJob {
            title: format!("super kernel `{}` for {} cores", kernel.name, kind.word()),
            // Relative: the tool runs in the work directory, and a compiler cache must not see its unique name.
            source: self.source.clone(),
            output: PathBuf::from(format!("{entry}.o")),
            unit: CompileUnit::SuperKernel { core_dump_size: core_dump_size(kernel) },
            kind,
            chip: kernel.platform.chip(),
            defines: kernel.defines().into_iter().map(str::to_owned).collect(),
            options: response_files::with_absolute_paths(&kernel.options.compile_options),
            entry_defines,
            include_dirs: Vec::new(),
            optimization: debug_config.optimization,
            debug_info: debug_config.debug_info,
            memory_check: debug_config.memory_check,
            copies: match kernel.options.split.get() {
                1 => CodeCopies::One,
                _ => CodeCopies::Several,
            },
            work_dir: self.work.path().to_path_buf(),
            places: self.places.clone(),
        }
    }

    fn entry_job(&self, kind: CoreKind, copies: u32) -> Result<CompileJob, BuildError> {
        let kernel = self.kernel;
        let run_config = if kind == kernel.kernel_type.leading_kind() { RunConfig::Define } else { RunConfig::Leave };
        let text = entry_source(self.symbols, kind, copies, run_config, self.toolchain.kind());
        let stem = format!("{}_entry", self.symbols.entry(kind));
        let source = PathBuf::from(format!("{stem}.cpp"));
        self.work.write(&source, text.as_bytes())?;
        Ok(CompileJob {
            title: format!("the entry of super kernel `{}` for {} cores", kernel.name, kind.word()),
            source,
            output: PathBuf::from(format!("{stem}.o")),
            unit: CompileUnit::Entry,
            kind,
            chip: kernel.platform.chip(),
            defines: Vec::new(),
            options: Vec::new(),
            entry_defines: vec!["-DTILING_KEY_VAR=0".to_owned()],
            include_dirs: Vec::new(),
            optimization: Optimization::Usual,
            debug_info: DebugInfo::Omit,
            memory_check: MemoryCheck::Off,
            copies: CodeCopies::One,
            work_dir: self.work.path().to_path_buf(),
            places: self.places.clone(),
        })
    }

    /// What the compiler wrote, if it is an object that defines `symbol`.
    fn read_output(&self, job: &CompileJob, symbol: &str) -> Result<Vec<u8>, BuildError> {
        let bytes = read_tool_output("the compiler", &job.title, &self.work.file(&job.output))?;
        let symbols =
            elf::symbols(&bytes).map_err(|error| bad_output("the compiler", &job.title, error.to_string()))?;
        if !symbols.iter().any(|found| found.is_exported() && found.name == symbol) {
            let problem = format!("it does not define `{symbol}`");
            return Err(bad_output("the compiler", &job.title, problem));
        }
        Ok(bytes)
    }
}

/// Bytes of debug output for each core: the buffer is shared by as many as the chip's tools count.
fn core_dump_size(kernel: &SuperKernel) -> Option<u64> {
    let cores = match kernel.platform.chip() {
        Chip::C220 => 75,
        Chip::C310 => 108,
    };
    kernel.debug_output.as_ref().map(|debug| debug.size / cores)
}

/// Reads what a tool should have written.
pub(crate) fn read_tool_output(tool: &'static str, title: &str, path: &Path) -> Result<Vec<u8>, BuildError> {
    fs::read(path).map_err(|error| bad_output(tool, title, error.to_string()))
}

/// A tool lied about its success.
pub(crate) fn bad_output(tool: &'static str, title: &str, problem: String) -> BuildError {
    BuildError::BadToolOutput { tool, title: title.to_owned(), problem }
}
