//! One op of the super kernel, checked.

use crate::named::named;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use super::{CoreClass, CoreKind, EventId, KernelType, OpIndex, OpName, OpPosition, Regions, SlotNumber, StreamId};
use crate::store::digest::ContentDigest;

/// One op: what its `op_list` entry and its sub-kernel JSON say, and what follows from both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Op {
    /// Its place in `op_list`: used in names and messages. Its *position* is its place in
    /// [`super::SuperKernel::ops`].
    pub index: OpIndex,
    /// The sub-kernel it runs; shared by ops with the same JSON.
    pub kernel: Arc<SubKernel>,
    /// Its object file or archive; `None` if the entry names none.
    pub bin_path: Option<PathBuf>,
    /// The stream it was assigned to.
    pub stream_id: StreamId,
    /// Normal or tiling-sink.
    pub task_type: TaskType,
    /// Blocks it runs on.
    pub block_num: u32,
    /// Events it sends, in the order of its list.
    pub send_events: Box<[EventUse]>,
    /// Events it receives, in the order of its list.
    pub recv_events: Box<[EventUse]>,
    /// The memory it touches, if the caller knows.
    pub regions: Option<Regions>,
    /// Cache flushes around it.
    pub dcci: DcciFlags,
    /// Idle cores must follow its `SyncAll` calls.
    pub needs_feed_sync_all: bool,
    /// Where its parameters are.
    pub offsets: ParamOffsets,
}

impl Op {
    /// The kinds of core it runs on.
    pub fn class(&self) -> CoreClass {
        self.kernel.kernel_type.class()
    }

    /// How messages call it.
    pub(crate) fn name(&self) -> OpName {
        OpName { index: self.index, kernel_name: self.kernel.kernel_name.clone() }
    }

    /// Decided at run time which function runs?
    pub(crate) fn is_dynamic(&self) -> bool {
        match self.task_type {
            TaskType::Normal => false,
            TaskType::Dynamic => true,
        }
    }

    /// Events it sends whose receiver is outside this super kernel.
    pub(crate) fn outer_sends(&self) -> impl Iterator<Item = &EventUse> {
        self.send_events.iter().filter(|event| event.is_outer())
    }

    /// Events it receives whose sender is outside this super kernel.
    pub(crate) fn outer_receives(&self) -> impl Iterator<Item = &EventUse> {
        self.recv_events.iter().filter(|event| event.is_outer())
    }
}

named! {
    /// Normal or tiling-sink.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum TaskType {
        /// Function and block count are known now.
        Normal = "normal",
        /// Both are read from memory at run time.
        Dynamic = "dynamic",
    }
}

/// A sub-kernel as its JSON describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubKernel {
    /// Identifies the JSON's content.
    pub json_digest: ContentDigest,
    /// What the JSON states about its object's content (`sha256`), in the writer's own terms.
    pub object_digest: Option<String>,
    /// `kernelName`.
    pub kernel_name: Arc<str>,
    /// `sub_operator_op_type`, may be empty.
    pub op_type: String,
    /// `sub_operator_kernel_type`.
    pub kernel_type: KernelType,
    /// `blockDim`; of no meaning for a dynamic op.
    pub block_dim: i64,
    /// Its functions.
    pub code: SubKernelCode,
    /// Names of its parameters.
    pub params: Vec<String>,
    /// What its own code does for early start.
    pub early_start: EarlyStartFlags,
    /// Its objects were split into this many copies already.
    pub split_mode: Option<u32>,
    /// `debugOptions` and `debugBufSize`, whether they mean output or not.
    pub debug_options: Option<DebugOutput>,
    /// Its code calls `SyncAll`.
    pub calls_sync_all: bool,
    /// It does, or its JSON does not say.
    pub may_call_sync_all: bool,
    /// The flushes its JSON asks for.
    pub dcci: DcciFlags,
}

impl SubKernel {
    /// Its debug output, if it has any.
    pub(crate) fn debug_output(&self) -> Option<&DebugOutput> {
        self.debug_options.as_ref().filter(|debug| debug.has_output())
    }
}

/// The functions of a sub-kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SubKernelCode {
    /// One function per core kind it runs on, cube first.
    Static(Vec<Function>),
    /// Functions by tiling key, keys ascending.
    Dynamic(Vec<TilingFunctions>),
}

/// One function of a static sub-kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// The kind of core that runs it.
    pub kind: CoreKind,
    /// Its symbol.
    pub name: String,
    /// `obj_files`: its object's path at the time it was compiled; the file name finds it in an archive.
    pub object: Option<String>,
}

/// The functions of one tiling key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TilingFunctions {
    /// The key.
    pub key: u64,
    /// The type this key runs as.
    pub kernel_type: KernelType,
    /// The cube function, for a type that runs on cube cores.
    pub aic: Option<String>,
    /// The vector function, for a type that runs on vector cores.
    pub aiv: Option<String>,
}

impl TilingFunctions {
    /// Its function for `kind`.
    pub(crate) fn function(&self, kind: CoreKind) -> Option<&str> {
        match kind {
            CoreKind::Aic => self.aic.as_deref(),
            CoreKind::Aiv => self.aiv.as_deref(),
        }
    }
}

/// The halves of the early-start handshake that the sub-kernel's own code does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EarlyStartFlags {
    /// It tells the next op that it may start.
    pub sets_itself: bool,
    /// It waits for the op before it.
    pub waits_itself: bool,
}

impl EarlyStartFlags {
    /// Neither half is in its code.
    pub(crate) fn is_empty(self) -> bool {
        !self.sets_itself && !self.waits_itself
    }
}

impl fmt::Display for EarlyStartFlags {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match (self.sets_itself, self.waits_itself) {
            (true, true) => "it sets and waits itself",
            (true, false) => "it sets itself",
            (false, true) => "it waits itself",
            (false, false) => "none",
        })
    }
}

/// Whole-cache flushes around an op, as asked for. Disabling wins: see [`DcciFlags::flushes_before`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DcciFlags {
    /// A flush in front is asked for.
    pub before_kernel_start: bool,
    /// A flush behind is asked for.
    pub after_kernel_end: bool,
    /// No flush at all.
    pub disabled: bool,
}

impl DcciFlags {
    /// Is there a flush in front?
    pub(crate) fn flushes_before(self) -> bool {
        self.before_kernel_start && !self.disabled
    }

    /// Is there a flush behind?
    pub(crate) fn flushes_after(self) -> bool {
        self.after_kernel_end && !self.disabled
    }
}

/// Buffered debug output (`timestamp`, `printf`, `assert`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DebugOutput {
    /// The options, in order of first appearance.
    pub options: Vec<String>,
    /// Bytes of buffer.
    pub size: u64,
}

impl DebugOutput {
    /// Is anything written?
    fn has_output(&self) -> bool {
        self.options.iter().any(|option| matches!(option.as_str(), "timestamp" | "printf" | "assert"))
    }

    /// The options, comma separated.
    pub(crate) fn option_text(&self) -> String {
        self.options.join(",")
    }
}

/// One entry of an event list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventUse {
    /// The event's id.
    pub id: EventId,
    /// Where the other end is.
    pub other_end: OtherEnd,
    /// The parameter slot with the address of its lock word.
    pub slot: SlotNumber,
}

impl EventUse {
    /// Is the other end outside this super kernel?
    pub(crate) fn is_outer(&self) -> bool {
        match self.other_end {
            OtherEnd::Outside => true,
            OtherEnd::Op(_) => false,
        }
    }
}

/// The far end of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OtherEnd {
    /// Somewhere outside: the event is a lock word.
    Outside,
    /// The op at this position: order comes from the sync code.
    Op(OpPosition),
}

/// Where an op's parameters are, in slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ParamOffsets {
    /// Its first parameter.
    pub param: SlotNumber,
    /// For a dynamic op the slot of the tiling key's address; block count and wait lock follow.
    pub tiling_key: Option<SlotNumber>,
    /// Its first send lock.
    pub notify: SlotNumber,
    /// Its first receive lock.
    pub wait: SlotNumber,
}

impl ParamOffsets {
    /// The slot with the address of a dynamic op's wait lock.
    pub(crate) fn wait_lock(&self) -> Option<SlotNumber> {
        self.tiling_key.map(|slot| slot.after(2))
    }
}
