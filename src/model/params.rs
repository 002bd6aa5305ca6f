//! The parameter block: one slot of 8 bytes for every address the kernel is given.

use crate::named::named;
use std::sync::Arc;

use smol_str::{SmolStr, format_smolstr};

use super::{Chip, ModelError, Op, OpIndex, ParamOffsets, SlotNumber};
use crate::options::Options;

/// One slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slot {
    /// What it holds. There are several for each op, and names are short: this type holds them without a place elsewhere.
    pub name: SmolStr,
    /// The op it belongs to.
    pub op: Option<OpIndex>,
    /// What it is for.
    pub role: SlotRole,
}

impl Slot {
    /// The parameter `name` of a sub-kernel; `op` is its op in a super kernel.
    pub(crate) fn of_sub_kernel(name: &str, op: Option<OpIndex>) -> Self {
        let role = if name == FFTS_PARAMETER { SlotRole::FftsAddress } else { SlotRole::Parameter };
        let name = op.map_or_else(|| name.into(), |index| format_smolstr!("{name}_{index}"));
        Self { name, op, role }
    }
}

/// The first parameter of mixed sub-kernels on chips with an FFTS slot.
pub(crate) const FFTS_PARAMETER: &str = "ffts_addr";

named! {
    /// What a slot is for.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum SlotRole {
        /// The FFTS address, of the super kernel or among an op's own parameters.
        FftsAddress = "ffts-address",
        /// A parameter that an op's source declares.
        Parameter = "parameter",
        /// The address of a dynamic op's tiling key.
        TilingKey = "tiling-key",
        /// The address of a dynamic op's block count.
        BlockNum = "block-num",
        /// The lock word that says that a dynamic op's tiling is there.
        TilingLock = "tiling-lock",
        /// The lock word of an event that an op sends.
        NotifyLock = "notify-lock",
        /// The lock word of an event that an op receives.
        WaitLock = "wait-lock",
        /// The super kernel's own workspace.
        Workspace = "workspace",
        /// The profiling buffer.
        Profiling = "profiling",
        /// The task id.
        TaskId = "task-id",
    }
}

impl SlotRole {
    /// Does the op's author not know of it?
    pub(crate) fn is_hidden(self) -> bool {
        match self {
            Self::Parameter => false,
            Self::FftsAddress
            | Self::TilingKey
            | Self::BlockNum
            | Self::TilingLock
            | Self::NotifyLock
            | Self::WaitLock
            | Self::Workspace
            | Self::Profiling
            | Self::TaskId => true,
        }
    }
}

/// All slots, and where the super kernel's own ones are.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SlotLayout {
    /// In order: a slot's number is its place here. Shared by all who need them: there are several for each op, and they
    /// stay where they were made.
    pub slots: Arc<Vec<Slot>>,
    /// The FFTS address.
    pub ffts: Option<SlotNumber>,
    /// The workspace.
    pub workspace: Option<SlotNumber>,
    /// The profiling buffer; the task id follows.
    pub profiling: Option<SlotNumber>,
}

impl SlotLayout {
    /// The layout of these slots.
    pub fn of(slots: Vec<Slot>) -> Self {
        let own = |role| slots.iter().position(|slot| slot.op.is_none() && slot.role == role);
        let number = |place: usize| SlotNumber(place as u32);
        let (ffts, workspace) = (own(SlotRole::FftsAddress).map(number), own(SlotRole::Workspace).map(number));
        let profiling = own(SlotRole::Profiling).map(number);
        Self { slots: Arc::new(slots), ffts, workspace, profiling }
    }

    /// The slot with the task id.
    pub(crate) fn task_id(&self) -> Option<SlotNumber> {
        self.profiling.map(|slot| slot.after(1))
    }
}

/// The slots while they become more.
struct Slots(Vec<Slot>);

impl Slots {
    fn add(&mut self, name: SmolStr, op: Option<OpIndex>, role: SlotRole) -> SlotNumber {
        self.0.push(Slot { name, op, role });
        // `largest_count` has told that they fit.
        SlotNumber(self.0.len() as u32 - 1)
    }
}

/// Gives every parameter its slot and tells the ops where theirs are.
pub(super) fn lay_out(
    ops: &mut [Op],
    options: &Options,
    chip: Chip,
    has_debug_output: bool,
) -> Result<SlotLayout, ModelError> {
    let mut slots = Slots(Vec::with_capacity(largest_count(ops)? as usize));
    if chip.has_ffts_slot() {
        slots.add(FFTS_PARAMETER.into(), None, SlotRole::FftsAddress);
    }
    for op in ops.iter_mut() {
        lay_out_op(op, &mut slots);
    }
    if has_debug_output || options.feed_sync_all {
        slots.add("workspace".into(), None, SlotRole::Workspace);
    }
    if options.profiling {
        slots.add("profiling".into(), None, SlotRole::Profiling);
        slots.add("task_id".into(), None, SlotRole::TaskId);
    }
    Ok(SlotLayout::of(slots.0))
}

fn lay_out_op(op: &mut Op, layout: &mut Slots) {
    let index = op.index;
    let owner = Some(index);
    let at = OpSlots::of(op, layout.0.len());
    for name in &op.kernel.params {
        layout.0.push(Slot::of_sub_kernel(name, owner));
    }
    if at.tiling.is_some() {
        layout.add(format_smolstr!("__ac_dynamic_tiling_key_{index}"), owner, SlotRole::TilingKey);
        layout.add(format_smolstr!("__ac_dynamic_block_num_{index}"), owner, SlotRole::BlockNum);
        layout.add(format_smolstr!("__ac_wait_lock_{index}"), owner, SlotRole::TilingLock);
    }
    for (number, event) in op.send_events.iter_mut().enumerate() {
        event.slot = layout.add(format_smolstr!("__ac_notify_lock_{index}_{number}"), owner, SlotRole::NotifyLock);
    }
    for (number, event) in op.recv_events.iter_mut().enumerate() {
        event.slot = layout.add(format_smolstr!("__ac_wait_lock_{index}_{number}"), owner, SlotRole::WaitLock);
    }
    // `largest_count` has told that they fit.
    let [param, notify, wait] = [at.param, at.notify, at.wait].map(|slot| SlotNumber(slot as u32));
    op.offsets = ParamOffsets { param, notify, wait, tiling_key: at.tiling.map(|slot| SlotNumber(slot as u32)) };
}

/// Where the slots of an op are, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OpSlots {
    /// Its own parameters.
    pub param: usize,
    /// Tiling key, block count and lock of a dynamic op.
    pub tiling: Option<usize>,
    /// A lock for every event it sends.
    pub notify: usize,
    /// A lock for every event it receives.
    pub wait: usize,
    /// What comes next.
    pub end: usize,
}

impl OpSlots {
    /// Those of an op whose first slot is `first`.
    pub(crate) fn new(first: usize, own: usize, is_dynamic: bool, sends: usize, receives: usize) -> Self {
        let tiling = first + own;
        let notify = tiling + if is_dynamic { 3 } else { 0 };
        let wait = notify + sends;
        Self { param: first, tiling: is_dynamic.then_some(tiling), notify, wait, end: wait + receives }
    }

    fn of(op: &Op, first: usize) -> Self {
        Self::new(first, op.kernel.params.len(), op.is_dynamic(), op.send_events.len(), op.recv_events.len())
    }
}

/// How many slots there may be, those of the super kernel itself included; a slot's number has 32 bits.
fn largest_count(ops: &[Op]) -> Result<u32, ModelError> {
    let slots = ops.iter().map(|op| OpSlots::of(op, 0).end as u64).sum::<u64>() + 4;
    u32::try_from(slots).map_err(|_| ModelError::TooManySlots { slots })
}
