//! The symbols of a super kernel.

use super::CoreKind;

/// The run configuration that a loader fills in.
pub const RUN_CONFIG: &str = "g_opSystemRunCfg";

/// Names made from the kernel's name.
#[derive(Debug, Clone)]
pub struct SuperKernelSymbols {
    kernel: String,
}

impl SuperKernelSymbols {
    /// The symbols of `kernel`.
    pub fn new(kernel: &str) -> Self {
        Self { kernel: kernel.to_owned() }
    }

    /// The entry the loader calls on `kind`; also the stem of the object's name.
    pub fn entry(&self, kind: CoreKind) -> String {
        format!("{}_mix_{kind}", self.kernel)
    }

    /// Copy number `copy` of the code behind the entry.
    pub fn copy(&self, kind: CoreKind, copy: u32) -> String {
        match copy {
            0 => format!("_sk_{}", self.entry(kind)),
            number => format!("_sk_{}_{number}", self.entry(kind)),
        }
    }

    /// The section that tells the loader how to launch the entry.
    pub fn meta_section(&self, kind: CoreKind) -> String {
        format!(".ascend.meta.{}", self.entry(kind))
    }
}
