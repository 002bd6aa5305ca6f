//! Global memory as the runtime sees it, and the local memories of the cores.

use std::ops::Range;

use super::core_state::local_memory_sizes;
use super::random::Random;
use super::topology::Topology;
use crate::aicore::LocalMemory;
use crate::model::Chip;
use crate::sim::interface::error::SimError;
use crate::sim::interface::request::BufferSpec;

/// What fills local memories before an operator: bytes that still hold it were written by nobody, not even by accesses
/// that cannot be seen.
pub(crate) const POISON: u8 = 0xa5;

/// Bytes of a cache line.
pub(crate) const LINE: u64 = 64;

/// Fills the bytes between the end of a buffer and the end of its last page; a kernel that writes there is found out.
pub(crate) const GUARD_BYTE: u8 = 0xc3;

/// The buffers of a launch, by address.
#[derive(Debug)]
pub(crate) struct GlobalMemory {
    buffers: Vec<BufferSpec>,
    scratch: Scratch,
}

/// Memory of which nobody may know what it holds when the launch begins. Filled, every word tells whether somebody has
/// written there: what it held follows from its address and the seed.
#[derive(Debug, Default)]
struct Scratch {
    /// Scratch of the launch, and memory that was filled when it was allocated.
    ranges: Vec<(Range<u64>, Unwritten)>,
    seed: u64,
}

/// Memory that nobody has written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unwritten {
    /// Scratch memory of the launch.
    Scratch,
    /// Memory of a program, since it was allocated. Kernels may read more of it than host code gave them.
    Allocated,
}

/// More of a buffer is not filled, nor looked at: filling gigabytes would take longer than the launch.
const MOST_SCRATCH: u64 = 16 << 20;
pub(crate) const WORD: u64 = 8;

/// What the word at `address`, a multiple of 8, held at the beginning.
fn word(seed: u64, address: u64) -> [u8; WORD as usize] {
    Random::new(seed ^ address.rotate_left(32)).draw().to_le_bytes()
}

/// The part of a buffer that is filled, from `address` on.
fn filled(buffer: &BufferSpec, address: u64) -> Range<u64> {
    let start = address.next_multiple_of(WORD);
    start..(buffer.address + buffer.size).min(start.saturating_add(MOST_SCRATCH)) / WORD * WORD
}

fn fill_words(words: Range<u64>, seed: u64) {
    for address in words.step_by(WORD as usize) {
        let word = word(seed, address);
        // SAFETY: the callers' promise: inside a buffer that is mapped, while no kernel code runs.
        unsafe { std::ptr::copy_nonoverlapping(word.as_ptr(), address as *mut u8, word.len()) };
    }
}

/// Fills a buffer that was just allocated.
pub(crate) fn fill(buffer: &BufferSpec, seed: u64) {
    fill_words(filled(buffer, buffer.address), seed);
}

/// The readable part of one cache line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LineView {
    start: *const u8,
    length: usize,
}

impl LineView {
    /// What is there now; bytes outside any buffer read as 0.
    pub(crate) fn content(&self) -> [u8; LINE as usize] {
        let mut bytes = [0; LINE as usize];
        for (at, byte) in bytes.iter_mut().take(self.length).enumerate() {
            // SAFETY: a view covers mapped bytes of a buffer of this launch, which outlives the run. Volatile because
            // kernel code writes them behind the compiler's back.
            *byte = unsafe { self.start.add(at).read_volatile() };
        }
        bytes
    }

    /// What lies in it from `address` on.
    pub(crate) fn from(self, address: u64) -> Self {
        let skipped = (address.saturating_sub(self.start as u64) as usize).min(self.length);
        Self { start: self.start.wrapping_add(skipped), length: self.length - skipped }
    }

    /// Does it start here, and not behind the border of a buffer?
    pub(crate) fn starts_at(&self, address: u64) -> bool {
        self.start as u64 == address
    }

    /// Puts these bytes there.
    pub(crate) fn store(&self, bytes: &[u8; LINE as usize]) {
        // SAFETY: as in `content`; the bytes of a buffer may be written, and no kernel code runs now.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.start.cast_mut(), self.length) };
    }

    /// Is it still `expected`?
    pub(crate) fn is(&self, expected: &[u8; LINE as usize]) -> bool {
        // SAFETY: as in `content`; no kernel code runs while the slice lives.
        let now = unsafe { std::slice::from_raw_parts(self.start, self.length) };
        now == &expected[..self.length]
    }
}

impl GlobalMemory {
    /// The buffers, sorted.
    pub(crate) fn new(mut buffers: Vec<BufferSpec>) -> Self {
        buffers.sort_by_key(|buffer| buffer.address);
        Self { buffers, scratch: Scratch::default() }
    }

    /// Takes what lies behind these addresses, up to the ends of their buffers, for scratch memory, and fills it with what
    /// `seed` says.
    pub(crate) fn scramble(&mut self, addresses: impl Iterator<Item = u64>, seed: u64) {
        let ranges = addresses.filter_map(|address| {
            let range = filled(&self.buffers[self.find(address)?], address);
            (range.start < range.end).then_some(range)
        });
        let ranges: Vec<Range<u64>> = ranges.collect();
        ranges.iter().for_each(|range| fill_words(range.clone(), seed));
        let fresh = self.buffers.iter().filter(|buffer| buffer.fresh);
        let fresh = fresh.map(|buffer| (filled(buffer, buffer.address), Unwritten::Allocated));
        let ranges = ranges.into_iter().map(|range| (range, Unwritten::Scratch)).chain(fresh).collect();
        self.scratch = Scratch { ranges, seed };
    }

    /// Is all of it memory that still holds what it held at the beginning? Of a few bytes chance could say so: their
    /// whole word is looked at.
    pub(crate) fn unwritten(&self, bytes: &Range<u64>) -> Option<Unwritten> {
        let words = bytes.start / WORD * WORD..bytes.end.next_multiple_of(WORD);
        let holds = |(range, _): &&(Range<u64>, Unwritten)| range.start <= words.start && words.end <= range.end;
        let (_, which) = self.scratch.ranges.iter().find(holds)?;
        let looked_at = if bytes.end - bytes.start < WORD / 2 { words.clone() } else { bytes.clone() };
        let is_unwritten = words.step_by(WORD as usize).all(|address| {
            // SAFETY: as in `scramble`.
            let now = unsafe { (address as *const [u8; WORD as usize]).read_volatile() };
            let part = looked_at.start.max(address) - address..looked_at.end.min(address + WORD) - address;
            let part = part.start as usize..part.end as usize;
            now[part.clone()] == word(self.scratch.seed, address)[part]
        });
        is_unwritten.then_some(*which)
    }

    /// Position of the buffer that holds `address`.
    pub(crate) fn find(&self, address: u64) -> Option<usize> {
        let at = self.buffers.partition_point(|buffer| buffer.address <= address).checked_sub(1)?;
        (address - self.buffers[at].address < self.buffers[at].size).then_some(at)
    }

    /// First byte and size of the pages that all of them lie in.
    pub(crate) fn extent(&self) -> (u64, u64) {
        match (self.buffers.first(), self.buffers.last()) {
            (Some(first), Some(last)) => {
                (first.address, (last.address + last.size).next_multiple_of(PAGE as u64) - first.address)
            }
            (None, _) | (_, None) => (0, 0),
        }
    }

    /// All buffers, by address.
    pub(crate) fn buffers(&self) -> &[BufferSpec] {
        &self.buffers
    }

    /// The line that holds `address`, from its first byte inside the buffer on.
    pub(crate) fn line(&self, address: u64) -> Option<LineView> {
        let buffer = &self.buffers[self.find(address)?];
        let start = (address & !(LINE - 1)).max(buffer.address);
        let end = ((address & !(LINE - 1)) + LINE).min(buffer.address + buffer.size);
        Some(LineView { start: start as *const u8, length: (end - start) as usize })
    }

    /// Is `size` bytes at `address` inside one buffer?
    pub(crate) fn holds(&self, address: u64, size: u64) -> bool {
        self.find(address).is_some_and(|at| {
            let buffer = &self.buffers[at];
            address - buffer.address + size <= buffer.size
        })
    }

    /// The 64-bit word at `address`, if it is inside a buffer.
    pub(crate) fn word(&self, address: u64) -> Option<u64> {
        let at = self.find(address).filter(|_| self.holds(address, 8))?;
        let offset = (address - self.buffers[at].address) as usize;
        self.bytes(at).get(offset..offset + 8)?.try_into().ok().map(u64::from_le_bytes)
    }

    /// The bytes of a buffer.
    pub(crate) fn bytes(&self, buffer: usize) -> &[u8] {
        let spec = &self.buffers[buffer];
        // SAFETY: the caller of the launch promises that its buffers are mapped while it runs; no kernel code runs
        // while the runtime looks at them.
        unsafe { std::slice::from_raw_parts(spec.address as *const u8, spec.size as usize) }
    }

    /// `name+offset` of an address, for reports.
    pub(crate) fn describe(&self, address: u64) -> String {
        match self.find(address) {
            Some(at) if self.buffers[at].address == address => format!("`{}`", self.buffers[at].name),
            Some(at) => format!("`{}`+{}", self.buffers[at].name, address - self.buffers[at].address),
            None => {
                let before = self.buffers.iter().rev().find(|buffer| buffer.address <= address);
                match before {
                    Some(buffer) if address - buffer.address < buffer.size + (1 << 20) => {
                        format!("{} bytes past the end of `{}`", address - buffer.address - buffer.size, buffer.name)
                    }
                    _ => format!("address {address:#x}, in no buffer"),
                }
            }
        }
    }
}

/// Zeroed global memory that a kernel did not bring along: the messages of matmul objects go through it.
#[derive(Debug)]
pub(crate) struct SystemWorkspace {
    base: *mut u8,
}

impl SystemWorkspace {
    /// Its size.
    pub(crate) const BYTES: u64 = 16 << 20;

    /// Pages cost nothing until they are touched.
    pub(crate) fn new() -> Result<Self, SimError> {
        // SAFETY: an anonymous mapping at an address of the system's choice touches nothing that exists.
        let base = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                Self::BYTES as usize,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(SimError::Memory { bytes: Self::BYTES, source: std::io::Error::last_os_error() });
        }
        Ok(Self { base: base.cast() })
    }

    /// Its first byte.
    pub(crate) fn base(&self) -> *mut u8 {
        self.base
    }

    /// The line that holds `address`.
    pub(crate) fn line(&self, address: u64) -> Option<LineView> {
        let start = address & !(LINE - 1);
        self.holds(start, LINE).then_some(LineView { start: start as *const u8, length: LINE as usize })
    }

    /// Does it hold these bytes?
    pub(crate) fn holds(&self, address: u64, bytes: u64) -> bool {
        address.checked_sub(self.base as u64).is_some_and(|offset| offset.saturating_add(bytes) <= Self::BYTES)
    }
}

impl Drop for SystemWorkspace {
    fn drop(&mut self) {
        // SAFETY: exactly the mapping made in `new`; the fibers that used it are gone.
        unsafe {
            libc::munmap(self.base.cast(), Self::BYTES as usize);
        }
    }
}

/// Every core's memories start at a multiple of this. Kernels combine addresses in FB with other fields in one word,
/// which can be taken apart only if FB starts at such an address.
const CORE_SPACING: usize = 4 << 20;
const PAGE: usize = 4096;

/// One mapping that holds the local memories of all cores; pages cost nothing until they are touched.
#[derive(Debug)]
pub(crate) struct LocalMemories {
    base: *mut u8,
    bytes: usize,
    cores: Vec<[LocalMemory; 7]>,
}

impl LocalMemories {
    /// Zeroed memories for every core.
    pub(crate) fn new(chip: Chip, topology: &Topology) -> Result<Self, SimError> {
        // One more: the mapping itself starts anywhere.
        let bytes = (topology.core_count() + 1) * CORE_SPACING;
        // SAFETY: an anonymous mapping at an address of the system's choice touches nothing that exists.
        let base = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(SimError::Memory { bytes: bytes as u64, source: std::io::Error::last_os_error() });
        }
        let base = base.cast::<u8>();
        let first = (base as usize).next_multiple_of(CORE_SPACING) - base as usize;
        let cores = (0..topology.core_count())
            .map(|core| {
                let mut used = first + core * CORE_SPACING;
                let mut place = |size: u64| {
                    // A memory that the kind does not have still gets an address of its own: headers compute with it.
                    // SAFETY: the memories of a core take less than their spacing, and there is one spacing too many.
                    let start = unsafe { base.add(used) };
                    used += (size as usize).next_multiple_of(PAGE).max(PAGE);
                    LocalMemory { base: start, size }
                };
                let [ub, l1, l0a, l0b, l0c, bt, fb] = local_memory_sizes(chip, topology.place(core).kind);
                let fb = place(fb);
                [place(ub), place(l1), place(l0a), place(l0b), place(l0c), place(bt), fb]
            })
            .collect();
        Ok(Self { base, bytes, cores })
    }

    /// First byte and size of what all of them lie in.
    pub(crate) fn extent(&self) -> (u64, u64) {
        (self.base as u64, self.bytes as u64)
    }

    /// The memories of one core.
    pub(crate) fn of(&self, core: usize) -> [LocalMemory; 7] {
        self.cores[core]
    }
}

impl Drop for LocalMemories {
    fn drop(&mut self) {
        // SAFETY: exactly the mapping made in `new`; the fibers that used it are gone.
        unsafe {
            libc::munmap(self.base.cast(), self.bytes);
        }
    }
}
