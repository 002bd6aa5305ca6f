//! What a core must do for the ops: one list, cut into a piece for each op.

use std::collections::HashMap;

use super::super::{Action, CoreId, Program};
use super::asked::of_op;
use crate::model::OpPosition;

/// So many duties of one op are looked through one by one; most ops have one or two.
const FEW: usize = 16;

/// One thing that must be done for an op.
pub(super) struct OpDuty {
    pub(super) action: Action,
    /// How often it is still to be done.
    pub(super) left: u32,
}

/// What a core must do for all ops.
pub(super) struct OpDuties {
    /// By op: where its piece begins.
    starts: Vec<u32>,
    list: Vec<OpDuty>,
    /// Places in the list of the duties of ops that have many.
    many: HashMap<(OpPosition, Action), usize>,
}

impl OpDuties {
    pub(super) fn of(program: &Program, core: CoreId) -> Self {
        let starts = Vec::with_capacity(program.ops.len() + 1);
        let mut duties = Self { starts, list: Vec::with_capacity(program.ops.len()), many: HashMap::new() };
        for op in program.ops.positions() {
            duties.starts.push(duties.list.len() as u32);
            duties.add(op, of_op(program, core, op));
        }
        duties.starts.push(duties.list.len() as u32);
        duties
    }

    /// Adds the duties of the next op.
    fn add(&mut self, op: OpPosition, actions: Vec<Action>) {
        let (start, looks_through) = (self.list.len(), actions.len() <= FEW);
        for action in actions {
            let next = self.list.len();
            let place = if looks_through {
                (start..next).find(|place| self.list[*place].action == action).unwrap_or(next)
            } else {
                *self.many.entry((op, action.clone())).or_insert(next)
            };
            match self.list.get_mut(place) {
                Some(duty) => duty.left += 1,
                None => self.list.push(OpDuty { action, left: 1 }),
            }
        }
    }

    /// The duties of an op.
    pub(super) fn of_op(&self, op: OpPosition) -> &[OpDuty] {
        &self.list[self.starts[op.place()] as usize..self.starts[op.place() + 1] as usize]
    }

    /// All of them.
    pub(super) fn actions(&self) -> impl Iterator<Item = (OpPosition, &Action)> {
        let ops = (0..self.starts.len() - 1).map(OpPosition::at);
        ops.flat_map(|op| self.of_op(op).iter().map(move |duty| (op, &duty.action)))
    }

    /// How often an op's duty is still to be done, if it is one.
    pub(super) fn left(&mut self, op: OpPosition, action: &Action) -> Option<&mut u32> {
        let place = match self.of_op(op) {
            many if many.len() > FEW => *self.many.get(&(op, action.clone()))?,
            few => self.starts[op.place()] as usize + few.iter().position(|duty| duty.action == *action)?,
        };
        Some(&mut self.list[place].left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{EventId, SlotNumber};

    fn wait(event: usize) -> Action {
        Action::WaitEvent { event: EventId(event as i64), slot: SlotNumber(0) }
    }

    /// However many an op has, each is found, as often as it is asked for, and nobody else's.
    #[test]
    fn few_and_many_duties_are_found_alike() {
        let once: fn(usize) -> u32 = |_| 1;
        for times in [once, |event| if event % 3 == 0 { 2 } else { 1 }] {
            let counts = [1, FEW - 1, FEW, 0, FEW + 1, 3 * FEW, 2];
            let mut duties = OpDuties { starts: Vec::new(), list: Vec::new(), many: HashMap::new() };
            for (op, count) in counts.into_iter().enumerate() {
                duties.starts.push(duties.list.len() as u32);
                let again = (0..count).filter(|event| times(*event) == 2);
                duties.add(OpPosition::at(op), (0..count).chain(again).map(wait).collect());
            }
            duties.starts.push(duties.list.len() as u32);
            for (op, count) in counts.into_iter().enumerate() {
                let op = OpPosition::at(op);
                assert_eq!(duties.of_op(op).len(), count);
                for event in 0..count {
                    let left = duties.left(op, &wait(event)).unwrap_or_else(|| panic!("{event} of {count}"));
                    assert_eq!(*left, times(event), "{event} of {count}");
                    *left -= 1;
                }
                assert_eq!(duties.left(op, &wait(count)), None);
                assert!((0..count).all(|event| duties.of_op(op)[event].left == times(event) - 1));
            }
            assert_eq!(duties.actions().count(), counts.into_iter().sum::<usize>());
        }
    }
}
