//! What an instruction touches: every byte of it, as data.

use super::core::Core;
use super::memory::Memory;
use super::{Fault, OpCode};

/// Bytes one operand may touch, each as often as it is touched: far more than any local memory has. A stride of zero and
/// a huge count stay inside every memory and would take for ever.
const MOST_TOUCHED: u64 = 64 << 20;

/// Is it read or written?
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Access {
    /// Read.
    Read,
    /// Written.
    Write,
    /// Written by combining with what is there (an atomic store): several such stores may come in any order.
    Combine,
}

impl Access {
    /// Do the bytes change?
    pub(crate) fn writes(self) -> bool {
        match self {
            Self::Read => false,
            Self::Write | Self::Combine => true,
        }
    }
}

/// Bytes that lie `count` times `stride` bytes apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Step {
    /// How often.
    pub count: u64,
    /// Bytes from one to the next.
    pub stride: u64,
}

impl Step {
    /// Exactly once.
    pub(crate) const ONCE: Self = Self { count: 1, stride: 0 };
}

/// Pieces of `bytes` bytes, repeated along up to three steps, outermost first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    /// How pieces repeat.
    pub steps: [Step; 3],
    /// Bytes of one piece.
    pub bytes: u64,
}

impl Shape {
    /// `bytes` bytes in a row.
    pub(crate) fn row(bytes: u64) -> Self {
        Self { steps: [Step::ONCE; 3], bytes }
    }

    /// Rows of `bytes` bytes, `stride` bytes from start to start.
    pub(crate) fn rows(count: u64, stride: u64, bytes: u64) -> Self {
        Self { steps: [Step::ONCE, Step::ONCE, Step { count, stride }], bytes }
    }

    /// Pieces in three levels, outermost first.
    pub(crate) fn cube(outer: (u64, u64), middle: (u64, u64), inner: (u64, u64), bytes: u64) -> Self {
        let step = |(count, stride)| Step { count, stride };
        Self { steps: [step(outer), step(middle), step(inner)], bytes }
    }

    /// Nothing at all?
    pub(crate) fn is_empty(&self) -> bool {
        self.bytes == 0 || self.steps.iter().any(|step| step.count == 0)
    }

    /// Bytes from the first one touched to behind the last one; strides are never negative.
    pub(crate) fn extent(&self) -> u64 {
        if self.is_empty() {
            return 0;
        }
        let steps = self.steps.iter().map(|step| (step.count - 1).saturating_mul(step.stride));
        steps.fold(self.bytes, u64::saturating_add)
    }

    /// Bytes touched, counting a byte as often as it is touched.
    pub(crate) fn volume(&self) -> u64 {
        self.steps.iter().fold(self.bytes, |volume, step| volume.saturating_mul(step.count))
    }

    /// Calls `visit` with the offset of every piece.
    pub(crate) fn for_each(&self, mut visit: impl FnMut(u64)) {
        let [outer, middle, inner] = self.steps;
        for a in 0..outer.count {
            for b in 0..middle.count {
                for c in 0..inner.count {
                    visit(a * outer.stride + b * middle.stride + c * inner.stride);
                }
            }
        }
    }
}

/// One operand: where it lies, what it covers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Operand {
    /// Its name in reports, as in the description of the instruction.
    pub name: &'static str,
    /// The memory it must lie in.
    pub memory: Memory,
    /// Read or written.
    pub access: Access,
    /// Host address of its first byte.
    pub address: u64,
    /// The bytes, relative to the address.
    pub shape: Shape,
    /// What the address must be a multiple of, relative to the start of a local memory.
    pub alignment: u64,
    /// The repeat that the first of its outermost pieces belongs to.
    pub repeat: u64,
}

/// The operands of one instruction. One list is used again and again: it is filled for every instruction.
#[derive(Debug, Clone, Default)]
pub(crate) struct Operands {
    items: Vec<Operand>,
}

impl Operands {
    /// Forgets those of the last instruction.
    pub(crate) fn clear(&mut self) {
        self.items.clear();
    }

    /// Adds one, unless it covers nothing.
    pub(crate) fn push(&mut self, operand: Operand) {
        if !operand.shape.is_empty() {
            self.items.push(operand);
        }
    }

    /// Adds bytes that are read.
    pub(crate) fn read(&mut self, name: &'static str, memory: Memory, address: u64, shape: Shape, alignment: u64) {
        self.push(Operand { name, memory, access: Access::Read, address, shape, alignment, repeat: 0 });
    }

    /// Adds bytes that are written.
    pub(crate) fn write(&mut self, name: &'static str, memory: Memory, address: u64, shape: Shape, alignment: u64) {
        self.push(Operand { name, memory, access: Access::Write, address, shape, alignment, repeat: 0 });
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Operand> {
        self.items.iter()
    }

    /// All of them, in the order they were added.
    pub(crate) fn as_slice(&self) -> &[Operand] {
        &self.items
    }

    /// Checks alignment, and bounds of everything in local memory; bounds of global memory are the caller's, who knows its
    /// buffers.
    pub(crate) fn check(&self, op: OpCode, core: &Core) -> Result<(), Fault> {
        self.iter().try_for_each(|operand| operand.check(op, core))
    }
}

impl Operand {
    /// Calls `visit` with every stretch of bytes; neighbours are taken together, the same one twice in a row once.
    pub(crate) fn for_each_row(&self, mut visit: impl FnMut(std::ops::Range<u64>)) {
        let mut row: Option<std::ops::Range<u64>> = None;
        self.shape.for_each(|offset| {
            let start = self.address.wrapping_add(offset);
            let piece = start..start + self.shape.bytes;
            match &mut row {
                Some(row) if row.end == start => row.end = piece.end,
                Some(row) if *row == piece => {}
                _ => row.replace(piece).into_iter().for_each(&mut visit),
            }
        });
        row.into_iter().for_each(visit);
    }

    fn check(&self, op: OpCode, core: &Core) -> Result<(), Fault> {
        let name = self.memory.name();
        let fault = |problem: String| Err(Fault::of(op, format!("{} {problem}", self.name)));
        if self.shape.volume() > MOST_TOUCHED {
            let pieces = self.shape.volume() / self.shape.bytes;
            return fault(format!(
                "covers {pieces} pieces of {} bytes: more than an instruction can do",
                self.shape.bytes
            ));
        }
        let Some(memory) = core.memory(self.memory) else {
            if !self.address.is_multiple_of(self.alignment) {
                return fault(format!("starts at {:#x} of GM, not a multiple of {}", self.address, self.alignment));
            }
            return Ok(());
        };
        if memory.size == 0 {
            return fault(format!("lies in {name}, which this kind of core does not have"));
        }
        let Some(offset) = memory.offset_of(self.address) else {
            return fault(format!("is not in {name} (address {:#x})", self.address));
        };
        if !offset.is_multiple_of(self.alignment) {
            return fault(format!("starts at byte {offset} of {name}, not a multiple of {}", self.alignment));
        }
        let end = offset.saturating_add(self.shape.extent());
        if end > memory.size {
            return fault(format!("covers bytes {offset} to {end} of {name}, which has {}", memory.size));
        }
        Ok(())
    }
}
