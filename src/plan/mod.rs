//! Decides what every core does and writes it down as a [program](crate::program).
//!
//! [`plan`] runs the passes: `prologue` (set up, clear the workspace), then for one stream `one_stream` (op after op,
//! with a barrier or an early-start hand-over between), for several `order` (edges between ops, which of them need
//! flags) and `sides` (the cube and the vector side with those flags), then `epilogue`. `ops` holds what both forms do
//! for each op: preload, switch, call; `sync` decides which barriers around dynamic ops and outer events are needed.

mod error;
mod frontier;
mod functions;
mod one_stream;
mod ops;
mod order;
mod prologue;
mod requirements;
mod sides;
mod steps;
mod sync;

pub use error::PlanError;

use crate::model::{ByPosition, CoreClass, Op, OpPosition, StreamForm, SuperKernel};
use crate::objects::TextSizes;
use crate::program::{self, EarlyStartConfig, OpFacts, Program, Round};
use functions::Functions;
use ops::OpPlanner;
use steps::Steps;
use sync::OpSync;

/// Makes the program of a super kernel and checks it.
///
/// Sizes that are not known stay open in the program; it cannot be emitted then.
pub fn plan(kernel: &SuperKernel, sizes: &TextSizes) -> Result<Program, PlanError> {
    let program = draft(kernel, sizes)?;
    program::verify(&program).map_err(|violations| PlanError::Broken { violations })?;
    Ok(program)
}

/// Makes the program without checking it: for looking at many that will not be built.
pub(crate) fn draft(kernel: &SuperKernel, sizes: &TextSizes) -> Result<Program, PlanError> {
    let functions = Functions::of(kernel);
    let order = match kernel.form {
        StreamForm::One => None,
        StreamForm::Several => Some(order::Order::of(kernel)?),
    };
    let sync = sync::decide(kernel, order.as_ref());
    let ops = OpPlanner { kernel, functions: &functions, sizes, sync: &sync };
    let mut steps = Steps::for_ops(kernel.ops.len());
    match &order {
        None => {
            prologue::one_stream(kernel, &mut steps);
            one_stream::plan(&ops, &mut steps);
        }
        Some(order) => {
            prologue::several_streams(kernel, &mut steps);
            sides::plan(&ops, order, &mut steps);
        }
    }
    prologue::epilogue(kernel, &sync, &mut steps);
    Ok(Program {
        kernel_name: kernel.name.clone(),
        chip: kernel.platform.chip(),
        kernel_type: kernel.kernel_type,
        block_num: kernel.block_num,
        split: kernel.options.split.get(),
        func_align: kernel.options.func_align.get(),
        form: kernel.form,
        sync: kernel.options.sync,
        ops: kernel.ops.enumerate().map(|(position, op)| facts(kernel, &sync, position, op)).collect(),
        requires: requirements::of(kernel, &functions, &sync),
        tables: functions.tables,
        functions: functions.list,
        edges: order.map(order::Order::into_edges).unwrap_or_default(),
        steps: steps.finish(),
    })
}

fn facts(kernel: &SuperKernel, sync: &ByPosition<OpSync>, position: OpPosition, op: &Op) -> OpFacts {
    let early_start = op.kernel.early_start;
    let next = Some(position.next()).filter(|next| kernel.ops.get(*next).is_some());
    OpFacts {
        index: op.index,
        kernel_name: op.kernel.kernel_name.clone(),
        kernel_type: op.kernel.kernel_type,
        block_num: op.block_num,
        stream_id: op.stream_id,
        own_set: early_start.sets_itself.then_some(next.map_or(Round::AtEnd, Round::Into)),
        own_wait: early_start.waits_itself.then(|| own_wait(kernel, sync, position)),
        is_dynamic: op.is_dynamic(),
        feeds_sync_all: op.needs_feed_sync_all,
    }
}

/// The hand-over that an op's own wait takes part in.
fn own_wait(kernel: &SuperKernel, sync: &ByPosition<OpSync>, position: OpPosition) -> (EarlyStartConfig, Round) {
    let between = one_stream::Between::of(kernel, sync, position);
    (between.config, between.own_wait_round())
}

/// The early-start classes of two neighbours.
fn config(previous: CoreClass, current: CoreClass) -> EarlyStartConfig {
    EarlyStartConfig { previous, current }
}
