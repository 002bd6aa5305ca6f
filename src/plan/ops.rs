//! What both forms do for an op: preload, outer events, switch, call.

use super::functions::{Functions, OpCode};
use super::prologue::{WHOLE_CACHE_UNITS, entering};
use super::steps::{Scope, Steps, barrier_of_class, side_barrier, whole_barrier};
use super::sync::{self, Locking, OpSync, Waiting, notifying_kind};
use crate::model::{ByPosition, CoreClass, CoreKind, Op, OpPosition, StreamForm, SuperKernel, SyncMode};
use crate::objects::TextSizes;
use crate::options::PreloadMode;
use crate::program::{
    Action, Barrier, Cores, Kinds, Part, Reason, RecordEdge, RecordSubject, SyncAllRecords, TableId, index_of_class,
};

/// Bytes of a feed-sync-all record's slot: one cache line.
const RECORD_BYTES: u64 = 64;

/// What the passes over ops look things up in.
#[derive(Clone, Copy)]
pub(super) struct OpPlanner<'a> {
    pub(super) kernel: &'a SuperKernel,
    pub(super) functions: &'a Functions,
    pub(super) sizes: &'a TextSizes,
    pub(super) sync: &'a ByPosition<OpSync>,
}

impl OpPlanner<'_> {
    pub(super) fn op(&self, position: OpPosition) -> &Op {
        &self.kernel.ops[position]
    }

    /// The cores of `kind` that run the op.
    pub(super) fn running(&self, position: OpPosition, kind: CoreKind) -> Cores {
        let op = self.op(position);
        Cores { kinds: Kinds::Only(kind), part: Part::Below(index_of_class(op.class()), op.block_num) }
    }

    /// The cores of `kind` that do not.
    pub(super) fn idle(&self, position: OpPosition, kind: CoreKind) -> Cores {
        let op = self.op(position);
        Cores { kinds: Kinds::Only(kind), part: Part::From(index_of_class(op.class()), op.block_num) }
    }

    /// Preloads in front of `position`: its successor's code, and its own if nobody came before.
    pub(super) fn preloads(
        &self,
        steps: &mut Steps,
        scope: Scope,
        previous: Option<OpPosition>,
        position: OpPosition,
        next: Option<OpPosition>,
    ) {
        match self.kernel.options.preload {
            PreloadMode::PerFunction => {}
            PreloadMode::Whole | PreloadMode::Never => return,
        }
        if previous.is_none() {
            self.preload(steps, scope, position);
        }
        if let Some(next) = next {
            self.preload(steps, scope, next);
        }
    }

    fn preload(&self, steps: &mut Steps, scope: Scope, position: OpPosition) {
        for kind in scope.kinds_of(self.op(position).class()) {
            if let Some(function) = self.functions.code(position).function(kind) {
                let units = self.sizes.preload_units(position, kind);
                steps.push(Some(position), self.running(position, kind), Action::Preload { function, units });
            }
        }
    }

    /// Does the op tell outer events?
    pub(super) fn notifies(&self, position: OpPosition) -> bool {
        sync::notifies(self.op(position))
    }

    /// Does the op wait for outer events?
    pub(super) fn waits(&self, position: OpPosition) -> bool {
        sync::waits(self.op(position))
    }

    /// Tells the op's outer events, if that is for cores in scope.
    pub(super) fn notify(&self, steps: &mut Steps, scope: Scope, position: OpPosition) {
        let kind = notifying_kind(self.kernel, position);
        if !scope.kinds().contain(kind) {
            return;
        }
        for event in self.op(position).outer_sends() {
            let action = Action::Notify { event: event.id, slot: event.slot };
            let subject = RecordSubject::Notify(event.id);
            self.recorded(steps, Cores::all_of(kind), Some(position), subject, |steps| {
                steps.because(Reason::OuterNotify(event.id), Some(position), Cores::first_of(kind), action);
            });
        }
    }

    /// Waits for the op's outer events, if that is for cores in scope.
    pub(super) fn wait(&self, steps: &mut Steps, scope: Scope, position: OpPosition) {
        let kind = self.sync[position].waiter;
        if !scope.kinds().contain(kind) {
            return;
        }
        for event in self.op(position).outer_receives() {
            let action = Action::WaitEvent { event: event.id, slot: event.slot };
            let subject = RecordSubject::Wait(event.id);
            self.recorded(steps, Cores::all_of(kind), Some(position), subject, |steps| {
                steps.because(Reason::OuterWait(event.id), Some(position), Cores::first_of(kind), action);
            });
        }
    }

    /// The meeting of all that need to know that one core has seen the op's outer events.
    pub(super) fn meet_after_wait(&self, steps: &mut Steps, cores: Cores, position: OpPosition) {
        let Waiting::Between { meeting: Some(barrier) } = self.sync[position].waiting else { return };
        let cores = match (self.kernel.form, barrier) {
            (StreamForm::Several, _) | (StreamForm::One, Barrier::All) => cores,
            (StreamForm::One, Barrier::Aic | Barrier::AicAfterMte3) => self.every_of(CoreKind::Aic),
            (StreamForm::One, Barrier::Aiv) => self.every_of(CoreKind::Aiv),
        };
        steps.because(Reason::AfterOuterWait, Some(position), cores, Action::Barrier(barrier));
    }

    /// All cores of a kind; every core where there is no other kind.
    fn every_of(&self, kind: CoreKind) -> Cores {
        if self.kernel.kernel_type.is_mix() { Cores::all_of(kind) } else { Cores::EVERY }
    }

    /// The cores that poll the lock of a dynamic op, and call what was picked.
    fn polling(&self, scope: Scope, position: OpPosition) -> Cores {
        match (self.kernel.options.sync, self.kernel.form, self.op(position).class().kinds()) {
            (SyncMode::Proven, StreamForm::One, [kind]) => self.every_of(*kind),
            (SyncMode::Proven | SyncMode::Contract, StreamForm::One | StreamForm::Several, _) => scope.every(),
        }
    }

    /// A dynamic op's switch.
    pub(super) fn switch(&self, steps: &mut Steps, scope: Scope, position: OpPosition) {
        let (OpCode::Dynamic(table), Some(key_slot)) =
            (self.functions.code(position), self.op(position).offsets.tiling_key)
        else {
            return;
        };
        let op = Some(position);
        steps.because(Reason::Tiling, op, self.polling(scope, position), Action::Switch { table, key_slot });
        if self.kernel.kernel_type.class() == CoreClass::Aiv {
            let running = self.running(position, CoreKind::Aiv);
            steps.push(op, running, Action::PreloadPicked { units: WHOLE_CACHE_UNITS });
        }
    }

    /// The meeting of all that polled the lock of a dynamic op, if nothing else tells that they have.
    pub(super) fn meet_after_switch(&self, steps: &mut Steps, scope: Scope, position: OpPosition) {
        let op = self.op(position);
        if !op.is_dynamic() || self.sync[position].locking != Locking::Meet {
            return;
        }
        let (at, reason, polling) = (Some(position), Reason::AfterSwitch, self.polling(scope, position));
        let barrier = match (scope, self.kernel.options.sync) {
            (Scope::Everyone, SyncMode::Contract) => whole_barrier(self.kernel.kernel_type),
            (Scope::Everyone, SyncMode::Proven) => barrier_of_class(op.class()),
            // Both halves of a MIX op polled; otherwise this side alone did.
            (Scope::Side(kind), _) => match op.class() {
                CoreClass::Mix => Barrier::All,
                CoreClass::Aic | CoreClass::Aiv => side_barrier(kind),
            },
        };
        // Where a round of the core's kind always stands in front, the pipes have finished.
        if scope == Scope::Everyone && self.kernel.options.sync == SyncMode::Contract {
            steps.because(reason, at, polling, Action::PipeBarrier);
        }
        steps.because(reason, at, polling, Action::Barrier(barrier));
    }

    /// Clears the lock of a dynamic op after the synchronisation behind it, if that is when.
    pub(super) fn release_late(&self, steps: &mut Steps, scope: Scope, position: OpPosition) {
        if self.sync[position].locking == Locking::ClearLate {
            self.release(steps, scope, position);
        }
    }

    fn release(&self, steps: &mut Steps, scope: Scope, position: OpPosition) {
        let releaser = self.sync[position].releaser;
        let lock = self.op(position).offsets.wait_lock();
        if let Some(slot) = lock.filter(|_| scope.kinds().contain(releaser)) {
            steps.push(Some(position), Cores::first_of(releaser), Action::ReleaseLock { slot });
        }
    }

    /// The op itself, with feed-sync-all, records and the debug options.
    pub(super) fn run(&self, steps: &mut Steps, scope: Scope, position: OpPosition) {
        self.feed_sync_all(steps, scope, position);
        self.recorded(steps, scope.every(), Some(position), RecordSubject::Op(position), |steps| {
            match self.functions.code(position) {
                OpCode::Static { .. } => self.call(steps, scope, position),
                OpCode::Dynamic(table) => self.call_picked(steps, scope, position, table),
            }
            self.debug(steps, scope, position);
        });
    }

    fn feed_sync_all(&self, steps: &mut Steps, scope: Scope, position: OpPosition) {
        if !self.kernel.options.feed_sync_all {
            return;
        }
        let action = if self.op(position).needs_feed_sync_all {
            Action::EnableSyncAll { records: Box::new(sync_all_records(self.kernel, position)) }
        } else {
            Action::DisableSyncAll
        };
        steps.push(Some(position), scope.every(), action);
    }

    /// A static op: on each kind flush, call, complete the sync-alls, flush.
    fn call(&self, steps: &mut Steps, scope: Scope, position: OpPosition) {
        let op = self.op(position);
        let at = Some(position);
        for kind in scope.kinds_of(op.class()) {
            let (running, idle) = (self.running(position, kind), self.idle(position, kind));
            if op.dcci.flushes_before() {
                steps.push(at, Cores::all_of(kind), Action::Flush);
            }
            if let Some(function) = self.functions.code(position).function(kind) {
                steps.push(at, running, Action::Call { function, offset: op.offsets.param });
            }
            if op.needs_feed_sync_all {
                steps.push(at, running, Action::EndSyncAll);
                steps.push(at, idle, Action::ComplementSyncAll);
            }
            if op.dcci.flushes_after() {
                steps.push(at, Cores::all_of(kind), Action::Flush);
            }
        }
        if op.needs_feed_sync_all {
            // Left on, a later barrier of the super kernel could overwrite the end record before a slow idle core
            // has read it.
            steps.push(at, scope.every(), Action::DisableSyncAll);
        }
    }

    /// A dynamic op: the picked type decides which cores call, so nothing here is split by kind.
    fn call_picked(&self, steps: &mut Steps, scope: Scope, position: OpPosition, table: TableId) {
        let op = self.op(position);
        let at = Some(position);
        if op.dcci.flushes_before() {
            steps.push(at, scope.every(), Action::Flush);
        }
        let call = Action::CallPicked { table, offset: op.offsets.param, entering: entering(self.kernel, op) };
        steps.push(at, self.polling(scope, position), call);
        if op.dcci.flushes_after() {
            steps.push(at, scope.every(), Action::Flush);
        }
        match self.sync[position].locking {
            Locking::PollEarly | Locking::Meet => self.release(steps, scope, position),
            Locking::ClearLate => {}
        }
    }

    fn debug(&self, steps: &mut Steps, scope: Scope, position: OpPosition) {
        let (at, every) = (Some(position), scope.every());
        if self.kernel.options.debug_dcci_all {
            steps.because(Reason::DebugDcciAll, at, every, Action::PipeBarrier);
            steps.because(Reason::DebugDcciAll, at, every, Action::Flush);
        }
        if !self.kernel.options.debug_sync_all {
            return;
        }
        let reason = Reason::DebugSyncAll;
        match scope {
            // A hand-over is pending if the op's code has set: the barrier is made up for behind it.
            Scope::Everyone if self.op(position).kernel.early_start.sets_itself => {}
            Scope::Everyone => {
                steps.because(reason, at, every, Action::Barrier(whole_barrier(self.kernel.kernel_type)));
            }
            Scope::Side(kind) => {
                let barrier = match kind {
                    CoreKind::Aic => Barrier::AicAfterMte3,
                    CoreKind::Aiv => Barrier::Aiv,
                };
                steps.because(reason, at, every, Action::PipeBarrier);
                steps.because(reason, at, every, Action::Barrier(barrier));
            }
        }
    }

    fn recorded(
        &self,
        steps: &mut Steps,
        cores: Cores,
        op: Option<OpPosition>,
        subject: RecordSubject,
        body: impl FnOnce(&mut Steps),
    ) {
        let profiling = self.kernel.options.profiling;
        if profiling {
            steps.push(op, cores, Action::Record { subject, edge: RecordEdge::Start });
        }
        body(steps);
        if profiling {
            steps.push(op, cores, Action::Record { subject, edge: RecordEdge::End });
        }
    }
}

/// Where an op's feed-sync-all records are in the workspace.
pub(super) fn sync_all_records(kernel: &SuperKernel, position: OpPosition) -> SyncAllRecords {
    let (position, count) = (position.place() as u64, kernel.ops.len() as u64);
    SyncAllRecords { aic: RECORD_BYTES * position, aiv: RECORD_BYTES * (count + position) }
}
