//! Several streams: the cube cores run the cube side, the vector cores the vector side, and flags keep the two in the
//! order that streams and events ask for.

use super::ops::OpPlanner;
use super::order::Order;
use super::prologue::preload_whole;
use super::steps::{Scope, Steps, side_barrier};
use super::sync::notifying_kind;
use crate::model::{ByPosition, CoreClass, CoreKind, OpPosition};
use crate::program::{Action, Barrier, Cores, Direction, EdgeOrigin, Pair, Reason};

/// Steps of both sides, as far as the super kernel has them.
pub(super) fn plan(ops: &OpPlanner<'_>, order: &Order, steps: &mut Steps) {
    for &kind in ops.kernel.kernel_type.class().kinds() {
        preload_whole(ops.kernel, steps, Cores::all_of(kind));
        Side { ops, order, kind, received: received(ops, order, Direction::entering(kind)) }.plan(steps);
    }
}

/// The flag each op waits for.
fn received(ops: &OpPlanner<'_>, order: &Order, direction: Direction) -> ByPosition<Option<(OpPosition, EdgeOrigin)>> {
    let mut received = ByPosition::filled(ops.kernel.ops.len(), None);
    for (sender, receiver, origin) in order.flags(direction) {
        received[receiver] = Some((sender, origin));
    }
    received
}

struct Side<'a> {
    ops: &'a OpPlanner<'a>,
    order: &'a Order,
    kind: CoreKind,
    received: ByPosition<Option<(OpPosition, EdgeOrigin)>>,
}

impl Side<'_> {
    fn plan(&self, steps: &mut Steps) {
        let (ops, scope) = (self.ops, Scope::Side(self.kind));
        let list = self.order.side(self.kind);
        for (place, &position) in list.iter().enumerate() {
            let previous = place.checked_sub(1).map(|place| list[place]);
            ops.preloads(steps, scope, previous, position, list.get(place + 1).copied());
            if let Some(previous) = previous {
                self.send(steps, previous, IsLast::No);
            }
            self.receive(steps, position);
            ops.switch(steps, scope, position);
            ops.meet_after_switch(steps, scope, position);
            ops.run(steps, scope, position);
        }
        if let Some(&last) = list.last() {
            self.send(steps, last, IsLast::Yes);
        }
    }

    /// Behind an op: the side meets if somebody relies on it, then flags and outer events tell that the op has ended.
    fn send(&self, steps: &mut Steps, position: OpPosition, is_last_of_side: IsLast) {
        if self.ops.kernel.ops.get(position.next()).is_some() {
            self.meet(steps, position, is_last_of_side);
            self.ops.release_late(steps, Scope::Side(self.kind), position);
            self.set(steps, position);
        }
        self.ops.notify(steps, Scope::Side(self.kind), position);
    }

    fn meet(&self, steps: &mut Steps, position: OpPosition, is_last_of_side: IsLast) {
        let (at, cores) = (Some(position), Cores::all_of(self.kind));
        let notifies = self.ops.notifies(position);
        if notifies && self.ops.op(position).class() == CoreClass::Mix {
            // The notify must know that both halves have ended, without waiting for any other op.
            steps.because(Reason::BeforeNotify, at, cores, Action::Barrier(Barrier::All));
            return;
        }
        let notifies_here = notifies && notifying_kind(self.ops.kernel, position) == self.kind;
        let reason = self.order.meets_after(position, self.kind).map(Reason::from);
        let reason = reason.or(notifies_here.then_some(Reason::BeforeNotify));
        match (reason, is_last_of_side) {
            (Some(reason), _) => {
                steps.because(reason, at, cores, Action::Barrier(side_barrier(self.kind)));
            }
            (None, IsLast::No) => steps.because(Reason::NextOnThisCore, at, cores, Action::PipeBarrier),
            (None, IsLast::Yes) => {}
        }
    }

    fn sent(&self, position: OpPosition) -> Option<(OpPosition, EdgeOrigin)> {
        self.order.sent(Direction::leaving(self.kind), position)
    }

    fn set(&self, steps: &mut Steps, position: OpPosition) {
        if let Some((receiver, origin)) = self.sent(position) {
            let pair = Pair::Ops { sender: position, receiver };
            let action = Action::SetFlag { direction: Direction::leaving(self.kind), pair };
            steps.because(origin.into(), Some(position), Cores::all_of(self.kind), action);
        }
    }

    /// In front of an op: flags of the other side, then outer events.
    fn receive(&self, steps: &mut Steps, position: OpPosition) {
        let (at, cores) = (Some(position), Cores::all_of(self.kind));
        if let Some((sender, origin)) = self.received[position] {
            let pair = Pair::Ops { sender, receiver: position };
            let action = Action::WaitFlag { direction: Direction::entering(self.kind), pair };
            steps.because(origin.into(), at, cores, action);
        }
        self.ops.wait(steps, Scope::Side(self.kind), position);
        self.ops.meet_after_wait(steps, cores, position);
    }
}

/// Is the op the last of its side?
#[derive(Clone, Copy)]
enum IsLast {
    Yes,
    No,
}
