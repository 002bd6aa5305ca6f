//! Why no program can be made.

use crate::diagnostic::{Advice, Diagnostic, advice};
use crate::model::OpName;
use crate::program::Violation;

/// Why planning failed.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the fields are what the messages print")]
pub enum PlanError {
    #[error("events and op order wait for each other in a cycle: {}", names(.ops))]
    Cycle { ops: Vec<OpName> },
    #[error("the planned program breaks {} of its own rules: {}", .violations.len(), list(.violations))]
    Broken { violations: Vec<Violation> },
}

impl Diagnostic for PlanError {
    fn advice(&self) -> Advice {
        match self {
            Self::Cycle { .. } => advice(
                "SK0309",
                "remove one of the events, or change the order of the ops in `op_list`: ops of one core kind run in \
                 that order",
            ),
            Self::Broken { .. } => advice(
                "SK0501",
                "this is a defect of the compiler: report it together with the inputs (`superkernel plan` shows the \
                 program)",
            ),
        }
    }
}

/// The ops of a circle, the first one again at the end.
fn names(ops: &[OpName]) -> String {
    const SHOWN: usize = 10;
    let mut parts: Vec<String> = ops.iter().take(SHOWN).map(ToString::to_string).collect();
    if ops.len() > SHOWN {
        parts.push(format!("{} more ops", ops.len() - SHOWN));
    }
    parts.extend(ops.first().map(ToString::to_string));
    parts.join(" → ")
}

fn list(violations: &[Violation]) -> String {
    const SHOWN: usize = 10;
    let mut parts: Vec<String> = violations.iter().take(SHOWN).map(ToString::to_string).collect();
    if violations.len() > SHOWN {
        parts.push(format!("and {} more", violations.len() - SHOWN));
    }
    parts.join("; ")
}
