//! Cache lines that cores exchange words through: who wrote last, and what readers thereby hear of.

use std::collections::HashMap;

use super::clock::Clock;
use super::memory::{GlobalMemory, LINE};

/// Buffers up to this size are remembered as they were at the start, so that the first flush of a line shows whether
/// its core wrote to it.
const BASELINE_LIMIT: u64 = 64 * 1024;

type Content = [u8; LINE as usize];

/// Clocks attached to lines.
#[derive(Debug)]
pub(crate) struct Lines {
    lines: HashMap<u64, Line>,
    baseline: HashMap<u64, Vec<u8>>,
    /// What was known to anybody who flushed a whole cache.
    whole: Clock,
    width: usize,
}

#[derive(Debug)]
struct Line {
    /// As the last writer left it; `None` until somebody flushed it.
    stored: Option<Content>,
    clock: Clock,
}

impl Lines {
    /// Remembers small buffers as they are.
    pub(crate) fn new(memory: &GlobalMemory, width: usize) -> Self {
        let mut baseline = HashMap::new();
        if width > 0 {
            for (at, buffer) in memory.buffers().iter().enumerate() {
                if buffer.size <= BASELINE_LIMIT {
                    baseline.insert(buffer.address, memory.bytes(at).to_vec());
                }
            }
        }
        Self { lines: HashMap::new(), baseline, whole: Clock::new(width), width }
    }

    /// A core flushes a line after its own writes: others who read it hear of the core's past.
    pub(crate) fn release(&mut self, memory: &GlobalMemory, address: u64, content: &Content, clock: &Clock) {
        let line = self.line(memory, address);
        line.stored = Some(*content);
        line.clock.join(clock);
    }

    /// Is the line different from what its last known writer left?
    pub(crate) fn differs(&mut self, memory: &GlobalMemory, address: u64, content: &Content) -> bool {
        self.line(memory, address).stored.as_ref() != Some(content)
    }

    /// A core reads a line: it hears of the last writer, or, if nobody flushed that line, of whole-cache flushes.
    pub(crate) fn acquire(&mut self, memory: &GlobalMemory, address: u64, content: &Content, clock: &mut Clock) {
        let line = self.line(memory, address);
        if line.stored.as_ref() == Some(content) {
            clock.join(&line.clock);
        } else {
            clock.join(&self.whole);
        }
    }

    /// A core flushes everything it wrote.
    pub(crate) fn release_all(&mut self, clock: &Clock) {
        self.whole.join(clock);
    }

    fn line(&mut self, memory: &GlobalMemory, address: u64) -> &mut Line {
        let start = address & !(LINE - 1);
        let width = self.width;
        let baseline = &self.baseline;
        self.lines
            .entry(start)
            .or_insert_with(|| Line { stored: initial(memory, baseline, address), clock: Clock::new(width) })
    }
}

/// The line as it was at the start of the run, if that is known.
fn initial(memory: &GlobalMemory, baseline: &HashMap<u64, Vec<u8>>, address: u64) -> Option<Content> {
    let buffer = &memory.buffers()[memory.find(address)?];
    let bytes = baseline.get(&buffer.address)?;
    let start = (address & !(LINE - 1)).max(buffer.address);
    let end = ((address & !(LINE - 1)) + LINE).min(buffer.address + buffer.size);
    let mut content = [0; LINE as usize];
    let range = (start - buffer.address) as usize..(end - buffer.address) as usize;
    content[..range.len()].copy_from_slice(&bytes[range]);
    Some(content)
}
