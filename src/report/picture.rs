//! The device program as data for a picture: lanes of cores, ops as boxes, steps between them.

use serde::Serialize;
use serde_json::{Value, json};

use super::synchronisation::{StepPrice, remedies};
use super::{LargePart, op_json, plan_head, plan_part};
use crate::model::{CoreClass, CoreKind, OpPosition, SuperKernel};
use crate::objects::TextSizes;
use crate::program::{Action, Program, Step};

/// Everything that a picture of the program shows. Ops are named by their place among the ops here.
pub(crate) fn picture_json(kernel: &SuperKernel, sizes: &TextSizes, program: &Program, price: StepPrice<'_>) -> Value {
    let mut picture = plan_head(kernel);
    for part in [LargePart::Edges, LargePart::Order] {
        picture[part.as_str()] = plan_part(kernel, sizes, program, part);
    }
    picture["lanes"] =
        program.kinds().iter().map(|kind| json!({"kind": kind.as_str(), "cores": kernel.cores(*kind)})).collect();
    picture["ops"] = kernel
        .ops
        .enumerate()
        .map(|(position, op)| {
            let mut object = op_json(position, op, sizes);
            let facts = &program.ops[position];
            object["cores"] = json!(cores(kernel, position));
            object["dynamic"] = json!(facts.is_dynamic);
            object["sets_itself"] = json!(facts.own_set.is_some());
            object["waits_itself"] = json!(facts.own_wait.is_some());
            object["after"] =
                json!(program.requires.ops[position].after.iter().map(|op| op.place()).collect::<Vec<_>>());
            object
        })
        .collect();
    picture["steps"] = program.steps.iter().map(|step| step_json(kernel, program, step, price)).collect();
    picture["slots"] = kernel
        .slots
        .slots
        .iter()
        .enumerate()
        .map(|(number, slot)| json!({"slot": number, "name": slot.name, "op": slot.op, "role": slot.role.as_str()}))
        .collect();
    picture
}

/// A number of cores of each kind.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct CoreNumbers {
    pub(super) aic: u32,
    pub(super) aiv: u32,
}

impl CoreNumbers {
    /// Those of one kind.
    pub(super) fn of(self, kind: CoreKind) -> u32 {
        match kind {
            CoreKind::Aic => self.aic,
            CoreKind::Aiv => self.aiv,
        }
    }
}

/// On how many cores of each kind an op runs.
pub(super) fn cores(kernel: &SuperKernel, position: OpPosition) -> CoreNumbers {
    let op = &kernel.ops[position];
    let class = op.kernel.kernel_type.class();
    let (_, vectors) = kernel.kernel_type.task_ratio();
    let of = |kind: CoreKind| {
        let all = match (kind, class) {
            (CoreKind::Aiv, CoreClass::Mix) => op.block_num.saturating_mul(vectors.into()),
            (CoreKind::Aic, _) | (CoreKind::Aiv, CoreClass::Aic | CoreClass::Aiv) => op.block_num,
        };
        if class.runs_on(kind) { all.min(kernel.cores(kind)) } else { 0 }
    };
    CoreNumbers { aic: of(CoreKind::Aic), aiv: of(CoreKind::Aiv) }
}

fn step_json(kernel: &SuperKernel, program: &Program, step: &Step, price: StepPrice<'_>) -> Value {
    let kinds = program.kinds().iter().filter(|kind| step.cores.kinds.contain(**kind));
    let fields = step.action.fields(program).into_iter();
    let orders = step.action.synchronises();
    let calls = matches!(step.action, Action::Call { .. } | Action::CallPicked { .. });
    json!({
        "op": step.op.map(|position| position.place()),
        "kinds": kinds.map(|kind| kind.as_str()).collect::<Vec<_>>(),
        "cores": step.cores.to_string(),
        "action": step.action.name(),
        "calls": calls,
        "orders": orders,
        "fields": fields.map(|(name, value)| json!([name, value.to_string()])).collect::<Vec<_>>(),
        "reason": step.reason.map(|reason| reason.to_string()),
        "price_us": orders.then(|| price(program, step)),
        "remedies": if orders { remedies(kernel, program, step) } else { Vec::new() },
    })
}
