//! The words of kernel files: what symbols, sections, architectures and types are called, written and read alike.

mod chip;
mod core_kind;
mod data_type;
mod device_flags;
mod kernel_type;
mod meta;
mod symbols;

pub use chip::Chip;
pub use core_kind::{CoreClass, CoreKind};
pub(crate) use data_type::{DataType, Format};
pub(crate) use device_flags::{CALL, CALL_REACH, CodeTarget, STACK_BYTES, STACK_RECORD};
pub use kernel_type::{KernelType, SuperKernelType};
pub(crate) use meta::{LaunchMeta, META_SECTION_PREFIX, meta_declaration, meta_section};
pub(crate) use symbols::{
    BLOCK_LOCAL_PREFIX, BLOCK_LOCAL_ROOM, DYNAMIC_BLOCK_NUM, EARLY_START_CONFIG, PROGRAM_SECTION, RUN_CONFIG, Setter,
    SuperKernelSymbols, TILING_PREFIX, copy_name, half_name,
};
