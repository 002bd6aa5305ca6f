//! Builds small ELF objects with every feature the engine handles, and reads objects by meaning.

#![allow(dead_code, missing_docs, reason = "each test file uses its part")]

pub mod build;
pub mod meaning;
pub mod random;
