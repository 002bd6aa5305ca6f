//! A finished kernel under another name: symbols, sections, the map of its code and its program tell it, code and data do
//! not.

use super::StoredProgram;
use crate::artifact::{PROGRAM_SECTION, SuperKernelSymbols};
use crate::elf::{self, Edits, ElfError, Missing};
use crate::environment::Environment;
use crate::locate::{CodeMap, MAP_SECTION};
use crate::model::SuperKernel;
use crate::toolchain::DebugInfo;

/// Does nothing but symbols and section names tell a kernel's name? Descriptions of source lines name its file.
pub(super) fn is_renamable(kernel: &SuperKernel, environment: &Environment) -> bool {
    let asks = kernel.options.compile_options.iter().any(|option| option.starts_with("-g"));
    environment.debug_config().debug_info == DebugInfo::Omit && !asks
}

/// The object of `kernel` from one that was built under the name `old`.
pub(super) fn renamed(object: &[u8], kernel: &SuperKernel, old: &str) -> Result<Vec<u8>, ElfError> {
    let (from, to) = (SuperKernelSymbols::new(old), SuperKernelSymbols::new(&kernel.name));
    let mut edits = Edits { missing: Missing::Ignore, ..Edits::default() };
    for &kind in kernel.kernel_type.class().kinds() {
        edits.rename.push((from.entry(kind), to.entry(kind)));
        let copies = (0..kernel.options.split.get()).map(|copy| (from.copy(kind, copy), to.copy(kind, copy)));
        edits.rename.extend(copies);
        edits.rename_sections.push((from.meta_section(kind), to.meta_section(kind)));
    }
    let map = CodeMap::read(object)?.map(|map| map.renamed(&kernel.name, &edits.rename));
    let program = StoredProgram::read(object).and_then(|program| program.renamed(&kernel.name));
    edits.drop_sections_with_prefix.extend([MAP_SECTION.to_owned(), PROGRAM_SECTION.to_owned()]);
    let mut added = Vec::new();
    added.extend(map.map(|map| map.section()));
    added.extend(program.map(|program| program.section()));
    // As if it had never had another name.
    elf::normalized(elf::edit(object, &edits)?.into_owned(), &added)
}
