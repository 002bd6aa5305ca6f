//! The parameter block: one slot of 8 bytes for every address the kernel is given.

use super::{Chip, ModelError, Op, OpIndex, ParamOffsets, SlotNumber};
use crate::options::Options;

/// One slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slot {
    /// What it holds.
    pub name: String,
    /// The op it belongs to.
    pub op: Option<OpIndex>,
}

/// All slots, and where the super kernel's own ones are.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SlotLayout {
    /// In order: a slot's number is its place here.
    pub slots: Vec<Slot>,
    /// The FFTS address.
    pub ffts: Option<SlotNumber>,
    /// The workspace.
    pub workspace: Option<SlotNumber>,
    /// The profiling buffer; the task id follows.
    pub profiling: Option<SlotNumber>,
}

impl SlotLayout {
    /// The slot with the task id.
    pub fn task_id(&self) -> Option<SlotNumber> {
        self.profiling.map(|slot| slot.after(1))
    }

    fn add(&mut self, name: String, op: Option<OpIndex>) -> SlotNumber {
        let number = self.next();
        self.slots.push(Slot { name, op });
        number
    }

    /// The number of the slot that is added next.
    fn next(&self) -> SlotNumber {
        // `lay_out` has checked that the count fits.
        SlotNumber(self.slots.len() as u32)
    }
}

/// Gives every parameter its slot and tells the ops where theirs are.
pub(super) fn lay_out(
    ops: &mut [Op],
    options: &Options,
    chip: Chip,
    has_debug_output: bool,
) -> Result<SlotLayout, ModelError> {
    check_size(ops)?;
    let mut layout = SlotLayout::default();
    if chip.has_ffts_slot() {
        layout.ffts = Some(layout.add("ffts_addr".to_owned(), None));
    }
    for op in ops.iter_mut() {
        lay_out_op(op, &mut layout);
    }
    if has_debug_output || options.feed_sync_all {
        layout.workspace = Some(layout.add("workspace".to_owned(), None));
    }
    if options.profiling {
        layout.profiling = Some(layout.add("profiling".to_owned(), None));
        layout.add("task_id".to_owned(), None);
    }
    Ok(layout)
}

fn lay_out_op(op: &mut Op, layout: &mut SlotLayout) {
    let index = op.index;
    let owner = Some(index);
    let mut offsets = ParamOffsets { param: layout.next(), ..ParamOffsets::default() };
    for name in &op.kernel.params {
        layout.add(format!("{name}_{index}"), owner);
    }
    if op.is_dynamic() {
        offsets.tiling_key = Some(layout.add(format!("__ac_dynamic_tiling_key_{index}"), owner));
        layout.add(format!("__ac_dynamic_block_num_{index}"), owner);
        layout.add(format!("__ac_wait_lock_{index}"), owner);
    }
    offsets.notify = layout.next();
    for (number, event) in op.send_events.iter_mut().enumerate() {
        event.slot = layout.add(format!("__ac_notify_lock_{index}_{number}"), owner);
    }
    offsets.wait = layout.next();
    for (number, event) in op.recv_events.iter_mut().enumerate() {
        event.slot = layout.add(format!("__ac_wait_lock_{index}_{number}"), owner);
    }
    op.offsets = offsets;
}

fn check_size(ops: &[Op]) -> Result<(), ModelError> {
    let of_op = |op: &Op| (op.kernel.params.len() + op.send_events.len() + op.recv_events.len() + 3) as u64;
    let slots: u64 = ops.iter().map(of_op).sum::<u64>() + 4;
    if u32::try_from(slots).is_ok() { Ok(()) } else { Err(ModelError::TooManySlots { slots }) }
}
