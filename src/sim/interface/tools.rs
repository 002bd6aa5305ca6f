//! What a run may look for: each tool finds one kind of mistake, and can be chosen by its name.

use serde::{Deserialize, Serialize};

/// One of the things to look for. Whatever ends a run, such as a deadlock or a crash, is found by every one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Tool {
    /// Two operators that share memory without an order.
    Order,
    /// Two cores of one operator that do.
    Race,
    /// Instructions of a core that nothing orders.
    Pipe,
    /// Data that stays in the cache of a core.
    Cache,
    /// Memory that is read before somebody wrote it.
    Init,
    /// Accesses outside of the memory they are meant for.
    Bounds,
    /// What only the barriers and waits that compilers put in keep in order.
    Autosync,
}

impl Tool {
    /// All of them.
    pub(crate) const ALL: [Self; 7] =
        [Self::Order, Self::Race, Self::Pipe, Self::Cache, Self::Init, Self::Bounds, Self::Autosync];
}

/// Those that a run looks for.
pub(crate) fn all() -> Vec<Tool> {
    Tool::ALL.to_vec()
}
