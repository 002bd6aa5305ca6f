//! What the fields of actions are made of.

use std::fmt;

use crate::model::{CoreClass, CoreKind, EventId, OpPosition};
use crate::named::named;

/// Names a function of [`super::Program::functions`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FunctionId(pub u32);

/// Names a table of [`super::Program::tables`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TableId(pub u32);

named! {
    /// A meeting of cores.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Barrier {
        /// All cube cores.
        Aic = "aic",
        /// All cube cores, each once its MTE3 pipe is done: the debug barrier of the cube side.
        AicAfterMte3 = "aic-after-mte3",
        /// All vector cores.
        Aiv = "aiv",
        /// All cores of both kinds.
        All = "all",
    }
}

impl Barrier {
    /// Does it need cores of this kind?
    pub(crate) fn needs(self, kind: CoreKind) -> bool {
        match self {
            Self::Aic | Self::AicAfterMte3 => kind == CoreKind::Aic,
            Self::Aiv => kind == CoreKind::Aiv,
            Self::All => true,
        }
    }
}

named! {
    /// From one kind to the other inside a block.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Direction {
        /// Cube to vector: `SYNC_AIC_AIV_FLAG`.
        CubeToVector = "aic-to-aiv",
        /// Vector to cube: `SYNC_AIV_FLAG`.
        VectorToCube = "aiv-to-aic",
    }
}

impl Direction {
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
    pub previous: CoreClass,
    /// The op at hand.
    pub current: CoreClass,
}

impl EarlyStartConfig {
    /// The number the device API uses.
    pub(crate) fn number(self) -> u32 {
        (self.previous.early_start_code() << 2) | self.current.early_start_code()
    }
}

impl fmt::Display for EarlyStartConfig {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.number().fmt(formatter)
    }
}

/// The cores that enter a dynamic op.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Entering {
    /// All of the picked type's kinds.
    All,
    /// Those below the block count of the run, in vector cores for a type of vector cores alone.
    Tiled,
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

impl fmt::Display for RecordSubject {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::SuperKernel => "super-kernel",
            Self::Op(_) => "op",
            Self::Notify(_) => "notify",
            Self::Wait(_) => "wait",
        })
    }
}

named! {
    /// Opening or closing record.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum RecordEdge {
        /// It starts.
        Start = "start",
        /// It ended.
        End = "end",
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
