//! What a run found wrong without ending for it: mistakes inside a core that did no harm in this order.

use crate::named::named;
use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::status::{Failure, Status, Word};
use super::tools::Tool;

/// Enough to see the pattern.
const LIMIT: usize = 100;

named! {
    /// Which rule was broken.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub(crate) enum FindingKind {
        /// Two instructions of a core use the same bytes, and nothing orders their pipes.
        Unordered = "unordered",
        /// Operands of one instruction overlap in part.
        Overlap = "overlap",
        /// A flag of L0C is waited for that nobody changes.
        UnitFlag = "unit-flag",
        /// Local memory is read that nobody has written.
        NeverWritten = "never-written",
        /// A plain pointer, or an instruction, left its buffer for another one.
        Bounds = "bounds",
        /// An event is raised that is raised already.
        EventDoubled = "event-doubled",
        /// An event is still raised at the end.
        EventLeft = "event-left",
        /// A tensor was enqueued and never dequeued.
        QueueLeft = "queue-left",
        /// The scalar unit reads from its cache what others have changed in memory.
        StaleRead = "stale-read",
        /// Somebody reads memory of which a core has newer bytes in its cache.
        Unflushed = "unflushed",
        /// A line that is written back destroys what others wrote beside it.
        LostNeighbour = "lost-neighbour",
    }
}

impl FindingKind {
    /// How a run ends that has nothing worse to tell.
    pub(crate) fn status(self) -> Status {
        match self {
            Self::Unordered
            | Self::Overlap
            | Self::UnitFlag
            | Self::NeverWritten
            | Self::Bounds
            | Self::EventDoubled
            | Self::EventLeft
            | Self::QueueLeft => Status::Pipe,
            Self::StaleRead | Self::Unflushed | Self::LostNeighbour => Status::Cache,
        }
    }
}

impl FindingKind {
    /// Its id in the documents.
    pub(crate) fn id(self) -> &'static str {
        match self {
            Self::Unordered => "SK0928",
            Self::Unflushed => "SK0929",
            Self::NeverWritten => "SK0933",
            Self::Overlap => "SK0934",
            Self::UnitFlag => "SK0935",
            Self::EventDoubled => "SK0936",
            Self::EventLeft => "SK0937",
            Self::QueueLeft => "SK0938",
            Self::StaleRead => "SK0939",
            Self::LostNeighbour => "SK0942",
            Self::Bounds => "SK0945",
        }
    }

    /// Who looks for it; `Autosync` sees what `Pipe` sees.
    pub(crate) fn tool(self) -> Tool {
        match self {
            Self::Unordered
            | Self::Overlap
            | Self::UnitFlag
            | Self::EventDoubled
            | Self::EventLeft
            | Self::QueueLeft => Tool::Pipe,
            Self::NeverWritten => Tool::Init,
            Self::Bounds => Tool::Bounds,
            Self::StaleRead | Self::Unflushed | Self::LostNeighbour => Tool::Cache,
        }
    }

    /// Do those who look for these things want to know of it?
    pub(crate) fn is_wanted(self, tools: &[Tool]) -> bool {
        tools.contains(&self.tool()) || (self.tool() == Tool::Pipe && tools.contains(&Tool::Autosync))
    }
}

/// One of the two sides of a finding.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Party {
    /// The instruction, or what the scalar unit did.
    pub what: String,
    /// Its pipe.
    pub pipe: Word,
    /// The core.
    pub core: String,
    /// The operator.
    pub op: Option<String>,
    /// Source line of the kernel, where known.
    pub file: Option<String>,
    /// Its number.
    pub line: Option<u32>,
}

impl Party {
    /// `vadd (add.cpp:12)`.
    pub(crate) fn describe(&self) -> String {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => format!("{} ({file}:{line})", self.what),
            _ => self.what.clone(),
        }
    }
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Finding {
    /// Which rule.
    pub kind: FindingKind,
    /// The whole story in one sentence.
    pub text: String,
    /// The memory it is about.
    pub memory: Option<String>,
    /// What would order the two: `SetFlag<HardEvent::MTE2_V>`.
    pub missing: Option<String>,
    /// Who came first.
    pub first: Option<Party>,
    /// Who came second, or the only one.
    pub second: Option<Party>,
}

impl Finding {
    /// As the thing that a run failed by. The text names the lines.
    pub(crate) fn failure(&self) -> Failure {
        let party = self.second.as_ref().or(self.first.as_ref());
        Failure {
            core: party.map(|party| party.core.clone()),
            op: party.and_then(|party| party.op.clone()),
            text: self.text.clone(),
            file: party.and_then(|party| party.file.clone()),
            line: party.and_then(|party| party.line),
            function: None,
        }
    }
}

/// All findings of a run; a mistake in a loop, or on many cores, is told once.
#[derive(Debug, Default)]
pub(crate) struct FindingLog {
    kept: Vec<Finding>,
    known: HashSet<(FindingKind, Option<Key>, Option<Key>)>,
}

type Key = (String, Option<String>, Option<u32>, Option<String>);

impl FindingLog {
    /// Keeps a finding, unless it is known.
    pub(crate) fn add(&mut self, finding: Finding) {
        let key = |party: &Option<Party>| {
            party.as_ref().map(|party| (party.what.clone(), party.file.clone(), party.line, party.op.clone()))
        };
        if self.kept.len() < LIMIT && self.known.insert((finding.kind, key(&finding.first), key(&finding.second))) {
            self.kept.push(finding);
        }
    }

    /// All of them.
    pub(crate) fn into_findings(self) -> Vec<Finding> {
        self.kept
    }
}
