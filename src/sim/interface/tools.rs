//! What a run may look for: each tool finds one kind of mistake, and can be chosen by its name.

use crate::named::named;
named! {
    /// One of the things to look for. Whatever ends a run, such as a deadlock or a crash, is found by every one.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub(crate) enum Tool {
        /// Two operators that share memory without an order.
        Order = "order",
        /// Two cores of one operator that do.
        Race = "race",
        /// Instructions of a core that nothing orders.
        Pipe = "pipe",
        /// Data that stays in the cache of a core.
        Cache = "cache",
        /// Memory that is read before somebody wrote it.
        Init = "init",
        /// Accesses outside of the memory they are meant for.
        Bounds = "bounds",
        /// What only the barriers and waits that compilers put in keep in order.
        Autosync = "autosync",
    }
}

/// Those that a run looks for.
pub(crate) fn all() -> Vec<Tool> {
    Tool::ALL.to_vec()
}
