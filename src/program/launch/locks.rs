//! Which locks must be clear before an outer event is told.
//!
//! The world outside may answer an event by the tiling of the same dynamic op for the next launch: a lock that is cleared
//! after that would lose it.

use std::collections::HashMap;

use super::super::{Program, RequiredCode};
use crate::model::{ByPosition, OpPosition};

/// For every op that tells outer events: the dynamic ops among itself and those that come before it.
#[derive(Debug, Default)]
pub(super) struct Locks(HashMap<OpPosition, Vec<OpPosition>>);

impl Locks {
    pub(super) fn of(program: &Program) -> Self {
        let requires = &program.requires.ops;
        let is_dynamic = |op: OpPosition| matches!(requires[op].code, RequiredCode::Dynamic { .. });
        if !requires.positions().any(is_dynamic) {
            return Self::default();
        }
        let tells = |op: &OpPosition| !requires[*op].notifies.is_empty();
        let of_op = |op| (op, with_all_before(program, op).into_iter().filter(|op| is_dynamic(*op)).collect());
        Self(requires.positions().filter(tells).map(of_op).collect())
    }

    /// The locks that must be clear before an event of `op` is told.
    pub(super) fn before_notify(&self, op: OpPosition) -> &[OpPosition] {
        self.0.get(&op).map_or(&[], Vec::as_slice)
    }
}

/// The op and all that must have ended before it starts.
fn with_all_before(program: &Program, op: OpPosition) -> Vec<OpPosition> {
    let mut seen = ByPosition::filled(program.ops.len(), false);
    let (mut open, mut found) = (vec![op], Vec::new());
    while let Some(op) = open.pop() {
        if !std::mem::replace(&mut seen[op], true) {
            found.push(op);
            open.extend(&program.requires.ops[op].after);
        }
    }
    found
}
