//! Who goes on next: the schedule, delays, limits, and agents that act beside the kernel.

pub(crate) mod agents;
pub(crate) mod driver;
pub(crate) mod schedule;
