//! Runs launches: one, those of a program, and those that another process asks for.

mod alone;
pub(crate) mod engine;
pub(crate) mod program;
pub(crate) mod protocol;
