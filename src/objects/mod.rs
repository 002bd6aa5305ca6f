//! The sub-kernels' object files: read once, measured, handed on to the build.

mod error;
mod read;
mod sharing;
mod sizes;
mod suitability;
mod used;

pub(crate) use error::ObjectError;
pub(crate) use read::{BinFiles, CodeOf, ObjectBytes, Objects};
pub(crate) use sharing::{BlockLocalUse, Fate, Sharing};
pub use sizes::TextSizes;
pub(crate) use suitability::{Suitability, problems};
pub(crate) use used::{LinkGroup, UsedObject, used};
