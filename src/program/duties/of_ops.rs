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
            for action in of_op(program, core, op) {
                duties.add(op, action);
            }
        }
        duties.starts.push(duties.list.len() as u32);
        duties
    }

    /// Adds a duty to the last op.
    fn add(&mut self, op: OpPosition, action: Action) {
        let start = self.starts[op.place()] as usize;
        let known = match self.list.len() - start {
            count if count > FEW => self.many.get(&(op, action.clone())).copied(),
            _ => (start..self.list.len()).find(|place| self.list[*place].action == action),
        };
        if let Some(place) = known {
            self.list[place].left += 1;
            return;
        }
        self.list.push(OpDuty { action, left: 1 });
        let places = start..self.list.len();
        if places.len() > FEW {
            // All of them with the first one too many, then one by one.
            let new = if places.len() == FEW + 1 { places } else { places.end - 1..places.end };
            self.many.extend(new.map(|place| ((op, self.list[place].action.clone()), place)));
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
