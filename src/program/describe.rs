//! Words for cores, reasons and edges, that the text form and the JSON share.

use std::fmt;

use super::{Cores, CrossNeed, EdgeOrigin, Kinds, Part, Program, Reason};

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
