//! What tests modules together: through the public functions alone, as another crate would (`use superkernel::…`).
//!
//! They are a module of the library's own test program. As programs of their own they would need the library compiled
//! once more, and cargo keeps only one such library: Python's extension and theirs would replace each other on every
//! change of hands.
#![allow(
    clippy::disallowed_methods,
    unreachable_pub,
    reason = "tests reach files as they like, and what they share is for all of them"
)]

mod cases;
mod elf_edits;
mod elf_mutations;
pub(crate) mod elf_support;
mod error_table;
mod link_join;
mod program;
mod publish_stress;
mod support;
mod tidy;
