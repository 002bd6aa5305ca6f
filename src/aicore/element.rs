//! Element types as Rust types, and the arithmetic the vector unit does on them.

use super::float16::{Bf16, F16, Overflow, Rounding};

/// Control bits that arithmetic follows, as they were when the instruction was issued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Arithmetic {
    /// What 16-bit floats do with results that are too large.
    pub overflow: Overflow,
    /// Integer results saturate instead of wrapping.
    pub saturates: bool,
}

/// A value as it lies in memory: any bit pattern is one.
///
/// # Safety
/// Only for types without padding and without invalid bit patterns.
pub(crate) unsafe trait Element: Copy + Default + 'static {
    /// Bytes of one element.
    const BYTES: u64 = size_of::<Self>() as u64;
}

macro_rules! plain_elements {
    ($($type:ty),*) => { $(
        // SAFETY: an integer, a float, or a transparent wrapper of an integer.
        unsafe impl Element for $type {}
    )* };
}
plain_elements!(u8, i8, u16, i16, u32, i32, u64, i64, f32, F16, Bf16);

/// What the vector unit computes with: exactly, then rounded once.
pub(crate) trait Number: Element {
    /// Sum.
    fn add(self, other: Self, mode: Arithmetic) -> Self;
    /// Difference.
    fn sub(self, other: Self, mode: Arithmetic) -> Self;
    /// Product.
    fn mul(self, other: Self, mode: Arithmetic) -> Self;
    /// The larger one; NaN if there is one.
    fn max(self, other: Self) -> Self;
    /// The smaller one; NaN if there is one.
    fn min(self, other: Self) -> Self;
    /// Is it less?
    fn less(self, other: Self) -> bool;
    /// A scalar argument: its bit pattern.
    fn from_word(word: u64) -> Self;

    /// The larger of it and 0.
    fn relu(self) -> Self {
        Number::max(self, Self::default())
    }
}

/// Numbers with a fraction.
pub(crate) trait Real: Number {
    /// The value, exactly.
    fn to_f64(self) -> f64;
    /// Rounds to nearest even.
    fn from_f64(value: f64, mode: Arithmetic) -> Self;
    /// Quotient.
    fn div(self, other: Self, mode: Arithmetic) -> Self;
    /// `self * factor + term`, rounded once.
    fn fused(self, factor: Self, term: Self, mode: Arithmetic) -> Self;
    /// Without its sign.
    fn abs(self) -> Self;
}

impl Number for f32 {
    fn add(self, other: Self, _: Arithmetic) -> Self {
        self + other
    }
    fn sub(self, other: Self, _: Arithmetic) -> Self {
        self - other
    }
    fn mul(self, other: Self, _: Arithmetic) -> Self {
        self * other
    }
    fn max(self, other: Self) -> Self {
        if self.is_nan() || self > other { self } else { other }
    }
    fn min(self, other: Self) -> Self {
        if self.is_nan() || self < other { self } else { other }
    }
    fn less(self, other: Self) -> bool {
        self < other
    }
    fn from_word(word: u64) -> Self {
        Self::from_bits(word as u32)
    }
}

impl Real for f32 {
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
    fn from_f64(value: f64, _: Arithmetic) -> Self {
        value as Self
    }
    fn div(self, other: Self, _: Arithmetic) -> Self {
        self / other
    }
    fn fused(self, factor: Self, term: Self, _: Arithmetic) -> Self {
        self.mul_add(factor, term)
    }
    fn abs(self) -> Self {
        Self::abs(self)
    }
}

impl F16 {
    fn rounded(value: f32, mode: Arithmetic) -> Self {
        Self::from_f32(value, Rounding::NearestEven, mode.overflow)
    }
}

// A float has more than twice the bits of a half, so a result rounded to float first is rounded as if it were exact.
impl Number for F16 {
    fn add(self, other: Self, mode: Arithmetic) -> Self {
        Self::rounded(self.to_f32() + other.to_f32(), mode)
    }
    fn sub(self, other: Self, mode: Arithmetic) -> Self {
        Self::rounded(self.to_f32() - other.to_f32(), mode)
    }
    fn mul(self, other: Self, mode: Arithmetic) -> Self {
        Self::rounded(self.to_f32() * other.to_f32(), mode)
    }
    fn max(self, other: Self) -> Self {
        let (a, b) = (self.to_f32(), other.to_f32());
        if a.is_nan() || a > b { self } else { other }
    }
    fn min(self, other: Self) -> Self {
        let (a, b) = (self.to_f32(), other.to_f32());
        if a.is_nan() || a < b { self } else { other }
    }
    fn less(self, other: Self) -> bool {
        self.to_f32() < other.to_f32()
    }
    fn from_word(word: u64) -> Self {
        Self(word as u16)
    }
}

impl Real for F16 {
    fn to_f64(self) -> f64 {
        f64::from(self.to_f32())
    }
    fn from_f64(value: f64, mode: Arithmetic) -> Self {
        Self::from_f64(value, mode.overflow)
    }
    fn div(self, other: Self, mode: Arithmetic) -> Self {
        Self::rounded(self.to_f32() / other.to_f32(), mode)
    }
    fn fused(self, factor: Self, term: Self, mode: Arithmetic) -> Self {
        // The product is exact in a double; so is the sum wherever a lost bit could decide a tie.
        Self::from_f64(self.to_f64() * factor.to_f64() + term.to_f64(), mode.overflow)
    }
    fn abs(self) -> Self {
        Self(self.0 & 0x7fff)
    }
}

macro_rules! integers {
    ($($type:ty),*) => { $(
        impl Number for $type {
            fn add(self, other: Self, mode: Arithmetic) -> Self {
                if mode.saturates { self.saturating_add(other) } else { self.wrapping_add(other) }
            }
            fn sub(self, other: Self, mode: Arithmetic) -> Self {
                if mode.saturates { self.saturating_sub(other) } else { self.wrapping_sub(other) }
            }
            fn mul(self, other: Self, mode: Arithmetic) -> Self {
                if mode.saturates { self.saturating_mul(other) } else { self.wrapping_mul(other) }
            }
            fn max(self, other: Self) -> Self { Ord::max(self, other) }
            fn min(self, other: Self) -> Self { Ord::min(self, other) }
            fn less(self, other: Self) -> bool { self < other }
            fn from_word(word: u64) -> Self { word as Self }
        }
    )* };
}
integers!(i16, i32, u16, u32);
