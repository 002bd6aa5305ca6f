//! The flat array of 8-byte slots a super kernel is launched with.

use crate::model::OpSlots;

/// Is slot 0 the address of the cross-core scheduler?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ffts {
    /// Platforms whose `ffts_mode` is `ffts-plus`.
    Present,
    /// All others.
    Absent,
}

/// The arguments of one op.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EntryArguments {
    /// The op's renumbered topological id, which prefixes its items.
    pub id: i64,
    /// Its own arguments, named as in a launch of the op alone: `i0`, `o0`, `ws0`, ...
    pub own: Vec<String>,
    /// Tiling data item of a tiling-sink op and the id of the event its tiling task records.
    pub dynamic: Option<i64>,
    /// Ids it records.
    pub send: Vec<i64>,
    /// Ids it waits for.
    pub recv: Vec<i64>,
}

/// The whole array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Layout {
    /// Per op.
    pub entries: Vec<OpSlots>,
    /// The kernel's own workspace slot.
    pub workspace: Option<usize>,
    /// One `{...}` item per slot.
    pub format: String,
    /// Number of slots.
    pub slots: usize,
}

/// Does the kernel need a workspace of its own (for debug output or `SyncAll`)?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Workspace {
    /// One more slot at the end.
    Needed,
    /// No slot.
    Unused,
}

/// Lays the arguments of all ops out.
pub(crate) fn layout(ffts: Ffts, entries: &[EntryArguments], workspace: Workspace) -> Layout {
    let mut items: Vec<String> = Vec::new();
    if let (Ffts::Present, Some(first)) = (ffts, entries.first()) {
        items.push(format!("{{skn{}ffts_addr}}", first.id));
    }
    let mut slots = Vec::with_capacity(entries.len());
    for entry in entries {
        let id = entry.id;
        let (is_dynamic, sends, receives) = (entry.dynamic.is_some(), entry.send.len(), entry.recv.len());
        slots.push(OpSlots::new(items.len(), entry.own.len(), is_dynamic, sends, receives));
        items.extend(entry.own.iter().map(|name| format!("{{skn{id}{name}{}}}", star(name))));
        let lock = |event: &i64| format!("{{skn{id}event_addr{event}*}}");
        if let Some(event) = &entry.dynamic {
            items.extend(["tiling_key", "block_dim"].map(|part| format!("{{skn{id}tiling_context.{part}}}")));
            items.push(lock(event));
        }
        items.extend(entry.send.iter().chain(&entry.recv).map(lock));
    }
    let workspace = (workspace == Workspace::Needed).then(|| {
        items.push("{ws0*}".to_owned());
        items.len() - 1
    });
    Layout { entries: slots, workspace, slots: items.len(), format: items.concat() }
}

/// The star of an own item: array-like ones (inputs, outputs, workspaces), hidden inputs and events have one; tiling
/// data, values and parts of the tiling context have none.
fn star(item: &str) -> &'static str {
    let numbered =
        |prefix: &str| item.strip_prefix(prefix).is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()));
    let starred = ["i", "o", "ws", "event_addr"].into_iter().any(numbered) || item.starts_with("hi.");
    // One that is written with its star keeps it.
    if starred && !item.ends_with('*') { "*" } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(count: usize) -> Vec<String> {
        (0..count).map(|number| format!("i{number}")).collect()
    }

    #[test]
    fn offsets_of_two_ops() {
        let entries = [
            EntryArguments { id: 4, own: names(3), dynamic: None, send: vec![10, 11], recv: vec![] },
            EntryArguments { id: 5, own: names(4), dynamic: Some(1_073_741_825), send: vec![12], recv: vec![10] },
        ];
        let layout = layout(Ffts::Present, &entries, Workspace::Needed);
        assert_eq!(layout.entries[0], OpSlots { param: 1, tiling: None, notify: 4, wait: 6, end: 6 });
        assert_eq!(layout.entries[1], OpSlots { param: 6, tiling: Some(10), notify: 13, wait: 14, end: 15 });
        assert_eq!(layout.workspace, Some(15));
        assert_eq!(8 * layout.slots, 128);
        assert_eq!(
            layout.format,
            "{skn4ffts_addr}{skn4i0*}{skn4i1*}{skn4i2*}{skn4event_addr10*}{skn4event_addr11*}\
             {skn5i0*}{skn5i1*}{skn5i2*}{skn5i3*}{skn5tiling_context.tiling_key}{skn5tiling_context.block_dim}\
             {skn5event_addr1073741825*}{skn5event_addr12*}{skn5event_addr10*}{ws0*}"
        );
    }

    #[test]
    fn only_arrays_hidden_inputs_and_events_have_a_star() {
        let own =
            ["i0", "#42", "o0", "ws1", "hi.hcclsk0", "t", "tiling_context.tiling_key", "event_addr7", "i3*", "hi.x*"];
        let entries =
            [EntryArguments { id: 1, own: own.map(str::to_owned).to_vec(), dynamic: None, send: vec![], recv: vec![] }];
        assert_eq!(
            layout(Ffts::Absent, &entries, Workspace::Unused).format,
            "{skn1i0*}{skn1#42}{skn1o0*}{skn1ws1*}{skn1hi.hcclsk0*}{skn1t}{skn1tiling_context.tiling_key}\
             {skn1event_addr7*}{skn1i3*}{skn1hi.x*}"
        );
    }

    #[test]
    fn without_scheduler_and_workspace() {
        let entries = [EntryArguments { id: 0, own: names(2), dynamic: None, send: vec![], recv: vec![] }];
        let layout = layout(Ffts::Absent, &entries, Workspace::Unused);
        assert_eq!(layout.entries[0], OpSlots { param: 0, tiling: None, notify: 2, wait: 2, end: 2 });
        assert_eq!((layout.workspace, 8 * layout.slots), (None, 16));
    }
}
