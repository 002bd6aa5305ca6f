//! Which steps the model asks of a core, and what kinds of step there are.

use super::super::launch::micro::runs;
use super::super::launch::{clears, polls};
use super::super::requires::is_first_of;
use super::super::{Action, CoreId, OuterEvent, Program, RequiredCode};
use crate::model::{CoreKind, OpPosition};

/// What every core must do before the first op.
pub(super) fn setup(program: &Program, core: CoreId) -> Vec<Action> {
    let requires = &program.requires;
    let slots = &requires.slots;
    let profiling = slots.profiling.zip(slots.task_id());
    let clearing = requires.cleared_bytes.filter(|_| clears(program, core));
    let mut duties = vec![Action::LoadParameters];
    duties.extend(slots.workspace.map(|slot| Action::LoadWorkspace { slot }));
    duties.extend(requires.cleared_bytes.map(|_| Action::SetSyncAllBase));
    duties.extend(requires.debug_output.map(|offset| Action::InitDump { offset }));
    duties.extend(profiling.map(|(buffer, task_id)| Action::InitProfiling { buffer, task_id }));
    duties.extend(slots.ffts.map(|slot| Action::SetFftsBase { slot }));
    duties.extend(clearing.map(|bytes| Action::ClearWorkspace { bytes }));
    duties
}

/// What a core must do for an op.
pub(super) fn of_op(program: &Program, core: CoreId, op: OpPosition) -> Vec<Action> {
    let required = &program.requires.ops[op];
    let mut duties = Vec::new();
    for &OuterEvent { event, slot, .. } in required.waits.iter().filter(|outer| is_first_of(core, outer.by)) {
        duties.extend([Action::WaitEvent { event, slot }, Action::ClearEvent { event, slot }]);
    }
    for &OuterEvent { event, slot, .. } in required.notifies.iter().filter(|outer| is_first_of(core, outer.by)) {
        duties.push(Action::Notify { event, slot });
    }
    let offset = required.param;
    match required.code {
        RequiredCode::Static { aic, aiv } => {
            let function = match core.kind {
                CoreKind::Aic => aic,
                CoreKind::Aiv => aiv,
            };
            let (running, fed) = (runs(program, core, op), required.records.is_some());
            duties.extend(function.filter(|_| running).map(|function| Action::Call { function, offset }));
            if fed && program.ops[op].class().runs_on(core.kind) {
                duties.push(if running { Action::EndSyncAll } else { Action::ComplementSyncAll });
            }
        }
        RequiredCode::Dynamic { table, key_slot, lock, releaser, entering } => {
            if polls(program, core, op) {
                duties.push(Action::Switch { table, key_slot });
                duties.push(Action::CallPicked { table, offset, entering });
            }
            if is_first_of(core, releaser) {
                duties.push(Action::ReleaseLock { slot: lock });
            }
        }
    }
    duties
}
