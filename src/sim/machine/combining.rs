//! A scalar store that combines with what is in global memory.

use std::ops::Range;

use super::cache::Toucher;
use crate::aicore::Atomic;

/// A store that is about to happen, or has.
#[derive(Debug)]
pub(crate) struct CombiningStore {
    pub(crate) bytes: Range<u64>,
    pub(crate) atomic: Atomic,
    /// What its core saw there.
    pub(crate) before: Vec<u8>,
    pub(crate) toucher: Toucher,
}

impl CombiningStore {
    /// What the core sees there now.
    pub(crate) fn seen(&self) -> Vec<u8> {
        // SAFETY: inside a buffer of the launch, which is mapped while it runs; no kernel code runs now.
        unsafe { std::slice::from_raw_parts(self.bytes.start as *const u8, self.before.len()) }.to_vec()
    }

    /// The core sees this there.
    pub(crate) fn show(&self, content: &[u8]) {
        // SAFETY: as above, and `content` is as long as the store.
        unsafe { std::ptr::copy_nonoverlapping(content.as_ptr(), self.bytes.start as *mut u8, self.before.len()) };
    }
}
