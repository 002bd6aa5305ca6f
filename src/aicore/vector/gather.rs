//! Gathering, packing and broadcasting.

use super::repeat::{BLOCK, REPEAT, Repeats, Strided, repeat_count};
use crate::aicore::arguments::Arguments;
use crate::aicore::element::Element;
use crate::aicore::memory::{LocalMemory, Memory};
use crate::aicore::operand::{Access, Operands, Shape};
use crate::aicore::registers::{MaskMode, Register, Registers};
use crate::aicore::{Fault, OpCode};

/// The base of a gather comes as the low 32 bits of an address, or as an offset in UB.
fn base_offset(arguments: &Arguments<'_>, at: usize, ub: &LocalMemory) -> u64 {
    let word = arguments.word(at) as u32;
    let offset = u64::from(word.wrapping_sub(ub.base as u64 as u32));
    if offset < ub.size { offset } else { u64::from(word) }
}

/// `vgather`: elements from byte offsets.
#[derive(Debug, Clone)]
pub(crate) struct Gather {
    op: OpCode,
    repeats: Repeats,
    dst: Strided,
    offsets: u64,
    base: u64,
    ub: LocalMemory,
}

impl Gather {
    /// Decodes a record; `None` if it is of another family.
    pub(crate) fn decode(arguments: &Arguments<'_>) -> Result<Option<Self>, Fault> {
        if arguments.op != OpCode::Vgather {
            return Ok(None);
        }
        let bits = arguments.kind(0).bits();
        if !matches!(bits, 16 | 32) {
            return Err(arguments.wrong_types());
        }
        let ub = arguments.core.memories[Memory::Ub as usize];
        Ok(Some(Self {
            op: arguments.op,
            repeats: Repeats::new(&arguments.core.registers, repeat_count(arguments, 4)?, bits),
            dst: Strided::new(arguments, 0, 1, arguments.word(3), bits),
            offsets: arguments.address(1, Memory::Ub),
            base: base_offset(arguments, 2, &ub),
            ub,
        }))
    }

    fn offset_operand(&self) -> Strided {
        // One offset per element, without gaps.
        Strided { address: self.offsets, block: BLOCK, repeat: self.repeats.lanes as u64 * 4, bits: 32 }
    }

    /// Adds everything it reads and writes. What the offsets lead to is known only by looking at them.
    pub(crate) fn operands(&self, operands: &mut Operands) {
        self.offset_operand().declare(operands, "offsets", Access::Read, &self.repeats);
        self.dst.declare(operands, "dst", Access::Write, &self.repeats);
        let bytes = self.repeats.count * self.repeats.lanes as u64 * 4;
        if self.ub.offset_of(self.offsets).is_none_or(|at| at + bytes > self.ub.size) {
            return;
        }
        let (mut low, mut high) = (u64::MAX, 0);
        self.for_each(|_, _, from| {
            low = low.min(from);
            high = high.max(from + self.dst.bits / 8);
        });
        if low < high && high <= self.ub.size {
            operands.read("src", Memory::Ub, self.ub.base as u64 + low, Shape::row(high - low), 1);
        }
    }

    /// Calls `visit` with repeat, lane and offset in UB of every enabled element.
    fn for_each(&self, mut visit: impl FnMut(u64, usize, u64)) {
        for repeat in 0..self.repeats.count {
            let mask = self.repeats.mask(repeat);
            for lane in (0..self.repeats.lanes).filter(|lane| mask.has(*lane)) {
                let at = self.offsets + (repeat * self.repeats.lanes as u64 + lane as u64) * 4;
                // SAFETY: the caller has found the offsets inside UB.
                let offset = unsafe { (at as *const u32).read_unaligned() };
                visit(repeat, lane, self.base + u64::from(offset));
            }
        }
    }

    /// Does it.
    ///
    /// # Safety
    /// As for [`crate::aicore::Instruction::execute`].
    pub(crate) unsafe fn execute(&self) -> Result<(), Fault> {
        let size = self.dst.bits / 8;
        let per_block = self.dst.per_block();
        let mut fault = None;
        self.for_each(|repeat, lane, from| {
            if !from.is_multiple_of(size) || from + size > self.ub.size {
                let number = repeat * self.repeats.lanes as u64 + lane as u64;
                fault.get_or_insert_with(|| {
                    Fault::of(self.op, format!("element {number} wants byte {from} of UB, which has {}", self.ub.size))
                });
                return;
            }
            let to = self.dst.block_address(repeat, (lane / per_block) as u64) + (lane % per_block) as u64 * size;
            // SAFETY: source just checked, destination declared.
            unsafe { std::ptr::copy(self.ub.base.add(from as usize), to as *mut u8, size as usize) };
        });
        fault.map_or(Ok(()), Err)
    }
}

/// `vgatherb`: whole blocks from byte offsets, 8 per repeat.
#[derive(Debug, Clone)]
pub(crate) struct GatherBlocks {
    op: OpCode,
    repeat: u64,
    dst: Strided,
    offsets: u64,
    base: u64,
    ub: LocalMemory,
}

impl GatherBlocks {
    /// Decodes a record; `None` if it is of another family.
    pub(crate) fn decode(arguments: &Arguments<'_>) -> Result<Option<Self>, Fault> {
        if arguments.op != OpCode::Vgatherb {
            return Ok(None);
        }
        let ub = arguments.core.memories[Memory::Ub as usize];
        let bits = arguments.kind(0).bits();
        Ok(Some(Self {
            op: arguments.op,
            repeat: repeat_count(arguments, 5)?,
            dst: Strided::new(arguments, 0, arguments.word(4).max(1), arguments.word(3), bits),
            offsets: arguments.address(1, Memory::Ub),
            base: base_offset(arguments, 2, &ub),
            ub,
        }))
    }

    fn source(&self, number: u64) -> u64 {
        // SAFETY: the caller has found the offsets inside UB.
        let offset = unsafe { ((self.offsets + number * 4) as *const u32).read_unaligned() };
        self.base + u64::from(offset)
    }

    /// Adds everything it reads and writes.
    pub(crate) fn operands(&self, operands: &mut Operands) {
        let bytes = self.repeat * 32;
        operands.read("offsets", Memory::Ub, self.offsets, Shape::row(bytes), BLOCK);
        let shape = Shape::cube((self.repeat, self.dst.repeat), (1, 0), (8, self.dst.block), BLOCK);
        operands.write("dst", Memory::Ub, self.dst.address, shape, BLOCK);
        if self.ub.offset_of(self.offsets).is_none_or(|at| at + bytes > self.ub.size) {
            return;
        }
        let sources = || (0..self.repeat * 8).map(|number| self.source(number));
        if let (Some(low), Some(high)) = (sources().min(), sources().max())
            && high + BLOCK <= self.ub.size
        {
            operands.read("src", Memory::Ub, self.ub.base as u64 + low, Shape::row(high + BLOCK - low), 1);
        }
    }

    /// Does it.
    ///
    /// # Safety
    /// As for [`crate::aicore::Instruction::execute`].
    pub(crate) unsafe fn execute(&self) -> Result<(), Fault> {
        for repeat in 0..self.repeat {
            for block in 0..8 {
                let from = self.source(repeat * 8 + block);
                if !from.is_multiple_of(BLOCK) || from + BLOCK > self.ub.size {
                    let number = repeat * 8 + block;
                    let problem = format!("block {number} wants byte {from} of UB, which has {}", self.ub.size);
                    return Err(Fault::of(self.op, problem));
                }
                let to = self.dst.block_address(repeat, block) as *mut u8;
                // SAFETY: source just checked, destination declared.
                unsafe { std::ptr::copy(self.ub.base.add(from as usize), to, BLOCK as usize) };
            }
        }
        Ok(())
    }
}

/// `vreducev2`: keeps selected elements, packed across repeats.
#[derive(Debug, Clone)]
pub(crate) struct Pack {
    repeat: u64,
    /// Elements of a repeat.
    lanes: u64,
    pattern: u64,
    src: Strided,
    /// Bits of pattern 0, and the bytes from repeat to repeat.
    chosen: (u64, u64),
    dst: u64,
}

impl Pack {
    /// Decodes a record; `None` if it is of another family.
    pub(crate) fn decode(arguments: &Arguments<'_>) -> Result<Option<Self>, Fault> {
        if arguments.op != OpCode::Vreducev2 {
            return Ok(None);
        }
        let bits = arguments.kind(0).bits();
        if !matches!(bits, 16 | 32) {
            return Err(arguments.wrong_types());
        }
        let word = |at: usize| arguments.word(at);
        let registers = &arguments.core.registers;
        Ok(Some(Self {
            repeat: arguments.at_most(3, "repeat", u64::from(u16::MAX))?,
            lanes: match registers.mask_mode() {
                MaskMode::Norm => REPEAT * 8 / bits,
                MaskMode::Count => registers.get(Register::MaskLow) & 0xffff_ffff,
            },
            pattern: arguments.at_most(5, "pattern", 7)?,
            src: Strided::new(arguments, 1, word(4), word(6), bits),
            chosen: (arguments.address(2, Memory::Ub), word(7) * BLOCK),
            dst: arguments.address(0, Memory::Ub),
        }))
    }

    fn keeps(&self, repeat: u64, lane: u64) -> bool {
        match self.pattern {
            0 => {
                let at = self.chosen.0 + repeat * self.chosen.1 + lane / 8;
                // SAFETY: declared; `operands` asks only when they lie in UB.
                unsafe { *(at as *const u8) >> (lane % 8) & 1 != 0 }
            }
            1 => lane.is_multiple_of(2),
            2 => lane % 2 == 1,
            7 => true,
            quarter => lane % 4 == quarter - 3,
        }
    }

    /// Adds everything it reads and writes. The destination counts as if everything were kept where the pattern does not
    /// say how much is.
    pub(crate) fn operands(&self, operands: &mut Operands) {
        let whole = Repeats::of_elements(self.lanes, self.lanes.max(1));
        let size = self.src.bits / 8;
        let per_block = self.src.per_block() as u64;
        let blocks = self.lanes / per_block;
        let rest = self.lanes % per_block * size;
        let rows = |offset: u64, blocks: u64, bytes: u64| {
            let shape = Shape::cube((self.repeat, self.src.repeat), (1, 0), (blocks, self.src.block), bytes);
            (self.src.address + offset, shape)
        };
        if whole.count > 0 {
            let (address, shape) = rows(0, blocks, BLOCK);
            operands.read("src0", Memory::Ub, address, shape, BLOCK);
            let (address, shape) = rows(blocks * self.src.block, 1, rest);
            operands.read("src0", Memory::Ub, address, shape, 1);
        }
        if self.pattern == 0 {
            let shape = Shape::cube((self.repeat, self.chosen.1), (1, 0), (1, 0), self.lanes.div_ceil(8));
            operands.read("src1", Memory::Ub, self.chosen.0, shape, BLOCK);
        }
        let kept = match self.pattern {
            0 | 7 => self.lanes,
            pattern => {
                let step = if pattern <= 2 { 2 } else { 4 };
                let first = if pattern <= 2 { pattern - 1 } else { pattern - 3 };
                self.lanes.saturating_sub(first).div_ceil(step)
            }
        };
        operands.write("dst", Memory::Ub, self.dst, Shape::row(kept * self.repeat * size), BLOCK);
    }

    /// Does it.
    ///
    /// # Safety
    /// As for [`crate::aicore::Instruction::execute`].
    pub(crate) unsafe fn execute(&self, registers: &mut Registers) {
        // SAFETY: the caller's promise is handed on.
        let kept = unsafe { if self.src.bits == 16 { self.run::<u16>() } else { self.run::<u32>() } };
        registers.set(Register::RsvdCnt, kept);
    }

    unsafe fn run<T: Element>(&self) -> u64 {
        let per_block = BLOCK / T::BYTES;
        let mut kept = Vec::new();
        let mut written = 0;
        for repeat in 0..self.repeat {
            kept.clear();
            for lane in (0..self.lanes).filter(|lane| self.keeps(repeat, *lane)) {
                let at = self.src.block_address(repeat, lane / per_block) + lane % per_block * T::BYTES;
                // SAFETY: declared and checked.
                kept.push(unsafe { (at as *const T).read_unaligned() });
            }
            let target = (self.dst + written * T::BYTES) as *mut T;
            // SAFETY: at most as much as was declared.
            unsafe { std::ptr::copy_nonoverlapping(kept.as_ptr().cast::<u8>(), target.cast(), size_of_val(&kept[..])) };
            written += kept.len() as u64;
        }
        written
    }
}

/// `vbrcb`: every element fills a block.
#[derive(Debug, Clone)]
pub(crate) struct Broadcast {
    repeat: u64,
    dst: Strided,
    src: u64,
}

impl Broadcast {
    /// Decodes a record; `None` if it is of another family.
    pub(crate) fn decode(arguments: &Arguments<'_>) -> Result<Option<Self>, Fault> {
        if arguments.op != OpCode::Vbrcb {
            return Ok(None);
        }
        let bits = arguments.kind(0).bits();
        if !matches!(bits, 16 | 32) {
            return Err(arguments.wrong_types());
        }
        Ok(Some(Self {
            repeat: repeat_count(arguments, 4)?,
            dst: Strided::new(arguments, 0, arguments.word(2).max(1), arguments.word(3), bits),
            src: arguments.address(1, Memory::Ub),
        }))
    }

    /// Adds everything it reads and writes.
    pub(crate) fn operands(&self, operands: &mut Operands) {
        let size = self.dst.bits / 8;
        operands.read("src", Memory::Ub, self.src, Shape::row(self.repeat * 8 * size), BLOCK);
        let shape = Shape::cube((self.repeat, self.dst.repeat), (1, 0), (8, self.dst.block), BLOCK);
        operands.write("dst", Memory::Ub, self.dst.address, shape, BLOCK);
    }

    /// Does it.
    ///
    /// # Safety
    /// As for [`crate::aicore::Instruction::execute`].
    pub(crate) unsafe fn execute(&self) {
        // SAFETY: the caller's promise is handed on.
        unsafe { if self.dst.bits == 16 { self.run::<u16>() } else { self.run::<u32>() } }
    }

    unsafe fn run<T: Element>(&self) {
        for repeat in 0..self.repeat {
            // SAFETY: declared and checked; all 8 are read before a block is written.
            let values: [T; 8] = unsafe { ((self.src + repeat * 8 * T::BYTES) as *const [T; 8]).read_unaligned() };
            for (block, value) in values.into_iter().enumerate() {
                let target = self.dst.block_address(repeat, block as u64) as *mut T;
                for at in 0..(BLOCK / T::BYTES) as usize {
                    // SAFETY: as above.
                    unsafe { target.add(at).write_unaligned(value) };
                }
            }
        }
    }
}
