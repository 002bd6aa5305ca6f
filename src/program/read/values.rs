//! The values of fields, and what lines have in common.

use crate::model::{CoreKind, EventId, SlotNumber, StreamId};
use crate::program::words::{Read, among, number};
use crate::program::{Action, CoreIndex, Cores, EdgeOrigin, Kinds, OuterEvent, Part, Reason, SyncAllRecords};

pub(super) fn records(text: &str) -> Read<SyncAllRecords> {
    let (aic, aiv) = text.split_once('/').ok_or_else(|| format!("`{text}` are no two offsets"))?;
    Ok(SyncAllRecords { aic: number(aic, "an offset")?, aiv: number(aiv, "an offset")? })
}

/// `WHAT:KIND`.
pub(super) fn by_kind(text: &str) -> Read<(&str, CoreKind)> {
    let (what, kind) = text.split_once(':').ok_or_else(|| format!("`{text}` names no kind of core"))?;
    Ok((what, among(CoreKind::BOTH, kind, "kind of core")?))
}

/// `EVENT@SLOT:KIND`, several with commas.
pub(super) fn outer_events(list: &str) -> Read<Vec<OuterEvent>> {
    let event = |text: &str| {
        let (both, by) = by_kind(text)?;
        let (event, slot) = both.split_once('@').ok_or_else(|| format!("`{text}` names no slot"))?;
        Ok(OuterEvent { event: EventId(number(event, "an event")?), slot: SlotNumber(number(slot, "a slot")?), by })
    };
    list.split(',').map(event).collect()
}

pub(super) fn cores(text: &str) -> Read<Cores> {
    let (kinds, part) = match text.split_once('[') {
        Some((kinds, part)) => (kinds, part.strip_suffix(']').ok_or_else(|| format!("`{text}` lacks its `]`"))?),
        None => (text, ""),
    };
    let kinds = match kinds {
        "every" => Kinds::Every,
        kind => Kinds::Only(among(CoreKind::BOTH, kind, "kind of core")?),
    };
    let part = match (part, part.split_once(">="), part.split_once('<')) {
        ("", _, _) => Part::All,
        ("first", _, _) => Part::First,
        (_, Some((index, count)), _) => {
            Part::From(among(CoreIndex::ALL, index, "index of cores")?, number(count, "cores")?)
        }
        (_, _, Some((index, count))) => {
            Part::Below(among(CoreIndex::ALL, index, "index of cores")?, number(count, "cores")?)
        }
        (other, None, None) => return Err(format!("`{other}` is no part of the cores")),
    };
    Ok(Cores { kinds, part })
}

pub(super) fn edge_origin(words: &str) -> Read<EdgeOrigin> {
    match (words.strip_prefix("same stream "), words.strip_prefix("event ")) {
        (Some(stream), _) => Ok(EdgeOrigin::Stream(StreamId(number(stream, "a stream")?))),
        (_, Some(event)) => Ok(EdgeOrigin::Event(EventId(number(event, "an event")?))),
        (None, None) if words == "flow control" => Ok(EdgeOrigin::FlowControl),
        (None, None) => Err(format!("`{words}` is no origin of an edge")),
    }
}

/// Telling and waiting for an outer event have the same words; the step says which it is.
pub(super) fn reason(words: &str, action: &Action) -> Read<Reason> {
    const FIXED: [Reason; 12] = [
        Reason::ListOrder,
        Reason::FlowControl,
        Reason::BeforeNotify,
        Reason::AfterOuterWait,
        Reason::AfterSwitch,
        Reason::Tiling,
        Reason::DebugSyncAll,
        Reason::DebugDcciAll,
        Reason::OwnWait,
        Reason::OwnSet,
        Reason::WorkspaceCleared,
        Reason::NextOnThisCore,
    ];
    if let Some(event) = words.strip_prefix("outer event ") {
        let event = EventId(number(event, "an event")?);
        let tells = matches!(action, Action::Notify { .. });
        return Ok(if tells { Reason::OuterNotify(event) } else { Reason::OuterWait(event) });
    }
    match edge_origin(words) {
        Ok(origin) => Ok(origin.into()),
        Err(_) => among(FIXED, words, "reason"),
    }
}
