//! What happens before the first op and after the last one.

use super::steps::{Steps, side_barrier};
use super::sync::OpSync;
use crate::model::{ByPosition, CoreClass, CoreKind, Op, SuperKernel, SuperKernelType};
use crate::options::{DynamicCores, PreloadMode};
use crate::program::{Action, Cores, Direction, Entering, Pair, Reason, RecordEdge, RecordSubject};

/// Units of 2 KiB that `preload-code=max` takes: the whole instruction cache.
pub(super) const WHOLE_CACHE_UNITS: u32 = 8;

pub(super) fn one_stream(kernel: &SuperKernel, steps: &mut Steps) {
    set_up(kernel, steps);
    clear_workspace(kernel, steps);
    preload_whole(kernel, steps, Cores::EVERY);
    record(kernel, steps, RecordEdge::Start);
}

/// The sides preload for themselves.
pub(super) fn several_streams(kernel: &SuperKernel, steps: &mut Steps) {
    set_up(kernel, steps);
    record(kernel, steps, RecordEdge::Start);
    clear_workspace(kernel, steps);
}

/// Locks of outer events are free again once all ops are done.
pub(super) fn epilogue(kernel: &SuperKernel, sync: &ByPosition<OpSync>, steps: &mut Steps) {
    for (position, op) in kernel.ops.enumerate() {
        for event in op.outer_receives() {
            let cores = Cores::first_of(sync[position].waiter);
            steps.push(Some(position), cores, Action::ClearEvent { event: event.id, slot: event.slot });
        }
    }
    record(kernel, steps, RecordEdge::End);
}

/// The cores that enter a dynamic op. A barrier inside it needs all of them.
pub(super) fn entering(kernel: &SuperKernel, op: &Op) -> Entering {
    match kernel.options.dynamic_cores {
        DynamicCores::Tiled if !op.kernel.may_call_sync_all => Entering::Tiled,
        DynamicCores::Tiled | DynamicCores::All => Entering::All,
    }
}

/// The kind whose cores clear the workspace.
pub(super) fn clearing_kind(kernel_type: SuperKernelType) -> CoreKind {
    match kernel_type.class() {
        CoreClass::Aic => CoreKind::Aic,
        CoreClass::Aiv | CoreClass::Mix => CoreKind::Aiv,
    }
}

/// `PreLoad` of the code that follows, for `preload-code=max`.
pub(super) fn preload_whole(kernel: &SuperKernel, steps: &mut Steps, cores: Cores) {
    match kernel.options.preload {
        PreloadMode::Whole => steps.push(None, cores, Action::PreloadHere { units: WHOLE_CACHE_UNITS }),
        PreloadMode::Never | PreloadMode::PerFunction => {}
    }
}

fn set_up(kernel: &SuperKernel, steps: &mut Steps) {
    let mut push = |action| steps.push(None, Cores::EVERY, action);
    push(Action::LoadParameters);
    if let Some(slot) = kernel.slots.workspace {
        push(Action::LoadWorkspace { slot });
        if kernel.options.feed_sync_all {
            push(Action::SetSyncAllBase);
            if kernel.kernel_type.is_mix() {
                // A barrier in front of the first op is a `SyncAll` too, and reads the variable.
                push(Action::DisableSyncAll);
            }
        }
        if kernel.debug_output.is_some() {
            push(Action::InitDump { offset: kernel.workspace_size });
        }
    }
    if let (Some(buffer), Some(task_id)) = (kernel.slots.profiling, kernel.slots.task_id()) {
        push(Action::InitProfiling { buffer, task_id });
    }
    if let Some(slot) = kernel.slots.ffts {
        push(Action::SetFftsBase { slot });
    }
}

fn clear_workspace(kernel: &SuperKernel, steps: &mut Steps) {
    if !kernel.options.feed_sync_all {
        return;
    }
    let kind = clearing_kind(kernel.kernel_type);
    let bytes = kernel.workspace_size / u64::from(kernel.cores(kind).max(1));
    let reason = Reason::WorkspaceCleared;
    steps.push(None, Cores::all_of(kind), Action::ClearWorkspace { bytes });
    steps.because(reason, None, Cores::all_of(kind), Action::Barrier(side_barrier(kind)));
    if kernel.kernel_type.is_mix() {
        let direction = Direction::VectorToCube;
        let (set, wait) = (Cores::all_of(CoreKind::Aiv), Cores::all_of(CoreKind::Aic));
        steps.because(reason, None, set, Action::SetFlag { direction, pair: Pair::Workspace });
        steps.because(reason, None, wait, Action::WaitFlag { direction, pair: Pair::Workspace });
    }
}

fn record(kernel: &SuperKernel, steps: &mut Steps, edge: RecordEdge) {
    if kernel.options.profiling {
        steps.push(None, Cores::EVERY, Action::Record { subject: RecordSubject::SuperKernel, edge });
    }
}
