//! Code sizes, which decide how much to preload.

use std::collections::HashMap;

use crate::model::{CoreKind, OpPosition};

/// Size of `.text` of every static op's functions, where the objects could be read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TextSizes(HashMap<(OpPosition, CoreKind), u64>);

impl TextSizes {
    /// Notes the size of the function that the op at `position` runs on `kind`.
    pub fn insert(&mut self, position: OpPosition, kind: CoreKind, bytes: u64) {
        self.0.insert((position, kind), bytes);
    }

    /// Bytes of code of the function that the op at `position` runs on `kind`.
    pub fn get(&self, position: OpPosition, kind: CoreKind) -> Option<u64> {
        self.0.get(&(position, kind)).copied()
    }

    /// Units of 2 KiB to preload for it: the cache takes 16 KiB at most.
    pub(crate) fn preload_units(&self, position: OpPosition, kind: CoreKind) -> Option<u32> {
        const UNIT: u64 = 2048;
        const CACHE: u64 = 16384;
        self.get(position, kind).map(|bytes| bytes.min(CACHE).div_ceil(UNIT) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn preload_is_counted_in_started_units_up_to_the_cache() {
        for (bytes, units) in [(0, 0), (1, 1), (2048, 1), (2049, 2), (16384, 8), (1 << 30, 8)] {
            let mut sizes = TextSizes::default();
            sizes.insert(OpPosition::at(3), CoreKind::Aiv, bytes);
            assert_eq!(sizes.preload_units(OpPosition::at(3), CoreKind::Aiv), Some(units), "{bytes}");
        }
        assert_eq!(TextSizes::default().preload_units(OpPosition::at(3), CoreKind::Aiv), None);
    }
}
