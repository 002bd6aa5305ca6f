//! What a watcher found, in the words of the kernel.

use std::ops::Range;

use super::{PipeWatch, QueueBuffer};
use crate::aicore::{Memory, Pipe};
use crate::sim::interface::findings::{Finding, FindingKind, Party};
use crate::sim::machine::access::Site;
use crate::sim::pipes::scene::Scene;
use crate::sim::pipes::shadow::{Actor, Touch};

impl PipeWatch {
    /// Bytes in the words of the kernel: offsets in a memory, the queue they belong to, names of buffers.
    pub(super) fn place(&self, memory: Memory, bytes: &Range<u64>, scene: &Scene<'_>) -> String {
        let length = bytes.end - bytes.start;
        let Some(local) = scene.memories.get(memory as usize) else {
            return format!("{length} bytes of GM at {}", scene.global.describe(bytes.start));
        };
        let start = bytes.start - local.base as u64;
        let holds = |(address, buffer): &(&u64, &QueueBuffer)| {
            **address <= bytes.start && bytes.start < **address + buffer.bytes
        };
        let queue = self.buffers.iter().find(holds);
        let queue = queue.map(|(_, buffer)| format!(" (a buffer of a {} queue)", buffer.position));
        format!("bytes {start} to {} of {}{}", start + length, memory.name(), queue.unwrap_or_default())
    }

    pub(super) fn party(&self, touch: &Touch) -> Party {
        let (file, line) = self.sites.resolve(touch.site).unzip();
        Party {
            what: match touch.actor {
                Actor::Instruction(op, _) => op.name().to_owned(),
                Actor::Scalar => "a scalar access".to_owned(),
            },
            pipe: touch.stamp.pipe.name().into(),
            core: self.name.clone(),
            op: self.ops.get(touch.epoch as usize).cloned().flatten(),
            file,
            line,
        }
    }

    pub(super) fn event_party(&self, what: &str, pipe: Pipe, site: Site) -> Party {
        let (file, line) = self.sites.resolve(site).unzip();
        let op = self.ops.last().cloned().flatten();
        Party { what: what.to_owned(), pipe: pipe.name().into(), core: self.name.clone(), op, file, line }
    }

    pub(super) fn find(
        &mut self,
        kind: FindingKind,
        text: String,
        memory: Option<String>,
        missing: Option<String>,
        first: Option<Party>,
        second: &Touch,
    ) {
        let second = self.party(second);
        self.found.push(finding(kind, text, memory, missing, first, Some(second)));
    }
}

/// Everything a finding says.
pub(super) fn finding(
    kind: FindingKind,
    text: String,
    memory: Option<String>,
    missing: Option<String>,
    first: Option<Party>,
    second: Option<Party>,
) -> Finding {
    Finding { kind, text, memory, missing, first, second }
}
