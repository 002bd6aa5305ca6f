//! The log of scalar accesses that kernel code fills (`accesses.cpp`) and the run empties.

use crate::sim::machine::access::{ScalarAccess, Site};

/// Entries until the log is emptied early.
const CAPACITY: usize = 8192;

/// Memories that can be watched at the same time: global memory, and the local memories of all cores.
const WATCHED: usize = 2;

/// Accesses of one place in the code to bytes in a row: `SkAccessRun` of the shim.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct Entry {
    begin: u64,
    end: u64,
    code: u64,
    kind: u64,
}

/// `SkAccessLog` of the shim.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct RawLog {
    base: [u64; WATCHED],
    size: [u64; WATCHED],
    keeps: u64,
    tells: u64,
    used: u64,
    capacity: u64,
    entries: *mut Entry,
    latest: [u32; 256],
    idle: [u64; 256],
    scrambled: u64,
    stared_at: u64,
    starer: u64,
    stares: u64,
}

/// Accesses of one place in the code to bytes in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ScalarRun {
    /// First byte.
    pub(crate) begin: u64,
    /// Behind the last byte.
    pub(crate) end: u64,
    /// What was done.
    pub(crate) access: ScalarAccess,
    /// Where in the code.
    pub(crate) site: Site,
}

/// The log of a run.
#[derive(Debug)]
pub(crate) struct AccessLog {
    raw: Box<RawLog>,
    /// Kept alive for `raw`.
    _entries: Box<[Entry]>,
}

impl AccessLog {
    /// An empty log that watches the memories given as (first byte, size): global, local. `keeps`: it keeps accesses to
    /// the former; `tells`: the simulator hears of accesses to both before they happen.
    pub(crate) fn new(watched: [(u64, u64); WATCHED], keeps: bool, tells: bool) -> Self {
        let capacity = if keeps { CAPACITY } else { 0 };
        let mut entries = vec![Entry { begin: 0, end: 0, code: 0, kind: 0 }; capacity].into_boxed_slice();
        let raw = RawLog {
            base: watched.map(|(base, _)| base),
            size: watched.map(|(_, size)| size),
            keeps: u64::from(keeps),
            tells: u64::from(tells),
            used: 0,
            capacity: capacity as u64,
            entries: entries.as_mut_ptr(),
            latest: [0; 256],
            idle: [0; 256],
            scrambled: 0,
            stared_at: 0,
            starer: 0,
            stares: 0,
        };
        Self { raw: Box::new(raw), _entries: entries }
    }

    /// What kernel code writes to. Valid as long as the log lives, wherever it moves.
    pub(crate) fn raw(&mut self) -> *mut RawLog {
        &mut *self.raw
    }

    /// From now on the simulator hears of accesses to global memory, (first byte, size), before they happen.
    pub(crate) fn tell_global(&mut self, (base, size): (u64, u64)) {
        let raw = &mut *self.raw;
        for (place, value) in [(&raw mut raw.base[0], base), (&raw mut raw.size[0], size), (&raw mut raw.tells, 1)] {
            // SAFETY: fields of our own box; volatile because kernel code reads them behind the compiler's back.
            unsafe { place.write_volatile(value) };
        }
    }

    /// What is read again from now on may have changed.
    pub(crate) fn looks_anew(&mut self) {
        // SAFETY: a field of our own box; volatile because kernel code counts in it behind the compiler's back.
        unsafe { (&raw mut self.raw.stares).write_volatile(0) };
    }

    /// Has code run, since the last call, that only fills memory with anything?
    pub(crate) fn take_scrambled(&mut self) -> bool {
        // SAFETY: as in `used`.
        unsafe {
            let place = &raw mut self.raw.scrambled;
            let scrambled = place.read_volatile() != 0;
            place.write_volatile(0);
            scrambled
        }
    }

    /// Nothing in it?
    pub(crate) fn is_empty(&self) -> bool {
        self.used() == 0
    }

    fn used(&self) -> usize {
        // SAFETY: a field of our own box; volatile because kernel code writes it behind the compiler's back.
        unsafe { (&raw const self.raw.used).read_volatile() as usize }
    }

    /// Takes everything out, ordered by place and address, what lies in a row joined.
    pub(crate) fn take(&mut self) -> Vec<ScalarRun> {
        let used = self.used().min(CAPACITY);
        self.raw.used = 0;
        // SAFETY: our own allocation, of which kernel code filled the first `used` entries; none of it runs now.
        let entries = unsafe { std::slice::from_raw_parts_mut(self.raw.entries, used) };
        entries.sort_unstable_by_key(|entry| (entry.code, entry.kind, entry.begin));
        let mut runs: Vec<ScalarRun> = Vec::with_capacity(used);
        let mut last: Option<Entry> = None;
        for entry in entries.iter() {
            if let (Some(before), Some(run)) = (last, runs.last_mut())
                && (before.code, before.kind) == (entry.code, entry.kind)
                && entry.begin <= run.end
            {
                run.end = run.end.max(entry.end);
                continue;
            }
            let access = ScalarAccess::from_number(entry.kind);
            runs.push(ScalarRun { begin: entry.begin, end: entry.end, access, site: Site::Code(entry.code) });
            last = Some(*entry);
        }
        runs
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.raw.used = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aicore::operand::Access;

    /// As kernel code does.
    fn put(log: &mut AccessLog, begin: u64, bytes: u64, code: u64, kind: u64) {
        let raw = log.raw();
        // SAFETY: the log of this test, which has room.
        unsafe {
            (*raw).entries.add((*raw).used as usize).write(Entry { begin, end: begin + bytes, code, kind });
            (*raw).used += 1;
        }
    }

    #[test]
    fn what_lies_in_a_row_is_joined() {
        let mut log = AccessLog::new([(0, 0), (0, 0)], true, false);
        assert!(log.is_empty());
        for (begin, code, kind) in [(8, 1, 0), (0, 1, 0), (4, 1, 0), (4, 2, 1), (8, 2, 0), (8, 2, 2)] {
            put(&mut log, begin, 4, code, kind);
        }
        let runs = log.take();
        let told: Vec<_> = runs.iter().map(|run| (run.begin, run.end, run.access)).collect();
        let (read, write) = (ScalarAccess::Data(Access::Read), ScalarAccess::Data(Access::Write));
        assert_eq!(told, [(0, 12, read), (8, 12, read), (4, 8, write), (8, 12, ScalarAccess::Exchange)]);
        assert!(log.is_empty() && log.take().is_empty());
    }
}
