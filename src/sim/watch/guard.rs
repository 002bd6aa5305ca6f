//! The bytes behind the ends of buffers: who changes them wrote too far, and is named while it still runs.

use crate::model::{ByPosition, OpPosition};
use crate::sim::interface::request::{BufferSpec, OpSpec, Request};
use crate::sim::machine::memory::{GUARD_BYTE, GlobalMemory};

/// Bytes that are looked at whenever a core pauses; writes further behind the end are found when the run is over.
const WATCHED: usize = 256;
const INTACT: [u8; WATCHED] = [GUARD_BYTE; WATCHED];

/// The bytes behind the buffers that each op is given.
#[derive(Debug)]
pub(crate) struct Guards(ByPosition<Vec<Guard>>);

/// The bytes behind one buffer.
#[derive(Debug, Clone, Copy)]
struct Guard {
    buffer: usize,
    start: *const u8,
    length: usize,
}

impl Guards {
    /// Those of the launch's ops.
    pub(crate) fn new(request: &Request, memory: &GlobalMemory) -> Self {
        let of_op = |op: &OpSpec| {
            let slots = request.slots.iter().skip(op.param_offset as usize).take(op.param_count as usize);
            let declared = op.reads.iter().chain(&op.writes).flatten();
            let mut buffers: Vec<usize> = slots.chain(declared).filter_map(|address| memory.find(*address)).collect();
            buffers.sort_unstable();
            buffers.dedup();
            let guards = buffers.into_iter().map(|buffer| Guard::new(buffer, &memory.buffers()[buffer]));
            guards.filter(|guard| guard.length > 0).collect()
        };
        Self(request.ops.iter().map(of_op).collect::<Vec<_>>().into())
    }

    /// The buffer of `op` that somebody wrote behind, and how far behind its end.
    pub(crate) fn broken(&self, op: OpPosition) -> Option<(usize, usize)> {
        self.0.get(op)?.iter().find_map(|guard| Some((guard.buffer, guard.broken()?)))
    }
}

/// The first buffer of a launch that has been written behind, and how far behind its end: all guard bytes count.
pub(crate) fn overrun(memory: &GlobalMemory) -> Option<(&str, usize)> {
    memory.buffers().iter().enumerate().find_map(|(number, buffer)| {
        let guard = Guard { length: buffer.guard as usize, ..Guard::new(number, buffer) };
        Some((buffer.name.as_str(), guard.broken()?))
    })
}

impl Guard {
    fn new(buffer: usize, spec: &BufferSpec) -> Self {
        let start = (spec.address + spec.size) as *const u8;
        Self { buffer, start, length: WATCHED.min(spec.guard as usize) }
    }

    fn broken(&self) -> Option<usize> {
        // SAFETY: the caller of the launch promises that the guard bytes of its buffers are mapped while it runs; no
        // kernel code runs while the runtime looks at them.
        let now = unsafe { std::slice::from_raw_parts(self.start, self.length) };
        if INTACT.get(..self.length) == Some(now) {
            return None;
        }
        now.iter().position(|byte| *byte != GUARD_BYTE)
    }
}
