//! What would do without a synchronisation: the other half of why it is there.

use super::Reason;
use crate::named::named;

named! {
    /// A change that makes a step superfluous.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub(crate) enum Remedy {
        /// The option `early-start`.
        EarlyStart = "early-start",
        /// Ops of different kinds on streams of their own.
        Streams = "streams",
        /// The key `regions` of both ops.
        Regions = "regions",
        /// The option `sync`.
        Proven = "sync",
        /// No such event.
        NoEvent = "no-event",
        /// Both ends of the event in one super kernel.
        InnerEvent = "inner-event",
        /// Less that is ahead.
        FewerEvents = "fewer-events",
        /// A tiling that is known when the kernel is built.
        StaticTiling = "static-tiling",
        /// The option `debug-sync-all`.
        NoDebugSyncAll = "debug-sync-all",
        /// The option `debug-dcci-all`.
        NoDebugDcciAll = "debug-dcci-all",
        /// The option `feed-sync-all`.
        NoFeedSyncAll = "feed-sync-all",
        /// Code that takes no part in early start.
        PlainCode = "plain-code",
    }
}

impl Reason {
    /// What can do without a step that is there for this reason; none: nothing does.
    pub(crate) fn remedies(self) -> &'static [Remedy] {
        match self {
            Self::ListOrder => &[Remedy::EarlyStart, Remedy::Streams, Remedy::Regions],
            Self::SameStream(_) => &[Remedy::Streams, Remedy::Regions],
            Self::Event(_) => &[Remedy::NoEvent],
            Self::FlowControl => &[Remedy::FewerEvents],
            Self::OuterNotify(_) | Self::BeforeNotify | Self::OuterWait(_) => &[Remedy::InnerEvent],
            Self::AfterOuterWait => &[Remedy::Proven, Remedy::EarlyStart, Remedy::InnerEvent],
            Self::AfterSwitch => &[Remedy::Proven, Remedy::StaticTiling],
            Self::Tiling => &[Remedy::StaticTiling],
            Self::DebugSyncAll => &[Remedy::NoDebugSyncAll],
            Self::DebugDcciAll => &[Remedy::NoDebugDcciAll],
            Self::OwnWait | Self::OwnSet => &[Remedy::PlainCode],
            Self::WorkspaceCleared => &[Remedy::NoFeedSyncAll],
            Self::NextOnThisCore => &[],
        }
    }
}

impl Remedy {
    /// What to do, and what is there then.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::EarlyStart => "early-start=1: a hand-over takes its place",
            Self::Streams => "ops that do not need each other on streams of their own (stream-fusion=1)",
            Self::Regions => "`regions` of both ops, if neither writes what the other touches",
            Self::Proven => "sync=proven, unless nothing else shows the same",
            Self::NoEvent => "an op list without the event",
            Self::InnerEvent => "the other end of the event in this super kernel",
            Self::FewerEvents => "fewer events between the sides: a flag counts to 15",
            Self::StaticTiling => "a tiling that is known when the kernel is built",
            Self::NoDebugSyncAll => "debug-sync-all=0",
            Self::NoDebugDcciAll => "debug-dcci-all=0",
            Self::NoFeedSyncAll => "feed-sync-all=0",
            Self::PlainCode => "the sub-kernel compiled without early start",
        }
    }
}
