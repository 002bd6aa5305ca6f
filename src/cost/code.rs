//! One core's instruction cache: what is in it, and what is on its way.

use std::collections::VecDeque;

use super::account::CodeUnits;
use super::prices::PerPrice;
use crate::model::OpPosition;
use crate::program::FunctionId;

/// The cache in units of 2 KiB, as much as a preload can fill.
const CACHE_UNITS: u32 = 8;
/// Units of a function whose object could not be read.
pub(super) const ASSUMED_UNITS: u32 = 4;

/// What a call finds.
pub(super) enum Found {
    /// The code is there.
    Ready,
    /// All of it must be fetched now.
    Missing(CodeUnits),
    /// It is on its way: ready at this time, by a chain of fetches that began at a place of the core's log.
    Coming { ready: f64, since: u32, fetched: CodeUnits, rest: CodeUnits },
}

/// Code that can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum CodeId {
    /// A sub-kernel function.
    Function(FunctionId),
    /// Whatever a dynamic op picks.
    Picked(OpPosition),
}

/// How much code a fetch is about.
#[derive(Debug, Clone, Copy)]
pub(super) struct CodeSize {
    pub(super) units: u32,
    /// Cores that want the same address at the same time, this one not counted.
    pub(super) sharers: u32,
    /// Copies beside the one this core fetches.
    pub(super) other_copies: u32,
}

/// The cache and the fetch engine of one core.
#[derive(Debug, Default)]
pub(super) struct CodeCache {
    /// Most recently used last.
    held: VecDeque<(CodeId, u32)>,
    coming: Vec<(CodeId, Fetch)>,
    /// Functions that this core has fetched before in this launch.
    seen: Vec<CodeId>,
    engine: Option<Fetch>,
}

#[derive(Debug, Clone, Copy)]
struct Fetch {
    ready: f64,
    /// The entry of the core's log that the chain of fetches began behind.
    since: u32,
    fetched: CodeUnits,
    units: u32,
}

impl CodeCache {
    /// Starts fetching `units` of some code while the core goes on.
    pub(super) fn preload(
        &mut self,
        code: CodeId,
        units: u32,
        size: CodeSize,
        now: f64,
        entry: u32,
        prices: &PerPrice,
    ) {
        if self.held.iter().any(|(held, _)| *held == code) || self.coming.iter().any(|(coming, _)| *coming == code) {
            return;
        }
        let units = units.min(CACHE_UNITS);
        let wanted = self.charge(code, units, size);
        let chained = self.engine.filter(|fetch| fetch.ready > now);
        let (begin, since, before) =
            chained.map_or((now, entry, CodeUnits::default()), |fetch| (fetch.ready, fetch.since, fetch.fetched));
        let fetch = Fetch { ready: begin + wanted.time(prices), since, fetched: before.and(wanted), units };
        self.engine = Some(fetch);
        self.coming.push((code, fetch));
    }

    /// A core is about to run the code.
    pub(super) fn call(&mut self, code: CodeId, size: CodeSize) -> Found {
        if let Some(place) = self.coming.iter().position(|(coming, _)| *coming == code) {
            let (_, fetch) = self.coming.swap_remove(place);
            self.hold(code, size.units);
            let rest = self.charge(code, size.units.saturating_sub(fetch.units), size);
            return Found::Coming { ready: fetch.ready, since: fetch.since, fetched: fetch.fetched, rest };
        }
        if let Some(place) = self.held.iter().position(|(held, _)| *held == code) {
            if let Some(held) = self.held.remove(place) {
                self.held.push_back(held);
            }
            return Found::Ready;
        }
        let units = self.charge(code, size.units, size);
        self.hold(code, size.units);
        Found::Missing(units)
    }

    fn charge(&mut self, code: CodeId, units: u32, size: CodeSize) -> CodeUnits {
        let first = !self.seen.contains(&code);
        if first {
            self.seen.push(code);
        }
        let units = f64::from(units);
        CodeUnits {
            misses: units,
            shares: units * f64::from(size.sharers),
            copies: if first { units * f64::from(size.other_copies) } else { 0.0 },
        }
    }

    /// Code larger than the cache does not stay.
    fn hold(&mut self, code: CodeId, units: u32) {
        if units > CACHE_UNITS {
            self.held.clear();
            return;
        }
        self.held.push_back((code, units));
        while self.held.iter().map(|(_, units)| units).sum::<u32>() > CACHE_UNITS {
            self.held.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::prices::Price;

    const CODE: CodeId = CodeId::Function(FunctionId(3));
    const SIZE: CodeSize = CodeSize { units: 3, sharers: 2, other_copies: 1 };

    fn prices() -> PerPrice {
        let mut prices = [0.0; Price::COUNT];
        prices[Price::CodeMiss as usize] = 1.0;
        prices
    }

    #[test]
    fn code_is_fetched_once_and_then_held() {
        let mut cache = CodeCache::default();
        let Found::Missing(units) = cache.call(CODE, SIZE) else { panic!("nothing was there") };
        assert_eq!((units.misses, units.shares, units.copies), (3.0, 6.0, 3.0));
        assert!(matches!(cache.call(CODE, SIZE), Found::Ready));
        for other in 0..3 {
            cache.call(CodeId::Picked(OpPosition::at(other)), SIZE);
        }
        let Found::Missing(units) = cache.call(CODE, SIZE) else { panic!("other code took its place") };
        assert_eq!(units.copies, 0.0, "the copies are in the shared cache by now");
    }

    #[test]
    fn preloads_queue_behind_each_other() {
        let mut cache = CodeCache::default();
        cache.preload(CODE, 3, SIZE, 10.0, 5, &prices());
        cache.preload(CodeId::Picked(OpPosition::at(0)), 2, SIZE, 11.0, 6, &prices());
        let Found::Coming { ready, since, fetched, rest } = cache.call(CodeId::Picked(OpPosition::at(0)), SIZE) else {
            panic!("it is on its way")
        };
        assert_eq!((ready, since, fetched.misses, rest.misses), (15.0, 5, 5.0, 1.0));
    }
}
