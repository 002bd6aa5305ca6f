//! Reductions: of a repeat, of its blocks, of pairs.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a family names its own among all instructions and element types; the rest is not for it"
)]

use super::repeat::{BLOCK, LANES, Repeats, Strided, arithmetic, repeat_count, repeat_stride};
use crate::aicore::arguments::Arguments;
use crate::aicore::element::{Arithmetic, Real};
use crate::aicore::float16::F16;
use crate::aicore::memory::Memory;
use crate::aicore::operand::{Access, Operands, Shape};
use crate::aicore::registers::{Register, Registers};
use crate::aicore::{ElementType, Fault, OpCode};

/// What a reduction of whole repeats leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    ValueIndex,
    IndexValue,
    OnlyValue,
    OnlyIndex,
}

/// One instruction of this family.
#[derive(Debug, Clone)]
pub(crate) struct Reduce {
    op: OpCode,
    kind: ElementType,
    order: Order,
    /// The sum of everything goes to a register instead of memory.
    accumulates: bool,
    mode: Arithmetic,
    repeats: Repeats,
    src: Strided,
    dst: u64,
    /// Bytes from the result of a repeat to that of the next.
    step: u64,
}

impl Reduce {
    /// Decodes a record; `None` if it is of another family.
    pub(crate) fn decode(arguments: &Arguments<'_>) -> Result<Option<Self>, Fault> {
        use OpCode::*;
        let op = arguments.op;
        if !matches!(op, Vcadd | Vcmax | Vcmin | Vcgadd | Vcgmax | Vcgmin | Vcpadd) {
            return Ok(None);
        }
        let kind = arguments.kind(0);
        if !matches!(kind, ElementType::F16 | ElementType::F32) || arguments.kind(1) != kind {
            return Err(arguments.wrong_types());
        }
        let word = |at: usize| arguments.word(at);
        let size = kind.bits() / 8;
        let order = match (op, word(6)) {
            (Vcmax | Vcmin, 0) => Order::ValueIndex,
            (Vcmax | Vcmin, 1) => Order::IndexValue,
            (Vcmax | Vcmin, 3) => Order::OnlyIndex,
            (Vcmax | Vcmin, order) if order > 3 => return Err(arguments.fault(format!("there is no order {order}"))),
            _ => Order::OnlyValue,
        };
        let unit = match (op, order) {
            (Vcmax | Vcmin, Order::ValueIndex | Order::IndexValue) => 2 * size,
            (Vcmax | Vcmin, Order::OnlyIndex) => 4,
            (Vcadd | Vcmax | Vcmin, _) => size,
            (Vcpadd, _) => 128,
            _ => 8 * size,
        };
        let registers = &arguments.core.registers;
        Ok(Some(Self {
            op,
            kind,
            order,
            accumulates: op == Vcadd && word(6) != 0,
            mode: arithmetic(registers),
            repeats: Repeats::new(registers, repeat_count(arguments, 2)?, kind.bits()),
            src: Strided::new(arguments, 1, word(4), repeat_stride(arguments, 5, "src", 16)?, kind.bits()),
            dst: arguments.address(0, Memory::Ub),
            step: repeat_stride(arguments, 3, "dst", 16)? * unit,
        }))
    }

    /// Adds everything it reads and writes.
    pub(crate) fn operands(&self, operands: &mut Operands) {
        self.src.declare(operands, "src", Access::Read, &self.repeats);
        if self.accumulates || self.repeats.count == 0 {
            return;
        }
        let size = self.kind.bits() / 8;
        let per_block = self.src.per_block();
        let rows = |count, bytes| Shape::cube((count, self.step), (1, 0), (1, 0), bytes);
        match self.op {
            OpCode::Vcadd | OpCode::Vcmax | OpCode::Vcmin => {
                let bytes = match self.order {
                    Order::OnlyIndex => 4,
                    Order::OnlyValue => size,
                    Order::ValueIndex | Order::IndexValue => 2 * size,
                };
                operands.write("dst", Memory::Ub, self.dst, rows(self.repeats.count, bytes), size);
            }
            OpCode::Vcpadd => {
                for (first, count) in self.uniform_parts() {
                    for pair in (0..self.repeats.lanes / 2).filter(|pair| self.any_enabled(first, 2 * pair, 2)) {
                        let address = self.dst + first * self.step + pair as u64 * size;
                        operands.write("dst", Memory::Ub, address, rows(count, size), size);
                    }
                }
            }
            _ => {
                for (first, count) in self.uniform_parts() {
                    for block in (0..8).filter(|block| self.any_enabled(first, block * per_block, per_block)) {
                        let address = self.dst + first * self.step + block as u64 * size;
                        operands.write("dst", Memory::Ub, address, rows(count, size), size);
                    }
                }
            }
        }
    }

    /// Repeats under the same mask: (first, how many).
    fn uniform_parts(&self) -> Vec<(u64, u64)> {
        let count = self.repeats.count;
        if count <= 1 || self.repeats.mask(0) == self.repeats.mask(count - 1) {
            return vec![(0, count)];
        }
        vec![(0, count - 1), (count - 1, 1)]
    }

    fn any_enabled(&self, repeat: u64, start: usize, count: usize) -> bool {
        let mask = self.repeats.mask(repeat);
        (start..start + count).any(|lane| mask.has(lane))
    }

    /// Does it.
    ///
    /// # Safety
    /// As for [`crate::aicore::Instruction::execute`].
    pub(crate) unsafe fn execute(&self, registers: &mut Registers) {
        // SAFETY: the caller's promise is handed on.
        unsafe {
            match self.kind {
                ElementType::F16 => self.run::<F16>(registers, |value| u64::from(value.0)),
                _ => self.run::<f32>(registers, |value| u64::from(value.to_bits())),
            }
        }
    }

    unsafe fn run<T: Real>(&self, registers: &mut Registers, bits: impl Fn(T) -> u64) {
        let lanes = self.repeats.lanes;
        let size = T::BYTES;
        let mut values = [T::default(); LANES];
        let mut total: Option<T> = None;
        let mut overall: Option<(T, u64)> = None;
        for repeat in 0..self.repeats.count {
            let mask = self.repeats.mask(repeat);
            // SAFETY: only enabled elements are touched, and those were declared and checked.
            unsafe { self.src.load_enabled(repeat, mask, lanes, &mut values) };
            let enabled: [Option<T>; LANES] =
                std::array::from_fn(|lane| (lane < lanes && mask.has(lane)).then(|| values[lane]));
            let target = self.dst + repeat * self.step;
            let write = |offset: u64, value: T| {
                // SAFETY: results of enabled elements were declared.
                unsafe { ((target + offset) as *mut T).write_unaligned(value) };
            };
            match self.op {
                OpCode::Vcadd => {
                    let Some(sum) = self.sum(&enabled[..lanes]) else { continue };
                    if self.accumulates {
                        total = Some(total.map_or(sum, |total| total.add(sum, self.mode)));
                    } else {
                        write(0, sum);
                    }
                }
                OpCode::Vcmax | OpCode::Vcmin => {
                    let Some((value, lane)) = self.extreme(&enabled[..lanes]) else { continue };
                    let index = repeat * lanes as u64 + lane as u64;
                    if overall.is_none_or(|(best, _)| self.beats(value, best)) {
                        overall = Some((value, index));
                    }
                    // SAFETY: as above; an index has the width of an element, alone it has 4 bytes.
                    unsafe {
                        let place = |offset: u64, bytes: u64| {
                            std::ptr::copy_nonoverlapping(
                                (lane as u32).to_le_bytes().as_ptr(),
                                (target + offset) as *mut u8,
                                bytes as usize,
                            );
                        };
                        match self.order {
                            Order::ValueIndex => {
                                write(0, value);
                                place(size, size);
                            }
                            Order::IndexValue => {
                                place(0, size);
                                write(size, value);
                            }
                            Order::OnlyValue => write(0, value),
                            Order::OnlyIndex => place(0, 4),
                        }
                    }
                }
                OpCode::Vcpadd => {
                    for pair in 0..lanes / 2 {
                        if let Some(sum) = self.sum(&enabled[2 * pair..2 * pair + 2]) {
                            write(pair as u64 * size, sum);
                        }
                    }
                }
                _ => {
                    let per_block = (BLOCK / size) as usize;
                    for (block, chunk) in enabled[..lanes].chunks(per_block).enumerate() {
                        let result = match self.op {
                            OpCode::Vcgadd => self.sum(chunk),
                            _ => self.extreme(chunk).map(|(value, _)| value),
                        };
                        if let Some(value) = result {
                            write(block as u64 * size, value);
                        }
                    }
                }
            }
        }
        if let Some(total) = total {
            registers.set(Register::AccVal, bits(total));
        }
        if let Some((value, index)) = overall {
            registers.set(Register::MaxMinCnt, bits(value) | index << 32);
        }
    }

    /// Sum of neighbours, then of their sums, and so on; missing elements are left out.
    fn sum<T: Real>(&self, values: &[Option<T>]) -> Option<T> {
        match values {
            [] => None,
            [one] => *one,
            _ => {
                let (left, right) = values.split_at(values.len() / 2);
                match (self.sum(left), self.sum(right)) {
                    (Some(left), Some(right)) => Some(left.add(right, self.mode)),
                    (left, right) => left.or(right),
                }
            }
        }
    }

    /// The first of the most extreme elements; a NaN beats numbers.
    fn extreme<T: Real>(&self, values: &[Option<T>]) -> Option<(T, usize)> {
        let mut best: Option<(T, usize)> = None;
        for (lane, value) in values.iter().enumerate() {
            if let Some(value) = *value
                && best.is_none_or(|(best, _)| self.beats(value, best))
            {
                best = Some((value, lane));
            }
        }
        best
    }

    fn beats<T: Real>(&self, value: T, best: T) -> bool {
        if best.to_f64().is_nan() {
            return false;
        }
        let better = match self.op {
            OpCode::Vcmax | OpCode::Vcgmax => best.less(value),
            _ => value.less(best),
        };
        better || value.to_f64().is_nan()
    }
}
