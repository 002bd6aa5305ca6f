//! Data movement.
//!
//! | file | instructions |
//! |---|---|
//! | [`burst`] | rows of bytes between memories, with gaps and padding |

pub(crate) mod burst;
