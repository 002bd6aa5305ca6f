//! One stream: op after op on all cores, with a barrier or an early-start hand-over in between.

use super::config;
use super::ops::OpPlanner;
use super::steps::{Scope, Steps, whole_barrier};
use super::sync::{self, Follows, Locking, OpSync, Waiting};
use crate::model::{ByPosition, CoreClass, CoreKind, OpPosition, SuperKernel};
use crate::program::{Action, Cores, EarlyStartConfig, Part, Reason, Round};

const SCOPE: Scope = Scope::Everyone;

/// Steps of all ops.
pub(super) fn plan(ops: &OpPlanner<'_>, steps: &mut Steps) {
    let mut stored = None;
    for position in ops.kernel.ops.positions() {
        let previous = position.previous();
        let next = Some(position.next()).filter(|next| ops.kernel.ops.get(*next).is_some());
        ops.preloads(steps, SCOPE, previous, position, next);
        between(ops, steps, &mut stored, previous, position);
        if ops.sync[position].locking != Locking::PollEarly {
            ops.switch(steps, SCOPE, position);
        }
        ops.meet_after_switch(steps, SCOPE, position);
        ops.run(steps, SCOPE, position);
        if next.is_none() {
            take_last_set(ops, steps, &mut stored, position);
        }
    }
}

/// The early-start classes that every core has stored, if any.
type Stored = Option<EarlyStartConfig>;

/// Stores the classes of a hand-over, unless they are there already.
fn store(steps: &mut Steps, stored: &mut Stored, reason: Reason, position: OpPosition, config: EarlyStartConfig) {
    if stored.replace(config) != Some(config) {
        steps.because(reason, Some(position), SCOPE.every(), Action::EarlyStartConfig { config });
    }
}

/// What stands between an op and the one before it.
pub(super) struct Between {
    /// The class of all that ran since the last hand-over, and of the op; its own twice if it is the first.
    pub(super) config: EarlyStartConfig,
    position: OpPosition,
    is_first: bool,
    /// Is something to be done between the hand-over and the op, so that all cores must have finished the hand-over?
    is_split: bool,
    /// The debug barrier of the op before was put off.
    owes_barrier: bool,
}

impl Between {
    pub(super) fn of(kernel: &SuperKernel, sync: &ByPosition<OpSync>, position: OpPosition) -> Self {
        let op = &kernel.ops[position];
        let previous = position.previous().map(|previous| &kernel.ops[previous]);
        let waits = sync::waits(op) && sync[position].waiting != Waiting::BeforeSet;
        let before = match sync[position].follows {
            Follows::Synchronised { class } => class,
            Follows::Nobody | Follows::Freely { .. } => op.class(),
        };
        Self {
            config: config(before, op.class()),
            position,
            is_first: previous.is_none(),
            is_split: sync::is_split(kernel, position, waits),
            owes_barrier: previous.is_some_and(|previous| sync::owes_barrier(kernel, previous)),
        }
    }

    /// The hand-over the op's own wait belongs to.
    pub(super) fn own_wait_round(&self) -> Round {
        if self.is_first || self.is_split { Round::OwnWait(self.position) } else { Round::Into(self.position) }
    }
}

fn between(
    ops: &OpPlanner<'_>,
    steps: &mut Steps,
    stored: &mut Stored,
    previous: Option<OpPosition>,
    position: OpPosition,
) {
    if let Follows::Freely { pipes } = ops.sync[position].follows {
        if let Some(kinds) = pipes {
            let cores = Cores { kinds, part: Part::All };
            steps.because(Reason::NextOnThisCore, Some(position), cores, Action::PipeBarrier);
        }
        return;
    }
    match (previous, ops.kernel.has_early_start()) {
        (None, false) => {}
        (None, true) => give_first_set(ops, steps, stored, position),
        (Some(previous), false) => barriers(ops, steps, previous, position),
        (Some(previous), true) => hand_over(ops, steps, stored, previous, position),
    }
}

/// Early start off.
fn barriers(ops: &OpPlanner<'_>, steps: &mut Steps, previous: OpPosition, position: OpPosition) {
    let barrier = Action::Barrier(whole_barrier(ops.kernel.kernel_type));
    let (notifies, waits) = (ops.notifies(previous), ops.waits(position));
    if ops.sync[position].locking == Locking::PollEarly {
        ops.switch(steps, SCOPE, position);
    }
    if notifies || !waits {
        let reason = if notifies { Reason::BeforeNotify } else { Reason::ListOrder };
        steps.because(reason, Some(position), SCOPE.every(), barrier);
    }
    ops.release_late(steps, SCOPE, previous);
    ops.notify(steps, SCOPE, previous);
    ops.wait(steps, SCOPE, position);
    ops.meet_after_wait(steps, SCOPE.every(), position);
}

/// Early start on. The order matters: the partner outside may need the notify before it can answer the wait; no
/// notify before every core has finished; no op before its events; no barrier while a hand-over is pending.
fn hand_over(ops: &OpPlanner<'_>, steps: &mut Steps, stored: &mut Stored, previous: OpPosition, position: OpPosition) {
    let between = Between::of(ops.kernel, ops.sync, position);
    let sync = ops.sync[position];
    let config = between.config;
    let at = Some(position);
    let barrier = Action::Barrier(whole_barrier(ops.kernel.kernel_type));
    let round = Round::Into(position);

    if sync.waiting == Waiting::BeforeSet {
        ops.wait(steps, SCOPE, position);
    }
    if sync.locking == Locking::PollEarly {
        ops.switch(steps, SCOPE, position);
    }
    set_part(ops, steps, (previous, config.previous), round, Reason::ListOrder);
    store(steps, stored, Reason::ListOrder, position, config);
    if between.is_split {
        steps.because(Reason::ListOrder, at, SCOPE.every(), Action::EarlyStartWait { config, round });
    } else {
        wait_part(ops, steps, position, config, round, Reason::ListOrder);
    }
    ops.release_late(steps, SCOPE, previous);
    if between.owes_barrier {
        steps.because(Reason::DebugSyncAll, at, SCOPE.every(), barrier);
    }
    ops.notify(steps, SCOPE, previous);
    if sync.waiting != Waiting::BeforeSet {
        ops.wait(steps, SCOPE, position);
        ops.meet_after_wait(steps, SCOPE.every(), position);
    }
    if between.is_split {
        let round = Round::OwnWait(position);
        for &kind in config.previous.kinds() {
            steps.because(Reason::OwnWait, at, Cores::all_of(kind), Action::EarlyStartSet { round });
        }
        wait_part(ops, steps, position, config, round, Reason::OwnWait);
    }
}

/// A first op that waits itself gets the set it waits for.
fn give_first_set(ops: &OpPlanner<'_>, steps: &mut Steps, stored: &mut Stored, position: OpPosition) {
    let op = ops.op(position);
    if !op.kernel.early_start.waits_itself {
        return;
    }
    let (config, round) = (config(op.class(), op.class()), Round::OwnWait(position));
    let reason = Reason::OwnWait;
    store(steps, stored, reason, position, config);
    for &kind in op.class().kinds() {
        steps.because(reason, Some(position), Cores::all_of(kind), Action::EarlyStartSet { round });
    }
    wait_part(ops, steps, position, config, round, reason);
}

/// A last op that sets itself gets the wait for it.
fn take_last_set(ops: &OpPlanner<'_>, steps: &mut Steps, stored: &mut Stored, position: OpPosition) {
    let op = ops.op(position);
    if !op.kernel.early_start.sets_itself {
        return;
    }
    let (config, round) = (config(op.class(), op.class()), Round::AtEnd);
    let (at, every, reason) = (Some(position), SCOPE.every(), Reason::OwnSet);
    set_part(ops, steps, (position, op.class()), round, reason);
    store(steps, stored, reason, position, config);
    steps.because(reason, at, every, Action::EarlyStartWait { config, round });
    if ops.kernel.options.debug_sync_all {
        let barrier = Action::Barrier(whole_barrier(ops.kernel.kernel_type));
        steps.because(Reason::DebugSyncAll, at, every, barrier);
    }
}

/// The sets behind an op: of all cores that ran it, or others since the last hand-over; or of the idle ones if its code
/// sets itself.
fn set_part(
    ops: &OpPlanner<'_>,
    steps: &mut Steps,
    (position, class): (OpPosition, CoreClass),
    round: Round,
    reason: Reason,
) {
    let op = ops.op(position);
    for &kind in class.kinds() {
        let cores = if op.kernel.early_start.sets_itself { ops.idle(position, kind) } else { Cores::all_of(kind) };
        steps.because(reason, Some(position), cores, Action::EarlyStartSet { round });
    }
}

/// The waits in front of an op: of all cores, or only of those that do not run it if its code waits itself.
fn wait_part(
    ops: &OpPlanner<'_>,
    steps: &mut Steps,
    position: OpPosition,
    config: EarlyStartConfig,
    round: Round,
    reason: Reason,
) {
    let op = ops.op(position);
    let action = Action::EarlyStartWait { config, round };
    if !op.kernel.early_start.waits_itself {
        steps.because(reason, Some(position), SCOPE.every(), action);
        return;
    }
    let kinds = ops.kernel.kernel_type.class();
    for kind in CoreKind::BOTH.into_iter().filter(|kind| kinds.runs_on(*kind)) {
        let cores = if op.class().runs_on(kind) { ops.idle(position, kind) } else { Cores::all_of(kind) };
        steps.because(reason, Some(position), cores, action.clone());
    }
}
