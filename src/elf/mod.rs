//! Reads and edits ELF objects and archives as data: inspect, rename, localize, strip, copy.
//!
//! Works on bytes, for ELF64 little-endian files of any machine. What is not understood (relocation types, section
//! types, machine numbers) is preserved; what would have to be understood to be kept right is refused. Input is never
//! trusted: a damaged file gives an error with offset and field, in time and memory linear in its size.
//!
//! | question or change | function |
//! |---|---|
//! | sections, code size | [`sections`], [`section_bytes`], [`text_size`] |
//! | symbols | [`symbols`] |
//! | rename, localize, strip, drop sections | [`edit`] with [`Edits`] |
//! | split copies of a kernel | [`split_copies`] |
//! | archives | [`archive`] |

pub mod archive;
mod copies;
mod edit;
mod error;
pub(crate) mod file;
pub(crate) mod format;
mod inspect;
mod launch;
mod limits;
mod shared;
pub(crate) mod strings;
pub(crate) mod symbols;
#[cfg(test)]
mod tests;

pub(crate) use copies::copy_edits;
pub use copies::split_copies;
pub(crate) use edit::{AddedSection, Fill, References, Shape, edit_with, normalized, of_section};
pub use edit::{Edits, Groups, Localize, Missing, SymbolOrder, edit};
pub use error::{EditKind, ElfError};
pub(crate) use format::RELOCATABLE;
pub(crate) use inspect::{DEVICE_MACHINE, HOST_MACHINE, relocations, section_contents};
pub use inspect::{Identity, Section, identity, section_bytes, sections, text_size};
pub(crate) use launch::launch_data;
pub(crate) use limits::{MAX_ROOM, check_block_local, check_file_limits, check_limits};
pub(crate) use shared::{Definition, SharedPart, SharedVariable, VariableMemory, code_parts};
pub use symbols::{Binding, Place, Symbol, SymbolKind, Visibility, symbols};
