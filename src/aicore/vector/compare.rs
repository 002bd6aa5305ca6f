//! Comparison and selection.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a family names its own among all instructions and element types; the rest is not for it"
)]

use super::repeat::{BLOCK, LANES, REPEAT, Repeats, Strided, repeat_count};
use crate::aicore::arguments::Arguments;
use crate::aicore::element::{Element, Number};
use crate::aicore::float16::F16;
use crate::aicore::memory::Memory;
use crate::aicore::operand::{Access, Operands, Shape};
use crate::aicore::registers::{Register, Registers};
use crate::aicore::{ElementType, Fault, OpCode};

/// How two elements are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Relation {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Relation {
    fn from_word(word: u64) -> Option<Self> {
        let all = [Self::Equal, Self::NotEqual, Self::Less, Self::LessOrEqual, Self::Greater, Self::GreaterOrEqual];
        all.get(word as usize).copied()
    }

    fn holds<T: PartialOrd>(self, a: T, b: T) -> bool {
        match self {
            Self::Equal => a == b,
            Self::NotEqual => a != b,
            Self::Less => a < b,
            Self::LessOrEqual => a <= b,
            Self::Greater => a > b,
            Self::GreaterOrEqual => a >= b,
        }
    }
}

/// Where the bits of a comparison go.
#[derive(Debug, Clone, Copy)]
enum Target {
    /// A bit per element, repeat after repeat.
    Bits(u64),
    /// The compare-mask register.
    Register,
}

/// What an element is compared with.
#[derive(Debug, Clone, Copy)]
enum Other {
    Vector(Strided),
    Scalar(u64),
}

/// A comparison.
#[derive(Debug, Clone)]
pub(crate) struct Compare {
    relation: Relation,
    kind: ElementType,
    repeats: Repeats,
    target: Target,
    src0: Strided,
    src1: Other,
}

impl Compare {
    /// Decodes a record; `None` if it is of another family.
    pub(crate) fn decode(arguments: &Arguments<'_>) -> Result<Option<Self>, Fault> {
        use OpCode::*;
        let word = |at: usize| arguments.word(at);
        let kind = arguments.kind(1);
        let strided = |address, block, repeat| Strided::new(arguments, address, word(block), word(repeat), kind.bits());
        let (target, at, src0, src1, relation) = match arguments.op {
            Vcmpv => (
                Target::Bits(arguments.address(0, Memory::Ub)),
                3,
                strided(1, 5, 8),
                Other::Vector(strided(2, 6, 9)),
                word(10),
            ),
            Vcmpvs => {
                (Target::Bits(arguments.address(0, Memory::Ub)), 3, strided(1, 5, 7), Other::Scalar(word(2)), word(8))
            }
            Vcmp => (Target::Register, 2, strided(0, 4, 7), Other::Vector(strided(1, 5, 8)), word(9)),
            _ => return Ok(None),
        };
        let relation = Relation::from_word(relation).ok_or_else(|| arguments.fault("there is no such comparison"))?;
        let known = match kind {
            ElementType::F16 | ElementType::F32 => true,
            ElementType::S32 => relation == Relation::Equal && arguments.op != Vcmp,
            _ => false,
        };
        if !known {
            return Err(arguments.wrong_types());
        }
        let repeat = repeat_count(arguments, at)?;
        let repeats = match target {
            // These ignore the mask and always write whole repeats.
            Target::Bits(_) => Repeats::whole(repeat, kind.bits()),
            Target::Register => Repeats::new(&arguments.core.registers, 1, kind.bits()),
        };
        Ok(Some(Self { relation, kind, repeats, target, src0, src1 }))
    }

    /// Adds everything it reads and writes.
    pub(crate) fn operands(&self, operands: &mut Operands) {
        self.src0.declare(operands, "src0", Access::Read, &self.repeats);
        if let Other::Vector(src) = &self.src1 {
            src.declare(operands, "src1", Access::Read, &self.repeats);
        }
        if let Target::Bits(address) = self.target {
            let bytes = self.repeats.count * self.repeats.lanes as u64 / 8;
            operands.write("dst", Memory::Ub, address, Shape::row(bytes), BLOCK);
        }
    }

    /// Does it.
    ///
    /// # Safety
    /// As for [`crate::aicore::Instruction::execute`].
    pub(crate) unsafe fn execute(&self, registers: &mut Registers) {
        // SAFETY: the caller's promise is handed on.
        unsafe {
            match self.kind {
                ElementType::F16 => self.run::<F16, f32>(registers, F16::to_f32),
                ElementType::F32 => self.run::<f32, f32>(registers, |a| a),
                _ => self.run::<i32, i32>(registers, |a| a),
            }
        }
    }

    unsafe fn run<T: Number, V: PartialOrd>(&self, registers: &mut Registers, value: impl Fn(T) -> V) {
        let lanes = self.repeats.lanes;
        let (mut a, mut b) = ([T::default(); LANES], [T::default(); LANES]);
        if let Other::Scalar(word) = self.src1 {
            b.fill(T::from_word(word));
        }
        for repeat in 0..self.repeats.count {
            let mask = self.repeats.mask(repeat);
            // SAFETY: only enabled elements are touched, and those were declared and checked.
            unsafe {
                self.src0.load_enabled(repeat, mask, lanes, &mut a);
                if let Other::Vector(src) = &self.src1 {
                    src.load_enabled(repeat, mask, lanes, &mut b);
                }
            }
            let mut bits = [0u64; 2];
            for lane in 0..lanes {
                let holds = self.relation.holds(value(a[lane]), value(b[lane]));
                bits[lane / 64] |= u64::from(holds) << (lane % 64);
            }
            match self.target {
                Target::Bits(address) => {
                    let bytes = lanes / 8;
                    let target = (address + repeat * bytes as u64) as *mut u8;
                    // SAFETY: the row of bits was declared.
                    unsafe { std::ptr::copy_nonoverlapping(bits.as_ptr().cast(), target, bytes) };
                }
                Target::Register => {
                    for (word, register) in [Register::CmpmaskLow, Register::CmpmaskHigh].into_iter().enumerate() {
                        let enabled =
                            (0..64).filter(|lane| mask.has(word * 64 + lane)).fold(0, |all, lane| all | 1 << lane);
                        let kept = registers.get(register) & !enabled;
                        registers.set(register, kept | bits[word] & enabled);
                    }
                }
            }
        }
    }
}

/// `set_cmpmask` and `get_cmpmask`: 16 bytes to and from the compare-mask register.
#[derive(Debug, Clone)]
pub(crate) struct MoveCompareMask {
    address: u64,
    loads: bool,
}

impl MoveCompareMask {
    /// Decodes a record; `None` if it is of another family.
    pub(crate) fn decode(arguments: &Arguments<'_>) -> Result<Option<Self>, Fault> {
        let address = arguments.address(0, Memory::Ub);
        Ok(match arguments.op {
            OpCode::SetCmpmask => {
                // A selection that follows may take the register for the address of its mask, which the scalar unit has
                // just written: it wants what is there now.
                let ub = arguments.core.memory(Memory::Ub);
                if ub.and_then(|ub| ub.offset_of(address).filter(|at| at + 16 <= ub.size)).is_some() {
                    // SAFETY: inside UB, as was just found.
                    arguments.core.mask_address.set(unsafe { (address as *const u64).read_unaligned() });
                }
                Some(Self { address, loads: true })
            }
            OpCode::GetCmpmask => Some(Self { address, loads: false }),
            _ => None,
        })
    }

    /// Adds everything it reads and writes.
    pub(crate) fn operands(&self, operands: &mut Operands) {
        let bytes = Shape::row(16);
        if self.loads {
            operands.read("src", Memory::Ub, self.address, bytes, 16);
        } else {
            operands.write("dst", Memory::Ub, self.address, bytes, 16);
        }
    }

    /// Does it.
    ///
    /// # Safety
    /// As for [`crate::aicore::Instruction::execute`].
    pub(crate) unsafe fn execute(&self, registers: &mut Registers) {
        let words = self.address as *mut u64;
        for (at, register) in [Register::CmpmaskLow, Register::CmpmaskHigh].into_iter().enumerate() {
            // SAFETY: 16 bytes were declared.
            unsafe {
                if self.loads {
                    registers.set(register, words.add(at).read_unaligned());
                } else {
                    words.add(at).write_unaligned(registers.get(register));
                }
            }
        }
    }
}

/// Where a selection finds its bits.
#[derive(Debug, Clone, Copy)]
enum Chooser {
    /// The compare-mask register, for every repeat again.
    Register,
    /// A mask tensor; what is not chosen is a scalar: this one, or that in the register.
    TensorOrScalar(u64, Option<u64>),
    /// A mask tensor.
    Tensor(u64),
}

/// `vsel`: bit 1 takes the first source, bit 0 the second.
#[derive(Debug, Clone)]
pub(crate) struct Select {
    kind: ElementType,
    repeats: Repeats,
    chooser: Chooser,
    dst: Strided,
    src0: Strided,
    src1: Strided,
}

impl Select {
    /// Decodes a record; `None` if it is of another family.
    pub(crate) fn decode(arguments: &Arguments<'_>) -> Result<Option<Self>, Fault> {
        if arguments.op != OpCode::Vsel {
            return Ok(None);
        }
        let kind = arguments.kind(0);
        if !matches!(kind.bits(), 16 | 32) {
            return Err(arguments.wrong_types());
        }
        let word = |at: usize| arguments.word(at);
        let strided = |address, block, repeat| Strided::new(arguments, address, word(block), word(repeat), kind.bits());
        let src1 = strided(2, 6, 9);
        let chooser = match word(10) {
            0 => Chooser::Register,
            1 => Chooser::TensorOrScalar(src1.address, None),
            2 => Chooser::Tensor(arguments.core.address(Memory::Ub, arguments.core.mask_address.get())),
            // Modes 1 and 2 of callers that know the scalar, or where the mask is: no register stands between.
            3 => Chooser::TensorOrScalar(src1.address, Some(word(11))),
            4 => Chooser::Tensor(arguments.core.address(Memory::Ub, word(11))),
            mode => return Err(arguments.fault(format!("there is no mode {mode}"))),
        };
        let repeats = Repeats::new(&arguments.core.registers, repeat_count(arguments, 3)?, kind.bits());
        Ok(Some(Self { kind, repeats, chooser, dst: strided(0, 4, 7), src0: strided(1, 5, 8), src1 }))
    }

    /// Adds everything it reads and writes.
    pub(crate) fn operands(&self, operands: &mut Operands) {
        self.src0.declare(operands, "src0", Access::Read, &self.repeats);
        if !matches!(self.chooser, Chooser::TensorOrScalar(..)) {
            self.src1.declare(operands, "src1", Access::Read, &self.repeats);
        }
        if let Chooser::TensorOrScalar(address, _) | Chooser::Tensor(address) = self.chooser {
            let last = self.repeats.count.saturating_sub(1);
            let tail = (0..self.repeats.lanes).rev().find(|lane| self.repeats.mask(last).has(*lane));
            let bits = last * self.repeats.lanes as u64 + tail.map_or(0, |lane| lane as u64 + 1);
            let bytes = if self.repeats.count == 0 { 0 } else { bits.div_ceil(8) };
            operands.read("mask", Memory::Ub, address, Shape::row(bytes), BLOCK);
        }
        self.dst.declare(operands, "dst", Access::Write, &self.repeats);
    }

    /// Does it.
    ///
    /// # Safety
    /// As for [`crate::aicore::Instruction::execute`].
    pub(crate) unsafe fn execute(&self, registers: &Registers) {
        // SAFETY: the caller's promise is handed on.
        unsafe { if self.kind.bits() == 16 { self.run::<u16>(registers) } else { self.run::<u32>(registers) } }
    }

    unsafe fn run<T: Element + Number>(&self, registers: &Registers) {
        let lanes = self.repeats.lanes;
        let register = [registers.get(Register::CmpmaskLow), registers.get(Register::CmpmaskHigh)];
        let (mut a, mut b) = ([T::default(); LANES], [T::default(); LANES]);
        let scalar = match self.chooser {
            Chooser::TensorOrScalar(_, Some(scalar)) => scalar,
            Chooser::TensorOrScalar(_, None) | Chooser::Register | Chooser::Tensor(_) => register[0],
        };
        b.fill(T::from_word(scalar));
        let bit = |repeat: u64, lane: usize| match self.chooser {
            Chooser::Register => register[lane / 64] >> (lane % 64) & 1 != 0,
            Chooser::TensorOrScalar(address, _) | Chooser::Tensor(address) => {
                let number = repeat * (REPEAT / T::BYTES) + lane as u64;
                // SAFETY: the bits of enabled elements were declared.
                unsafe { *((address + number / 8) as *const u8) >> (number % 8) & 1 != 0 }
            }
        };
        for repeat in 0..self.repeats.count {
            let mask = self.repeats.mask(repeat);
            // SAFETY: only enabled elements are touched, and those were declared and checked.
            unsafe {
                self.src0.load_enabled(repeat, mask, lanes, &mut a);
                if !matches!(self.chooser, Chooser::TensorOrScalar(..)) {
                    self.src1.load_enabled(repeat, mask, lanes, &mut b);
                }
            }
            for lane in (0..lanes).filter(|lane| mask.has(*lane)) {
                if !bit(repeat, lane) {
                    a[lane] = b[lane];
                }
            }
            // SAFETY: as above.
            unsafe { self.dst.store(repeat, mask, lanes, &a) };
        }
    }
}
