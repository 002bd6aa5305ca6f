//! The symbols of super kernels and sub-kernels.

use super::{CoreKind, meta_section};

/// The run configuration that a loader fills in.
pub const RUN_CONFIG: &str = "g_opSystemRunCfg";

/// Copy `copy` of a function, of its object, or of a key that names it: the first keeps the name.
pub fn copy_name(name: &str, copy: u32) -> String {
    match copy {
        0 => name.to_owned(),
        number => format!("{name}_split{number}"),
    }
}

/// The half of a mixed function that runs on `kind`.
pub fn half_name(name: &str, kind: CoreKind) -> String {
    format!("{name}_mix_{kind}")
}

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
        half_name(&self.kernel, kind)
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
        meta_section(&self.entry(kind))
    }
}
