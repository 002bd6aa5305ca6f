//! The symbols of super kernels and sub-kernels.

use super::{CoreKind, meta_section};

/// The run configuration that a loader fills in.
pub(crate) const RUN_CONFIG: &str = "g_opSystemRunCfg";

/// The section of a super kernel's object with the text of its program; nobody loads it.
pub(crate) const PROGRAM_SECTION: &str = ".superkernel.program";

/// What the super kernel tells sub-kernels that were built with early start: the kinds of the ops on both sides.
pub(crate) const EARLY_START_CONFIG: &str = "g_super_kernel_early_start_config";

/// What it tells dynamic ones: how many blocks there are of them.
pub(crate) const DYNAMIC_BLOCK_NUM: &str = "g_super_kernel_dynamic_block_num";

/// How the names of sections with block-local variables start: every core has its own of them.
pub(crate) const BLOCK_LOCAL_PREFIX: &str = ".bl.uninit";

/// Bytes of all block-local variables of a kernel: an instruction reaches them by an offset of 12 bits.
pub(crate) const BLOCK_LOCAL_ROOM: u64 = 4096;

/// How the names of sections start that describe tiling data to other tools; no code refers to them.
pub(crate) const TILING_PREFIX: &str = ".ascendc_tiling.";

/// Who gives a variable its value that several objects of a kernel define.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Setter {
    /// The super kernel, for its sub-kernels.
    SuperKernel,
    /// The loader.
    Loader,
    /// Every op, before it uses it.
    Op,
}

impl Setter {
    /// Who sets `variable`.
    pub(crate) fn of(variable: &str) -> Self {
        if SET_BY_SUPER_KERNEL.contains(&variable) {
            Self::SuperKernel
        } else if FILLED_BY_LOADER.contains(&variable) {
            Self::Loader
        } else {
            Self::Op
        }
    }
}

/// What a loader fills in, wherever it is.
const FILLED_BY_LOADER: [&str; 5] =
    [RUN_CONFIG, "g_sysPrintFifoSpace", "g_sysSimtPrintFifoSpace", "g_sysFftsAddr", "g_opL2CacheHintCfg"];

/// What the super kernel sets and its sub-kernels read.
const SET_BY_SUPER_KERNEL: [&str; 10] = [
    EARLY_START_CONFIG,
    DYNAMIC_BLOCK_NUM,
    // The variables of fed `SyncAll`s, in namespace `AscendC`.
    "_ZN7AscendC40g_superKernelAutoSyncAllConfigGmBaseAddrE",
    "_ZN7AscendC36g_superKernelAutoSyncAllConfigGmAddrE",
    "_ZN7AscendC31g_superKernelAutoSyncAllSyncIdxE",
    "_ZN7AscendC30g_superKernelAutoSyncAllEnableE",
    // Where debug output goes.
    "g_dumpWorkspaceReserved",
    "_ZN7AscendC23g_dumpWorkspaceReservedE",
    "_ZN7AscendC27g_mixFlagAssertOnlyReservedE",
    "_ZN7AscendC28g_dumpAddrAssertOnlyReservedE",
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
        for name in SET_BY_SUPER_KERNEL.iter().filter_map(|name| name.strip_prefix("_ZN7AscendC")) {
            let digits: String = name.chars().take_while(char::is_ascii_digit).collect();
            let rest = &name[digits.len()..];
            assert_eq!(rest.strip_suffix('E').map(str::len), digits.parse().ok(), "{name}");
        }
    }
}
