//! The words of kernel files: what symbols, sections, architectures and types are called, written and read alike.

mod chip;
mod core_kind;
mod kernel_type;
mod meta;
mod symbols;

pub use chip::Chip;
pub use core_kind::{CoreClass, CoreKind};
pub use kernel_type::{KernelType, SuperKernelType};
pub(crate) use meta::{LaunchMeta, META_SECTION_PREFIX, meta_declaration, meta_section};
pub(crate) use symbols::{PROGRAM_SECTION, RUN_CONFIG, SHARED_SYMBOLS, SuperKernelSymbols, copy_name, half_name};
