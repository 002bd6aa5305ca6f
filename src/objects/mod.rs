//! The sub-kernels' object files: read once, measured, handed on to the build.

mod error;
mod read;
mod sizes;

pub use error::ObjectError;
pub use read::{BinFile, Measured, ObjectBytes, Objects, measure};
pub use sizes::TextSizes;
