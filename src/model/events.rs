//! Who sends and who receives each event.

use std::collections::HashMap;

use super::{ByPosition, EventId, InnerEvent, ModelError, Op, OpName, OpPosition, OtherEnd, StreamId};

/// An op as far as its order among others is concerned.
pub(super) trait Linked {
    fn name(&self) -> OpName;
    fn stream(&self) -> StreamId;
    fn sends(&self) -> Vec<EventId>;
    fn receives(&self) -> Vec<EventId>;
}

impl Linked for Op {
    fn name(&self) -> OpName {
        Self::name(self)
    }

    fn stream(&self) -> StreamId {
        self.stream_id
    }

    fn sends(&self) -> Vec<EventId> {
        self.send_events.iter().map(|event| event.id).collect()
    }

    fn receives(&self) -> Vec<EventId> {
        self.recv_events.iter().map(|event| event.id).collect()
    }
}

/// Tells the ops where the other ends of their events are; returns the inner ones in the order of their senders.
pub(super) fn match_ends(ops: &mut ByPosition<Op>) -> Result<Vec<InnerEvent>, ModelError> {
    let inner = inner_events(ops)?;
    let by_id: HashMap<EventId, &InnerEvent> = inner.iter().map(|event| (event.id, event)).collect();
    for op in ops.iter_mut() {
        for event in &mut op.send_events {
            event.other_end = by_id.get(&event.id).map_or(event.other_end, |inner| OtherEnd::Op(inner.receiver));
        }
        for event in &mut op.recv_events {
            event.other_end = by_id.get(&event.id).map_or(event.other_end, |inner| OtherEnd::Op(inner.sender));
        }
    }
    Ok(inner)
}

/// Checks the event lists and tells inner from outer events; the inner ones in the order of their senders.
pub(super) fn inner_events(ops: &ByPosition<impl Linked>) -> Result<Vec<InnerEvent>, ModelError> {
    check_ends_of_the_kernel(ops)?;
    claim(ops, "sent", "send_event_list", Linked::sends)?;
    let receivers = claim(ops, "received", "recv_event_list", Linked::receives)?;
    let mut inner = Vec::new();
    for (sender, op) in ops.enumerate() {
        for id in op.sends() {
            let Some(&receiver) = receivers.get(&id) else { continue };
            check_pair(ops, id, sender, receiver)?;
            inner.push(InnerEvent { id, sender, receiver });
        }
    }
    Ok(inner)
}

fn check_ends_of_the_kernel(ops: &[impl Linked]) -> Result<(), ModelError> {
    if let Some((op, event)) = ops.first().and_then(|op| Some((op, *op.receives().first()?))) {
        return Err(ModelError::FirstOpReceives { op: op.name(), event });
    }
    if let Some((op, event)) = ops.last().and_then(|op| Some((op, *op.sends().first()?))) {
        return Err(ModelError::LastOpSends { op: op.name(), event });
    }
    Ok(())
}

/// The position of the one op that sends (or receives) each id.
fn claim<O: Linked>(
    ops: &ByPosition<O>,
    verb: &'static str,
    list: &'static str,
    ids: impl Fn(&O) -> Vec<EventId>,
) -> Result<HashMap<EventId, OpPosition>, ModelError> {
    let mut claims = HashMap::new();
    for (position, op) in ops.enumerate() {
        for event in ids(op) {
            match claims.insert(event, position) {
                None => {}
                Some(earlier) if earlier == position => {
                    return Err(ModelError::EventTwice { op: op.name(), event, list });
                }
                Some(earlier) => {
                    let (first, second) = (ops[earlier].name(), op.name());
                    return Err(ModelError::EventClaimedTwice { event, verb, first, second });
                }
            }
        }
    }
    Ok(claims)
}

fn check_pair(
    ops: &ByPosition<impl Linked>,
    event: EventId,
    sender: OpPosition,
    receiver: OpPosition,
) -> Result<(), ModelError> {
    if sender == receiver {
        return Err(ModelError::EventToItself { op: ops[sender].name(), event });
    }
    let stream = ops[sender].stream();
    if stream == ops[receiver].stream() {
        let (sender, receiver) = (ops[sender].name(), ops[receiver].name());
        return Err(ModelError::EventInsideStream { event, sender, receiver, stream });
    }
    Ok(())
}
