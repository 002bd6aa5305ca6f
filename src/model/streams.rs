//! One stream, or several side by side?

use std::collections::HashSet;

use super::{ByPosition, InnerEvent, ModelError, Op, OpPosition};
use crate::options::Options;

/// How the ops of a super kernel are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamForm {
    /// One after another, in op order.
    One,
    /// Cube and vector ops side by side, ordered by streams and events only.
    Several,
}

/// Chooses the form, and checks what only makes sense in one of them.
pub(super) fn choose(ops: &ByPosition<Op>, inner: &[InnerEvent], options: &Options) -> Result<StreamForm, ModelError> {
    let linked: HashSet<(OpPosition, OpPosition)> = inner.iter().map(|event| (event.sender, event.receiver)).collect();
    let mut neighbours = ops.positions().filter_map(|next| Some((next.previous()?, next)));
    let break_at = neighbours
        .find(|&(first, next)| ops[first].stream_id != ops[next].stream_id && !linked.contains(&(first, next)));
    match break_at {
        Some(_) if options.stream_fusion => {
            check_early_start(ops)?;
            Ok(StreamForm::Several)
        }
        Some((first, next)) => {
            let (first, second) = (&ops[first], &ops[next]);
            Err(ModelError::StreamsNeedFusion {
                first: first.name(),
                first_stream: first.stream_id,
                second: second.name(),
                second_stream: second.stream_id,
            })
        }
        None => {
            check_order(ops, inner)?;
            Ok(StreamForm::One)
        }
    }
}

fn check_early_start(ops: &[Op]) -> Result<(), ModelError> {
    match ops.iter().find(|op| !op.kernel.early_start.is_empty()) {
        Some(op) => {
            Err(ModelError::EarlyStartSeveralStreams { op: op.name(), flags: op.kernel.early_start.to_string() })
        }
        None => Ok(()),
    }
}

/// In op order a receiver cannot wait for a later op. (Several streams: only a cycle is wrong, which planning finds.)
fn check_order(ops: &ByPosition<Op>, inner: &[InnerEvent]) -> Result<(), ModelError> {
    match inner.iter().find(|event| event.receiver < event.sender) {
        Some(event) => Err(ModelError::ReceiverBeforeSender {
            event: event.id,
            sender: ops[event.sender].name(),
            receiver: ops[event.receiver].name(),
        }),
        None => Ok(()),
    }
}
