//! Data movement.
//!
//! | file | instructions |
//! |---|---|
//! | [`burst`] | rows of bytes between memories, with gaps and padding |
//! | [`fill`] | one value, many times |
//! | [`nd2nz`] | row-major matrices, cut into fractals |

pub(crate) mod burst;
pub(crate) mod fill;
pub(crate) mod nd2nz;
