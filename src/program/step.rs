//! One step of the device program: who takes it, what it does, and why.

use std::fmt;

use crate::model::{CoreKind, EventId, KernelType, OpPosition, SlotNumber, StreamId};

/// One step. A core takes the steps of the program in order, leaving out those that are not for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The op it belongs to; `None` for the super kernel's own steps.
    pub op: Option<OpPosition>,
    /// The cores that take it.
    pub cores: Cores,
    /// What they do.
    pub action: Action,
    /// Why: always there on a synchronisation step.
    pub reason: Option<Reason>,
}

/// Which cores take a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cores {
    /// Their kind.
    pub kinds: Kinds,
    /// Which of that kind.
    pub part: Part,
}

impl Cores {
    /// Every core there is.
    pub(crate) const EVERY: Self = Self { kinds: Kinds::Every, part: Part::All };

    /// Every core of one kind.
    pub(crate) fn all_of(kind: CoreKind) -> Self {
        Self { kinds: Kinds::Only(kind), part: Part::All }
    }

    /// Block 0 of one kind.
    pub fn first_of(kind: CoreKind) -> Self {
        Self { kinds: Kinds::Only(kind), part: Part::First }
    }

    /// Is this core among them?
    pub fn contain(self, core: CoreId) -> bool {
        self.kinds.contain(core.kind)
            && match self.part {
                Part::All => true,
                Part::Below(index, count) => core.index(index) < u64::from(count),
                Part::From(index, count) => core.index(index) >= u64::from(count),
                Part::First => core.index(CoreIndex::first_of(core.kind)) == 0,
            }
    }
}

/// One core of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CoreId {
    /// Its kind.
    pub kind: CoreKind,
    /// `get_block_idx()`.
    pub block: u32,
    /// `get_subblockid()`.
    pub sub_block: u32,
    /// `get_subblockdim()` of its kind.
    pub sub_blocks: u32,
}

impl CoreId {
    /// The value of one of the two index registers.
    pub(crate) fn index(self, index: CoreIndex) -> u64 {
        match index {
            CoreIndex::Block => u64::from(self.block),
            CoreIndex::Core => u64::from(self.block) * u64::from(self.sub_blocks) + u64::from(self.sub_block),
        }
    }
}

impl fmt::Display for CoreId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}.{}", self.kind, self.block, self.sub_block)
    }
}

/// Kinds of core.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kinds {
    /// Whatever kinds the super kernel has.
    Every,
    /// One of them.
    Only(CoreKind),
}

impl Kinds {
    /// Is this kind among them?
    pub(crate) fn contain(self, kind: CoreKind) -> bool {
        match self {
            Self::Every => true,
            Self::Only(only) => only == kind,
        }
    }
}

/// Which cores of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// All.
    All,
    /// Those that run an op of this many blocks.
    Below(CoreIndex, u32),
    /// Those that do not run it.
    From(CoreIndex, u32),
    /// The first one: `get_block_idx() == 0` on cube, `AscendC::GetBlockIdx() == 0` on vector cores.
    First,
}

/// The two ways to number cores. They differ on the vector cores of a 1:2 launch only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CoreIndex {
    /// `get_block_idx()`: the block.
    Block,
    /// `AscendC::GetBlockIdx()`: the core among its kind.
    Core,
}

impl CoreIndex {
    /// The number that is 0 on exactly one core of the kind.
    pub(crate) fn first_of(kind: CoreKind) -> Self {
        match kind {
            CoreKind::Aic => Self::Block,
            CoreKind::Aiv => Self::Core,
        }
    }
}

/// Names a function of [`super::Program::functions`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FunctionId(pub u32);

/// Names a table of [`super::Program::tables`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TableId(pub u32);

/// What a core does in one step.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Action {
    /// Takes the address of the parameter block.
    LoadParameters,
    /// Takes the workspace's address.
    LoadWorkspace {
        /// Its slot.
        slot: SlotNumber,
    },
    /// Tells `SyncAll` where the feed-sync-all records are: at the workspace.
    SetSyncAllBase,
    /// Opens the debug output buffer, `offset` bytes into the workspace.
    InitDump {
        /// Bytes in front of it.
        offset: u64,
    },
    /// Finds this core's profiling area and writes its first record.
    InitProfiling {
        /// Slot with the buffer's address.
        buffer: SlotNumber,
        /// Slot with the task id.
        task_id: SlotNumber,
    },
    /// Tells the core where the cross-core scheduler is, if the slot is not null.
    SetFftsBase {
        /// The slot.
        slot: SlotNumber,
    },
    /// Zeroes this core's share of the workspace and waits for its own pipes.
    ClearWorkspace {
        /// Bytes per core, a multiple of 512.
        bytes: u64,
    },
    /// Preloads code from here on.
    PreloadHere {
        /// Units of 2 KiB.
        units: u32,
    },
    /// Preloads this core's copy of a function.
    Preload {
        /// The function.
        function: FunctionId,
        /// Units of 2 KiB; unknown if the object was not read.
        units: Option<u32>,
    },
    /// Preloads this core's copy of the function that the last switch picked.
    PreloadPicked {
        /// Units of 2 KiB.
        units: u32,
    },
    /// Writes a profiling record.
    Record {
        /// Of what.
        subject: RecordSubject,
        /// Its start or its end.
        edge: RecordEdge,
    },
    /// Orders this core's own pipes.
    PipeBarrier,
    /// Meets other cores.
    Barrier(Barrier),
    /// Raises a flag of the other kind's cores in the same block.
    SetFlag {
        /// The direction, which fixes the flag.
        direction: Direction,
        /// The wait it is meant for.
        pair: Pair,
    },
    /// Waits for such a flag.
    WaitFlag {
        /// The direction, which fixes the flag.
        direction: Direction,
        /// The set it waits for.
        pair: Pair,
    },
    /// `SetNextTaskStart`.
    EarlyStartSet {
        /// The hand-over it belongs to.
        round: Round,
    },
    /// Stores the classes of the two ops for waits inside sub-kernels.
    EarlyStartConfig {
        /// `previous << 2 | current`.
        config: EarlyStartConfig,
    },
    /// `WaitPreTaskEndImpl`.
    EarlyStartWait {
        /// `previous << 2 | current`.
        config: EarlyStartConfig,
        /// The hand-over it belongs to.
        round: Round,
    },
    /// Writes 1 to the lock word of an outer event.
    Notify {
        /// The event.
        event: EventId,
        /// Slot with the word's address.
        slot: SlotNumber,
    },
    /// Spins until the lock word of an outer event is 1.
    WaitEvent {
        /// The event.
        event: EventId,
        /// Slot with the word's address.
        slot: SlotNumber,
    },
    /// Writes 0 to the lock word of an outer event that was waited for.
    ClearEvent {
        /// The event.
        event: EventId,
        /// Slot with the word's address.
        slot: SlotNumber,
    },
    /// Idle cores will follow this op's `SyncAll` calls.
    EnableSyncAll {
        /// Where their records are. Few steps are this one, and with the offsets in it all would be longer by a third.
        records: Box<SyncAllRecords>,
    },
    /// They will not, or no longer.
    DisableSyncAll,
    /// Announces the end of the op to the idle cores.
    EndSyncAll,
    /// Follows the op's `SyncAll` calls until its end.
    ComplementSyncAll,
    /// Writes back and drops the whole data cache.
    Flush,
    /// Calls this core's copy of a function.
    Call {
        /// The function.
        function: FunctionId,
        /// Its argument: the op's first slot.
        offset: SlotNumber,
    },
    /// Waits for a dynamic op's tiling, and picks its functions.
    Switch {
        /// The functions by key.
        table: TableId,
        /// Slot with the address of the tiling key; block count and lock follow.
        key_slot: SlotNumber,
    },
    /// Calls what the switch picked, on the kinds of the picked type.
    CallPicked {
        /// The functions by key.
        table: TableId,
        /// Their argument: the op's first slot.
        offset: SlotNumber,
    },
    /// Writes 0 to a dynamic op's lock.
    ReleaseLock {
        /// Slot with the lock's address.
        slot: SlotNumber,
    },
}

/// A meeting of cores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Barrier {
    /// All cube cores.
    Aic,
    /// All cube cores, each once its MTE3 pipe is done: the debug barrier of the cube side.
    AicAfterMte3,
    /// All vector cores.
    Aiv,
    /// All cores of both kinds.
    All,
}

/// From one kind to the other inside a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// Cube to vector: `SYNC_AIC_AIV_FLAG`.
    CubeToVector,
    /// Vector to cube: `SYNC_AIV_FLAG`.
    VectorToCube,
}

impl Direction {
    /// Both, cube to vector first.
    pub(crate) const BOTH: [Self; 2] = [Self::CubeToVector, Self::VectorToCube];

    /// The direction that leaves `kind`.
    pub(crate) fn leaving(kind: CoreKind) -> Self {
        match kind {
            CoreKind::Aic => Self::CubeToVector,
            CoreKind::Aiv => Self::VectorToCube,
        }
    }

    /// The direction that enters `kind`.
    pub(crate) fn entering(kind: CoreKind) -> Self {
        Self::leaving(kind.other())
    }

    /// The kind that sets.
    pub(crate) fn sender(self) -> CoreKind {
        match self {
            Self::CubeToVector => CoreKind::Aic,
            Self::VectorToCube => CoreKind::Aiv,
        }
    }

    /// The kind that waits.
    pub(crate) fn receiver(self) -> CoreKind {
        self.sender().other()
    }

    /// The other direction.
    pub fn opposite(self) -> Self {
        match self {
            Self::CubeToVector => Self::VectorToCube,
            Self::VectorToCube => Self::CubeToVector,
        }
    }
}

/// The two ends of a flag between the kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Pair {
    /// From one op to another.
    Ops {
        /// The op that sets when it has ended.
        sender: OpPosition,
        /// The op that waits before it starts.
        receiver: OpPosition,
    },
    /// The workspace has been cleared.
    Workspace,
}

/// One early-start hand-over: sets first, then waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Round {
    /// From the op before it to the op at this position.
    Into(OpPosition),
    /// A second one in front of the op at this position, for the wait in its own code.
    OwnWait(OpPosition),
    /// Behind the last op, for the set in its own code.
    AtEnd,
}

/// Classes of the op before and of the op at hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct EarlyStartConfig {
    /// The op before.
    pub previous: crate::model::CoreClass,
    /// The op at hand.
    pub current: crate::model::CoreClass,
}

impl EarlyStartConfig {
    /// The number the device API uses.
    pub(crate) fn number(self) -> u32 {
        (self.previous.early_start_code() << 2) | self.current.early_start_code()
    }
}

/// What a profiling record is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RecordSubject {
    /// The whole super kernel.
    SuperKernel,
    /// The op at this position.
    Op(OpPosition),
    /// The notify of an event.
    Notify(EventId),
    /// The wait for an event.
    Wait(EventId),
}

impl RecordSubject {
    /// The record's type number.
    pub(crate) fn type_number(self) -> u32 {
        match self {
            Self::SuperKernel => 0,
            Self::Notify(_) => 4,
            Self::Op(_) => 8,
            Self::Wait(_) => 0xC,
        }
    }

    /// The record's index: 32 bits, so of a wider event id the low half.
    pub(crate) fn index(self) -> u32 {
        match self {
            Self::SuperKernel => 0,
            Self::Op(position) => position.place() as u32 + 1,
            Self::Notify(event) | Self::Wait(event) => event.0 as u32,
        }
    }
}

/// Opening or closing record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RecordEdge {
    /// It starts.
    Start,
    /// It ended.
    End,
}

/// Why a step is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    /// The op at hand comes after the op before it.
    ListOrder,
    /// Two neighbours of one stream.
    SameStream(StreamId),
    /// An inner event.
    Event(EventId),
    /// Flags count to 15 only.
    FlowControl,
    /// An outer event is told.
    OuterNotify(EventId),
    /// Nobody may be told before all cores have ended the op.
    BeforeNotify,
    /// An outer event is waited for.
    OuterWait(EventId),
    /// No core may start before the event that one core has seen.
    AfterOuterWait,
    /// Nobody may still poll when the lock is cleared.
    AfterSwitch,
    /// Functions depend on the tiling.
    Tiling,
    /// `debug-sync-all`.
    DebugSyncAll,
    /// `debug-dcci-all`.
    DebugDcciAll,
    /// The op's own wait needs a set.
    OwnWait,
    /// The op's own set needs a wait.
    OwnSet,
    /// The workspace must be zero before anyone uses it.
    WorkspaceCleared,
    /// The next op may read what this core's pipes still write.
    NextOnThisCore,
}

/// A dynamic op's functions for one tiling key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableEntry {
    /// The key.
    pub key: u64,
    /// The type it runs as.
    pub kernel_type: KernelType,
    /// Its cube function.
    pub aic: Option<FunctionId>,
    /// Its vector function.
    pub aiv: Option<FunctionId>,
}

impl TableEntry {
    /// Its function for `kind`.
    pub(crate) fn function(&self, kind: CoreKind) -> Option<FunctionId> {
        match kind {
            CoreKind::Aic => self.aic,
            CoreKind::Aiv => self.aiv,
        }
    }
}

/// Offsets of an op's feed-sync-all records in the workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SyncAllRecords {
    /// Of the cube cores.
    pub aic: u64,
    /// Of the vector cores.
    pub aiv: u64,
}
