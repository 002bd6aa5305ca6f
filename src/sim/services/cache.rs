//! What strict caches mean for a run.

use std::ops::Range;

use super::run::Run;
use crate::aicore::Atomic;
use crate::sim::interface::findings::{Finding, FindingKind, Party};
use crate::sim::machine::access::ScalarAccess;
use crate::sim::machine::access::Site;
use crate::sim::machine::cache::Extent;
use crate::sim::machine::cache::{CacheFinding, Evidence, Toucher};
use crate::sim::machine::clock::Mark;

impl Run {
    /// Who touches memory now.
    pub(crate) fn toucher(&self, what: &'static str, pipe: &'static str, site: Site) -> Toucher {
        let core = self.current();
        let mark = Mark { party: core, time: self.machine.cores[core].clock.of(core) };
        Toucher { core, op: self.observer.cores[core].ops.last().copied(), what, pipe, site, mark }
    }

    /// A scalar access, told of before it happens.
    pub(crate) fn scalar_through_cache(&mut self, bytes: Range<u64>, access: ScalarAccess, site: Site) {
        let toucher = self.toucher(access.words(), "S", site);
        let Some(cache) = &mut self.machine.cache else { return };
        if self.machine.memory.find(bytes.start).is_some() {
            let clock = &self.machine.cores[toucher.core].clock;
            cache.scalar(bytes, access, toucher, clock, &self.machine.memory);
            self.collect_cache_findings();
        }
    }

    /// `dcci` of lines of global memory.
    pub(crate) fn flush_cache(&mut self, extent: Extent) {
        let toucher = self.toucher("dcci", "S", Site::Unknown);
        self.machine.cores[toucher.core].announced = 0..0;
        if let Some(cache) = &mut self.machine.cache {
            cache.flush(extent, toucher, &self.machine.cores[toucher.core].clock, &self.machine.memory);
            self.collect_cache_findings();
        }
    }

    /// A load or store around the cache; the bytes that were there.
    pub(crate) fn bypass(&mut self, address: u64, bytes: u32, is_write: bool, value: u64) -> u64 {
        let toucher = self.toucher("an access around the cache", "bypass", Site::Unknown);
        let range = address..address + u64::from(bytes.min(8));
        if let Ok(Some(atomic)) = Atomic::of_scalar_stores(&self.machine.core().unit.registers)
            && is_write
        {
            self.combine(&range, atomic, &value.to_le_bytes()[..bytes.min(8) as usize], toucher);
            return value;
        }
        if is_write {
            self.settle_finally();
            self.scalar_tells();
        }
        if let Some(cache) = &mut self.machine.cache {
            if is_write {
                cache.written(&range, toucher, &self.machine.cores[toucher.core].clock);
            } else {
                let clock = &self.machine.cores[toucher.core].clock;
                cache.look_for_unflushed(&range, toucher, clock, &self.machine.memory);
            }
            cache.uncover(toucher.core, &range, &self.machine.memory);
        }
        let mut word = value.to_le_bytes();
        let length = bytes.min(8) as usize;
        // SAFETY: the kernel asks for exactly this access; an address that is not mapped is its crash, as for a plain one.
        unsafe {
            if is_write {
                std::ptr::copy_nonoverlapping(word.as_ptr(), address as *mut u8, length);
            } else {
                word = [0; 8];
                std::ptr::copy_nonoverlapping(address as *const u8, word.as_mut_ptr(), length);
            }
        }
        // As memory is, whatever a line of the core over it says.
        if is_write {
            self.machine.publish(address);
        } else {
            self.machine.hear(address);
        }
        if let Some(cache) = &mut self.machine.cache {
            cache.cover(toucher.core, &range, &self.machine.memory);
        }
        self.collect_cache_findings();
        if !is_write {
            self.scalar_hears();
        }
        u64::from_le_bytes(word)
    }

    /// Takes over what the caches found, in words.
    pub(crate) fn collect_cache_findings(&mut self) {
        let Some(cache) = &mut self.machine.cache else { return };
        for found in cache.take_findings() {
            let finding = self.describe(&found);
            self.observer.findings.add(finding);
        }
    }

    fn describe(&self, found: &CacheFinding) -> Finding {
        let place = self.machine.memory.describe(found.address);
        let owner = self.machine.name(found.owner);
        let reader = self.party(&found.reader);
        let writer = found.writer.as_ref().map(|writer| self.party(writer));
        let named = |party: &Party| match &party.op {
            Some(op) => format!("{op} on {} by {}", party.core, party.describe()),
            None => format!("{} by {}", party.core, party.describe()),
        };
        let other = writer.as_ref().map_or_else(|| "somebody else".to_owned(), named);
        let (text, missing) = match found.kind {
            FindingKind::StaleRead if found.evidence == Evidence::Unordered => (
                format!(
                    "{} reads {place} from its data cache, whose line it may have since before {other} changed it: dcci \
                     before the read is missing",
                    named(&reader)
                ),
                "dcci before the read",
            ),
            FindingKind::StaleRead => (
                format!(
                    "{} reads {place} from its data cache, as it was before {other} changed it: dcci before the read is \
                     missing",
                    named(&reader)
                ),
                "dcci before the read",
            ),
            FindingKind::LostNeighbour if found.evidence == Evidence::Left => (
                format!(
                    "the line of 64 bytes that {} writes to is still in its data cache when the launch ends, and {place} in \
                     it, which {other} writes, is lost if that line goes back last: two cores must not write to one line",
                    named(&reader)
                ),
                "a line of its own",
            ),
            FindingKind::LostNeighbour => (
                format!(
                    "{} writes a whole line of 64 bytes back, and {place} in it, which {other} may change meanwhile, is lost: \
                     two cores must not write to one line unless the second waits for the first",
                    named(&reader)
                ),
                "a line of its own",
            ),
            FindingKind::Unflushed if found.evidence == Evidence::Unordered => (
                format!(
                    "{} reads {place} and waits for what {other} wrote there, but not for the dcci that takes it out of the \
                     data cache of {owner}: dcci before the other core is notified is missing",
                    named(&reader)
                ),
                "dcci before the other core is notified",
            ),
            FindingKind::Unflushed
            | FindingKind::Unordered
            | FindingKind::Overlap
            | FindingKind::UnitFlag
            | FindingKind::NeverWritten
            | FindingKind::Bounds
            | FindingKind::EventDoubled
            | FindingKind::EventLeft
            | FindingKind::QueueLeft => (
                format!(
                    "{} reads {place}, but what {other} wrote there is still in the data cache of {owner}: dcci after \
                     the write is missing",
                    named(&reader)
                ),
                "dcci after the write",
            ),
        };
        let (memory, missing) = (Some(place), Some(missing.to_owned()));
        Finding { kind: found.kind, text, memory, missing, first: writer, second: Some(reader) }
    }

    fn party(&self, toucher: &Toucher) -> Party {
        let (file, line) = self.observer.sites.resolve(toucher.site).unzip();
        Party {
            what: toucher.what.to_owned(),
            pipe: toucher.pipe.into(),
            core: self.machine.name(toucher.core),
            op: toucher.op.map(|position| self.observer.op_name(position)),
            file,
            line,
        }
    }
}
