//! The JSON plan: what a compile would do, for people and for other programs.

mod explain;
mod lint;
mod picture;
mod synchronisation;

pub(crate) use explain::explain;
pub(crate) use picture::picture_json;
pub(crate) use synchronisation::StepPrice;

use crate::named::named;
use serde_json::{Value, json};

use crate::model::{
    EventId, EventUse, Function, Op, OpPosition, StreamForm, SubKernelCode, SuperKernel, TilingFunctions,
};
use crate::objects::TextSizes;
use crate::program::Program;

named! {
    /// The parts of a plan that grow with the number of ops: made when they are asked for.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum LargePart {
        Slots = "slots",
        Ops = "ops",
        Edges = "edges",
        Order = "order",
        Steps = "steps",
    }
}

/// The plan without its large parts: `null` stands where each belongs.
pub(crate) fn plan_head(kernel: &SuperKernel) -> Value {
    let mut head = json!({
        "kernel_name": kernel.name,
        "soc": kernel.platform.soc.as_str(),
        "chip": kernel.platform.chip().as_str(),
        "kernel_type": kernel.kernel_type.kernel_type().as_str(),
        "block_num": kernel.block_num,
        "split_mode": kernel.options.split.get(),
        "two_streams": kernel.form == StreamForm::Several,
        "workspace_size": kernel.workspace_size,
        "debug_option": kernel.debug_output.as_ref().map(|debug| debug.option_text()).unwrap_or_default(),
        "debug_size": kernel.debug_output.as_ref().map_or(0, |debug| debug.size),
        "inner_events": kernel.inner_events.iter().map(|event| event.id).collect::<Vec<_>>(),
        "defines": kernel.defines(),
    });
    for part in LargePart::ALL {
        head[part.as_str()] = Value::Null;
    }
    head["warnings"] = json!(kernel.warnings);
    head
}

/// One large part of the plan.
pub(crate) fn plan_part(kernel: &SuperKernel, sizes: &TextSizes, program: &Program, part: LargePart) -> Value {
    match part {
        LargePart::Slots => slots_json(kernel).into(),
        LargePart::Ops => kernel.ops.enumerate().map(|(position, op)| op_json(position, op, sizes)).collect(),
        LargePart::Edges => json!(program.edges_json()),
        LargePart::Order => json!(program.order_json()),
        LargePart::Steps => json!(program.steps_json()),
    }
}

fn slots_json(kernel: &SuperKernel) -> Vec<Value> {
    let slots = kernel.slots.slots.iter().enumerate();
    slots.map(|(number, slot)| json!({"slot": number, "name": slot.name, "op": slot.op})).collect()
}

fn op_json(position: OpPosition, op: &Op, sizes: &TextSizes) -> Value {
    json!({
        "index": op.index,
        "kernel_name": &*op.kernel.kernel_name,
        "op_type": op.kernel.op_type,
        "kernel_type": op.kernel.kernel_type.as_str(),
        "task_type": op.task_type.as_str(),
        "stream_id": op.stream_id,
        "block_num": op.block_num,
        "param_offset": op.offsets.param,
        "notify_param_offset": op.offsets.notify,
        "wait_param_offset": op.offsets.wait,
        "send_event_list": event_ids(&op.send_events),
        "recv_event_list": event_ids(&op.recv_events),
        "needs_feed_sync_all": op.needs_feed_sync_all,
        "functions": match &op.kernel.code {
            SubKernelCode::Static(functions) => {
                functions.iter().map(|function| function_json(position, function, sizes)).collect::<Vec<_>>()
            }
            SubKernelCode::Dynamic(table) => table.iter().map(tiling_json).collect(),
        },
    })
}

fn event_ids(events: &[EventUse]) -> Vec<EventId> {
    events.iter().map(|event| event.id).collect()
}

fn function_json(position: OpPosition, function: &Function, sizes: &TextSizes) -> Value {
    json!({
        "kind": function.kind.as_str(),
        "name": function.name,
        "text_size": sizes.get(position, function.kind),
        "preload": sizes.preload_units(position, function.kind),
    })
}

fn tiling_json(entry: &TilingFunctions) -> Value {
    let mut function = json!({"tiling_key": entry.key, "kernel_type": entry.kernel_type.as_str()});
    for (kind, name) in [("aic", &entry.aic), ("aiv", &entry.aiv)] {
        if let Some(name) = name {
            function[kind] = json!(name);
        }
    }
    function
}
