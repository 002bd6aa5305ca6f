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

impl Kind {
    /// `atomic_type_t` in the low three bits of `number`; `None`: nothing combines.
    fn from_number(number: u64) -> Option<Self> {
        match number & 7 {
            1 => Some(Self::F32),
            2 => Some(Self::F16),
            3 => Some(Self::S16),
            4 => Some(Self::S32),
            5 => Some(Self::S8),
            6 => Some(Self::Bf16),
            _ => None,
        }
    }
}

/// What is done with the element that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operation {
    Add,
    Max,
    Min,
}

/// How a store combines: by DMA as the control register said when the instruction was issued, of the scalar unit as its own
/// register says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Atomic {
    kind: Kind,
    operation: Operation,
}

impl Atomic {
    /// `None`: stores overwrite.
    pub(crate) fn from_registers(registers: &Registers) -> Option<Self> {
        let control = registers.get(Register::Ctrl);
        let kind = Kind::from_number(control >> ctrl::ATOMIC_TYPE_SHIFT)?;
        let operation = match control >> ctrl::ATOMIC_OP_SHIFT & 3 {
            1 => Operation::Max,
            2 => Operation::Min,
            _ => Operation::Add,
        };
        Some(Self { kind, operation })
    }

    /// The same for stores of the scalar unit. `Err`: what they are told to do does not exist.
    pub(crate) fn of_scalar_stores(registers: &Registers) -> Result<Option<Self>, String> {
        let config = registers.get(Register::StAtomicCfg);
        let (kind, operation) = (config & 7, config >> 3 & 3);
        if kind == 0 {
            return Ok(None);
        }
        match (Kind::from_number(kind), operation) {
            (Some(kind), 0) => Ok(Some(Self { kind, operation: Operation::Add })),
            (_, _) => Err(format!(
                "a scalar store to GM while set_st_atomic_cfg asks for operation {operation} of type {kind}: there is the sum \
                 (operation 0) of types 1 to 6"
            )),
        }
    }

    /// Bytes of an element.
    pub(crate) fn element_bytes(self) -> u64 {
        match self.kind {
            Kind::F32 | Kind::S32 => 4,
            Kind::F16 | Kind::S16 | Kind::Bf16 => 2,
            Kind::S8 => 1,
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_combines_at_the_start() {
        assert_eq!(Atomic::from_registers(&Registers::default()), None);
        assert_eq!(Atomic::of_scalar_stores(&Registers::default()), Ok(None));
    }
}
