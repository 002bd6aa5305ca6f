//! What is recorded and judged about a run. Nothing here changes the machine.

pub(crate) mod guard;
pub(crate) mod observer;
pub(crate) mod order;
pub(crate) mod races;
