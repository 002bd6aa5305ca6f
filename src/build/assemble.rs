//! Links everything and hides what only the kernel itself may see.

use std::collections::HashSet;
use std::path::PathBuf;

use super::compile::{bad_output, read_tool_output};
use super::copies::objcopy;
use super::error::BuildError;
use super::log::{BuildLog, LogStage};
use crate::artifact::{RUN_CONFIG, SuperKernelSymbols, copy_name};
use crate::cancel::Cancel;
use crate::elf::{self, Edits, Localize, Missing, SymbolKind};
use crate::environment::Environment;
use crate::model::SuperKernel;
use crate::objects::UsedObject;
use crate::store::work_dir::WorkDir;
use crate::toolchain::{Executed, LinkInput, LinkJob, Places, ToolSlots, Toolchain, ToolchainKind, Weight};

/// The linked file's name in the work directory.
const LINKED: &str = "linked.o";

/// Links what is given, in its order; the bytes of the result and the commands that ran.
pub(crate) fn link(
    inputs: Vec<LinkInput>,
    kernel: &SuperKernel,
    environment: &Environment,
    (toolchain, slots): (&dyn Toolchain, &ToolSlots),
    work: &WorkDir,
    places: &Places,
    cancel: &Cancel,
) -> Result<(Vec<u8>, Vec<Executed>), BuildError> {
    let job = LinkJob {
        title: format!("super kernel `{}`", kernel.name),
        inputs,
        output: PathBuf::from(LINKED),
        debug_info: environment.debug_config().debug_info,
        work_dir: work.path().to_path_buf(),
        places: places.clone(),
    };
    let executed = slots.run(Weight::LAST_STEP, cancel, || toolchain.link(&job, cancel))?;
    let bytes = read_tool_output("the linker", &job.title, &work.file(LINKED))?;
    Ok((bytes, executed))
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
fn functions_but_entries(
    linked: &[u8],
    kernel: &SuperKernel,
    symbols: &SuperKernelSymbols,
    inner: Vec<String>,
) -> Vec<String> {
    let entries = outer_symbols(kernel, symbols);
    let mut known: HashSet<String> = inner.iter().chain(&entries).cloned().collect();
    let mut names = inner;
    // A file that cannot be read is reported by whoever edits it.
    for symbol in elf::symbols(linked).unwrap_or_default() {
        let visible = symbol.kind == SymbolKind::Function && symbol.is_exported();
        if visible && known.insert(symbol.name.to_string()) {
            names.push(symbol.name.into_owned());
        }
    }
    names
}

/// Makes the inner functions local. A host object keeps nothing but the entries: its helpers are as private as an
/// executable's.
pub(crate) fn localize(
    linked: &[u8],
    kernel: &SuperKernel,
    symbols: &SuperKernelSymbols,
    inner: Vec<String>,
    toolchain: ToolchainKind,
    places: &Places,
    log: &mut BuildLog,
) -> Result<Vec<u8>, BuildError> {
    let localize = match toolchain {
        ToolchainKind::Cann => Localize::Names(functions_but_entries(linked, kernel, symbols, inner)),
        ToolchainKind::Host => Localize::AllDefinedExcept(outer_symbols(kernel, symbols)),
    };
    // A function that is missing altogether is told by the check, with all others that are.
    let edits = Edits { localize, missing: Missing::Ignore, ..Edits::default() };
    let (from, to) = (places.of(LINKED.as_ref()), places.of(format!("{}.o", kernel.name).as_ref()));
    log.add(LogStage::LinkRelocate, objcopy(&edits, &from, &to));
    let title = format!("super kernel `{}`", kernel.name);
    let bytes = elf::edit(linked, &edits).map_err(|error| bad_output("the linker", &title, error.to_string()))?;
    Ok(bytes.into_owned())
}
