//! The symbols of super kernels and sub-kernels.

use super::{CoreKind, meta_section};

/// The run configuration that a loader fills in.
pub(crate) const RUN_CONFIG: &str = "g_opSystemRunCfg";

/// The section of a super kernel's object with the text of its program; nobody loads it.
pub(crate) const PROGRAM_SECTION: &str = ".superkernel.program";

/// What the super kernel provides and its sub-kernels share: one instance, whichever object defines it. Every other
/// symbol of a sub-kernel belongs to that sub-kernel alone.
pub(crate) const SHARED_SYMBOLS: [&str; 7] = [
    RUN_CONFIG,
    "g_super_kernel_early_start_config",
    "g_super_kernel_dynamic_block_num",
    // The variables of fed `SyncAll`s, in namespace `AscendC`.
    "_ZN7AscendC40g_superKernelAutoSyncAllConfigGmBaseAddrE",
    "_ZN7AscendC36g_superKernelAutoSyncAllConfigGmAddrE",
    "_ZN7AscendC31g_superKernelAutoSyncAllSyncIdxE",
    "_ZN7AscendC30g_superKernelAutoSyncAllEnableE",
];

/// Copy `copy` of a function, of its object, or of a key that names it: the first keeps the name.
pub(crate) fn copy_name(name: &str, copy: u32) -> String {
    match copy {
        0 => name.to_owned(),
        number => format!("{name}_split{number}"),
    }
}

/// The half of a mixed function that runs on `kind`.
pub(crate) fn half_name(name: &str, kind: CoreKind) -> String {
    format!("{name}_mix_{kind}")
}

/// Names made from the kernel's name.
#[derive(Debug, Clone)]
pub(crate) struct SuperKernelSymbols {
    kernel: String,
}

impl SuperKernelSymbols {
    /// The symbols of `kernel`.
    pub(crate) fn new(kernel: &str) -> Self {
        Self { kernel: kernel.to_owned() }
    }

    /// The entry the loader calls on `kind`; also the stem of the object's name.
    pub(crate) fn entry(&self, kind: CoreKind) -> String {
        half_name(&self.kernel, kind)
    }

    /// Copy number `copy` of the code behind the entry.
    pub(crate) fn copy(&self, kind: CoreKind, copy: u32) -> String {
        match copy {
            0 => format!("_sk_{}", self.entry(kind)),
            number => format!("_sk_{}_{number}", self.entry(kind)),
        }
    }

    /// The section that tells the loader how to launch the entry.
    pub(crate) fn meta_section(&self, kind: CoreKind) -> String {
        meta_section(&self.entry(kind))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lengths_inside_mangled_names_are_right() {
        for name in SHARED_SYMBOLS.iter().filter_map(|name| name.strip_prefix("_ZN7AscendC")) {
            let digits: String = name.chars().take_while(char::is_ascii_digit).collect();
            let rest = &name[digits.len()..];
            assert_eq!(rest.strip_suffix('E').map(str::len), digits.parse().ok(), "{name}");
        }
    }
}
