//! What a program must do, told by the model: the checker compares the steps with it.
//!
//! Nothing here is read off the steps, so a step that is missing, doubled or wrong is seen.

use super::{CoreId, CoreIndex, EarlyStartConfig, Entering, FunctionId, SyncAllRecords, TableId};
use crate::model::{ByPosition, CoreClass, CoreKind, EventId, OpPosition, SlotLayout, SlotNumber};

/// What the steps of a program are for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirements {
    /// The parameter block.
    pub slots: SlotLayout,
    /// Bytes of workspace in front of the debug output; `None`: no debug output.
    pub debug_output: Option<u64>,
    /// Bytes of workspace that each clearing core zeroes for feed-sync-all; `None`: no feed-sync-all.
    pub cleared_bytes: Option<u64>,
    /// `debug-dcci-all`: every core flushes its cache after every op of its scope.
    pub debug_flush: bool,
    /// `debug-sync-all`: they all meet after every op.
    pub debug_meeting: bool,
    /// Op by op.
    pub ops: ByPosition<OpRequirement>,
    /// The early-start classes behind the last op, if its code sets itself.
    pub last_config: Option<EarlyStartConfig>,
}

/// What a program must do for one op.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpRequirement {
    /// The ops that must have ended before it starts: the one before it in its stream (or in the list), and the
    /// senders of its inner events.
    pub after: Box<[OpPosition]>,
    /// What is called.
    pub code: RequiredCode,
    /// The argument of the call: the op's first slot.
    pub param: SlotNumber,
    /// Outer events to wait for before it starts, and to clear afterwards.
    pub waits: Box<[OuterEvent]>,
    /// Outer events to tell when it has ended on all cores.
    pub notifies: Box<[OuterEvent]>,
    /// The early-start classes to store in front of it.
    pub config: Option<EarlyStartConfig>,
    /// All cores of its kinds write back their caches before it.
    pub flush_before: bool,
    /// They do so behind it.
    pub flush_after: bool,
    /// Where its feed-sync-all records are, if idle cores follow its `SyncAll` calls.
    pub records: Option<SyncAllRecords>,
}

/// What is called for an op.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequiredCode {
    /// A function per kind, on the cores below the op's block count.
    Static {
        /// On cube cores.
        aic: Option<FunctionId>,
        /// On vector cores.
        aiv: Option<FunctionId>,
    },
    /// What the switch picks, on cores of its kinds.
    Dynamic {
        /// The functions by key.
        table: TableId,
        /// Slot with the address of the tiling key.
        key_slot: SlotNumber,
        /// Slot with the address of the lock to release.
        lock: SlotNumber,
        /// The kind whose first core releases it.
        releaser: CoreKind,
        /// The cores that enter.
        entering: Entering,
    },
}

/// An event whose other end is outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OuterEvent {
    /// The event.
    pub event: EventId,
    /// Slot with the address of its lock word.
    pub slot: SlotNumber,
    /// The kind whose first core waits and clears, or tells.
    pub by: CoreKind,
}

/// Is this the one core of `kind` that speaks for all of them?
pub(crate) fn is_first_of(core: CoreId, kind: CoreKind) -> bool {
    core.kind == kind && core.index(CoreIndex::first_of(kind)) == 0
}

/// How the cores of an op of this class are counted.
pub(crate) fn index_of_class(class: CoreClass) -> CoreIndex {
    match class {
        CoreClass::Aiv => CoreIndex::Core,
        CoreClass::Aic | CoreClass::Mix => CoreIndex::Block,
    }
}
