//! One stream, or several side by side?

use std::collections::HashSet;

use super::events::{self, Linked};
use super::{ByPosition, EventId, InnerEvent, ModelError, Op, OpName, OpPosition, StreamId};
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
    let form = form(ops, inner, options.stream_fusion)?;
    match form {
        StreamForm::One => {}
        StreamForm::Several => check_early_start(ops)?,
    }
    Ok(form)
}

/// The form that events and streams ask for.
pub(super) fn form(
    ops: &ByPosition<impl Linked>,
    inner: &[InnerEvent],
    stream_fusion: bool,
) -> Result<StreamForm, ModelError> {
    match first_break(ops, inner) {
        Some(_) if stream_fusion => Ok(StreamForm::Several),
        Some((first, next)) => {
            let (first, second) = (&ops[first], &ops[next]);
            Err(ModelError::StreamsNeedFusion {
                first: first.name(),
                first_stream: first.stream(),
                second: second.name(),
                second_stream: second.stream(),
            })
        }
        None => {
            check_order(ops, inner)?;
            Ok(StreamForm::One)
        }
    }
}

/// The first neighbours of different streams that no event links.
pub(super) fn first_break(ops: &ByPosition<impl Linked>, inner: &[InnerEvent]) -> Option<(OpPosition, OpPosition)> {
    let linked: HashSet<(OpPosition, OpPosition)> = inner.iter().map(|event| (event.sender, event.receiver)).collect();
    let mut neighbours = ops.positions().filter_map(|next| Some((next.previous()?, next)));
    neighbours.find(|&(first, next)| ops[first].stream() != ops[next].stream() && !linked.contains(&(first, next)))
}

/// An op whose sub-kernel is not looked at.
#[derive(Debug, Clone)]
pub(crate) struct Link {
    /// How messages call it.
    pub name: OpName,
    /// Its stream.
    pub stream: StreamId,
    /// Events it sends.
    pub sends: Vec<EventId>,
    /// Events it receives.
    pub receives: Vec<EventId>,
}

impl Linked for Link {
    fn name(&self) -> OpName {
        self.name.clone()
    }

    fn stream(&self) -> StreamId {
        self.stream
    }

    fn sends(&self) -> Vec<EventId> {
        self.sends.clone()
    }

    fn receives(&self) -> Vec<EventId> {
        self.receives.clone()
    }
}

/// The form of a super kernel of these ops, or what [`super::load`] would refuse about their events and streams.
pub(crate) fn form_of_links(ops: Vec<Link>, stream_fusion: bool) -> Result<StreamForm, ModelError> {
    let ops = ByPosition::from(ops);
    form(&ops, &events::inner_events(&ops)?, stream_fusion)
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
fn check_order(ops: &ByPosition<impl Linked>, inner: &[InnerEvent]) -> Result<(), ModelError> {
    match inner.iter().find(|event| event.receiver < event.sender) {
        Some(event) => Err(ModelError::ReceiverBeforeSender {
            event: event.id,
            sender: ops[event.sender].name(),
            receiver: ops[event.receiver].name(),
        }),
        None => Ok(()),
    }
}
