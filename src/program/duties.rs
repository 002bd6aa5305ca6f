//! Compares the steps of each core with what is required of it: everything once, with the right values, in an order
//! that makes sense on that core alone. Order between cores is the business of [`super::launch`].

use std::collections::HashSet;

use super::classes::Takers;
use super::launch::micro::runs;
use super::launch::{clears, polls};
use super::requires::is_first_of;
use super::{
    Action, Barrier, CoreId, EarlyStartConfig, OuterEvent, Program, RequiredCode, Step, SyncAllRecords, Violation,
};
use crate::model::{ByPosition, CoreKind, OpPosition, StreamForm};

/// Walks the steps of one core of each class.
pub(super) fn check(program: &Program, cores: &[CoreId]) -> Vec<Violation> {
    let takers = Takers::of(program);
    let mut found = Found::default();
    for &core in cores {
        let mut walk = Walk::new(program, core, &mut found);
        for step in takers.steps_of(core) {
            walk.take(step, &program.steps[step]);
        }
        walk.finish();
    }
    found.violations
}

/// What is wrong, once for all cores that do it.
#[derive(Default)]
struct Found {
    violations: Vec<Violation>,
    known: HashSet<(Option<usize>, Option<OpPosition>, &'static str)>,
}

/// One core on its way.
struct Walk<'a> {
    program: &'a Program,
    core: CoreId,
    found: &'a mut Found,
    setup: Vec<Duty>,
    ops: ByPosition<Vec<Duty>>,
    /// The early-start classes stored last.
    config: Option<EarlyStartConfig>,
    /// The dynamic op whose functions have been picked.
    picked: Option<OpPosition>,
    /// Idle cores follow this op's `SyncAll` calls.
    fed: Option<SyncAllRecords>,
    /// The op whose end has yet to be announced to the idle cores.
    unannounced: Option<OpPosition>,
    /// The last op that was called, if no pipe has been waited for since.
    running: Option<OpPosition>,
    flushes: ByPosition<u32>,
}

/// A step that must be taken.
struct Duty {
    action: Action,
    done: bool,
}

impl<'a> Walk<'a> {
    fn new(program: &'a Program, core: CoreId, found: &'a mut Found) -> Self {
        let duties = |actions: Vec<Action>| actions.into_iter().map(|action| Duty { action, done: false }).collect();
        Self {
            program,
            core,
            found,
            setup: duties(setup(program, core)),
            ops: program.ops.positions().map(|op| duties(of_op(program, core, op))).collect(),
            config: None,
            picked: None,
            fed: None,
            unannounced: None,
            running: None,
            flushes: ByPosition::filled(program.ops.len(), 0),
        }
    }

    fn take(&mut self, number: usize, step: &Step) {
        if let Some(lacks) = self.lacks(step) {
            self.report((Some(number), None, lacks), |core| Violation::OutOfTurn {
                step: number,
                action: step.action.name(),
                core,
                lacks,
            });
        }
        if is_duty(&step.action) {
            let duties = step.op.map_or(&mut self.setup, |op| &mut self.ops[op]);
            let mut same = duties.iter_mut().filter(|duty| duty.action == step.action).peekable();
            let again = is_repeatable(&step.action) && same.peek().is_some();
            match same.find(|duty| !duty.done) {
                Some(duty) => duty.done = true,
                None if again => {}
                None => {
                    let op = step.op.map(|op| self.program.index(op));
                    let action = step.action.name();
                    self.report((Some(number), None, "not asked for"), |core| Violation::NotRequired {
                        step: number,
                        action,
                        core,
                        op,
                    });
                }
            }
        }
        self.remember(step);
    }

    /// What must have happened on this core before the step, and has not.
    fn lacks(&self, step: &Step) -> Option<&'static str> {
        let requires = &self.program.requires;
        let prepared = |action: &Action| self.setup.iter().any(|duty| duty.done && duty.action == *action);
        let unprepared = |wanted: fn(&Action) -> bool| self.setup.iter().any(|duty| !duty.done && wanted(&duty.action));
        if uses_slots(&step.action) && !prepared(&Action::LoadParameters) {
            return Some("the parameters are there");
        }
        if uses_flags(&step.action) && unprepared(|action| matches!(action, Action::SetFftsBase { .. })) {
            return Some("the scheduler's address is set");
        }
        if self.unannounced.is_some() && (uses_flags(&step.action) || waits_outside(&step.action)) {
            return Some("the op's end is announced to the idle cores");
        }
        if matches!(step.action, Action::Record { .. })
            && unprepared(|action| matches!(action, Action::InitProfiling { .. }))
        {
            return Some("the profiling area is found");
        }
        let op = step.op.unwrap_or(OpPosition::FIRST);
        let required = requires.ops.get(op)?;
        let undone =
            |wanted: &dyn Fn(&Action) -> bool| self.ops[op].iter().any(|duty| !duty.done && wanted(&duty.action));
        match &step.action {
            Action::SetSyncAllBase | Action::InitDump { .. } | Action::ClearWorkspace { .. } => {
                unprepared(|action| matches!(action, Action::LoadWorkspace { .. })).then_some("the workspace is there")
            }
            Action::EnableSyncAll { .. } => {
                (!prepared(&Action::SetSyncAllBase)).then_some("the records' address is set")
            }
            Action::Barrier(Barrier::All) => self.fed.is_some().then_some("auto sync-all is switched off"),
            Action::Call { .. } | Action::CallPicked { .. } => self.lacks_at_call(op, &step.action),
            Action::PreloadPicked { .. } => (self.picked != Some(op)).then_some("its functions are picked"),
            Action::EndSyncAll => undone(&|action| matches!(action, Action::Call { .. })).then_some("the call"),
            Action::ComplementSyncAll => (self.fed != required.records).then_some("auto sync-all is switched on"),
            Action::ClearEvent { event, .. } => {
                undone(&|action| matches!(action, Action::WaitEvent { event: waited, .. } if waited == event))
                    .then_some("the event is waited for")
            }
            Action::LoadParameters
            | Action::LoadWorkspace { .. }
            | Action::InitProfiling { .. }
            | Action::SetFftsBase { .. }
            | Action::PreloadHere { .. }
            | Action::Preload { .. }
            | Action::Record { .. }
            | Action::PipeBarrier
            | Action::Barrier(Barrier::Aic | Barrier::AicAfterMte3 | Barrier::Aiv)
            | Action::SetFlag { .. }
            | Action::WaitFlag { .. }
            | Action::EarlyStartSet { .. }
            | Action::EarlyStartConfig { .. }
            | Action::EarlyStartWait { .. }
            | Action::Notify { .. }
            | Action::WaitEvent { .. }
            | Action::DisableSyncAll
            | Action::Flush
            | Action::Switch { .. }
            | Action::ReleaseLock { .. } => None,
        }
    }

    fn lacks_at_call(&self, op: OpPosition, call: &Action) -> Option<&'static str> {
        let required = &self.program.requires.ops[op];
        if self.setup.iter().any(|duty| !duty.done && matches!(duty.action, Action::InitDump { .. })) {
            return Some("the debug output is open");
        }
        if matches!(call, Action::CallPicked { .. }) && self.picked != Some(op) {
            return Some("its functions are picked");
        }
        if self.fed != required.records {
            return Some("auto sync-all is switched as the op needs it");
        }
        if self.program.ops[op].own_wait.is_some_and(|(config, _)| self.config != Some(config)) {
            return Some("the classes for its own wait are stored");
        }
        if required.flush_before && self.flushes[op] == 0 {
            return Some("the cache is flushed");
        }
        // Between neighbours without an order of their own nothing else makes the pipes finish.
        match self.program.form {
            StreamForm::Several => self.running.is_some().then_some("the pipes have finished the op before"),
            StreamForm::One => None,
        }
    }

    fn remember(&mut self, step: &Step) {
        match &step.action {
            Action::EarlyStartConfig { config } => self.config = Some(*config),
            Action::Switch { .. } => self.picked = step.op,
            Action::EnableSyncAll { aic_offset, aiv_offset } => {
                self.fed = Some(SyncAllRecords { aic: *aic_offset, aiv: *aiv_offset });
            }
            Action::DisableSyncAll => self.fed = None,
            Action::Call { .. } => {
                self.running = step.op;
                self.unannounced = step.op.filter(|op| self.program.requires.ops[*op].records.is_some());
            }
            Action::CallPicked { .. } => self.running = step.op,
            Action::EndSyncAll => self.unannounced = None,
            Action::PipeBarrier | Action::Barrier(_) => self.running = None,
            Action::Flush => {
                if let (Some(op), None) = (step.op, step.reason) {
                    self.flushes[op] += 1;
                }
            }
            Action::LoadParameters
            | Action::LoadWorkspace { .. }
            | Action::SetSyncAllBase
            | Action::InitDump { .. }
            | Action::InitProfiling { .. }
            | Action::SetFftsBase { .. }
            | Action::ClearWorkspace { .. }
            | Action::PreloadHere { .. }
            | Action::Preload { .. }
            | Action::PreloadPicked { .. }
            | Action::Record { .. }
            | Action::SetFlag { .. }
            | Action::WaitFlag { .. }
            | Action::EarlyStartSet { .. }
            | Action::EarlyStartWait { .. }
            | Action::Notify { .. }
            | Action::WaitEvent { .. }
            | Action::ClearEvent { .. }
            | Action::ComplementSyncAll
            | Action::ReleaseLock { .. } => {}
        }
    }

    fn finish(mut self) {
        let program = self.program;
        let undone = |duties: &[Duty]| -> Vec<&'static str> {
            duties.iter().filter(|duty| !duty.done).map(|duty| duty.action.name()).collect()
        };
        for action in undone(&self.setup) {
            self.report((None, None, action), |core| Violation::Missing { core, action, op: None });
        }
        for (op, required) in program.requires.ops.enumerate() {
            let mut missing = undone(&self.ops[op]);
            let wanted = u32::from(required.flush_before) + u32::from(required.flush_after);
            if program.ops[op].class().runs_on(self.core.kind) && self.flushes[op] < wanted {
                missing.push(Action::Flush.name());
            }
            for action in missing {
                let index = Some(program.index(op));
                self.report((None, Some(op), action), |core| Violation::Missing { core, action, op: index });
            }
        }
    }

    fn report(
        &mut self,
        key: (Option<usize>, Option<OpPosition>, &'static str),
        violation: impl FnOnce(CoreId) -> Violation,
    ) {
        if self.found.known.insert(key) {
            self.found.violations.push(violation(self.core));
        }
    }
}

/// What every core must do before the first op.
fn setup(program: &Program, core: CoreId) -> Vec<Action> {
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
fn of_op(program: &Program, core: CoreId, op: OpPosition) -> Vec<Action> {
    let required = &program.requires.ops[op];
    let mut duties = Vec::new();
    for &OuterEvent { event, slot, .. } in required.waits.iter().filter(|outer| is_first_of(core, outer.by)) {
        duties.extend([Action::WaitEvent { event, slot }, Action::ClearEvent { event, slot }]);
    }
    for &OuterEvent { event, slot, .. } in required.notifies.iter().filter(|outer| is_first_of(core, outer.by)) {
        duties.push(Action::Notify { event, slot });
    }
    let is_last = program.ops.get(op.next()).is_none();
    let configs = [required.config, program.requires.last_config.filter(|_| is_last)];
    duties.extend(configs.into_iter().flatten().map(|config| Action::EarlyStartConfig { config }));
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
        RequiredCode::Dynamic { table, key_slot, lock, releaser } => {
            if polls(program, core, op) {
                duties.push(Action::Switch { table, key_slot });
                duties.push(Action::CallPicked { table, offset });
            }
            if is_first_of(core, releaser) {
                duties.push(Action::ReleaseLock { slot: lock });
            }
        }
    }
    duties
}

/// Is it a step that must be required?
fn is_duty(action: &Action) -> bool {
    match action {
        Action::LoadParameters
        | Action::LoadWorkspace { .. }
        | Action::SetSyncAllBase
        | Action::InitDump { .. }
        | Action::InitProfiling { .. }
        | Action::SetFftsBase { .. }
        | Action::ClearWorkspace { .. }
        | Action::EarlyStartConfig { .. }
        | Action::Notify { .. }
        | Action::WaitEvent { .. }
        | Action::ClearEvent { .. }
        | Action::EndSyncAll
        | Action::ComplementSyncAll
        | Action::Call { .. }
        | Action::Switch { .. }
        | Action::CallPicked { .. }
        | Action::ReleaseLock { .. } => true,
        // Harmless wherever they are, or a matter of state or of flags.
        Action::PreloadHere { .. }
        | Action::Preload { .. }
        | Action::PreloadPicked { .. }
        | Action::Record { .. }
        | Action::PipeBarrier
        | Action::Barrier(_)
        | Action::SetFlag { .. }
        | Action::WaitFlag { .. }
        | Action::EarlyStartSet { .. }
        | Action::EarlyStartWait { .. }
        | Action::EnableSyncAll { .. }
        | Action::DisableSyncAll
        | Action::Flush => false,
    }
}

/// Does a second time change nothing? (For steps that are duties.)
fn is_repeatable(action: &Action) -> bool {
    matches!(
        action,
        Action::LoadParameters
            | Action::LoadWorkspace { .. }
            | Action::SetSyncAllBase
            | Action::SetFftsBase { .. }
            | Action::EarlyStartConfig { .. }
    )
}

/// Does it read the parameter block?
fn uses_slots(action: &Action) -> bool {
    matches!(
        action,
        Action::LoadWorkspace { .. }
            | Action::InitProfiling { .. }
            | Action::SetFftsBase { .. }
            | Action::Notify { .. }
            | Action::WaitEvent { .. }
            | Action::ClearEvent { .. }
            | Action::Call { .. }
            | Action::Switch { .. }
            | Action::CallPicked { .. }
            | Action::ReleaseLock { .. }
    )
}

/// Does it set or wait for flags, or may it?
fn uses_flags(action: &Action) -> bool {
    matches!(
        action,
        Action::Barrier(_)
            | Action::SetFlag { .. }
            | Action::WaitFlag { .. }
            | Action::EarlyStartSet { .. }
            | Action::EarlyStartWait { .. }
            | Action::Call { .. }
            | Action::CallPicked { .. }
            | Action::ComplementSyncAll
    )
}

/// Does it wait for the world outside?
fn waits_outside(action: &Action) -> bool {
    matches!(action, Action::WaitEvent { .. } | Action::Switch { .. })
}
