//! The sub-kernels' object files: read once, measured, handed on to the build.

mod sizes;

pub use sizes::TextSizes;
