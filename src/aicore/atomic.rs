//! Stores to global memory that combine with what is there.

use super::element::{Arithmetic, Number};
use super::float16::{Bf16, F16, Overflow, Rounding};
use super::registers::{Register, Registers, ctrl};

/// Type of the elements of an atomic store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    F32,
    F16,
    S16,
    S32,
    S8,
    Bf16,
}

/// What is done with the element that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operation {
    Add,
    Max,
    Min,
}

/// How a store by DMA combines, as the control register said when the instruction was issued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Atomic {
    kind: Kind,
    operation: Operation,
}

impl Atomic {
    /// `None`: stores overwrite.
    pub(crate) fn from_registers(registers: &Registers) -> Option<Self> {
        let control = registers.get(Register::Ctrl);
        let kind = match control >> ctrl::ATOMIC_TYPE_SHIFT & 7 {
            1 => Kind::F32,
            2 => Kind::F16,
            3 => Kind::S16,
            4 => Kind::S32,
            5 => Kind::S8,
            6 => Kind::Bf16,
            _ => return None,
        };
        let operation = match control >> ctrl::ATOMIC_OP_SHIFT & 3 {
            1 => Operation::Max,
            2 => Operation::Min,
            _ => Operation::Add,
        };
        Some(Self { kind, operation })
    }

    /// Combines `bytes` bytes at `source` into those at `target`.
    ///
    /// # Safety
    /// Both ranges must be accessible; they must not overlap.
    pub(crate) unsafe fn store(self, target: *mut u8, source: *const u8, bytes: u64) {
        let mode = Arithmetic { overflow: Overflow::Infinity, saturates: false };
        // SAFETY: the caller's promise is handed on.
        unsafe {
            match self.kind {
                Kind::F32 => self.combine::<f32>(target, source, bytes, |a, b| Number::add(a, b, mode)),
                Kind::F16 => self.combine::<F16>(target, source, bytes, |a, b| Number::add(a, b, mode)),
                Kind::S16 => self.combine::<i16>(target, source, bytes, i16::wrapping_add),
                Kind::S32 => self.combine::<i32>(target, source, bytes, i32::wrapping_add),
                Kind::S8 => self.combine::<i8>(target, source, bytes, i8::wrapping_add),
                Kind::Bf16 => self.combine::<Bf16>(target, source, bytes, |a, b| {
                    Bf16::from_f32(a.to_f32() + b.to_f32(), Rounding::NearestEven, Overflow::Infinity)
                }),
            }
        }
    }

    unsafe fn combine<T: Extreme>(self, target: *mut u8, source: *const u8, bytes: u64, add: impl Fn(T, T) -> T) {
        let (target, source) = (target.cast::<T>(), source.cast::<T>());
        for at in 0..bytes as usize / size_of::<T>() {
            // SAFETY: inside both ranges.
            unsafe {
                let (old, new) = (target.add(at).read_unaligned(), source.add(at).read_unaligned());
                let result = match self.operation {
                    Operation::Add => add(old, new),
                    Operation::Max => old.larger(new),
                    Operation::Min => old.smaller(new),
                };
                target.add(at).write_unaligned(result);
            }
        }
    }
}

/// Elements that have an order.
trait Extreme: Copy {
    fn larger(self, other: Self) -> Self;
    fn smaller(self, other: Self) -> Self;
}

macro_rules! extremes {
    ($($type:ty),*) => { $(
        impl Extreme for $type {
            fn larger(self, other: Self) -> Self { Number::max(self, other) }
            fn smaller(self, other: Self) -> Self { Number::min(self, other) }
        }
    )* };
}
extremes!(f32, F16, i16, i32);

impl Extreme for i8 {
    fn larger(self, other: Self) -> Self {
        self.max(other)
    }
    fn smaller(self, other: Self) -> Self {
        self.min(other)
    }
}

impl Extreme for Bf16 {
    fn larger(self, other: Self) -> Self {
        if self.to_f32().is_nan() || self.to_f32() > other.to_f32() { self } else { other }
    }
    fn smaller(self, other: Self) -> Self {
        if self.to_f32().is_nan() || self.to_f32() < other.to_f32() { self } else { other }
    }
}
