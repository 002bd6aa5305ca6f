//! Conversions between element types, alone or behind an operation.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a family names its own among all instructions and element types; the rest is not for it"
)]

use super::repeat::{BLOCK, LANES, LaneMask, Repeats, Strided, arithmetic, repeat_count, repeat_stride};
use crate::aicore::arguments::Arguments;
use crate::aicore::element::{Arithmetic, Element};
use crate::aicore::float16::{Bf16 as Brain, F16 as Half, Overflow, Rounding, drop_bits};
use crate::aicore::memory::Memory;
use crate::aicore::operand::{Access, Operands, Shape};
use crate::aicore::registers::{Register, ctrl};
use crate::aicore::{ElementType, Fault, OpCode};

/// How to convert, as the registers said when the instruction was issued.
#[derive(Debug, Clone, Copy)]
struct Mode {
    rounding: Rounding,
    overflow: Overflow,
    /// Integers keep their low bits instead of saturating.
    truncates: bool,
}

/// One instruction of this family.
#[derive(Debug, Clone)]
pub(crate) struct Convert {
    op: OpCode,
    dst_kind: ElementType,
    src_kind: ElementType,
    mode: Mode,
    arithmetic: Arithmetic,
    repeats: Repeats,
    dst: Strided,
    src0: Strided,
    src1: Option<Strided>,
    /// `set_deqscale`: a scale, a word, or the address of 16 words.
    scale: u64,
    /// Results go to the upper half of their blocks.
    high: bool,
}

/// Rounding words: `none r a f c z o`.
const NONE: u64 = 0;
const ODD: u64 = 6;

/// Does the chip have this conversion with this mode?
fn exists(src: ElementType, dst: ElementType, mode: u64) -> bool {
    use ElementType::{Bf16, F16, F32, S4, S8, S16, S32, S64, U8};
    let rounded = (1..=5).contains(&mode);
    match (src, dst) {
        (F32, F16) => mode <= ODD,
        (F32, F32 | Bf16 | S16 | S32 | S64) | (F16, S16 | S32) | (S64, F32) | (Bf16, S32) => rounded,
        (F16, S4 | S8 | U8) | (S16, F16) | (S32, F32) => rounded || mode == NONE,
        (F16 | Bf16 | S16, F32) | (S8 | U8 | S4, F16) | (S32, S16 | S64) | (S64, S32) => mode == NONE,
        _ => false,
    }
}

impl Convert {
    /// Decodes a record; `None` if it is of another family.
    pub(crate) fn decode(arguments: &Arguments<'_>) -> Result<Option<Self>, Fault> {
        use ElementType::{F16, F32, S8, S16, S32, U8};
        use OpCode::*;
        let op = arguments.op;
        let (dst_kind, src_kind) = (arguments.kind(0), arguments.kind(1));
        let word = |at: usize| arguments.word(at);
        let registers = &arguments.core.registers;
        let (binary, mode, high) = match op {
            Vconv => (false, word(7), false),
            VconvDeq => (false, NONE, false),
            VconvDeqs162b8 | VconvVdeqs162b8 => (false, NONE, word(7) != 0),
            Vaddreluconv | Vsubreluconv => (true, NONE, word(10) != 0),
            Vmulconv => (true, NONE, false),
            _ => return Ok(None),
        };
        let known = match op {
            Vconv => exists(src_kind, dst_kind, mode),
            VconvDeq => (src_kind, dst_kind) == (S32, F16),
            VconvDeqs162b8 | VconvVdeqs162b8 => src_kind == S16,
            Vmulconv => matches!((src_kind, dst_kind), (F16, S8 | U8)),
            _ => matches!((src_kind, dst_kind), (F16, S8) | (F32, F16) | (S16, S8)),
        };
        if !known {
            return Err(arguments.wrong_types());
        }
        if binary && high {
            return Err(arguments.fault("results in the high halves are not emulated"));
        }
        let half_blocks = matches!(op, VconvDeqs162b8 | VconvVdeqs162b8);
        let widest = if half_blocks { src_kind.bits() } else { dst_kind.bits().max(src_kind.bits()) };
        let strided = |address: usize, block, repeat, kind: ElementType| {
            let repeat = repeat_stride(arguments, repeat, ["dst", "src0", "src1"][address], 8)?;
            Ok::<_, Fault>(Strided::new(arguments, address, word(block), repeat, kind.bits()))
        };
        let (at, dst, src0, src1) = if binary {
            (3, strided(0, 4, 7, dst_kind)?, strided(1, 5, 8, src_kind)?, Some(strided(2, 6, 9, src_kind)?))
        } else {
            (2, strided(0, 3, 5, dst_kind)?, strided(1, 4, 6, src_kind)?, None)
        };
        let arithmetic = arithmetic(registers);
        Ok(Some(Self {
            op,
            dst_kind,
            src_kind,
            mode: Mode {
                rounding: Rounding::from_word(mode).unwrap_or(Rounding::NearestEven),
                overflow: arithmetic.overflow,
                truncates: op == Vconv && registers.control(ctrl::CONVERSION_TRUNCATES),
            },
            arithmetic,
            repeats: Repeats::new(registers, repeat_count(arguments, at)?, widest),
            dst,
            src0,
            src1,
            scale: if op == VconvVdeqs162b8 {
                arguments.core.address(Memory::Ub, registers.get(Register::Deqscale))
            } else {
                registers.get(Register::Deqscale)
            },
            high,
        }))
    }

    /// Adds everything it reads and writes.
    pub(crate) fn operands(&self, operands: &mut Operands) {
        self.src0.declare(operands, "src0", Access::Read, &self.repeats);
        if let Some(src) = &self.src1 {
            src.declare(operands, "src1", Access::Read, &self.repeats);
        }
        if self.op == OpCode::VconvVdeqs162b8 && self.repeats.count > 0 {
            operands.read("scales", Memory::Ub, self.scale, Shape::row(128), BLOCK);
        }
        if matches!(self.op, OpCode::VconvDeqs162b8 | OpCode::VconvVdeqs162b8) {
            // Blocks of the destination have the numbers of the source's; elements are half as wide.
            let offset = if self.high { BLOCK / 2 } else { 0 };
            for_each_half_block(&self.repeats, |repeat, block, low, high| {
                let address = self.dst.block_address(repeat, block) + offset + low;
                let alignment = if offset + low == 0 { BLOCK } else { 1 };
                operands.write("dst", Memory::Ub, address, Shape::row(high - low), alignment);
            });
        } else {
            self.dst.declare(operands, "dst", Access::Write, &self.repeats);
        }
    }

    /// Does it.
    ///
    /// # Safety
    /// As for [`crate::aicore::Instruction::execute`].
    pub(crate) unsafe fn execute(&self) {
        use ElementType::{Bf16, F16, F32, S4, S8, S16, S32, S64, U8};
        use OpCode::*;
        let mode = self.mode;
        // SAFETY: the caller's promise is handed on.
        unsafe {
            match self.op {
                VconvDeq => {
                    let scale = f64::from(Half(self.scale as u16).to_f32());
                    self.map(|a: i32| Half::from_f64(f64::from(a) * scale, mode.overflow));
                }
                VconvDeqs162b8 | VconvVdeqs162b8 => self.half_blocks(),
                Vaddreluconv | Vsubreluconv | Vmulconv => self.behind_operation(),
                _ => match (self.src_kind, self.dst_kind) {
                    (F32, F16) => self.map(|a| Half::from_f32(a, mode.rounding, mode.overflow)),
                    (F32, Bf16) => self.map(|a| Brain::from_f32(a, mode.rounding, mode.overflow)),
                    (F32, F32) => self.map(|a: f32| round(f64::from(a), mode.rounding) as f32),
                    (F32, S16) => self.map(|a: f32| mode.integer::<i16>(f64::from(a))),
                    (F32, S32) => self.map(|a: f32| mode.integer::<i32>(f64::from(a))),
                    (F32, S64) => self.map(|a: f32| mode.integer::<i64>(f64::from(a))),
                    (F16, S8) => self.map(|a: Half| mode.integer::<i8>(f64::from(a.to_f32()))),
                    (F16, U8) => self.map(|a: Half| mode.integer::<u8>(f64::from(a.to_f32()))),
                    (F16, S16) => self.map(|a: Half| mode.integer::<i16>(f64::from(a.to_f32()))),
                    (F16, S32) => self.map(|a: Half| mode.integer::<i32>(f64::from(a.to_f32()))),
                    (F16, S4) => self.to_nibbles(),
                    (S4, F16) => self.expand_nibbles(),
                    (F16, F32) => self.map(Half::to_f32),
                    (Bf16, F32) => self.map(Brain::to_f32),
                    (Bf16, S32) => self.map(|a: Brain| mode.integer::<i32>(f64::from(a.to_f32()))),
                    (S16, F16) => self.map(|a: i16| {
                        Half::from_f32(to_float(i64::from(a), 11, mode.rounding), Rounding::NearestEven, mode.overflow)
                    }),
                    (S16, F32) => self.map(|a: i16| f32::from(a)),
                    (S8, F16) => self.map(|a: i8| Half::from_f32_nearest(f32::from(a))),
                    (U8, F16) => self.map(|a: u8| Half::from_f32_nearest(f32::from(a))),
                    (S32, F32) => self.map(|a: i32| to_float(i64::from(a), 24, mode.rounding)),
                    (S64, F32) => self.map(|a: i64| to_float(a, 24, mode.rounding)),
                    (S32, S64) => self.map(|a: i32| i64::from(a)),
                    (S32, S16) => self.map(|a: i32| mode.narrowed::<i16>(i64::from(a))),
                    (S64, S32) => self.map(|a: i64| mode.narrowed::<i32>(a)),
                    // `exists` lets nothing else pass.
                    _ => {}
                },
            }
        }
    }

    unsafe fn map<S: Element, D: Element>(&self, apply: impl Fn(S) -> D) {
        let lanes = self.repeats.lanes;
        let (mut from, mut to) = ([S::default(); LANES], [D::default(); LANES]);
        for repeat in 0..self.repeats.count {
            let mask = self.repeats.mask(repeat);
            // SAFETY: only enabled elements are touched, and those were declared and checked.
            unsafe { self.src0.load_enabled(repeat, mask, lanes, &mut from) };
            for lane in 0..lanes {
                to[lane] = apply(from[lane]);
            }
            // SAFETY: as above.
            unsafe { self.dst.store(repeat, mask, lanes, &to) };
        }
    }

    unsafe fn behind_operation(&self) {
        use ElementType::{F16, F32, S8, S16, U8};
        let mode = self.mode;
        let combine = |a: f64, b: f64| match self.op {
            OpCode::Vaddreluconv => relu(a + b),
            OpCode::Vsubreluconv => relu(a - b),
            _ => a * b,
        };
        let half = |a: Half| f64::from(a.to_f32());
        // SAFETY: the caller's promise is handed on.
        unsafe {
            match (self.src_kind, self.dst_kind) {
                (F16, S8) => self.map2(|a, b| mode.integer::<i8>(combine(half(a), half(b)))),
                (F16, U8) => self.map2(|a, b| mode.integer::<u8>(combine(half(a), half(b)))),
                (F32, F16) => self.map2(|a: f32, b: f32| {
                    let sum = combine(f64::from(a), f64::from(b)) as f32;
                    Half::from_f32(sum, Rounding::NearestEven, mode.overflow)
                }),
                (S16, S8) => self.map2(|a: i16, b: i16| {
                    use crate::aicore::element::Number;
                    let sum = match self.op {
                        OpCode::Vaddreluconv => a.add(b, self.arithmetic),
                        _ => a.sub(b, self.arithmetic),
                    };
                    mode.narrowed::<i8>(i64::from(sum.relu()))
                }),
                // `exists` lets nothing else pass.
                _ => {}
            }
        }
    }

    unsafe fn map2<S: Element, D: Element>(&self, apply: impl Fn(S, S) -> D) {
        let Some(src1) = &self.src1 else { return };
        let lanes = self.repeats.lanes;
        let (mut a, mut b, mut to) = ([S::default(); LANES], [S::default(); LANES], [D::default(); LANES]);
        for repeat in 0..self.repeats.count {
            let mask = self.repeats.mask(repeat);
            // SAFETY: only enabled elements are touched, and those were declared and checked.
            unsafe {
                self.src0.load_enabled(repeat, mask, lanes, &mut a);
                src1.load_enabled(repeat, mask, lanes, &mut b);
            }
            for lane in 0..lanes {
                to[lane] = apply(a[lane], b[lane]);
            }
            // SAFETY: as above.
            unsafe { self.dst.store(repeat, mask, lanes, &to) };
        }
    }

    /// Byte and shift of nibble number `lane` of a repeat.
    fn nibble(operand: &Strided, repeat: u64, lane: usize) -> (u64, u32) {
        let per_block = operand.per_block();
        let address = operand.block_address(repeat, (lane / per_block) as u64) + (lane % per_block / 2) as u64;
        (address, (lane % 2 * 4) as u32)
    }

    unsafe fn to_nibbles(&self) {
        let mut from = [Half::default(); LANES];
        self.for_each_mask(|repeat, mask| {
            // SAFETY: only enabled elements are touched, and those were declared and checked.
            unsafe { self.src0.load_enabled(repeat, mask, self.repeats.lanes, &mut from) };
            for lane in (0..self.repeats.lanes).filter(|lane| mask.has(*lane)) {
                let rounded = round(f64::from(from[lane].to_f32()), self.mode.rounding);
                let value = if self.mode.truncates { rounded as i64 } else { (rounded as i64).clamp(-8, 7) };
                let (address, shift) = Self::nibble(&self.dst, repeat, lane);
                // SAFETY: the byte of an enabled element.
                unsafe {
                    let byte = address as *mut u8;
                    *byte = *byte & !(0xf << shift) | ((value & 0xf) as u8) << shift;
                }
            }
        });
    }

    unsafe fn expand_nibbles(&self) {
        let mut to = [Half::default(); LANES];
        self.for_each_mask(|repeat, mask| {
            for lane in (0..self.repeats.lanes).filter(|lane| mask.has(*lane)) {
                let (address, shift) = Self::nibble(&self.src0, repeat, lane);
                // SAFETY: the byte of an enabled element.
                let nibble = unsafe { *(address as *const u8) } >> shift & 0xf;
                let value = (nibble as i8) << 4 >> 4;
                to[lane] = Half::from_f32_nearest(f32::from(value));
            }
            // SAFETY: only enabled elements are touched, and those were declared and checked.
            unsafe { self.dst.store(repeat, mask, self.repeats.lanes, &to) };
        });
    }

    fn for_each_mask(&self, mut visit: impl FnMut(u64, &LaneMask)) {
        for repeat in 0..self.repeats.count {
            visit(repeat, self.repeats.mask(repeat));
        }
    }

    unsafe fn half_blocks(&self) {
        let vector = self.op == OpCode::VconvVdeqs162b8;
        let mut from = [0i16; LANES];
        self.for_each_mask(|repeat, mask| {
            // SAFETY: only enabled elements are touched, and those were declared and checked.
            unsafe { self.src0.load_enabled(repeat, mask, self.repeats.lanes, &mut from) };
            for lane in (0..self.repeats.lanes).filter(|lane| mask.has(*lane)) {
                let word = if vector {
                    // SAFETY: 16 words were declared.
                    unsafe { (self.scale as *const u64).add(lane % 16).read_unaligned() }
                } else {
                    self.scale
                };
                let half = if self.high { BLOCK / 2 } else { 0 };
                let address = self.dst.block_address(repeat, (lane / 16) as u64) + half + (lane % 16) as u64;
                // SAFETY: the byte of an enabled element.
                unsafe { *(address as *mut u8) = dequantized(from[lane], word) };
            }
        });
    }
}

/// `sat(round(value * scale) + offset)` with the fields of a quantisation word.
fn dequantized(value: i16, word: u64) -> u8 {
    let scale = f32::from_bits(word as u32 & !0x1fff);
    let offset = (word >> 37 & 0x1ff) as i64;
    let offset = if offset >= 256 { offset - 512 } else { offset };
    let rounded = (f64::from(value) * f64::from(scale)).round_ties_even() as i64;
    let sum = rounded.saturating_add(offset);
    if word >> 46 & 1 != 0 { sum.clamp(-128, 127) as i8 as u8 } else { sum.clamp(0, 255) as u8 }
}

/// Calls `visit` with repeat, block and the range of enabled 16-bit elements in it, as byte numbers of half a block.
fn for_each_half_block(repeats: &Repeats, mut visit: impl FnMut(u64, u64, u64, u64)) {
    for repeat in 0..repeats.count {
        let mask = repeats.mask(repeat);
        for block in 0..8 {
            let lanes = || (0..16usize).filter(|lane| mask.has(block * 16 + lane));
            if let (Some(first), Some(last)) = (lanes().next(), lanes().next_back()) {
                visit(repeat, block as u64, first as u64, last as u64 + 1);
            }
        }
    }
}

fn relu(value: f64) -> f64 {
    if value.is_nan() || value > 0.0 { value } else { 0.0 }
}

/// Rounds to an integer.
fn round(value: f64, rounding: Rounding) -> f64 {
    match rounding {
        Rounding::NearestEven => value.round_ties_even(),
        Rounding::NearestAway => value.round(),
        Rounding::Down => value.floor(),
        Rounding::Up => value.ceil(),
        Rounding::TowardZero | Rounding::Odd => value.trunc(),
    }
}

/// An integer as a float with `bits` bits of precision.
fn to_float(value: i64, bits: u32, rounding: Rounding) -> f32 {
    let magnitude = value.unsigned_abs();
    let excess = (64 - magnitude.leading_zeros()).saturating_sub(bits);
    let kept = if excess == 0 { magnitude } else { drop_bits(magnitude, excess, value < 0, rounding) };
    // At most one bit more than fits, and then it is a power of two: both steps are exact.
    let result = kept as f32 * (1u64 << excess) as f32;
    if value < 0 { -result } else { result }
}

/// Integers that conversions make.
trait Narrow: Element {
    const MIN: i64;
    const MAX: i64;
    fn low_bits(value: i64) -> Self;
}

macro_rules! narrow {
    ($($type:ty),*) => { $(
        impl Narrow for $type {
            const MIN: i64 = <$type>::MIN as i64;
            const MAX: i64 = <$type>::MAX as i64;
            fn low_bits(value: i64) -> Self { value as Self }
        }
    )* };
}
narrow!(i8, u8, i16, i32, i64);

impl Mode {
    /// A float as an integer; NaN becomes 0.
    fn integer<T: Narrow>(&self, value: f64) -> T {
        self.narrowed(round(value, self.rounding) as i64)
    }

    /// An integer as a narrower one.
    fn narrowed<T: Narrow>(&self, value: i64) -> T {
        T::low_bits(if self.truncates { value } else { value.clamp(T::MIN, T::MAX) })
    }
}
