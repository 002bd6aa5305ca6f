//! One step of the device program: who takes it, what it does, and why.

use std::fmt;

use super::{Action, FunctionId};
use crate::model::{CoreKind, EventId, KernelType, OpPosition, StreamId};
use crate::named::named;

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

named! {
    /// The two ways to number cores. They differ on the vector cores of a 1:2 launch only.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum CoreIndex {
        /// `get_block_idx()`: the block.
        Block = "block",
        /// `AscendC::GetBlockIdx()`: the core among its kind.
        Core = "core",
    }
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
