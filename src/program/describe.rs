//! Words for steps: the names and fields that the text form and the JSON share.

use std::fmt;

use super::{
    Action, Barrier, CoreIndex, Cores, CrossNeed, Direction, EarlyStartConfig, EdgeOrigin, Kinds, Pair, Part, Program,
    Reason, RecordEdge, RecordSubject, Round,
};
use crate::model::{CoreKind, EventId, OpIndex, OpPosition, SlotNumber};

/// One field of an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Field {
    /// A number.
    Number(i128),
    /// A name or a few words.
    Text(String),
    /// Not known.
    Unknown,
}

impl From<u32> for Field {
    fn from(number: u32) -> Self {
        Self::Number(number.into())
    }
}

impl From<u64> for Field {
    fn from(number: u64) -> Self {
        Self::Number(number.into())
    }
}

impl From<EventId> for Field {
    fn from(event: EventId) -> Self {
        Self::Number(event.0.into())
    }
}

impl From<SlotNumber> for Field {
    fn from(slot: SlotNumber) -> Self {
        Self::Number(slot.0.into())
    }
}

impl From<OpIndex> for Field {
    fn from(index: OpIndex) -> Self {
        Self::Number(index.0 as i128)
    }
}

impl<T: Into<Self>> From<Option<T>> for Field {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Unknown, Into::into)
    }
}

impl fmt::Display for Field {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(formatter),
            Self::Text(text) => formatter.write_str(text),
            Self::Unknown => formatter.write_str("?"),
        }
    }
}

impl Action {
    /// Its name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::LoadParameters => "load-parameters",
            Self::LoadWorkspace { .. } => "load-workspace",
            Self::SetSyncAllBase => "set-sync-all-base",
            Self::InitDump { .. } => "init-dump",
            Self::InitProfiling { .. } => "init-profiling",
            Self::SetFftsBase { .. } => "set-ffts-base",
            Self::ClearWorkspace { .. } => "clear-workspace",
            Self::PreloadHere { .. } => "preload-here",
            Self::Preload { .. } => "preload",
            Self::PreloadPicked { .. } => "preload-picked",
            Self::Record { .. } => "record",
            Self::PipeBarrier => "pipe-barrier",
            Self::Barrier(_) => "barrier",
            Self::SetFlag { .. } => "set-flag",
            Self::WaitFlag { .. } => "wait-flag",
            Self::EarlyStartSet { .. } => "early-start-set",
            Self::EarlyStartConfig { .. } => "early-start-config",
            Self::EarlyStartWait { .. } => "early-start-wait",
            Self::Notify { .. } => "notify",
            Self::WaitEvent { .. } => "wait-event",
            Self::ClearEvent { .. } => "clear-event",
            Self::EnableSyncAll { .. } => "enable-sync-all",
            Self::DisableSyncAll => "disable-sync-all",
            Self::EndSyncAll => "end-sync-all",
            Self::ComplementSyncAll => "complement-sync-all",
            Self::Flush => "flush",
            Self::Call { .. } => "call",
            Self::Switch { .. } => "switch",
            Self::CallPicked { .. } => "call-picked",
            Self::ReleaseLock { .. } => "release-lock",
        }
    }

    /// Does it order cores against each other, or against the world outside?
    pub(crate) fn synchronises(&self) -> bool {
        match self {
            Self::PipeBarrier
            | Self::Barrier(_)
            | Self::SetFlag { .. }
            | Self::WaitFlag { .. }
            | Self::EarlyStartSet { .. }
            | Self::EarlyStartConfig { .. }
            | Self::EarlyStartWait { .. }
            | Self::Notify { .. }
            | Self::WaitEvent { .. }
            | Self::Switch { .. } => true,
            Self::LoadParameters
            | Self::LoadWorkspace { .. }
            | Self::SetSyncAllBase
            | Self::InitDump { .. }
            | Self::InitProfiling { .. }
            | Self::SetFftsBase { .. }
            | Self::ClearWorkspace { .. }
            | Self::PreloadHere { .. }
            | Self::Preload { .. }
            | Self::PreloadPicked { .. }
            | Self::Record { .. }
            | Self::ClearEvent { .. }
            | Self::EnableSyncAll { .. }
            | Self::DisableSyncAll
            | Self::EndSyncAll
            | Self::ComplementSyncAll
            | Self::Flush
            | Self::Call { .. }
            | Self::CallPicked { .. }
            | Self::ReleaseLock { .. } => false,
        }
    }

    /// Does it have a meaning only where there are cores of this kind?
    pub(crate) fn needs(&self, kind: CoreKind) -> bool {
        match self {
            Self::Barrier(Barrier::All) | Self::SetFlag { .. } | Self::WaitFlag { .. } => true,
            Self::Barrier(Barrier::Aic | Barrier::AicAfterMte3) => kind == CoreKind::Aic,
            Self::Barrier(Barrier::Aiv) => kind == CoreKind::Aiv,
            Self::LoadParameters
            | Self::LoadWorkspace { .. }
            | Self::SetSyncAllBase
            | Self::InitDump { .. }
            | Self::InitProfiling { .. }
            | Self::SetFftsBase { .. }
            | Self::ClearWorkspace { .. }
            | Self::PreloadHere { .. }
            | Self::Preload { .. }
            | Self::PreloadPicked { .. }
            | Self::Record { .. }
            | Self::PipeBarrier
            | Self::EarlyStartSet { .. }
            | Self::EarlyStartConfig { .. }
            | Self::EarlyStartWait { .. }
            | Self::Notify { .. }
            | Self::WaitEvent { .. }
            | Self::ClearEvent { .. }
            | Self::EnableSyncAll { .. }
            | Self::DisableSyncAll
            | Self::EndSyncAll
            | Self::ComplementSyncAll
            | Self::Flush
            | Self::Call { .. }
            | Self::Switch { .. }
            | Self::CallPicked { .. }
            | Self::ReleaseLock { .. } => false,
        }
    }

    /// Its fields, in a fixed order.
    pub fn fields(&self, program: &Program) -> Vec<(&'static str, Field)> {
        let text = |words: String| Field::Text(words);
        let op = |position: OpPosition| Field::from(program.index(position));
        match self {
            Self::LoadParameters
            | Self::SetSyncAllBase
            | Self::PipeBarrier
            | Self::DisableSyncAll
            | Self::EndSyncAll
            | Self::ComplementSyncAll
            | Self::Flush => Vec::new(),
            Self::LoadWorkspace { slot } | Self::SetFftsBase { slot } | Self::ReleaseLock { slot } => {
                vec![("slot", (*slot).into())]
            }
            Self::InitDump { offset } => vec![("offset", (*offset).into())],
            Self::InitProfiling { buffer, task_id } => {
                vec![("slot", (*buffer).into()), ("task_id_slot", (*task_id).into())]
            }
            Self::ClearWorkspace { bytes } => vec![("bytes", (*bytes).into())],
            Self::PreloadHere { units } | Self::PreloadPicked { units } => vec![("units", (*units).into())],
            Self::Preload { function, units } => {
                vec![("function", text(program.function(*function).name.clone())), ("units", (*units).into())]
            }
            Self::Record { subject, edge } => {
                let mut fields = vec![("subject", text(subject.to_string()))];
                match subject {
                    RecordSubject::SuperKernel => {}
                    RecordSubject::Op(position) => fields.push(("op", op(*position))),
                    RecordSubject::Notify(event) | RecordSubject::Wait(event) => {
                        fields.push(("event", (*event).into()));
                    }
                }
                fields.push(("edge", text(edge.to_string())));
                fields
            }
            Self::Barrier(barrier) => vec![("over", text(barrier.to_string()))],
            Self::SetFlag { direction, pair } | Self::WaitFlag { direction, pair } => {
                let mut fields = vec![("direction", text(direction.to_string()))];
                match pair {
                    Pair::Ops { sender, receiver } => {
                        fields.extend([("sender", op(*sender)), ("receiver", op(*receiver))]);
                    }
                    Pair::Workspace => {}
                }
                fields
            }
            Self::EarlyStartSet { round } => vec![("round", text(round_text(*round, program)))],
            Self::EarlyStartConfig { config } => vec![("config", config.number().into())],
            Self::EarlyStartWait { config, round } => {
                vec![("config", config.number().into()), ("round", text(round_text(*round, program)))]
            }
            Self::Notify { event, slot } | Self::WaitEvent { event, slot } | Self::ClearEvent { event, slot } => {
                vec![("event", (*event).into()), ("slot", (*slot).into())]
            }
            Self::EnableSyncAll { records } => {
                vec![("aic_offset", records.aic.into()), ("aiv_offset", records.aiv.into())]
            }
            Self::Call { function, offset } => {
                vec![("function", text(program.function(*function).name.clone())), ("offset", (*offset).into())]
            }
            Self::Switch { table, key_slot } => {
                vec![("table", (table.0 as u64).into()), ("key_slot", (*key_slot).into())]
            }
            Self::CallPicked { table, offset } => {
                vec![("table", (table.0 as u64).into()), ("offset", (*offset).into())]
            }
        }
    }
}

pub(super) fn round_text(round: Round, program: &Program) -> String {
    match round {
        Round::Into(position) => format!("into-{}", program.index(position)),
        Round::OwnWait(position) => format!("own-wait-{}", program.index(position)),
        Round::AtEnd => "at-end".to_owned(),
    }
}

impl fmt::Display for RecordSubject {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::SuperKernel => "super-kernel",
            Self::Op(_) => "op",
            Self::Notify(_) => "notify",
            Self::Wait(_) => "wait",
        })
    }
}

impl fmt::Display for RecordEdge {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Start => "start",
            Self::End => "end",
        })
    }
}

impl fmt::Display for Barrier {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Aic => "aic",
            Self::AicAfterMte3 => "aic-after-mte3",
            Self::Aiv => "aiv",
            Self::All => "all",
        })
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::CubeToVector => "aic-to-aiv",
            Self::VectorToCube => "aiv-to-aic",
        })
    }
}

impl fmt::Display for EarlyStartConfig {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.number().fmt(formatter)
    }
}

impl fmt::Display for CoreIndex {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Block => "block",
            Self::Core => "core",
        })
    }
}

impl fmt::Display for Cores {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kinds {
            Kinds::Every => formatter.write_str("every")?,
            Kinds::Only(kind) => kind.fmt(formatter)?,
        }
        match self.part {
            Part::All => Ok(()),
            Part::Below(index, count) => write!(formatter, "[{index}<{count}]"),
            Part::From(index, count) => write!(formatter, "[{index}>={count}]"),
            Part::First => formatter.write_str("[first]"),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ListOrder => formatter.write_str("list order"),
            Self::SameStream(stream) => write!(formatter, "same stream {stream}"),
            Self::Event(event) => write!(formatter, "event {event}"),
            Self::FlowControl => formatter.write_str("flow control"),
            Self::OuterNotify(event) => write!(formatter, "outer event {event}"),
            Self::BeforeNotify => formatter.write_str("before outer notify"),
            Self::OuterWait(event) => write!(formatter, "outer event {event}"),
            Self::AfterOuterWait => formatter.write_str("after outer wait"),
            Self::AfterSwitch => formatter.write_str("all have polled"),
            Self::Tiling => formatter.write_str("tiling at run time"),
            Self::DebugSyncAll => formatter.write_str("debug-sync-all"),
            Self::DebugDcciAll => formatter.write_str("debug-dcci-all"),
            Self::OwnWait => formatter.write_str("the op waits itself"),
            Self::OwnSet => formatter.write_str("the op sets itself"),
            Self::WorkspaceCleared => formatter.write_str("workspace cleared"),
            Self::NextOnThisCore => formatter.write_str("next op on this core"),
        }
    }
}

impl fmt::Display for EdgeOrigin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stream(stream) => write!(formatter, "same stream {stream}"),
            Self::Event(event) => write!(formatter, "event {event}"),
            Self::FlowControl => formatter.write_str("flow control"),
        }
    }
}

impl From<EdgeOrigin> for Reason {
    fn from(origin: EdgeOrigin) -> Self {
        match origin {
            EdgeOrigin::Stream(stream) => Self::SameStream(stream),
            EdgeOrigin::Event(event) => Self::Event(event),
            EdgeOrigin::FlowControl => Self::FlowControl,
        }
    }
}

impl CrossNeed {
    /// Short words for it, ops by index.
    pub(crate) fn describe(self, program: &Program) -> String {
        match self {
            Self::None => "none".to_owned(),
            Self::Flag { received_at } => format!("flag received at op {}", program.index(received_at)),
            Self::Implied => "implied by other flags".to_owned(),
        }
    }
}
