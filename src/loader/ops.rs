//! The ops inside of a super kernel, as its files describe them.

use std::path::PathBuf;

use serde_json::Value;

use crate::build::ResultOp;
use crate::model::{EventId, Slot, StreamId};

/// One op of a super kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LaunchableOp {
    /// Its name.
    pub name: String,
    /// Its place in `op_list`; its position, if the build record is not there.
    pub index: usize,
    /// Slot of its first parameter.
    pub param_offset: u32,
    /// Slots of its own parameters; `None`: up to the end.
    pub param_count: Option<u32>,
    /// Blocks it runs on.
    pub blocks: u32,
    /// The JSON of its sub-kernel, if the build record is there.
    pub json: Option<PathBuf>,
    /// The object of its sub-kernel, likewise.
    pub object: Option<PathBuf>,
    /// Its stream.
    pub stream: StreamId,
    pub(super) sends: Vec<EventId>,
    pub(super) receives: Vec<EventId>,
}

impl LaunchableOp {
    /// What the description says about the op at `position`.
    pub(super) fn new(position: usize, op: &ResultOp, param_count: Option<u32>) -> Self {
        Self {
            name: op.name.clone(),
            index: position,
            param_offset: op.param.0,
            param_count,
            blocks: op.blocks,
            json: None,
            object: None,
            stream: op.stream,
            sends: op.sends.clone(),
            receives: op.receives.clone(),
        }
    }

    /// One without parameters, events or files.
    #[cfg(test)]
    pub(super) fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            index: 0,
            param_offset: 0,
            param_count: None,
            blocks: 1,
            json: None,
            object: None,
            stream: StreamId(-1),
            sends: Vec::new(),
            receives: Vec::new(),
        }
    }
}

/// Tells the last op where its parameters end: what comes behind them is the super kernel's own.
pub(super) fn end_last(ops: &mut [LaunchableOp], parameters: &[Slot]) {
    let Some(last) = ops.last_mut().filter(|op| op.param_count.is_none()) else { return };
    let own = parameters.get(last.param_offset as usize..).unwrap_or_default();
    let count = own.iter().take_while(|slot| slot.op.is_some()).count();
    last.param_count = u32::try_from(count).ok().filter(|_| !parameters.is_empty());
}

/// Tells the ops their places and files in the call they were built by.
pub(super) fn name_files(ops: &mut [LaunchableOp], kernel_infos: &Value) {
    let entries = kernel_infos.get("op_list").and_then(Value::as_array);
    let path = |entry: &Value, key: &str| entry.get(key)?.as_str().filter(|text| !text.is_empty()).map(PathBuf::from);
    // An entry without a JSON is skipped, but its place counts.
    let used = entries.into_iter().flatten().enumerate().filter(|(_, entry)| path(entry, "json_path").is_some());
    let used: Vec<(usize, &Value)> = used.collect();
    if used.len() != ops.len() {
        return;
    }
    for (op, (index, entry)) in ops.iter_mut().zip(used) {
        op.index = index;
        op.json = path(entry, "json_path");
        op.object = path(entry, "bin_path");
    }
}

/// Positions in an order in which the ops can run one after another: as listed, as far as streams and events allow.
pub(crate) fn sequential_order(ops: &[LaunchableOp]) -> Vec<usize> {
    let senders = |event: &EventId| -> Vec<usize> {
        (0..ops.len()).filter(|sender| ops[*sender].sends.contains(event)).collect()
    };
    let before: Vec<Vec<usize>> = (0..ops.len())
        .map(|at| {
            let same_stream = ops[..at].iter().rposition(|other| other.stream == ops[at].stream);
            let sent = ops[at].receives.iter().flat_map(senders);
            same_stream.into_iter().chain(sent).collect()
        })
        .collect();
    let mut done = vec![false; ops.len()];
    let mut order = Vec::with_capacity(ops.len());
    while order.len() < ops.len() {
        let free = |at: &usize| !done[*at] && before[*at].iter().all(|earlier| done[*earlier]);
        let next = (0..ops.len()).find(free);
        // Ops that wait for each other in a cycle are refused when a kernel is built; nothing orders them here.
        let Some(next) = next.or_else(|| done.iter().position(|is_done| !is_done)) else { break };
        done[next] = true;
        order.push(next);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::OpIndex;

    fn op(stream: i64, sends: &[i64], receives: &[i64]) -> LaunchableOp {
        let events = |ids: &[i64]| ids.iter().copied().map(EventId).collect();
        let (sends, receives) = (events(sends), events(receives));
        LaunchableOp { stream: StreamId(stream), sends, receives, ..LaunchableOp::named("op") }
    }

    #[test]
    fn streams_and_events_decide_and_then_the_list() {
        let listed = [op(0, &[], &[7]), op(1, &[], &[]), op(0, &[], &[]), op(1, &[7], &[])];
        assert_eq!(sequential_order(&listed), [1, 3, 0, 2]);
        assert_eq!(sequential_order(&[op(0, &[], &[9]), op(0, &[], &[])]), [0, 1], "an outer event orders nothing");
        let circle = [op(0, &[1], &[2]), op(1, &[2], &[1])];
        assert_eq!(sequential_order(&circle), [0, 1]);
    }

    #[test]
    fn the_super_kernels_own_slots_are_not_of_its_last_op() {
        let slot = |op: Option<usize>| Slot { op: op.map(OpIndex), ..Slot::of_sub_kernel("x", None) };
        let slots = [slot(None), slot(Some(0)), slot(Some(2)), slot(Some(2)), slot(None), slot(None)];
        let first = LaunchableOp { param_offset: 1, param_count: Some(1), ..LaunchableOp::named("a") };
        let mut ops = [first, LaunchableOp { param_offset: 2, ..LaunchableOp::named("b") }];
        end_last(&mut ops, &[]);
        assert_eq!(ops[1].param_count, None, "nobody says");
        end_last(&mut ops, &slots);
        assert_eq!((ops[0].param_count, ops[1].param_count), (Some(1), Some(2)));
    }

    #[test]
    fn skipped_entries_count_as_places() {
        let mut ops = [op(0, &[], &[]), op(0, &[], &[])];
        let infos = serde_json::json!({"op_list": [{"json_path": "/a.json"}, {}, {"json_path": "/b.json", "bin_path": "/b.o"}]});
        name_files(&mut ops, &infos);
        assert_eq!((ops[0].index, ops[1].index), (0, 2));
        assert_eq!((ops[1].json.clone(), ops[1].object.clone()), (Some("/b.json".into()), Some("/b.o".into())));
        name_files(&mut ops[..1], &infos);
        assert_eq!(ops[0].index, 0);
    }
}
