//! 16-bit floating point: conversions with every rounding mode of the chip.

/// How a value between two representable ones is rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Rounding {
    /// To the nearest, ties to even.
    NearestEven,
    /// To the nearest, ties away from zero.
    NearestAway,
    /// Towards minus infinity.
    Down,
    /// Towards plus infinity.
    Up,
    /// Towards zero.
    TowardZero,
    /// Towards zero, and the last bit set if anything was lost.
    Odd,
}

impl Rounding {
    /// The mode of an instruction word: `none r a f c z o` are 0 to 6.
    pub(crate) fn from_word(word: u64) -> Option<Self> {
        match word {
            0 | 1 => Some(Self::NearestEven),
            2 => Some(Self::NearestAway),
            3 => Some(Self::Down),
            4 => Some(Self::Up),
            5 => Some(Self::TowardZero),
            6 => Some(Self::Odd),
            _ => None,
        }
    }
}

/// What a 16-bit float does when a value is too large for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Overflow {
    /// Infinity; NaN stays NaN.
    Infinity,
    /// The largest number; NaN becomes 0.
    Saturate,
}

/// IEEE half, as bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(transparent)]
pub(crate) struct F16(pub u16);

/// bfloat16, as bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(transparent)]
pub(crate) struct Bf16(pub u16);

/// Drops the low `shift` bits (1 to 63) of a magnitude whose sign is kept apart.
pub(super) fn drop_bits(magnitude: u64, shift: u32, negative: bool, rounding: Rounding) -> u64 {
    let kept = magnitude >> shift;
    let rest = magnitude & ((1 << shift) - 1);
    if rest == 0 {
        return kept;
    }
    let half = 1 << (shift - 1);
    match rounding {
        Rounding::NearestEven => kept + u64::from(rest > half || (rest == half && kept & 1 == 1)),
        Rounding::NearestAway => kept + u64::from(rest >= half),
        Rounding::Down => kept + u64::from(negative),
        Rounding::Up => kept + u64::from(!negative),
        Rounding::TowardZero => kept,
        Rounding::Odd => kept | 1,
    }
}

/// Does overflow in this direction stop at the largest number even without saturation?
fn stops_at_largest(negative: bool, rounding: Rounding) -> bool {
    match rounding {
        Rounding::NearestEven | Rounding::NearestAway => false,
        Rounding::Down => !negative,
        Rounding::Up => negative,
        Rounding::TowardZero | Rounding::Odd => true,
    }
}

impl F16 {
    const INFINITY: u16 = 0x7c00;
    const LARGEST: u16 = 0x7bff;
    const NAN: u16 = 0x7e00;

    /// The value, exactly.
    pub(crate) fn to_f32(self) -> f32 {
        let bits = u32::from(self.0);
        let sign = (bits & 0x8000) << 16;
        let magnitude = bits & 0x7fff;
        // Shifted into place the exponent is 112 too small; a multiplication mends it, subnormals included.
        let finite = f32::from_bits(magnitude << 13) * f32::from_bits((127 + 112) << 23);
        let special = 0x7f80_0000 | magnitude << 13;
        let value = if magnitude >= u32::from(Self::INFINITY) { special } else { finite.to_bits() };
        f32::from_bits(sign | value)
    }

    /// Rounds a float; a shorter way for the usual mode.
    pub(crate) fn from_f32_nearest(value: f32) -> Self {
        let bits = value.to_bits();
        let sign = (bits >> 16 & 0x8000) as u16;
        let magnitude = bits & 0x7fff_ffff;
        if magnitude >= 0x4780_0000 {
            // 65536 and more, infinity, NaN.
            let result = if magnitude > 0x7f80_0000 { Self::NAN } else { Self::INFINITY };
            return Self(sign | result);
        }
        let result = if magnitude < 0x3880_0000 {
            // Below the smallest normal number: adding 0.5 leaves the rounded subnormal in the low bits.
            (f32::from_bits(magnitude) + 0.5).to_bits() - 0x3f00_0000
        } else {
            // Rebias, then add just less than half of the last place, or half if the last bit is odd.
            let odd = magnitude >> 13 & 1;
            (magnitude.wrapping_sub(112 << 23) + 0xfff + odd) >> 13
        };
        Self(sign | result as u16)
    }

    /// Rounds a float.
    pub(crate) fn from_f32(value: f32, rounding: Rounding, overflow: Overflow) -> Self {
        if rounding == Rounding::NearestEven && overflow == Overflow::Infinity {
            return Self::from_f32_nearest(value);
        }
        let bits = value.to_bits();
        let negative = bits >> 31 != 0;
        let sign = (bits >> 16 & 0x8000) as u16;
        let magnitude = u64::from(bits & 0x7fff_ffff);
        if magnitude > 0x7f80_0000 {
            return match overflow {
                Overflow::Infinity => Self(sign | Self::NAN),
                Overflow::Saturate => Self(0),
            };
        }
        if magnitude == 0x7f80_0000 {
            return match overflow {
                Overflow::Infinity => Self(sign | Self::INFINITY),
                Overflow::Saturate => Self(sign | Self::LARGEST),
            };
        }
        let exponent = (magnitude >> 23) as i32 - 127;
        let result = if exponent >= -14 {
            drop_bits(magnitude - (112 << 23), 13, negative, rounding)
        } else {
            // Subnormal: the implicit one becomes a bit of the mantissa.
            let implicit = if magnitude >= 0x0080_0000 { 0x0080_0000 } else { 0 };
            let mantissa = magnitude & 0x007f_ffff | implicit;
            let shift = 13 + (-14 - exponent.max(-126));
            drop_bits(mantissa, shift.min(63) as u32, negative, rounding)
        };
        let result = if result >= u64::from(Self::INFINITY) {
            if overflow == Overflow::Saturate || stops_at_largest(negative, rounding) {
                Self::LARGEST
            } else {
                Self::INFINITY
            }
        } else {
            result as u16
        };
        Self(sign | result)
    }

    /// Rounds a double once, to nearest even.
    pub(crate) fn from_f64(value: f64, overflow: Overflow) -> Self {
        // Rounded to odd first, no second rounding can go wrong.
        Self::from_f32(f64_to_f32_odd(value), Rounding::NearestEven, overflow)
    }
}

impl Bf16 {
    const INFINITY: u16 = 0x7f80;
    const LARGEST: u16 = 0x7f7f;
    const NAN: u16 = 0x7fc0;

    /// The value, exactly.
    pub(crate) fn to_f32(self) -> f32 {
        f32::from_bits(u32::from(self.0) << 16)
    }

    /// Rounds a float.
    pub(crate) fn from_f32(value: f32, rounding: Rounding, overflow: Overflow) -> Self {
        let bits = value.to_bits();
        let negative = bits >> 31 != 0;
        let sign = (bits >> 16 & 0x8000) as u16;
        let magnitude = u64::from(bits & 0x7fff_ffff);
        if magnitude > 0x7f80_0000 {
            return match overflow {
                Overflow::Infinity => Self(sign | Self::NAN),
                Overflow::Saturate => Self(0),
            };
        }
        let infinite = magnitude == 0x7f80_0000;
        let result = drop_bits(magnitude, 16, negative, rounding) as u16;
        if result < Self::INFINITY {
            return Self(sign | result);
        }
        let largest = overflow == Overflow::Saturate || (!infinite && stops_at_largest(negative, rounding));
        Self(sign | if largest { Self::LARGEST } else { Self::INFINITY })
    }
}

/// Truncates a double to a float and sets the last bit if anything was lost.
pub(super) fn f64_to_f32_odd(value: f64) -> f32 {
    let nearest = value as f32;
    if nearest.is_nan() || f64::from(nearest) == value {
        return nearest;
    }
    let bits = nearest.to_bits();
    // Nearest may have gone away from zero, up to infinity: one step back towards zero truncates.
    let away = f64::from(nearest).abs() > value.abs();
    f32::from_bits(if away { bits - 1 } else { bits } | 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_survives_a_round_trip() {
        for bits in 0..=u16::MAX {
            let value = F16(bits).to_f32();
            if value.is_nan() {
                assert!(F16::from_f32_nearest(value).to_f32().is_nan());
                continue;
            }
            for rounding in [
                Rounding::NearestEven,
                Rounding::NearestAway,
                Rounding::Down,
                Rounding::Up,
                Rounding::TowardZero,
                Rounding::Odd,
            ] {
                assert_eq!(F16::from_f32(value, rounding, Overflow::Infinity).0, bits, "{bits:#x} {rounding:?}");
            }
        }
    }

    #[test]
    fn the_short_way_rounds_as_the_long_one() {
        let long = |value: f32| {
            let bits = value.to_bits();
            let sign = (bits >> 16 & 0x8000) as u16;
            let magnitude = u64::from(bits & 0x7fff_ffff);
            let exponent = (magnitude >> 23) as i32 - 127;
            let result = if exponent >= -14 {
                drop_bits(magnitude - (112 << 23), 13, false, Rounding::NearestEven)
            } else {
                let mantissa = magnitude & 0x7f_ffff | if magnitude >= 0x80_0000 { 0x80_0000 } else { 0 };
                drop_bits(mantissa, (13 - 14 - exponent).min(63) as u32, false, Rounding::NearestEven)
            };
            sign | result.min(0x7c00) as u16
        };
        let mut bits = 1u32;
        while bits < 0x7f80_0000 {
            for value in [f32::from_bits(bits), -f32::from_bits(bits)] {
                assert_eq!(F16::from_f32_nearest(value).0, long(value), "{value:e}");
            }
            bits += 0x1fff * 3 + 1;
        }
    }

    #[test]
    fn overflow_follows_the_mode() {
        let big = 1e6;
        assert_eq!(F16::from_f32(big, Rounding::NearestEven, Overflow::Infinity).0, 0x7c00);
        assert_eq!(F16::from_f32(-big, Rounding::NearestEven, Overflow::Saturate).0, 0xfbff);
        assert_eq!(F16::from_f32(f32::NAN, Rounding::NearestEven, Overflow::Saturate).0, 0);
        assert_eq!(F16::from_f32(big, Rounding::TowardZero, Overflow::Infinity).0, 0x7bff);
        assert_eq!(Bf16::from_f32(f32::MAX, Rounding::NearestEven, Overflow::Infinity).0, 0x7f80);
        assert_eq!(Bf16::from_f32(f32::MAX, Rounding::NearestEven, Overflow::Saturate).0, 0x7f7f);
    }
}
