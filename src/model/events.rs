//! Who sends and who receives each event.

use std::collections::HashMap;

use super::{ByPosition, EventId, InnerEvent, ModelError, Op, OpPosition, OtherEnd};

/// Checks the event lists, tells inner from outer events, and returns the inner ones in the order of their senders.
pub(super) fn match_ends(ops: &mut ByPosition<Op>) -> Result<Vec<InnerEvent>, ModelError> {
    check_ends_of_the_kernel(ops)?;
    let senders = claim(ops, "sent", "send_event_list", |op| op.send_events.iter().map(|event| event.id).collect())?;
    let receivers =
        claim(ops, "received", "recv_event_list", |op| op.recv_events.iter().map(|event| event.id).collect())?;
    let mut inner = Vec::new();
    for position in ops.positions() {
        for number in 0..ops[position].send_events.len() {
            let id = ops[position].send_events[number].id;
            let Some(&receiver) = receivers.get(&id) else { continue };
            check_pair(ops, id, position, receiver)?;
            ops[position].send_events[number].other_end = OtherEnd::Op(receiver);
            inner.push(InnerEvent { id, sender: position, receiver });
        }
        for event in &mut ops[position].recv_events {
            if let Some(&sender) = senders.get(&event.id) {
                event.other_end = OtherEnd::Op(sender);
            }
        }
    }
    Ok(inner)
}

fn check_ends_of_the_kernel(ops: &[Op]) -> Result<(), ModelError> {
    if let Some((op, event)) = ops.first().and_then(|op| Some((op, op.recv_events.first()?))) {
        return Err(ModelError::FirstOpReceives { op: op.name(), event: event.id });
    }
    if let Some((op, event)) = ops.last().and_then(|op| Some((op, op.send_events.first()?))) {
        return Err(ModelError::LastOpSends { op: op.name(), event: event.id });
    }
    Ok(())
}

/// The position of the one op that sends (or receives) each id.
fn claim(
    ops: &ByPosition<Op>,
    verb: &'static str,
    list: &'static str,
    ids: impl Fn(&Op) -> Vec<EventId>,
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
    ops: &ByPosition<Op>,
    event: EventId,
    sender: OpPosition,
    receiver: OpPosition,
) -> Result<(), ModelError> {
    if sender == receiver {
        return Err(ModelError::EventToItself { op: ops[sender].name(), event });
    }
    let stream = ops[sender].stream_id;
    if stream == ops[receiver].stream_id {
        let (sender, receiver) = (ops[sender].name(), ops[receiver].name());
        return Err(ModelError::EventInsideStream { event, sender, receiver, stream });
    }
    Ok(())
}
