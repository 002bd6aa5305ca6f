//! What a run may look for: each tool finds one kind of mistake, and can be chosen by its name.

use crate::named::named;
named! {
    /// One of the things to look for. Whatever ends a run, such as a deadlock or a crash, is found by every one.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub(crate) enum Tool {
        /// Two ops that share memory without an order; results that differ from those of the ops alone.
        Order = "order",
        /// Two cores of one op that share memory without an order.
        Race = "race",
        /// Instructions of a core that nothing orders; events and queues left in use.
        Pipe = "pipe",
        /// Data that stays in the data cache of a core, or destroys what is beside it.
        Cache = "cache",
        /// Memory that is read before it was written.
        Init = "init",
        /// Accesses outside of the memory they are meant for.
        Bounds = "bounds",
        /// What only the barriers and waits that device compilers put in keep in order. Not among the usual ones.
        Autosync = "autosync",
    }
}

/// Those that a run looks for.
pub(crate) fn all() -> Vec<Tool> {
    Tool::ALL.to_vec()
}
