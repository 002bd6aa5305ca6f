//! Reads the finished kernel again and compares it with what was intended, before anyone else can see it.

use std::collections::HashSet;

use serde::Serialize;

use super::error::BuildError;
use crate::artifact::{LaunchMeta, RUN_CONFIG, SuperKernelSymbols};
use crate::elf::{self, Binding, DEVICE_MACHINE, Section};
use crate::json::{JsonError, Node};
use crate::model::SuperKernelType;
use crate::toolchain::ToolchainKind;

mod loader;
#[cfg(test)]
mod loader_tests;
#[cfg(test)]
mod tests;

/// Problems told one by one.
const TOLD: usize = 20;

/// Sizes of a finished kernel, for the manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Sizes {
    /// Bytes of the file.
    pub file: u64,
    /// Bytes of executable code.
    pub code: u64,
    /// Number of symbols.
    pub symbols: u64,
    /// Bytes of block-local memory in a device's file.
    pub block_local: u64,
}

impl Sizes {
    /// As the manifest has them.
    pub(super) fn read(json: &Node<'_>) -> Result<Self, JsonError> {
        Ok(Self {
            file: json.required("file")?.count()?,
            code: json.required("code")?.count()?,
            symbols: json.required("symbols")?.count()?,
            // Records of earlier versions do not say it.
            block_local: json.optional("block_local")?.map_or(Ok(0), |value| value.count())?,
        })
    }
}

/// Checks entries, visibility, meta sections and unresolved functions. `inner` are the functions that must be there
/// and must not be seen from outside.
pub(crate) fn check(
    object: &[u8],
    kernel: &str,
    kernel_type: SuperKernelType,
    inner: &[String],
    toolchain: ToolchainKind,
) -> Result<Sizes, BuildError> {
    let symbols = &SuperKernelSymbols::new(kernel);
    let failed = |problems: Vec<String>| BuildError::Check { kernel: kernel.to_owned(), problems };
    let unreadable = |error: elf::ElfError| failed(vec![error.to_string()]);
    let found = elf::symbols(object).map_err(unreadable)?;
    let sections = elf::sections(object).map_err(unreadable)?;

    let mut problems = Vec::new();
    problems.extend(check_globals(&found, kernel_type, symbols, toolchain));
    problems.extend(check_inner(&found, inner));
    problems.extend(check_meta(object, &sections, kernel_type, symbols).map_err(unreadable)?);
    if is_device_file(object).map_err(unreadable)? {
        let entries: Vec<String> = kernel_type.class().kinds().iter().map(|kind| symbols.entry(*kind)).collect();
        problems.extend(loader::problems(object, &entries).map_err(unreadable)?);
    }
    if !problems.is_empty() {
        problems.truncate(TOLD);
        return Err(failed(problems));
    }
    const EXECUTABLE: u64 = 4;
    let code = sections.iter().filter(|section| section.flags & EXECUTABLE != 0).map(|section| section.size).sum();
    let block_local = loader::block_local_bytes(&sections);
    Ok(Sizes { file: object.len() as u64, code, symbols: found.len() as u64, block_local })
}

/// The entries must be seen; on the host nothing else but the run configuration may be.
fn check_globals(
    found: &[elf::Symbol<'_>],
    kernel_type: SuperKernelType,
    symbols: &SuperKernelSymbols,
    toolchain: ToolchainKind,
) -> Vec<String> {
    let mut problems = Vec::new();
    let exported: HashSet<&str> =
        found.iter().filter(|symbol| symbol.is_exported()).map(|symbol| symbol.name.as_ref()).collect();
    let mut wanted: Vec<String> = kernel_type.class().kinds().iter().map(|kind| symbols.entry(*kind)).collect();
    wanted.push(RUN_CONFIG.to_owned());
    for name in wanted.iter().filter(|name| !exported.contains(name.as_str())) {
        problems.push(format!("global symbol `{name}` is missing"));
    }
    match toolchain {
        ToolchainKind::Host => {
            let mut others: Vec<&str> = exported.into_iter().filter(|name| !wanted.iter().any(|w| w == name)).collect();
            others.sort_unstable();
            problems.extend(others.into_iter().map(|name| format!("symbol `{name}` should not be global")));
        }
        // Whatever else the sub-kernels left global stays so on a device.
        ToolchainKind::Cann => {}
    }
    problems
}

/// Every function that is called must be inside, and stay inside.
fn check_inner(found: &[elf::Symbol<'_>], inner: &[String]) -> Vec<String> {
    let mut hidden: HashSet<&str> = HashSet::new();
    let mut outside: HashSet<&str> = HashSet::new();
    for symbol in found {
        if symbol.is_defined() && symbol.binding == Binding::Local {
            hidden.insert(symbol.name.as_ref());
        } else {
            outside.insert(symbol.name.as_ref());
        }
    }
    let mut problems = Vec::new();
    for name in inner {
        if outside.contains(name.as_str()) {
            problems.push(format!("function `{name}` is not resolved inside the kernel"));
        } else if !hidden.contains(name.as_str()) {
            problems.push(format!("function `{name}` is missing"));
        }
    }
    problems
}

/// Will the device's loader read it?
fn is_device_file(object: &[u8]) -> Result<bool, elf::ElfError> {
    Ok(elf::identity(object)?.machine == DEVICE_MACHINE)
}

/// The loader learns the launch type from these bytes. A device compiler adds items of its own behind them, in a section
/// of the same name.
fn check_meta(
    object: &[u8],
    sections: &[Section<'_>],
    kernel_type: SuperKernelType,
    symbols: &SuperKernelSymbols,
) -> Result<Vec<String>, elf::ElfError> {
    let expected = LaunchMeta::of(kernel_type.kernel_type());
    let mut problems = Vec::new();
    for kind in kernel_type.class().kinds() {
        let name = symbols.meta_section(*kind);
        let mut bytes = Vec::new();
        for (index, _) in sections.iter().enumerate().filter(|(_, section)| section.name == name) {
            bytes.extend_from_slice(elf::section_contents(object, index)?);
        }
        if bytes.is_empty() {
            problems.push(format!("section `{name}` is missing"));
        } else if LaunchMeta::parse(&bytes) != Some(expected) {
            problems
                .push(format!("section `{name}` has the bytes {bytes:02x?} instead of {:02x?}", expected.to_bytes()));
        }
    }
    Ok(problems)
}
