//! Scalar stores that combine with what is in global memory (`set_st_atomic_cfg`).
//!
//! A store is an ordinary one of compiled code, and the hook in front of it says where it will go. What is there is kept;
//! when the core is heard of the next time, the store has happened, and its value is taken out again and combined with
//! memory, around the caches. Nobody sees memory in between: only one core runs at a time.

use std::ops::Range;

use super::run::{Next, Run};
use crate::aicore::Atomic;
use crate::sim::interface::status::Status;
use crate::sim::machine::access::ScalarAccess;
use crate::sim::machine::access::Site;
use crate::sim::machine::cache::Toucher;
use crate::sim::machine::combining::CombiningStore;

impl Run {
    /// How a scalar store of so many bytes combines, if it does. `Err`: it cannot, and the run has ended.
    pub(crate) fn combines(&mut self, bytes: u64, site: Site) -> Result<Option<Atomic>, Next> {
        let problem = match Atomic::of_scalar_stores(&self.machine.core().unit.registers) {
            Ok(None) => return Ok(None),
            Ok(Some(atomic)) if bytes.is_multiple_of(atomic.element_bytes()) => return Ok(Some(atomic)),
            Ok(Some(atomic)) => format!(
                "a scalar store of {bytes} bytes to GM while scalar stores combine elements of {} (set_st_atomic_cfg): store \
                 whole elements, or end it with type 0 before",
                atomic.element_bytes()
            ),
            Err(problem) => problem,
        };
        self.fail_at(Status::Api, problem, site);
        Err(Next::Stop)
    }

    /// The core is about to store to global memory, and it will combine.
    pub(crate) fn begin_combining(&mut self, bytes: Range<u64>, atomic: Atomic, site: Site) {
        let toucher = self.toucher("a scalar store that combines", "bypass", site);
        let before = vec![0; (bytes.end - bytes.start) as usize];
        let mut store = CombiningStore { bytes, atomic, before, toucher };
        store.before = store.seen();
        self.machine.combining = Some(store);
    }

    /// The core is about to access other memory. Of a store that copies, compilers announce the target before the source,
    /// so that a load elsewhere may still belong to it.
    pub(crate) fn combine_before(&mut self, bytes: &Range<u64>, access: ScalarAccess) {
        let overlaps = |store: &CombiningStore| store.bytes.start < bytes.end && bytes.start < store.bytes.end;
        if access.writes() || self.machine.combining.as_ref().is_some_and(overlaps) {
            self.finish_combining();
        }
    }

    /// Does `action` while the core sees what it saw before its store, if there is one.
    pub(crate) fn without_combining(&mut self, action: impl FnOnce(&mut Self)) {
        let Some(store) = self.machine.combining.take() else { return action(self) };
        let now = store.seen();
        store.show(&store.before);
        action(self);
        store.show(&now);
        self.machine.combining = Some(store);
    }

    /// A store that was announced has happened: its value goes to memory.
    pub(crate) fn finish_combining(&mut self) {
        let Some(store) = self.machine.combining.take() else { return };
        let value = store.seen();
        store.show(&store.before);
        self.settle_accesses();
        self.combine(&store.bytes, store.atomic, &value, store.toucher);
    }

    /// Combines a value with memory, around the caches.
    pub(crate) fn combine(&mut self, bytes: &Range<u64>, atomic: Atomic, value: &[u8], toucher: Toucher) {
        let machine = &mut self.machine;
        if let Some(cache) = &mut machine.cache {
            let clock = &machine.cores[toucher.core].clock;
            cache.look_for_unflushed(bytes, toucher, clock, &machine.memory);
            cache.written(bytes, toucher, clock);
            cache.uncover(toucher.core, bytes, &machine.memory);
        }
        // SAFETY: the store of the kernel goes there, and `value` is what it stores.
        unsafe { atomic.store(bytes.start as *mut u8, value.as_ptr(), value.len() as u64) };
        self.scalar_tells();
        let machine = &mut self.machine;
        machine.publish(bytes.start);
        if let Some(cache) = &mut machine.cache {
            cache.cover(toucher.core, bytes, &machine.memory);
        }
        self.collect_cache_findings();
        self.active();
    }
}
