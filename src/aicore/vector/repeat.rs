//! Repeats, strides and masks: which elements of an operand an instruction works on.

use crate::aicore::Fault;
use crate::aicore::arguments::Arguments;
use crate::aicore::element::{Arithmetic, Element};
use crate::aicore::float16::Overflow;
use crate::aicore::memory::Memory;
use crate::aicore::operand::{Access, Operand, Operands, Shape};
use crate::aicore::registers::{MaskMode, Register, Registers, ctrl};

/// Bytes of a block: the unit of strides.
pub(crate) const BLOCK: u64 = 32;
/// Bytes of a repeat of the widest operand.
pub(crate) const REPEAT: u64 = 256;
/// Most elements of a repeat.
pub(crate) const LANES: usize = 256;
/// Most repeats of one instruction.
pub(crate) const REPEATS: u64 = 255;

/// Which elements of a repeat are enabled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LaneMask([u64; 4]);

impl LaneMask {
    /// The first `count` elements.
    pub(crate) fn first(count: u64) -> Self {
        Self(std::array::from_fn(|word| {
            let bits = count.saturating_sub(word as u64 * 64).min(64);
            if bits == 64 { u64::MAX } else { (1 << bits) - 1 }
        }))
    }

    /// The mask register in norm mode, for `lanes` elements per repeat. Single bytes share a bit by two.
    pub(crate) fn from_registers(registers: &Registers, lanes: u64) -> Self {
        let (low, high) = (registers.get(Register::MaskLow), registers.get(Register::MaskHigh));
        match lanes {
            256 => {
                let spread = |half: u64| {
                    (0..32).filter(|bit| half >> bit & 1 != 0).fold(0u64, |mask, bit| mask | 3 << (2 * bit))
                };
                Self([spread(low), spread(low >> 32), spread(high), spread(high >> 32)])
            }
            128 => Self([low, high, 0, 0]),
            _ if lanes >= 64 => Self([low, 0, 0, 0]),
            _ => Self([low & ((1 << lanes) - 1), 0, 0, 0]),
        }
    }

    /// Is element `lane` enabled?
    pub(crate) fn has(&self, lane: usize) -> bool {
        self.0[lane / 64] >> (lane % 64) & 1 != 0
    }

    /// Is no element enabled?
    pub(crate) fn is_empty(&self) -> bool {
        self.0 == [0; 4]
    }

    /// First and behind the last enabled element among `start..end`.
    fn range(&self, start: usize, end: usize) -> Option<(usize, usize)> {
        let first = (start..end).find(|lane| self.has(*lane))?;
        let last = (start..end).rev().find(|lane| self.has(*lane))?;
        Some((first, last + 1))
    }

    /// Are all of `lanes` elements enabled?
    pub(crate) fn is_full(&self, lanes: usize) -> bool {
        *self == Self::first(lanes as u64)
    }
}

/// How often an instruction repeats, and under which mask.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Repeats {
    /// Elements per repeat.
    pub lanes: usize,
    /// How often.
    pub count: u64,
    body: LaneMask,
    /// The mask of the last repeat.
    tail: LaneMask,
}

impl Repeats {
    /// From the mask registers; `repeat` counts in norm mode only. `widest` is the size in bits of the widest element.
    pub(crate) fn new(registers: &Registers, repeat: u64, widest: u64) -> Self {
        let lanes = REPEAT * 8 / widest;
        match registers.mask_mode() {
            MaskMode::Norm => {
                let body = LaneMask::from_registers(registers, lanes);
                Self { lanes: lanes as usize, count: if body.is_empty() { 0 } else { repeat }, body, tail: body }
            }
            MaskMode::Count => Self::of_elements(registers.get(Register::MaskLow) & 0xffff_ffff, lanes),
        }
    }

    /// `count` elements in all.
    pub(crate) fn of_elements(count: u64, lanes: u64) -> Self {
        let repeats = count.div_ceil(lanes);
        let rest = count - repeats.saturating_sub(1) * lanes;
        Self { lanes: lanes as usize, count: repeats, body: LaneMask::first(lanes), tail: LaneMask::first(rest) }
    }

    /// `repeat` whole repeats, whatever the mask says.
    pub(crate) fn whole(repeat: u64, widest: u64) -> Self {
        let lanes = REPEAT * 8 / widest;
        Self { lanes: lanes as usize, count: repeat, body: LaneMask::first(lanes), tail: LaneMask::first(lanes) }
    }

    /// Is an element enabled that is not among the first `lanes` of its repeat?
    pub(crate) fn reaches_beyond(&self, lanes: usize) -> bool {
        self.count > 0 && [&self.body, &self.tail].iter().any(|mask| mask.range(lanes, self.lanes).is_some())
    }

    /// The mask of repeat number `repeat`.
    pub(crate) fn mask(&self, repeat: u64) -> &LaneMask {
        if repeat + 1 == self.count { &self.tail } else { &self.body }
    }
}

/// A vector operand: where it starts and how its blocks lie.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Strided {
    /// Host address.
    pub address: u64,
    /// Bytes from block to block.
    pub block: u64,
    /// Bytes from repeat to repeat.
    pub repeat: u64,
    /// Bits of an element.
    pub bits: u64,
}

impl Strided {
    /// From argument words: an address in UB and two strides in blocks.
    pub(crate) fn new(arguments: &Arguments<'_>, address: usize, block: u64, repeat: u64, bits: u64) -> Self {
        Self { address: arguments.address(address, Memory::Ub), block: block * BLOCK, repeat: repeat * BLOCK, bits }
    }

    /// Elements of a block.
    pub(crate) fn per_block(&self) -> usize {
        (BLOCK * 8 / self.bits) as usize
    }

    /// Host address of block number `block` of repeat `repeat`.
    pub(crate) fn block_address(&self, repeat: u64, block: u64) -> u64 {
        self.address.wrapping_add(repeat * self.repeat).wrapping_add(block * self.block)
    }

    /// Reads the `lanes` elements of a repeat, enabled or not.
    ///
    /// # Safety
    /// The blocks that hold the elements must be accessible.
    pub(crate) unsafe fn load<T: Element>(&self, repeat: u64, lanes: usize, into: &mut [T; LANES]) {
        let per_block = (BLOCK / T::BYTES) as usize;
        for (block, chunk) in into[..lanes].chunks_mut(per_block).enumerate() {
            let source = self.block_address(repeat, block as u64) as *const u8;
            // SAFETY: the caller's promise; the chunk has at most a block of elements.
            unsafe { std::ptr::copy_nonoverlapping(source, chunk.as_mut_ptr().cast(), size_of_val(chunk)) };
        }
    }

    /// Reads the enabled elements of a repeat; the others keep what `into` holds.
    ///
    /// # Safety
    /// The enabled elements must be accessible.
    pub(crate) unsafe fn load_enabled<T: Element>(
        &self,
        repeat: u64,
        mask: &LaneMask,
        lanes: usize,
        into: &mut [T; LANES],
    ) {
        if mask.is_full(lanes) {
            // SAFETY: all elements are enabled.
            return unsafe { self.load(repeat, lanes, into) };
        }
        let per_block = (BLOCK / T::BYTES) as usize;
        for (lane, slot) in into[..lanes].iter_mut().enumerate() {
            if mask.has(lane) {
                let block = self.block_address(repeat, (lane / per_block) as u64) as *const T;
                // SAFETY: the caller's promise; local memories hold elements at any alignment.
                *slot = unsafe { block.add(lane % per_block).read_unaligned() };
            }
        }
    }

    /// Writes the enabled elements of a repeat.
    ///
    /// # Safety
    /// The enabled elements must be accessible.
    pub(crate) unsafe fn store<T: Element>(&self, repeat: u64, mask: &LaneMask, lanes: usize, from: &[T; LANES]) {
        let per_block = (BLOCK / T::BYTES) as usize;
        if mask.is_full(lanes) {
            for (block, chunk) in from[..lanes].chunks(per_block).enumerate() {
                let target = self.block_address(repeat, block as u64) as *mut u8;
                // SAFETY: all elements are enabled.
                unsafe { std::ptr::copy_nonoverlapping(chunk.as_ptr().cast(), target, size_of_val(chunk)) };
            }
            return;
        }
        for (lane, value) in from[..lanes].iter().enumerate() {
            if mask.has(lane) {
                let block = self.block_address(repeat, (lane / per_block) as u64) as *mut T;
                // SAFETY: the caller's promise.
                unsafe { block.add(lane % per_block).write_unaligned(*value) };
            }
        }
    }

    /// Declares the enabled elements of all repeats. The outermost step counts repeats.
    pub(crate) fn declare(&self, operands: &mut Operands, name: &'static str, access: Access, repeats: &Repeats) {
        if repeats.count == 0 {
            return;
        }
        if repeats.tail == repeats.body {
            self.declare_part(operands, (name, access), 0, repeats.count, &repeats.body, repeats.lanes);
        } else {
            self.declare_part(operands, (name, access), 0, repeats.count - 1, &repeats.body, repeats.lanes);
            self.declare_part(operands, (name, access), repeats.count - 1, 1, &repeats.tail, repeats.lanes);
        }
    }

    fn declare_part(
        &self,
        operands: &mut Operands,
        (name, access): (&'static str, Access),
        first: u64,
        count: u64,
        mask: &LaneMask,
        lanes: usize,
    ) {
        let start = self.address.wrapping_add(first * self.repeat);
        let mut push = |offset: u64, blocks: u64, bytes: u64| {
            let shape = Shape::cube((count, self.repeat), (1, 0), (blocks, self.block), bytes);
            let shape = if self.block == BLOCK && bytes == BLOCK {
                Shape::cube((count, self.repeat), (1, 0), (1, 0), blocks * BLOCK)
            } else {
                shape
            };
            let address = start.wrapping_add(offset);
            // Alignment is that of the operand, not of its enabled part.
            let alignment = if offset.is_multiple_of(BLOCK) { BLOCK } else { 1 };
            operands.push(Operand { name, memory: Memory::Ub, access, address, shape, alignment, repeat: first });
        };
        let per_block = self.per_block();
        let blocks = lanes.div_ceil(per_block);
        let mut full = 0;
        while full < blocks
            && mask.range(full * per_block, lanes.min((full + 1) * per_block))
                == Some((full * per_block, (full + 1) * per_block))
        {
            full += 1;
        }
        if full > 0 {
            push(0, full as u64, BLOCK);
        }
        for block in full..blocks {
            let begin = block * per_block;
            if let Some((from, to)) = mask.range(begin, lanes.min(begin + per_block)) {
                let bytes = |lane: usize| (lane - begin) as u64 * self.bits;
                let (low, high) = (bytes(from) / 8, bytes(to).div_ceil(8));
                push(block as u64 * self.block + low, 1, high - low);
            }
        }
    }
}

/// Control bits for arithmetic, at issue.
pub(crate) fn arithmetic(registers: &Registers) -> Arithmetic {
    Arithmetic {
        overflow: if registers.control(ctrl::INF_NAN) { Overflow::Infinity } else { Overflow::Saturate },
        saturates: registers.control(ctrl::INT_SATURATES),
    }
}

/// The stride from repeat to repeat in word `at`, of the operand called `name`, within a field of `bits` bits.
pub(crate) fn repeat_stride(arguments: &Arguments<'_>, at: usize, name: &str, bits: u32) -> Result<u64, Fault> {
    arguments.at_most(at, &format!("the repeat stride of {name}"), (1 << bits) - 1)
}

/// A repeat count within its field.
pub(crate) fn repeat_count(arguments: &Arguments<'_>, at: usize) -> Result<u64, Fault> {
    arguments.at_most(at, "repeat", REPEATS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_have_a_bit_per_element() {
        let mut registers = Registers::default();
        registers.set(Register::MaskLow, 0x8000_0001_8000_0001);
        registers.set(Register::MaskHigh, 2);
        let enabled = |lanes: u64| {
            let mask = LaneMask::from_registers(&registers, lanes);
            (0..lanes as usize).filter(|lane| mask.has(*lane)).collect::<Vec<_>>()
        };
        assert_eq!(enabled(128), [0, 31, 32, 63, 65]);
        assert_eq!(enabled(64), [0, 31, 32, 63], "4 bytes: the high word does not count");
        assert_eq!(enabled(32), [0, 31], "8 bytes: half of the low word");
        assert_eq!(enabled(256), [0, 1, 62, 63, 64, 65, 126, 127, 130, 131], "single bytes share a bit by two");
    }
}
