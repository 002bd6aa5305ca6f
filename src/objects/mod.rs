//! The sub-kernels' object files: read once, measured, handed on to the build.

mod error;
mod read;
mod sizes;
mod used;

pub use error::ObjectError;
pub use read::{BinFile, ObjectBytes, Objects};
pub use sizes::TextSizes;
pub use used::{LinkGroup, UsedObject, used};
