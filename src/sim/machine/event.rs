//! Events between two pipes of a core, as kernels name them.

use crate::aicore::Pipe;

/// A core has two sets of events that know nothing of each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum EventSet {
    /// `set_flag` and `wait_flag`.
    Flags,
    /// `hset_flag` and `hwait_flag`: for the buffers around the cube unit.
    BufferFlags,
}

impl EventSet {
    /// What raises an event of the set.
    pub(crate) fn set_name(self) -> &'static str {
        match self {
            Self::Flags => "SetFlag",
            Self::BufferFlags => "hset_flag",
        }
    }

    /// What waits for one.
    pub(crate) fn wait_name(self) -> &'static str {
        match self {
            Self::Flags => "WaitFlag",
            Self::BufferFlags => "hwait_flag",
        }
    }
}

/// One event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Event {
    /// The set it belongs to.
    pub set: EventSet,
    /// The pipe that raises it.
    pub source: Pipe,
    /// The pipe that waits for it.
    pub target: Pipe,
    /// Its number among those of the two pipes.
    pub id: u32,
}

impl Event {
    /// In reports.
    pub(crate) fn describe(self) -> String {
        format!("event {} from {} to {}", self.id, self.source.name(), self.target.name())
    }

    /// The call that waits for the events of its two pipes.
    pub(crate) fn wait(self) -> String {
        let (name, source, target) = (self.set.wait_name(), self.source.name(), self.target.name());
        match self.set {
            EventSet::Flags => format!("{name}<HardEvent::{source}_{target}>"),
            EventSet::BufferFlags => format!("{name} from PIPE_{source} to PIPE_{target}"),
        }
    }

    /// The call that waits for this one.
    pub(crate) fn wait_call(self) -> String {
        match self.set {
            EventSet::Flags => format!("{}({})", self.wait(), self.id),
            EventSet::BufferFlags => {
                let (name, source, target) = (self.set.wait_name(), self.source.name(), self.target.name());
                format!("{name}(PIPE_{source}, PIPE_{target}, {})", self.id)
            }
        }
    }
}

#[cfg(test)]
impl Event {
    /// Of `set_flag`.
    pub(crate) fn of_flags(source: Pipe, target: Pipe, id: u32) -> Self {
        Self { set: EventSet::Flags, source, target, id }
    }
}

/// What orders two pipes of a core.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Flag {
    /// `set_flag` and `wait_flag`, `hset_flag` and `hwait_flag`.
    Event(Event),
    /// The buffer of a queue that starts at this address holds a tensor.
    Filled(u64),
    /// The buffer of a queue that starts at this address is free.
    Emptied(u64),
    /// The flags of L0C, the how manyth time they are waited for.
    Unit(u64),
}

/// Does the compiler put barriers between vector instructions, and waits around scalar accesses to tensors?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AutoSync {
    /// It does, as device builds do by default on vector cores.
    On,
    /// It does not: cube cores, or as asked.
    Off,
}
