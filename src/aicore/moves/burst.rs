//! Bursts: rows of bytes from one memory to another, with gaps between them, padding in front of and behind them.

#![expect(clippy::wildcard_enum_match_arm, reason = "a family names its own among all instructions")]

use crate::aicore::arguments::Arguments;
use crate::aicore::atomic::Atomic;
use crate::aicore::float16::F16;
use crate::aicore::memory::Memory;
use crate::aicore::operand::{Access, Operand, Operands, Shape};
use crate::aicore::registers::Register;
use crate::aicore::{Fault, OpCode};

const BLOCK: u64 = 32;
/// Most bursts of one instruction.
const BURSTS: u64 = 4095;
/// Most bytes of a burst that is counted in bytes.
const BYTES: u64 = 2_097_151;

/// One side of a move.
#[derive(Debug, Clone, Copy)]
struct Side {
    memory: Memory,
    address: u64,
    /// Bytes from the start of a row to the start of the next.
    step: u64,
}

/// What fills a row up to whole blocks.
#[derive(Debug, Clone, Copy)]
struct Padding {
    /// Bytes in front of the data.
    left: u64,
    /// Bytes of an element.
    size: u64,
    /// Bytes of a whole row.
    row: u64,
    /// The element; `None`: the first one of the row.
    value: Option<u64>,
}

/// One instruction of this family.
#[derive(Debug, Clone)]
pub(crate) struct Burst {
    count: u64,
    /// Bytes of a row, without padding.
    bytes: u64,
    source: Side,
    target: Side,
    padding: Option<Padding>,
    atomic: Option<Atomic>,
    /// Halves become floats on the way.
    widens: bool,
    /// What addresses in global memory must be a multiple of.
    element: u64,
}

impl Burst {
    /// Decodes a record; `None` if it is of another family.
    pub(crate) fn decode(arguments: &Arguments<'_>) -> Result<Option<Self>, Fault> {
        use Memory::{Bt, Fb, Gm, L0c, L1, Ub};
        match arguments.op {
            OpCode::CopyGmToUbuf => Self::blocks(arguments, Ub, Gm).map(Some),
            OpCode::CopyUbufToGm => Self::blocks(arguments, Gm, Ub).map(Some),
            OpCode::CopyCbufToGm => Self::blocks(arguments, Gm, L1).map(Some),
            OpCode::CopyUbufToUbuf => Self::blocks(arguments, Ub, Ub).map(Some),
            OpCode::CopyGmToCbuf => {
                if arguments.word(7) != 0 {
                    return Err(arguments.fault("padding modes that expand small channels are not emulated"));
                }
                Self::blocks(arguments, L1, Gm).map(Some)
            }
            OpCode::CopyCbufToBt => {
                let mut burst = Self::units(arguments, Bt, 3, 64)?;
                burst.widens = arguments.word(2) & 1 != 0;
                if burst.widens {
                    burst.target.step += burst.bytes;
                }
                Ok(Some(burst))
            }
            OpCode::CopyCbufToFbuf => Self::units(arguments, Fb, 2, 128).map(Some),
            OpCode::CopyMatrixCbufToCc => {
                let unit = match arguments.kind(0).bits() {
                    16 => 512,
                    32 => 1024,
                    _ => return Err(arguments.wrong_types()),
                };
                Self::units(arguments, L0c, 2, unit).map(Some)
            }
            OpCode::CopyGmToUbufAlign => Self::bytes_in(arguments).map(Some),
            OpCode::CopyUbufToGmAlign => Self::bytes_out(arguments).map(Some),
            OpCode::CopyUbufToGmAlignV2 => Self::strided_out(arguments).map(Some),
            _ => Ok(None),
        }
    }

    /// `(dst, src, sid, bursts, length, srcGap, dstGap)`, lengths and gaps in blocks.
    fn blocks(arguments: &Arguments<'_>, target: Memory, source: Memory) -> Result<Self, Fault> {
        let bytes = arguments.at_most(4, "length", u64::from(u16::MAX))? * BLOCK;
        let side = |memory, at: usize, gap: usize| Side {
            memory,
            address: arguments.address(at, memory),
            step: bytes + (arguments.word(gap) & 0xffff) * BLOCK,
        };
        Ok(Self {
            count: arguments.at_most(3, "bursts", BURSTS)?,
            bytes,
            source: side(source, 1, 5),
            target: side(target, 0, 6),
            padding: None,
            atomic: Self::atomic(arguments, target),
            widens: false,
            // Of untyped pointers nothing is known.
            element: (arguments.kind(0).bits() / 8).max(1),
        })
    }

    /// From L1: `(dst, src, ..., bursts, length, srcGap, dstGap)` from word `at` on; lengths and gaps of the target in
    /// `unit` bytes, those of the source in blocks.
    fn units(arguments: &Arguments<'_>, target: Memory, at: usize, unit: u64) -> Result<Self, Fault> {
        let bytes = arguments.at_most(at + 1, "length", u64::from(u16::MAX))? * unit;
        let gap = |at: usize| arguments.word(at) & 0xffff;
        let (source_step, target_step) = (bytes + gap(at + 2) * BLOCK, bytes + gap(at + 3) * unit);
        Ok(Self {
            count: arguments.at_most(at, "bursts", BURSTS)?,
            bytes,
            source: Side { memory: Memory::L1, address: arguments.address(1, Memory::L1), step: source_step },
            target: Side { memory: target, address: arguments.address(0, target), step: target_step },
            padding: None,
            atomic: None,
            widens: false,
            element: 1,
        })
    }

    /// Only stores to global memory combine.
    fn atomic(arguments: &Arguments<'_>, target: Memory) -> Option<Atomic> {
        (target == Memory::Gm).then(|| Atomic::from_registers(&arguments.core.registers)).flatten()
    }

    /// `(dst, src, sid, bursts, bytes, leftPad, rightPad, srcGap, dstGap)`: the gap in bytes on the side of global
    /// memory, in blocks on the other; every row takes whole blocks in UB.
    fn bytes_in(arguments: &Arguments<'_>) -> Result<Self, Fault> {
        let word = |at: usize| arguments.word(at);
        let size = arguments.kind(0).bits() / 8;
        if !matches!(size, 1 | 2 | 4) {
            return Err(arguments.wrong_types());
        }
        let bytes = arguments.at_most(4, "length", BYTES)?;
        let (left, right) = (word(5) * size, word(6) * size);
        for (name, pad) in [("left padding", left), ("right padding", right)] {
            if pad > BLOCK {
                return Err(arguments.fault(format!("{name} of {pad} bytes; at most 32 are possible")));
            }
        }
        let row = (left + bytes + right).next_multiple_of(BLOCK);
        let pads = left + right > 0;
        Ok(Self {
            count: if bytes == 0 { 0 } else { arguments.at_most(3, "bursts", BURSTS)? },
            bytes,
            source: Side { memory: Memory::Gm, address: word(1), step: bytes + word(7) },
            target: Side { memory: Memory::Ub, address: arguments.address(0, Memory::Ub), step: row + word(8) * BLOCK },
            padding: Some(Padding {
                left,
                size,
                row,
                value: pads.then(|| arguments.core.registers.get(Register::MovPadVal)),
            }),
            atomic: None,
            widens: false,
            element: 1,
        })
    }

    fn bytes_out(arguments: &Arguments<'_>) -> Result<Self, Fault> {
        let word = |at: usize| arguments.word(at);
        let bytes = arguments.at_most(4, "length", BYTES)?;
        Ok(Self {
            count: arguments.at_most(3, "bursts", BURSTS)?,
            bytes,
            source: Side {
                memory: Memory::Ub,
                address: arguments.address(1, Memory::Ub),
                step: bytes.next_multiple_of(BLOCK) + word(7) * BLOCK,
            },
            target: Side { memory: Memory::Gm, address: word(0), step: bytes + word(8) },
            padding: None,
            atomic: Self::atomic(arguments, Memory::Gm),
            widens: false,
            element: 1,
        })
    }

    /// `(dst, src, sid, bursts, bytes, control, dstStride, srcStride)`: strides in bytes, from start to start.
    fn strided_out(arguments: &Arguments<'_>) -> Result<Self, Fault> {
        let word = |at: usize| arguments.word(at);
        Ok(Self {
            count: arguments.at_most(3, "bursts", BURSTS)?,
            bytes: arguments.at_most(4, "length", BYTES)?,
            source: Side { memory: Memory::Ub, address: arguments.address(1, Memory::Ub), step: word(7) },
            target: Side { memory: Memory::Gm, address: word(0), step: word(6) },
            padding: None,
            atomic: Self::atomic(arguments, Memory::Gm),
            widens: false,
            element: 1,
        })
    }

    /// Adds everything it reads and writes.
    pub(crate) fn operands(&self, operands: &mut Operands) {
        let alignment = |memory| match memory {
            Memory::Gm => self.element,
            Memory::L0c | Memory::Bt | Memory::Fb => 64,
            Memory::Ub | Memory::L1 | Memory::L0a | Memory::L0b => BLOCK,
        };
        let rows = |side: &Side, bytes| Shape::rows(self.count, side.step, bytes);
        let Side { memory, address, .. } = self.source;
        operands.read("src", memory, address, rows(&self.source, self.bytes), alignment(memory));
        let Side { memory, address, .. } = self.target;
        let written = self.padding.map_or(self.bytes, |padding| padding.row) * if self.widens { 2 } else { 1 };
        let access = if self.atomic.is_some() { Access::Combine } else { Access::Write };
        let (shape, alignment) = (rows(&self.target, written), alignment(memory));
        operands.push(Operand { name: "dst", memory, access, address, shape, alignment, repeat: 0 });
    }

    /// Does it.
    ///
    /// # Safety
    /// As for [`crate::aicore::Instruction::execute`].
    pub(crate) unsafe fn execute(&self) {
        for row in 0..self.count {
            let from = (self.source.address + row * self.source.step) as *const u8;
            let to = (self.target.address + row * self.target.step) as *mut u8;
            let bytes = self.bytes as usize;
            // SAFETY: declared and checked; a row of UB may overlap another one of UB.
            unsafe {
                if self.widens {
                    widen(from, to, bytes / 2);
                    continue;
                }
                match (self.atomic, self.padding) {
                    (Some(atomic), _) => atomic.store(to, from, self.bytes),
                    (None, None) => std::ptr::copy(from, to, bytes),
                    (None, Some(padding)) => {
                        std::ptr::copy(from, to.add(padding.left as usize), bytes);
                        self.fill(to, &padding);
                    }
                }
            }
        }
    }

    /// Fills a row of UB around its data.
    unsafe fn fill(&self, row: *mut u8, padding: &Padding) {
        let size = padding.size as usize;
        let mut element = [0u8; 8];
        match padding.value {
            Some(value) => element = value.to_le_bytes(),
            // SAFETY: the row holds its first element, or less of it, and whole blocks are there.
            None => unsafe { std::ptr::copy_nonoverlapping(row, element.as_mut_ptr(), size) },
        }
        let data = padding.left..padding.left + self.bytes;
        for byte in (0..padding.row).filter(|byte| !data.contains(byte)) {
            // Elements behind the data start where the data ends.
            let phase = if byte < data.start { byte } else { byte - data.end };
            // SAFETY: inside the row, which was declared whole.
            unsafe { *row.add(byte as usize) = element[phase as usize % size] };
        }
    }
}

/// Halves become floats.
unsafe fn widen(from: *const u8, to: *mut u8, count: usize) {
    for at in 0..count {
        // SAFETY: the caller's promise: so many of either are there.
        unsafe {
            let half = F16(from.cast::<u16>().add(at).read_unaligned());
            to.cast::<f32>().add(at).write_unaligned(half.to_f32());
        }
    }
}
