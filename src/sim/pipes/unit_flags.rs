//! The flags of L0C by which multiplications and moves out of it wait for each other, in program order.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::scene::Issue;
use crate::aicore::{LocalMemory, Memory, Pipe};
use crate::sim::machine::access::Site;
use crate::sim::machine::pipe_clock::PipeClock;

/// Bytes of a flag.
const BLOCK: u64 = 512;

/// Which flags are up, by the number of their block.
#[derive(Debug, Default)]
pub(super) struct UnitFlags {
    /// Who raised them.
    raised: BTreeMap<u64, Site>,
    /// What had ended when a flag was turned over last: whoever waits for it hears of that.
    turned: BTreeMap<u64, PipeClock>,
}

/// What waiting for flags means.
#[derive(Debug, Default)]
pub(super) struct Waits {
    /// What has ended then.
    pub(super) heard: PipeClock,
    /// A flag that never becomes what is waited for if nothing else comes.
    pub(super) stuck: Option<Stuck>,
}

/// A flag that is waited for in vain.
#[derive(Debug)]
pub(super) struct Stuck {
    /// Its bytes.
    pub(super) bytes: Range<u64>,
    /// Who raised it; `None` if it is down.
    pub(super) raised: Option<Site>,
}

impl UnitFlags {
    /// An instruction waits for the flags of the results it writes, or moves out.
    pub(super) fn waits(&self, issue: &Issue<'_>, results: &LocalMemory) -> Waits {
        let multiplies = issue.op.pipe() == Pipe::M;
        let mut waits = Waits::default();
        for block in blocks(issue, results) {
            if let Some(clock) = self.turned.get(&block) {
                waits.heard.join(clock);
            }
            let raised = self.raised.get(&block).copied();
            if raised.is_some() == multiplies && waits.stuck.is_none() {
                let start = results.base as u64 + block * BLOCK;
                waits.stuck = Some(Stuck { bytes: start..start + BLOCK, raised });
            }
        }
        waits
    }

    /// It turns them over when it, and all in `ended`, has ended.
    pub(super) fn turn(&mut self, issue: &Issue<'_>, results: &LocalMemory, ended: PipeClock) {
        for block in blocks(issue, results) {
            self.turned.insert(block, ended);
            if issue.op.pipe() == Pipe::M {
                self.raised.insert(block, issue.site);
            } else {
                self.raised.remove(&block);
            }
        }
    }
}

/// The numbers of the blocks of L0C whose flags count for an instruction. What a multiplication adds to does not.
fn blocks(issue: &Issue<'_>, results: &LocalMemory) -> BTreeSet<u64> {
    let multiplies = issue.op.pipe() == Pipe::M;
    let mut found = BTreeSet::new();
    for operand in issue.operands {
        if operand.memory != Memory::L0c || operand.access.writes() != multiplies {
            continue;
        }
        operand.for_each_row(|row| {
            if let (Some(first), Some(last)) = (results.offset_of(row.start), results.offset_of(row.end - 1)) {
                found.extend(first / BLOCK..=last / BLOCK);
            }
        });
    }
    found
}
