//! Operators as their authors keep them: a folder with a definition, host code that decides about tiling, and a kernel.

pub(crate) mod definition;
mod error;
pub(crate) mod host;
pub(crate) mod kernel;

pub(crate) use error::OperatorError;
