//! What the model asks of the program, written down for the checker.

use super::config;
use super::functions::{Functions, OpCode};
use super::ops::sync_all_records;
use super::prologue::{clearing_kind, entering};
use super::sync::{Follows, OpSync, notifying_kind};
use crate::model::{ByPosition, EventUse, Op, OpPosition, StreamForm, SuperKernel};
use crate::program::{EarlyStartConfig, OpRequirement, OuterEvent, RequiredCode, Requirements};

pub(super) fn of(kernel: &SuperKernel, functions: &Functions, sync: &ByPosition<OpSync>) -> Requirements {
    let after = order(kernel);
    let last = kernel.ops.last();
    let mut stored = None;
    let clearing_cores = u64::from(kernel.cores(clearing_kind(kernel.kernel_type)).max(1));
    Requirements {
        slots: kernel.slots.clone(),
        debug_output: kernel.debug_output.as_ref().map(|_| kernel.workspace_size),
        debug_flush: kernel.options.debug_dcci_all,
        debug_meeting: kernel.options.debug_sync_all,
        cleared_bytes: kernel.options.feed_sync_all.then_some(kernel.workspace_size / clearing_cores),
        ops: kernel
            .ops
            .enumerate()
            .zip(after)
            .map(|((at, op), after)| {
                // Nothing is stored where nothing is handed over.
                stored = hand_over(kernel, sync[at].follows, op).or(stored);
                of_op(kernel, functions, (at, sync[at], stored), op, after)
            })
            .collect(),
        last_config: last
            .filter(|op| kernel.has_early_start() && op.kernel.early_start.sets_itself)
            .map(|op| config(op.class(), op.class())),
    }
}

fn of_op(
    kernel: &SuperKernel,
    functions: &Functions,
    (position, sync, config): (OpPosition, OpSync, Option<EarlyStartConfig>),
    op: &Op,
    after: Vec<OpPosition>,
) -> OpRequirement {
    let outer = |event: &EventUse, by| OuterEvent { event: event.id, slot: event.slot, by };
    let (waiter, notifier) = (sync.waiter, notifying_kind(kernel, position));
    OpRequirement {
        after: after.into(),
        code: match functions.code(position) {
            OpCode::Static { aic, aiv } => RequiredCode::Static { aic, aiv },
            OpCode::Dynamic(table) => RequiredCode::Dynamic {
                table,
                key_slot: op.offsets.tiling_key.unwrap_or_default(),
                lock: op.offsets.wait_lock().unwrap_or_default(),
                releaser: sync.releaser,
                entering: entering(kernel, op),
            },
        },
        param: op.offsets.param,
        waits: op.outer_receives().map(|event| outer(event, waiter)).collect(),
        notifies: op.outer_sends().map(|event| outer(event, notifier)).collect(),
        config,
        flush_before: op.dcci.flushes_before(),
        flush_after: op.dcci.flushes_after(),
        records: op.needs_feed_sync_all.then(|| sync_all_records(kernel, position)),
    }
}

/// The early-start classes in front of an op.
fn hand_over(kernel: &SuperKernel, follows: Follows, op: &Op) -> Option<EarlyStartConfig> {
    match follows {
        Follows::Synchronised { class } if kernel.has_early_start() => Some(config(class, op.class())),
        Follows::Nobody if op.kernel.early_start.waits_itself => Some(config(op.class(), op.class())),
        Follows::Nobody | Follows::Freely { .. } | Follows::Synchronised { .. } => None,
    }
}

/// The ops that must have ended before each op: those of its stream, and senders of inner events.
fn order(kernel: &SuperKernel) -> ByPosition<Vec<OpPosition>> {
    let mut after: ByPosition<Vec<OpPosition>> = kernel.stream_order.iter().map(|after| after.to_vec()).collect();
    match kernel.form {
        // There they are part of the order of the list.
        StreamForm::One => {}
        StreamForm::Several => {
            for event in &kernel.inner_events {
                after[event.receiver].push(event.sender);
            }
        }
    }
    for list in after.iter_mut() {
        list.sort_unstable();
        list.dedup();
    }
    after
}
