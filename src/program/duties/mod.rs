//! Compares the steps of each core with what is required of it: everything once, with the right values, in an order
//! that makes sense on that core alone. Order between cores is the business of [`super::launch`].

mod asked;
mod of_ops;

use std::collections::{BTreeSet, HashSet};

use super::classes::Takers;
use super::launch::micro::runs;
use super::{Action, Barrier, CoreId, EarlyStartConfig, Program, Property, Step, SyncAllRecords, Violation};
use crate::model::{ByPosition, EventId, OpPosition};
use asked::setup;
use of_ops::OpDuties;

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
    /// For the ops: what must be done.
    duties: OpDuties,
    /// Events that are still to be waited for.
    unseen: HashSet<(OpPosition, EventId)>,
    /// Ops that are still to be called.
    uncalled: ByPosition<bool>,
    /// The early-start classes stored last.
    config: Option<EarlyStartConfig>,
    /// The dynamic op whose functions have been picked.
    picked: Option<OpPosition>,
    /// Whose `SyncAll` calls idle cores follow.
    fed: Fed,
    /// Dynamic ops whose lock this core has yet to clear.
    locked: BTreeSet<OpPosition>,
    /// The op whose end has yet to be announced to the idle cores.
    unannounced: Option<OpPosition>,
    /// The last op that was called, if its pipes may still run.
    running: Option<OpPosition>,
    /// Flushes of each op in front of its call, or of an op that this core does not call.
    flushes: ByPosition<u32>,
    /// Flushes behind the call.
    late_flushes: ByPosition<u32>,
    called: ByPosition<bool>,
}

/// The state of the variables of fed `SyncAll`s. They live in memory that nobody has cleared.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fed {
    Unknown,
    Off,
    /// Idle cores follow, with these records.
    On(SyncAllRecords),
}

impl Fed {
    fn wanted(records: Option<SyncAllRecords>) -> Self {
        records.map_or(Self::Off, Self::On)
    }
}

/// A step that must be taken.
struct Duty {
    action: Action,
    done: bool,
}

impl<'a> Walk<'a> {
    fn new(program: &'a Program, core: CoreId, found: &'a mut Found) -> Self {
        let duties = OpDuties::of(program, core);
        let mut unseen = HashSet::new();
        let mut uncalled = ByPosition::filled(program.ops.len(), false);
        let mut locked = BTreeSet::new();
        for (op, action) in duties.actions() {
            if let Action::ReleaseLock { .. } = action {
                locked.insert(op);
            }
            if let Action::WaitEvent { event, .. } = action {
                unseen.insert((op, *event));
            }
            if let Action::Call { .. } = action {
                uncalled[op] = true;
            }
        }
        Self {
            program,
            core,
            found,
            setup: setup(program, core).into_iter().map(|action| Duty { action, done: false }).collect(),
            duties,
            unseen,
            uncalled,
            config: None,
            picked: None,
            // Without fed `SyncAll`s the code has no such variables.
            fed: if program.requires.cleared_bytes.is_some() { Fed::Unknown } else { Fed::Off },
            locked,
            unannounced: None,
            running: None,
            flushes: ByPosition::filled(program.ops.len(), 0),
            late_flushes: ByPosition::filled(program.ops.len(), 0),
            called: ByPosition::filled(program.ops.len(), false),
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
        if step.action.is(Property::Duty) && !self.does_duty(step) {
            let op = step.op.map(|op| self.program.index(op));
            let action = step.action.name();
            self.report((Some(number), None, "not asked for"), |core| Violation::NotRequired {
                step: number,
                action,
                core,
                op,
            });
        }
        self.remember(step);
    }

    /// Notes a step that must be taken; `false` if it must not, or not once more.
    fn does_duty(&mut self, step: &Step) -> bool {
        let Some(op) = step.op else {
            let mut same = self.setup.iter_mut().filter(|duty| duty.action == step.action).peekable();
            let again = step.action.is(Property::Repeatable) && same.peek().is_some();
            return same.find(|duty| !duty.done).map(|duty| duty.done = true).is_some() || again;
        };
        let Some(left) = self.duties.left(op, &step.action) else { return false };
        let first = *left > 0;
        *left = left.saturating_sub(1);
        if let Action::WaitEvent { event, .. } = &step.action {
            self.unseen.remove(&(op, *event));
        }
        if let Action::Call { .. } = &step.action {
            self.uncalled[op] = false;
        }
        if let Action::ReleaseLock { .. } = &step.action {
            self.locked.remove(&op);
        }
        first || step.action.is(Property::Repeatable)
    }

    /// What must have happened on this core before the step, and has not.
    fn lacks(&self, step: &Step) -> Option<&'static str> {
        let requires = &self.program.requires;
        let prepared = |action: &Action| self.setup.iter().any(|duty| duty.done && duty.action == *action);
        let unprepared = |wanted: fn(&Action) -> bool| self.setup.iter().any(|duty| !duty.done && wanted(&duty.action));
        if step.action.uses_slots() && !prepared(&Action::LoadParameters) {
            return Some("the parameters are there");
        }
        if step.action.is(Property::Flags) && unprepared(|action| matches!(action, Action::SetFftsBase { .. })) {
            return Some("the scheduler's address is set");
        }
        if self.unannounced.is_some() && (step.action.is(Property::Flags) || step.action.is(Property::Outside)) {
            return Some("the op's end is announced to the idle cores");
        }
        if matches!(step.action, Action::Record { .. })
            && unprepared(|action| matches!(action, Action::InitProfiling { .. }))
        {
            return Some("the profiling area is found");
        }
        let op = step.op.unwrap_or(OpPosition::FIRST);
        let required = requires.ops.get(op)?;
        match &step.action {
            Action::SetSyncAllBase | Action::InitDump { .. } | Action::ClearWorkspace { .. } => {
                unprepared(|action| matches!(action, Action::LoadWorkspace { .. })).then_some("the workspace is there")
            }
            Action::EnableSyncAll { .. } => {
                (!prepared(&Action::SetSyncAllBase)).then_some("the records' address is set")
            }
            Action::Barrier(Barrier::All) => (self.fed != Fed::Off).then_some("auto sync-all is switched off"),
            Action::Call { .. } | Action::CallPicked { .. } => self.lacks_at_call(op, &step.action),
            Action::PreloadPicked { .. } => (self.picked != Some(op)).then_some("its functions are picked"),
            Action::EndSyncAll => self.uncalled[op].then_some("the call"),
            Action::ComplementSyncAll => {
                (self.fed != Fed::wanted(required.records)).then_some("auto sync-all is switched on")
            }
            // The world outside may wait for a lock to be cleared before it goes on.
            Action::WaitEvent { .. } | Action::Switch { .. } => {
                self.locked.range(..op).next().map(|_| "the lock of a dynamic op before it is cleared")
            }
            Action::ClearEvent { event, .. } => {
                self.unseen.contains(&(op, *event)).then_some("the event is waited for")
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
            | Action::DisableSyncAll
            | Action::Flush
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
        if self.fed != Fed::wanted(required.records) {
            return Some("auto sync-all is switched as the op needs it");
        }
        if required.config.is_some() && self.config != required.config {
            return Some("the classes of its hand-over are stored");
        }
        if required.flush_before && self.flushes[op] == 0 {
            return Some("the cache is flushed");
        }
        // Its own wait is a round of this core's kind, if that kind ran the op before.
        let waits = self.program.ops[op].own_wait.is_some_and(|(config, _)| config.previous.runs_on(self.core.kind));
        (self.running.is_some() && !waits).then_some("the pipes have finished the op before")
    }

    fn remember(&mut self, step: &Step) {
        match &step.action {
            Action::EarlyStartConfig { config } => self.config = Some(*config),
            Action::Switch { .. } => self.picked = step.op,
            Action::EnableSyncAll { records } => self.fed = Fed::On(**records),
            Action::DisableSyncAll => self.fed = Fed::Off,
            Action::Call { .. } => {
                self.note_call(step.op);
                self.unannounced = step.op.filter(|op| self.program.requires.ops[*op].records.is_some());
            }
            Action::CallPicked { .. } => self.note_call(step.op),
            Action::EndSyncAll => self.unannounced = None,
            Action::PipeBarrier => self.running = None,
            // A finished round of its kind: every core of the kind has set behind its pipes.
            Action::Barrier(Barrier::Aic | Barrier::Aiv | Barrier::All) => self.running = None,
            Action::EarlyStartWait { config, .. } if config.previous.runs_on(self.core.kind) => self.running = None,
            Action::Flush => {
                if let (Some(op), None) = (step.op, step.reason) {
                    let flushes = if self.called[op] { &mut self.late_flushes } else { &mut self.flushes };
                    flushes[op] += 1;
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
            // A set on MTE3 says nothing about what leaves a cube core by FIX.
            | Action::Barrier(Barrier::AicAfterMte3)
            | Action::Notify { .. }
            | Action::WaitEvent { .. }
            | Action::ClearEvent { .. }
            | Action::ComplementSyncAll
            | Action::ReleaseLock { .. } => {}
        }
    }

    /// Cores of other kinds may be told to call what was picked for a dynamic op: nothing, for them.
    fn note_call(&mut self, op: Option<OpPosition>) {
        if let Some(op) = op {
            self.called[op] = true;
            if runs(self.program, self.core, op) {
                self.running = Some(op);
            }
        }
    }

    /// Does the op lack a flush on this core? In front of the call is asked for at the call.
    fn lacks_flush(&self, op: OpPosition) -> bool {
        let required = &self.program.requires.ops[op];
        let wanted = u32::from(required.flush_before) + u32::from(required.flush_after);
        if self.called[op] {
            required.flush_after && self.late_flushes[op] == 0
        } else {
            self.program.ops[op].class().runs_on(self.core.kind) && self.flushes[op] < wanted
        }
    }

    fn finish(mut self) {
        let program = self.program;
        if program.requires.last_config.is_some_and(|config| self.config != Some(config)) {
            let action = "early-start-config";
            self.report((None, None, action), |core| Violation::Missing { core, action, op: None });
        }
        let undone = |duty: &Duty| (!duty.done).then(|| duty.action.name());
        for action in self.setup.iter().filter_map(undone).collect::<Vec<_>>() {
            self.report((None, None, action), |core| Violation::Missing { core, action, op: None });
        }
        for op in program.ops.positions() {
            let open = self.duties.of_op(op).iter().filter(|duty| duty.left > 0);
            let mut missing: Vec<&'static str> = open.map(|duty| duty.action.name()).collect();
            if self.lacks_flush(op) {
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
