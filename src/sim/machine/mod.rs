//! The machine: cores, flags, caches and memories of a launch. It knows nothing of who watches it or who drives it.

pub(crate) mod access;
pub(crate) mod arena;
pub(crate) mod cache;
pub(crate) mod clock;
pub(crate) mod combining;
pub(crate) mod core_state;
pub(crate) mod delayed;
pub(crate) mod event;
pub(crate) mod flags;
pub(crate) mod instructions;
pub(crate) mod lines;
pub(crate) mod memory;
pub(crate) mod pipe_clock;
pub(crate) mod random;
pub(crate) mod state;
pub(crate) mod topology;
