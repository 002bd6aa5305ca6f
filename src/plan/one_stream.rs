//! One stream: op after op on all cores, with a barrier or an early-start hand-over in between.

use super::config;
use super::ops::OpPlanner;
use super::steps::{Scope, Steps, whole_barrier};
use crate::model::{CoreKind, OpPosition, SuperKernel};
use crate::program::{Action, Cores, EarlyStartConfig, Reason, Round};

const SCOPE: Scope = Scope::Everyone;

/// Steps of all ops.
pub(super) fn plan(ops: &OpPlanner<'_>, steps: &mut Steps) {
    for position in ops.kernel.ops.positions() {
        let previous = position.previous();
        let next = Some(position.next()).filter(|next| ops.kernel.ops.get(*next).is_some());
        ops.preloads(steps, SCOPE, previous, position, next);
        between(ops, steps, previous, position);
        ops.switch(steps, SCOPE, position);
        ops.run(steps, SCOPE, position);
        if next.is_none() {
            take_last_set(ops, steps, position);
        }
    }
}

/// What stands between an op and the one before it.
pub(super) struct Between {
    /// Their classes; the op's own twice if it is the first.
    pub(super) config: EarlyStartConfig,
    position: OpPosition,
    is_first: bool,
    /// The op's code waits itself.
    waits_itself: bool,
    /// The op before tells outer events.
    notifies: bool,
    /// The op waits for outer events.
    waits: bool,
    /// The debug barrier of the op before was put off.
    owes_barrier: bool,
}

impl Between {
    pub(super) fn of(kernel: &SuperKernel, position: OpPosition) -> Self {
        let op = &kernel.ops[position];
        let previous = position.previous().map(|previous| &kernel.ops[previous]);
        Self {
            config: config(previous.unwrap_or(op).class(), op.class()),
            position,
            is_first: previous.is_none(),
            waits_itself: op.kernel.early_start.waits_itself,
            notifies: previous.is_some_and(|previous| previous.outer_sends().next().is_some()),
            waits: op.outer_receives().next().is_some(),
            owes_barrier: kernel.options.debug_sync_all
                && previous.is_some_and(|previous| previous.kernel.early_start.sets_itself),
        }
    }

    /// Is something to be done between the hand-over and the op, so that all cores must have finished the hand-over?
    fn is_split(&self) -> bool {
        !self.is_first && self.waits_itself && (self.notifies || self.waits || self.owes_barrier)
    }

    /// The hand-over the op's own wait belongs to.
    pub(super) fn own_wait_round(&self) -> Round {
        if self.is_first || self.is_split() { Round::OwnWait(self.position) } else { Round::Into(self.position) }
    }
}

fn between(ops: &OpPlanner<'_>, steps: &mut Steps, previous: Option<OpPosition>, position: OpPosition) {
    match (previous, ops.kernel.has_early_start()) {
        (None, false) => {}
        (None, true) => give_first_set(ops, steps, position),
        (Some(previous), false) => barriers(ops, steps, previous, position),
        (Some(previous), true) => hand_over(ops, steps, previous, position),
    }
}

/// Early start off.
fn barriers(ops: &OpPlanner<'_>, steps: &mut Steps, previous: OpPosition, position: OpPosition) {
    let barrier = Action::Barrier(whole_barrier(ops.kernel.kernel_type));
    let (notifies, waits) = (ops.notifies(previous), ops.waits(position));
    if notifies || !waits {
        let reason = if notifies { Reason::BeforeNotify } else { Reason::ListOrder };
        steps.because(reason, Some(position), SCOPE.every(), barrier.clone());
    }
    ops.notify(steps, SCOPE, previous);
    ops.wait(steps, SCOPE, position);
    if waits {
        steps.because(Reason::AfterOuterWait, Some(position), SCOPE.every(), barrier);
    }
}

/// Early start on. The order matters: the partner outside may need the notify before it can answer the wait; no
/// notify before every core has finished; no op before its events; no barrier while a hand-over is pending.
fn hand_over(ops: &OpPlanner<'_>, steps: &mut Steps, previous: OpPosition, position: OpPosition) {
    let between = Between::of(ops.kernel, position);
    let config = between.config;
    let at = Some(position);
    let barrier = Action::Barrier(whole_barrier(ops.kernel.kernel_type));
    let round = Round::Into(position);

    set_part(ops, steps, previous, round, Reason::ListOrder);
    steps.because(Reason::ListOrder, at, SCOPE.every(), Action::EarlyStartConfig { config });
    if between.is_split() {
        steps.because(Reason::ListOrder, at, SCOPE.every(), Action::EarlyStartWait { config, round });
    } else {
        wait_part(ops, steps, position, config, round, Reason::ListOrder);
    }
    if between.owes_barrier {
        steps.because(Reason::DebugSyncAll, at, SCOPE.every(), barrier.clone());
    }
    ops.notify(steps, SCOPE, previous);
    ops.wait(steps, SCOPE, position);
    if between.waits {
        steps.because(Reason::AfterOuterWait, at, SCOPE.every(), barrier);
    }
    if between.is_split() {
        let round = Round::OwnWait(position);
        for &kind in ops.op(previous).class().kinds() {
            steps.because(Reason::OwnWait, at, Cores::all_of(kind), Action::EarlyStartSet { round });
        }
        wait_part(ops, steps, position, config, round, Reason::OwnWait);
    }
}

/// A first op that waits itself gets the set it waits for.
fn give_first_set(ops: &OpPlanner<'_>, steps: &mut Steps, position: OpPosition) {
    let op = ops.op(position);
    if !op.kernel.early_start.waits_itself {
        return;
    }
    let (config, round) = (config(op.class(), op.class()), Round::OwnWait(position));
    let reason = Reason::OwnWait;
    steps.because(reason, Some(position), SCOPE.every(), Action::EarlyStartConfig { config });
    for &kind in op.class().kinds() {
        steps.because(reason, Some(position), Cores::all_of(kind), Action::EarlyStartSet { round });
    }
    wait_part(ops, steps, position, config, round, reason);
}

/// A last op that sets itself gets the wait for it.
fn take_last_set(ops: &OpPlanner<'_>, steps: &mut Steps, position: OpPosition) {
    let op = ops.op(position);
    if !op.kernel.early_start.sets_itself {
        return;
    }
    let (config, round) = (config(op.class(), op.class()), Round::AtEnd);
    let (at, every, reason) = (Some(position), SCOPE.every(), Reason::OwnSet);
    set_part(ops, steps, position, round, reason);
    steps.because(reason, at, every, Action::EarlyStartConfig { config });
    steps.because(reason, at, every, Action::EarlyStartWait { config, round });
    if ops.kernel.options.debug_sync_all {
        let barrier = Action::Barrier(whole_barrier(ops.kernel.kernel_type));
        steps.because(Reason::DebugSyncAll, at, every, barrier);
    }
}

/// The sets of a finished op: of all cores of its kinds, or of the idle ones if its code sets itself.
fn set_part(ops: &OpPlanner<'_>, steps: &mut Steps, position: OpPosition, round: Round, reason: Reason) {
    let op = ops.op(position);
    for &kind in op.class().kinds() {
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
