//! The values of fields, and what lines have in common.

use super::Read;
use crate::model::{CoreClass, CoreKind, EventId, SlotNumber, StreamId};
use crate::program::words::{Line, Token};
use crate::program::{
    Action, CoreIndex, Cores, EarlyStartConfig, EdgeOrigin, Kinds, OuterEvent, Part, Reason, SyncAllRecords,
};

/// The one of `all` that prints as `text`.
pub(super) fn among<T: Copy + ToString>(all: impl IntoIterator<Item = T>, text: &str, what: &str) -> Read<T> {
    all.into_iter().find(|known| known.to_string() == text).ok_or_else(|| format!("`{text}` is no {what}"))
}

pub(super) fn number<N: std::str::FromStr>(text: &str, what: &str) -> Read<N> {
    text.parse().map_err(|_| format!("`{text}` is no number for {what}"))
}

pub(super) fn config(text: &str) -> Read<EarlyStartConfig> {
    const CLASSES: [CoreClass; 3] = [CoreClass::Aic, CoreClass::Aiv, CoreClass::Mix];
    let all = CLASSES.into_iter().flat_map(|previous| CLASSES.map(|current| EarlyStartConfig { previous, current }));
    among(all, text, "early-start configuration")
}

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
    let indices = [CoreIndex::Block, CoreIndex::Core];
    let part = match (part, part.split_once(">="), part.split_once('<')) {
        ("", _, _) => Part::All,
        ("first", _, _) => Part::First,
        (_, Some((index, count)), _) => Part::From(among(indices, index, "index of cores")?, number(count, "cores")?),
        (_, _, Some((index, count))) => Part::Below(among(indices, index, "index of cores")?, number(count, "cores")?),
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

/// What the fields of steps have in common.
impl Line {
    pub(super) fn required(&mut self, name: &str) -> Read<String> {
        self.field(name).ok_or_else(|| format!("`{name}=` is missing"))
    }

    pub(super) fn required_number<N: std::str::FromStr>(&mut self, name: &str) -> Read<N> {
        number(&self.required(name)?, name)
    }

    pub(super) fn number_field<N: std::str::FromStr>(&mut self, name: &str) -> Read<Option<N>> {
        self.field(name).map(|text| number(&text, name)).transpose()
    }

    pub(super) fn slot(&mut self, name: &str) -> Read<SlotNumber> {
        Ok(SlotNumber(self.required_number(name)?))
    }

    pub(super) fn event(&mut self) -> Read<EventId> {
        Ok(EventId(self.required_number("event")?))
    }

    pub(super) fn number<N: std::str::FromStr>(&mut self, what: &str) -> Read<N> {
        number(&self.word(what)?, what)
    }

    pub(super) fn expect(&mut self, wanted: &str) -> Read<()> {
        let found = self.word(&format!("`{wanted}`"))?;
        if found == wanted { Ok(()) } else { Err(format!("`{found}` stands where `{wanted}` belongs")) }
    }

    /// All words that are left, as they stand.
    pub(super) fn rest(&mut self) -> String {
        let words: Vec<String> = self.tokens.drain(..).map(Token::into_text).collect();
        words.join(" ")
    }
}
