//! Links everything and hides what only the kernel itself may see.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::PathBuf;

use super::compile::{bad_output, read_tool_output};
use super::copies::{WantedFiles, objcopy};
use super::error::BuildError;
use super::link_inputs::LinkInputs;
use super::log::{BuildLog, LogStage};
use crate::artifact::{RUN_CONFIG, SuperKernelSymbols, copy_name};
use crate::cancel::Cancel;
use crate::elf::{self, Edits, ElfError, Localize, Missing, SymbolKind};
use crate::environment::{Environment, Intermediates, LinkerChoice};
use crate::link::{self, KeptRelocations, LinkError, LinkOptions, Locals, OutputKind};
use crate::model::SuperKernel;
use crate::objects::UsedObject;
use crate::store::work_dir::WorkDir;
use crate::toolchain::{
    DebugInfo, Executed, LinkInput, LinkJob, Places, ToolSlots, Toolchain, ToolchainKind, Weight, shell_line,
};

/// The linked file's name in the work directory.
const LINKED: &str = "linked.o";

/// A kernel that is linked, with everything hidden that only the kernel itself may see.
pub(crate) struct Linked {
    pub bytes: Vec<u8>,
    /// What ran for it.
    pub executed: Vec<Executed>,
}

/// How objects become a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Linking {
    /// Joined in process: the simulator loads relocatable objects.
    Joined,
    /// For a device.
    Device(LinkerChoice),
}

impl Linking {
    pub(crate) fn of(toolchain: ToolchainKind, environment: &Environment) -> Self {
        match toolchain {
            ToolchainKind::Host => Self::Joined,
            ToolchainKind::Cann => Self::Device(environment.settings.linker),
        }
    }

    /// Which files must be in the work directory.
    pub(crate) fn wanted_files(self, intermediates: Intermediates) -> WantedFiles {
        match (intermediates, self) {
            (Intermediates::Keep, _) => WantedFiles::All,
            (Intermediates::Remove, Self::Device(LinkerChoice::Vendor | LinkerChoice::Both)) => WantedFiles::Linked,
            (Intermediates::Remove, Self::Joined | Self::Device(LinkerChoice::Own)) => WantedFiles::None,
        }
    }
}

/// What is linked, and where.
pub(crate) struct Assembly<'a> {
    pub kernel: &'a SuperKernel,
    pub symbols: &'a SuperKernelSymbols,
    pub used: &'a [UsedObject<'a>],
    pub environment: &'a Environment,
    pub toolchain: &'a dyn Toolchain,
    pub slots: &'a ToolSlots,
    pub work: &'a WorkDir,
    pub places: &'a Places,
}

impl Assembly<'_> {
    /// Links the objects in their order and hides what is inside.
    pub(crate) fn link(
        &self,
        inputs: &LinkInputs<'_>,
        wanted: WantedFiles,
        log: &mut BuildLog,
        cancel: &Cancel,
    ) -> Result<Linked, BuildError> {
        let linking = Linking::of(self.toolchain.kind(), self.environment);
        match linking {
            Linking::Joined | Linking::Device(LinkerChoice::Own) => self.own(inputs, wanted, log),
            Linking::Device(LinkerChoice::Vendor) => self.vendor(inputs, log, cancel),
            Linking::Device(LinkerChoice::Both) => {
                let linked = self.vendor(inputs, log, cancel)?;
                let objects = inputs.objects();
                let differences = match self.in_process(&objects, self.hidden(&objects)) {
                    Ok(ours) => link::differences(&linked.bytes, &ours).map_err(|error| self.unusable(&error))?,
                    Err(error) => vec![error.to_string()],
                };
                for difference in differences {
                    let message = format!("{}: the vendor's linker and ours differ: {difference}", self.kernel.name);
                    ::log::warn!(target: "superkernel.compile", "{message}");
                    log.add(LogStage::Fatbin, format!("# {message}"));
                }
                Ok(linked)
            }
        }
    }

    /// In process; the log says how people would do it.
    fn own(&self, inputs: &LinkInputs<'_>, wanted: WantedFiles, log: &mut BuildLog) -> Result<Linked, BuildError> {
        let objects = inputs.objects();
        let hidden = self.hidden(&objects);
        log.add(LogStage::Fatbin, self.own_command(inputs, &hidden));
        self.log_hiding(&hidden, log);
        let bytes = self.in_process(&objects, hidden).map_err(|source| {
            let kernel = self.kernel.name.clone();
            BuildError::Link { kernel, source: Box::new(source) }
        })?;
        match wanted {
            WantedFiles::None | WantedFiles::Linked => {}
            WantedFiles::All => drop(self.work.write(LINKED, &bytes)?),
        }
        Ok(Linked { bytes, executed: Vec::new() })
    }

    fn in_process(&self, objects: &[link::Input<'_>], localize: Localize) -> Result<Vec<u8>, LinkError> {
        let kind = match self.toolchain.kind() {
            ToolchainKind::Host => OutputKind::Joined,
            ToolchainKind::Cann => OutputKind::Device(KeptRelocations::Keep),
        };
        let locals = match self.environment.debug_config().debug_info {
            DebugInfo::Omit => Locals::Needed,
            DebugInfo::Keep => Locals::All,
        };
        link::link(objects, &LinkOptions { kind, localize, locals })
    }

    /// The command that links the same in the same way.
    fn own_command(&self, inputs: &LinkInputs<'_>, hidden: &Localize) -> String {
        let action = match self.toolchain.kind() {
            ToolchainKind::Host => "join",
            ToolchainKind::Cann => "link",
        };
        let mut words = ["superkernel", "elf", action].map(OsString::from).to_vec();
        match self.environment.debug_config().debug_info {
            DebugInfo::Omit => words.push("-x".into()),
            DebugInfo::Keep => {}
        }
        let (option, names) = match hidden {
            Localize::None => ("", &[][..]),
            Localize::Names(names) => ("--localize", names.as_slice()),
            Localize::AllDefinedExcept(names) => ("--keep-global", names.as_slice()),
        };
        words.extend(names.iter().map(|name| format!("{option}={name}").into()));
        let file = |input: &LinkInput| match input {
            LinkInput::Object(file) | LinkInput::Archive(file) => self.places.of(file).into_os_string(),
        };
        words.extend(inputs.files().iter().map(file));
        words.extend(["-o".into(), self.places.of(LINKED.as_ref()).into_os_string()]);
        shell_line(words)
    }

    /// By the vendor's tools.
    fn vendor(&self, inputs: &LinkInputs<'_>, log: &mut BuildLog, cancel: &Cancel) -> Result<Linked, BuildError> {
        let job = self.job(inputs);
        let mut executed = Vec::new();
        for step in self.toolchain.link_steps(&job) {
            let done = self.slots.run(Weight::LAST_STEP, cancel, || step.run(self.work.path(), cancel));
            let done = done.inspect_err(|error| {
                error.command_line().into_iter().for_each(|line| log.add(LogStage::Fatbin, line))
            })?;
            log.add(LogStage::Fatbin, &done.command_line);
            executed.push(done);
        }
        let linked = read_tool_output("the linker", &job.title, &self.work.file(LINKED))?;
        // A function that is missing altogether is reported by the check, with all others that are.
        let localize = self.hidden(&[link::Input { name: LINKED, bytes: &linked }]);
        self.log_hiding(&localize, log);
        let edits = Edits { localize, missing: Missing::Ignore, ..Edits::default() };
        let bytes = elf::edit(&linked, &edits).map_err(|error| self.unusable(&error))?.into_owned();
        Ok(Linked { bytes, executed })
    }

    fn job(&self, inputs: &LinkInputs<'_>) -> LinkJob {
        LinkJob {
            title: self.title(),
            inputs: inputs.files(),
            output: PathBuf::from(LINKED),
            debug_info: self.environment.debug_config().debug_info,
            work_dir: self.work.path().to_path_buf(),
            places: self.places.clone(),
        }
    }

    fn title(&self) -> String {
        format!("super kernel `{}`", self.kernel.name)
    }

    fn unusable(&self, error: &ElfError) -> BuildError {
        bad_output("the linker", &self.title(), error.to_string())
    }

    fn log_hiding(&self, localize: &Localize, log: &mut BuildLog) {
        let edits = Edits { localize: localize.clone(), ..Edits::default() };
        let to = self.places.of(format!("{}.o", self.kernel.name).as_ref());
        log.add(LogStage::LinkRelocate, objcopy(&edits, &self.places.of(LINKED.as_ref()), &to));
    }

    /// What nobody outside may see. A host object keeps nothing but the entries: its helpers are as private as an
    /// executable's.
    fn hidden(&self, objects: &[link::Input<'_>]) -> Localize {
        let entries = outer_symbols(self.kernel, self.symbols);
        match self.toolchain.kind() {
            ToolchainKind::Host => Localize::AllDefinedExcept(entries),
            ToolchainKind::Cann => {
                let inner = inner_functions(self.kernel, self.symbols, self.used);
                Localize::Names(functions_but_entries(objects, &entries, inner))
            }
        }
    }
}

/// The functions that nobody outside may see: those of the sub-kernels and the copies of the super kernel's own code.
pub(crate) fn inner_functions(
    kernel: &SuperKernel,
    symbols: &SuperKernelSymbols,
    used: &[UsedObject<'_>],
) -> Vec<String> {
    let copies = kernel.options.split.get();
    let mut names = Vec::new();
    for function in used.iter().flat_map(|object| &object.functions) {
        names.extend((0..copies).map(|copy| copy_name(function, copy)));
    }
    if copies > 1 {
        for kind in kernel.kernel_type.class().kinds() {
            names.extend((0..copies).map(|copy| symbols.copy(*kind, copy)));
        }
    }
    names
}

/// The symbols the loader may see.
pub(crate) fn outer_symbols(kernel: &SuperKernel, symbols: &SuperKernelSymbols) -> Vec<String> {
    let entries = kernel.kernel_type.class().kinds().iter().map(|kind| symbols.entry(*kind));
    entries.chain([RUN_CONFIG.to_owned()]).collect()
}

/// `inner`, and every other function that is visible: to a loader each such function is a kernel.
fn functions_but_entries(objects: &[link::Input<'_>], entries: &[String], inner: Vec<String>) -> Vec<String> {
    let mut known: HashSet<String> = inner.iter().chain(entries).cloned().collect();
    let mut names = inner;
    // A file that cannot be read is reported by whoever links or edits it.
    for symbol in objects.iter().flat_map(|object| elf::symbols(object.bytes).unwrap_or_default()) {
        let visible = symbol.kind == SymbolKind::Function && symbol.is_exported();
        if visible && known.insert(symbol.name.to_string()) {
            names.push(symbol.name.into_owned());
        }
    }
    names
}
