//! What happens to results on their way out of L0C.

use super::super::float16::{Bf16, F16, Overflow, Rounding};
use crate::aicore::arguments::Arguments;
use crate::aicore::memory::Memory;
use crate::aicore::registers::Register;
use crate::aicore::{ElementType, Fault};

/// A conversion: `QuantMode_t` of `sk_core/types.h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Conversion {
    /// 4 bytes stay as they are.
    None,
    /// Single to half precision.
    F16,
    /// Single precision to bfloat16.
    Bf16,
    /// Single precision to bytes.
    FloatToByte,
    /// Integers to bytes.
    IntegerToByte,
    /// Integers to half precision.
    IntegerToHalf,
}

/// Where the parameters of a conversion are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Parameters {
    /// The same word for all columns, or none at all.
    Word(u64),
    /// A word for every column, from this address in FB on.
    Table(u64),
}

/// How every element is converted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Quantizer {
    conversion: Conversion,
    parameters: Parameters,
    relu: bool,
    overflow: Overflow,
    /// Are results in L0C integers?
    integers: bool,
}

/// The most columns that have a word of their own.
const COLUMNS: u64 = 256;

impl Quantizer {
    /// From the mode in word `mode` and the relu flag in word `relu`; the source has element type number 1.
    pub(crate) fn new(arguments: &Arguments<'_>, mode: usize, relu: usize, columns: u64) -> Result<Self, Fault> {
        let registers = &arguments.core.registers;
        let (conversion, table) = match arguments.word(mode) {
            0 => (Conversion::None, false),
            1 => (Conversion::F16, false),
            2 => (Conversion::Bf16, false),
            3 => (Conversion::FloatToByte, false),
            4 => (Conversion::FloatToByte, true),
            5 => (Conversion::IntegerToByte, false),
            6 => (Conversion::IntegerToByte, true),
            7 => (Conversion::IntegerToHalf, false),
            8 => (Conversion::IntegerToHalf, true),
            _ => return Err(arguments.fault("the chip does not have this conversion")),
        };
        let integers = arguments.kind(1) == ElementType::S32;
        if !integers && arguments.kind(1) != ElementType::F32 {
            return Err(arguments.wrong_types());
        }
        let fits = match conversion {
            Conversion::None => true,
            Conversion::F16 | Conversion::Bf16 | Conversion::FloatToByte => !integers,
            Conversion::IntegerToByte | Conversion::IntegerToHalf => integers,
        };
        if !fits {
            return Err(arguments.wrong_types());
        }
        if table && columns > COLUMNS {
            return Err(arguments.fault(format!("{columns} columns; at most {COLUMNS} have words of their own")));
        }
        // Whole addresses were put together to this register; only the offset in FB is left of them.
        let offset = (registers.get(Register::Fpc) >> 8 & 0xff) * 128;
        let base = arguments.core.memory(Memory::Fb).map_or(0, |memory| memory.base as u64);
        let parameters =
            if table { Parameters::Table(base + offset) } else { Parameters::Word(registers.get(Register::QuantPre)) };
        let overflow = crate::aicore::vector::repeat::arithmetic(registers).overflow;
        Ok(Self { conversion, parameters, relu: arguments.word(relu) & 1 != 0, overflow, integers })
    }

    /// Nothing is converted.
    pub(crate) fn keeps_width(&self) -> bool {
        self.conversion == Conversion::None
    }

    /// Bytes of a converted element.
    pub(crate) fn bytes(&self) -> u64 {
        match self.conversion {
            Conversion::None => 4,
            Conversion::F16 | Conversion::Bf16 | Conversion::IntegerToHalf => 2,
            Conversion::FloatToByte | Conversion::IntegerToByte => 1,
        }
    }

    /// The table it reads, if any.
    pub(crate) fn table(&self) -> Option<u64> {
        match self.parameters {
            Parameters::Word(_) => None,
            Parameters::Table(address) => Some(address),
        }
    }

    /// Converts the element of column `column` whose bits are `bits`, and appends it.
    ///
    /// # Safety
    /// The table must be accessible for this column.
    pub(crate) unsafe fn convert(&self, bits: u32, column: u64, into: &mut Vec<u8>) {
        let word = match self.parameters {
            Parameters::Word(word) => word,
            // SAFETY: the caller's promise.
            Parameters::Table(address) => unsafe { ((address + column * 8) as *const u64).read_unaligned() },
        };
        let single = f32::from_bits(bits);
        let positive = |value: f32| if self.relu && !value.is_nan() { value.max(0.0) } else { value };
        match self.conversion {
            Conversion::None if self.integers => {
                let value = bits as i32;
                into.extend((if self.relu { value.max(0) } else { value }).to_le_bytes());
            }
            Conversion::None => into.extend(positive(single).to_le_bytes()),
            Conversion::F16 => {
                into.extend(F16::from_f32(positive(single), Rounding::NearestEven, self.overflow).0.to_le_bytes());
            }
            Conversion::Bf16 => {
                into.extend(Bf16::from_f32(positive(single), Rounding::NearestEven, self.overflow).0.to_le_bytes());
            }
            Conversion::FloatToByte => into.push(byte(word, self.scaled(single, word))),
            Conversion::IntegerToByte => into.push(byte(word, self.scaled(shifted(bits as i32, word), word))),
            Conversion::IntegerToHalf => {
                let value = self.scaled(shifted(bits as i32, word), word);
                into.extend(F16::from_f32(value, Rounding::NearestEven, self.overflow).0.to_le_bytes());
            }
        }
    }

    /// Times the scale, of which only 10 bits of mantissa count.
    fn scaled(&self, value: f32, word: u64) -> f32 {
        let scale = f32::from_bits(word as u32 & !0x1fff);
        if self.relu && value < 0.0 { 0.0 } else { value * scale }
    }
}

/// An integer, shifted to the right if its word says so.
fn shifted(value: i32, word: u64) -> f32 {
    if word >> 36 & 1 == 0 {
        return value as f32;
    }
    let distance = (word >> 32 & 0xf) + 1;
    (value >> distance).clamp(i32::from(i16::MIN), i32::from(i16::MAX)) as f32
}

/// A byte, signed or not as its word says.
fn byte(word: u64, value: f32) -> u8 {
    // 9 bits, signed.
    let offset = ((word >> 37 & 0x1ff) as i32) << 23 >> 23;
    let value = (value.round_ties_even() as i32).clamp(-256, 255) + offset;
    if word >> 46 & 1 != 0 { value.clamp(-128, 127) as i8 as u8 } else { value.clamp(0, 255) as u8 }
}
