//! Turns the state of a run into what is reported: waits explained, hazards named, traces drawn.

pub(crate) mod explain;
pub(crate) mod hazards;
pub(crate) mod trace;
