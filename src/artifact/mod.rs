//! The words of kernel files: what symbols, sections, architectures and types are called, written and read alike.

mod chip;
mod kernel_type;
mod symbols;

pub use chip::Chip;
pub use kernel_type::{CoreClass, CoreKind, KernelType, SuperKernelType};
pub use symbols::{RUN_CONFIG, SuperKernelSymbols};
