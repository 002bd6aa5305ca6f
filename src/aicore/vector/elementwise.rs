//! Arithmetic, logic, shifts, copies and fills, element by element.
//!
//! Every repeat is read whole before anything of it is written, so operands that overlap in part do not chain.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a family names its own among all instructions and element types; the rest is not for it"
)]

use super::repeat::{LANES, Repeats, Strided, arithmetic, repeat_count, repeat_stride};
use crate::aicore::arguments::Arguments;
use crate::aicore::element::{Arithmetic, Element, Number, Real};
use crate::aicore::float16::F16;
use crate::aicore::operand::{Access, Operands};
use crate::aicore::{ElementType, Fault, OpCode};

/// One instruction of this family.
#[derive(Debug, Clone)]
pub(crate) struct Elementwise {
    op: OpCode,
    kind: ElementType,
    /// The destination is wider than the sources: `f32 += f16 * f16`.
    widens: bool,
    repeats: Repeats,
    dst: Strided,
    src0: Option<Strided>,
    src1: Option<Strided>,
    scalar: u64,
    /// `vshr`: add the last bit shifted out.
    rounds: bool,
    mode: Arithmetic,
}

/// How many operands, and where the words lie.
enum Form {
    Unary,
    Binary,
    Scalar,
    Fill,
}

fn form(op: OpCode) -> Option<Form> {
    use OpCode::*;
    Some(match op {
        Vadd | Vsub | Vmul | Vdiv | Vmax | Vmin | Vand | Vor | Vaddrelu | Vsubrelu | Vmla | Vmadd | Vmaddrelu => {
            Form::Binary
        }
        Vnot | Vabs | Vexp | Vln | Vsqrt | Vrsqrt | Vrec | Vrelu | Vcopy => Form::Unary,
        Vadds | Vmuls | Vmaxs | Vmins | Vlrelu | Vshl | Vshr | Vaxpy => Form::Scalar,
        VectorDup => Form::Fill,
        _ => return None,
    })
}

/// Does the chip have this instruction for these types (destination, sources)?
pub(super) fn exists(op: OpCode, dst: ElementType, src: ElementType) -> bool {
    use ElementType::*;
    use OpCode::*;
    if dst != src {
        return matches!((op, dst, src), (Vmla | Vaxpy, F32, F16));
    }
    let float = matches!(dst, F16 | F32);
    match op {
        Vadd | Vsub | Vmul | Vmax | Vmin | Vadds | Vmuls | Vmaxs | Vmins => float || matches!(dst, S16 | S32),
        Vdiv | Vabs | Vexp | Vln | Vsqrt | Vrsqrt | Vrec | Vlrelu | Vaxpy | Vmla | Vmadd | Vmaddrelu => float,
        Vand | Vor | Vnot => matches!(dst, S16 | U16),
        Vrelu => float || dst == S32,
        Vaddrelu | Vsubrelu => float || dst == S16,
        Vshl | Vshr => matches!(dst, S16 | U16 | S32 | U32),
        Vcopy | VectorDup => matches!(dst.bits(), 16 | 32),
        _ => false,
    }
}

/// A function in double precision, rounded once. Not a pointer to it: short ones become part of the loop.
fn exactly<T: Real>(mode: Arithmetic, function: impl Fn(f64) -> f64) -> impl Fn(T, T, T) -> T {
    move |a, _, _| T::from_f64(function(a.to_f64()), mode)
}

impl Elementwise {
    /// Decodes a record; `None` if it is of another family.
    pub(crate) fn decode(arguments: &Arguments<'_>) -> Result<Option<Self>, Fault> {
        let op = arguments.op;
        let Some(form) = form(op) else { return Ok(None) };
        let kind = arguments.kind(0);
        let source = if matches!(form, Form::Fill) { kind } else { arguments.kind(1) };
        if !exists(op, kind, source) {
            return Err(arguments.wrong_types());
        }
        let registers = &arguments.core.registers;
        let word = |at: usize| arguments.word(at);
        let stride_bits = if matches!(op, OpCode::Vcopy | OpCode::VectorDup) { 16 } else { 8 };
        let strided = |address: usize, block: usize, repeat: usize, kind: ElementType| {
            let repeat = repeat_stride(arguments, repeat, ["dst", "src0", "src1"][address], stride_bits)?;
            Ok::<_, Fault>(Strided::new(arguments, address, word(block), repeat, kind.bits()))
        };
        let (at, dst, src0, src1) = match form {
            Form::Unary => (2, strided(0, 3, 5, kind)?, Some(strided(1, 4, 6, source)?), None),
            Form::Binary => {
                (3, strided(0, 4, 7, kind)?, Some(strided(1, 5, 8, source)?), Some(strided(2, 6, 9, source)?))
            }
            Form::Scalar => (3, strided(0, 4, 6, kind)?, Some(strided(1, 5, 7, source)?), None),
            Form::Fill => (2, strided(0, 3, 5, kind)?, None, None),
        };
        let scalar = match form {
            Form::Scalar => word(2),
            Form::Fill => word(1),
            Form::Unary | Form::Binary => 0,
        };
        let repeats = Repeats::new(registers, repeat_count(arguments, at)?, kind.bits());
        if dst.block == 0 && repeats.reaches_beyond(dst.per_block()) {
            return Err(arguments.fault("the destination's block stride is 0"));
        }
        Ok(Some(Self {
            op,
            kind,
            widens: kind != source,
            repeats,
            dst,
            src0,
            src1,
            scalar,
            rounds: op == OpCode::Vshr && word(8) != 0,
            mode: arithmetic(registers),
        }))
    }

    /// Adds everything it reads and writes.
    pub(crate) fn operands(&self, operands: &mut Operands) {
        use OpCode::*;
        if let Some(src) = &self.src0 {
            src.declare(operands, "src0", Access::Read, &self.repeats);
        }
        if let Some(src) = &self.src1 {
            src.declare(operands, "src1", Access::Read, &self.repeats);
        }
        if matches!(self.op, Vmla | Vmadd | Vmaddrelu | Vaxpy) {
            self.dst.declare(operands, "dst", Access::Read, &self.repeats);
        }
        self.dst.declare(operands, "dst", Access::Write, &self.repeats);
    }

    /// Does it.
    ///
    /// # Safety
    /// As for [`crate::aicore::Instruction::execute`].
    pub(crate) unsafe fn execute(&self) {
        // SAFETY: the caller's promise is handed on.
        unsafe {
            match self.kind {
                ElementType::F32 if self.widens => self.accumulate_halves(),
                ElementType::F32 => self.reals::<f32>(),
                ElementType::F16 => self.reals::<F16>(),
                ElementType::S16 => self.integers::<i16>(|a, n| a << n, |a, n| a >> n),
                ElementType::U16 => self.integers::<u16>(|a, n| a << n, |a, n| a >> n),
                ElementType::S32 => self.integers::<i32>(|a, n| a << n, |a, n| a >> n),
                ElementType::U32 => self.integers::<u32>(|a, n| a << n, |a, n| a >> n),
                ElementType::Bf16 => self.copies::<u16>(),
                ElementType::None
                | ElementType::S4
                | ElementType::S8
                | ElementType::U8
                | ElementType::S64
                | ElementType::U64 => {}
            }
        }
    }

    unsafe fn map<T: Element>(&self, apply: impl Fn(T, T, T) -> T) {
        let lanes = self.repeats.lanes;
        let (mut a, mut b, mut out) = ([T::default(); LANES], [T::default(); LANES], [T::default(); LANES]);
        let keeps = matches!(self.op, OpCode::Vmla | OpCode::Vmadd | OpCode::Vmaddrelu | OpCode::Vaxpy);
        for repeat in 0..self.repeats.count {
            let mask = self.repeats.mask(repeat);
            // SAFETY: only enabled elements are touched, and those were declared and checked.
            unsafe {
                if let Some(src) = &self.src0 {
                    src.load_enabled(repeat, mask, lanes, &mut a);
                }
                if let Some(src) = &self.src1 {
                    src.load_enabled(repeat, mask, lanes, &mut b);
                }
                if keeps {
                    self.dst.load_enabled(repeat, mask, lanes, &mut out);
                }
            }
            for lane in 0..lanes {
                out[lane] = apply(a[lane], b[lane], out[lane]);
            }
            // SAFETY: as above.
            unsafe { self.dst.store(repeat, mask, lanes, &out) };
        }
    }

    unsafe fn reals<T: Real>(&self) {
        use OpCode::*;
        let mode = self.mode;
        let scalar = T::from_word(self.scalar);
        // SAFETY: the caller's promise is handed on.
        unsafe {
            match self.op {
                Vadd => self.map(|a: T, b, _| a.add(b, mode)),
                Vsub => self.map(|a: T, b, _| a.sub(b, mode)),
                Vmul => self.map(|a: T, b, _| a.mul(b, mode)),
                Vdiv => self.map(|a: T, b, _| a.div(b, mode)),
                Vmax => self.map(|a: T, b, _| a.max(b)),
                Vmin => self.map(|a: T, b, _| a.min(b)),
                Vaddrelu => self.map(|a: T, b, _| a.add(b, mode).relu()),
                Vsubrelu => self.map(|a: T, b, _| a.sub(b, mode).relu()),
                Vmla => self.map(|a: T, b, old| a.fused(b, old, mode)),
                Vmadd => self.map(|a: T, b, old| a.fused(old, b, mode)),
                Vmaddrelu => self.map(|a: T, b, old| a.fused(old, b, mode).relu()),
                Vabs => self.map(|a: T, _, _| a.abs()),
                Vexp => self.map(exactly::<T>(mode, f64::exp)),
                Vln => self.map(exactly::<T>(mode, f64::ln)),
                Vsqrt => self.map(exactly::<T>(mode, f64::sqrt)),
                Vrsqrt => self.map(exactly::<T>(mode, |a| 1.0 / a.sqrt())),
                Vrec => self.map(exactly::<T>(mode, |a| 1.0 / a)),
                Vrelu => self.map(|a: T, _, _| a.relu()),
                Vcopy => self.map(|a: T, _, _| a),
                Vadds => self.map(|a: T, _, _| a.add(scalar, mode)),
                Vmuls => self.map(|a: T, _, _| a.mul(scalar, mode)),
                Vmaxs => self.map(|a: T, _, _| a.max(scalar)),
                Vmins => self.map(|a: T, _, _| a.min(scalar)),
                Vlrelu => self.map(|a: T, _, _| if a.less(T::default()) { a.mul(scalar, mode) } else { a }),
                Vaxpy => self.map(|a: T, _, old| a.fused(scalar, old, mode)),
                VectorDup => self.map(|_, _, _| scalar),
                _ => {}
            }
        }
    }

    unsafe fn integers<T>(&self, left: fn(T, u32) -> T, right: fn(T, u32) -> T)
    where
        T: Number + std::ops::BitAnd<Output = T> + std::ops::BitOr<Output = T> + std::ops::Not<Output = T> + PartialOrd,
    {
        use OpCode::*;
        let mode = self.mode;
        let scalar = T::from_word(self.scalar);
        let one = T::from_word(1);
        let bits = self.kind.bits() as u32;
        let distance = self.scalar.min(u64::from(bits)) as u32;
        let signed = matches!(self.kind, ElementType::S16 | ElementType::S32);
        let zero = T::default();
        let shift_right = |a: T| {
            if distance == bits {
                // Only the sign is left of it.
                return if a < zero { zero.sub(one, mode) } else { zero };
            }
            right(a, distance)
        };
        let round = |a: T| if self.rounds && signed && distance > 0 { right(a, distance - 1) & one } else { zero };
        // SAFETY: the caller's promise is handed on.
        unsafe {
            match self.op {
                Vadd => self.map(|a: T, b, _| a.add(b, mode)),
                Vsub => self.map(|a: T, b, _| a.sub(b, mode)),
                Vmul => self.map(|a: T, b, _| a.mul(b, mode)),
                Vmax => self.map(|a: T, b, _| Number::max(a, b)),
                Vmin => self.map(|a: T, b, _| Number::min(a, b)),
                Vaddrelu => self.map(|a: T, b, _| a.add(b, mode).relu()),
                Vsubrelu => self.map(|a: T, b, _| a.sub(b, mode).relu()),
                Vand => self.map(|a: T, b, _| a & b),
                Vor => self.map(|a: T, b, _| a | b),
                Vnot => self.map(|a: T, _, _| !a),
                Vrelu => self.map(|a: T, _, _| a.relu()),
                Vcopy => self.map(|a: T, _, _| a),
                Vadds => self.map(|a: T, _, _| a.add(scalar, mode)),
                Vmuls => self.map(|a: T, _, _| a.mul(scalar, mode)),
                Vmaxs => self.map(|a: T, _, _| Number::max(a, scalar)),
                Vmins => self.map(|a: T, _, _| Number::min(a, scalar)),
                Vshl => self.map(|a: T, _, _| if distance == bits { zero } else { left(a, distance) }),
                Vshr => self.map(|a: T, _, _| {
                    let wrapping = Arithmetic { saturates: false, ..mode };
                    shift_right(a).add(round(a), wrapping)
                }),
                VectorDup => self.map(|_, _, _| scalar),
                _ => {}
            }
        }
    }

    unsafe fn copies<T: Element>(&self) {
        // SAFETY: the caller's promise is handed on; a scalar of 16 bits lies in the low end of its word.
        unsafe {
            if self.op == OpCode::VectorDup {
                let scalar = (&raw const self.scalar).cast::<T>().read();
                self.map(|_, _, _| scalar);
            } else {
                self.map(|a: T, _, _| a);
            }
        }
    }

    /// `f32 += f16 * f16`: the product is exact.
    unsafe fn accumulate_halves(&self) {
        let lanes = self.repeats.lanes;
        let (mut a, mut b, mut out) = ([F16::default(); LANES], [F16::default(); LANES], [0f32; LANES]);
        if self.src1.is_none() {
            b.fill(F16::from_word(self.scalar));
        }
        for repeat in 0..self.repeats.count {
            let mask = self.repeats.mask(repeat);
            // SAFETY: only enabled elements are touched, and those were declared and checked.
            unsafe {
                if let Some(src) = &self.src0 {
                    src.load_enabled(repeat, mask, lanes, &mut a);
                }
                if let Some(src) = &self.src1 {
                    src.load_enabled(repeat, mask, lanes, &mut b);
                }
                self.dst.load_enabled(repeat, mask, lanes, &mut out);
            }
            for lane in 0..lanes {
                out[lane] = a[lane].to_f32().mul_add(b[lane].to_f32(), out[lane]);
            }
            // SAFETY: as above.
            unsafe { self.dst.store(repeat, mask, lanes, &out) };
        }
    }
}
