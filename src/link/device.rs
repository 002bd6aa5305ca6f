//! The relocations of AI cores: what each stores, and where.

use super::error::Unfit;
use crate::artifact::BLOCK_LOCAL_ROOM;

/// Bytes that high and low part of an address are apart.
const PAGE: i128 = 4096;

/// A relocation that has a meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Relocation {
    /// Nothing.
    None,
    /// Offset of a block-local variable.
    BlockLocal,
    /// A call near by.
    Call,
    /// A call over any distance.
    LongCall,
    /// The address of code or data, relative to the instructions that make it.
    Address,
    /// The part of an address above its lowest 12 bits.
    High,
    /// The lowest 12 bits of an address.
    Low,
    /// An address in SIMT code.
    Simt,
    /// An address in 64 bits.
    Absolute64,
    /// An address in 32 bits.
    Absolute32,
}

impl Relocation {
    /// By its number in files.
    pub(crate) fn of(kind: u32) -> Option<Self> {
        Some(match kind {
            0 => Self::None,
            0x101 => Self::Absolute64,
            0x102 => Self::Absolute32,
            0x11b => Self::Call,
            0x11d => Self::High,
            0x11e => Self::Low,
            0x123 => Self::BlockLocal,
            0x137 => Self::Simt,
            0x13a => Self::LongCall,
            0x15c => Self::Address,
            _ => return None,
        })
    }

    /// Bytes from the place on that may be written.
    pub(crate) fn length(self) -> usize {
        match self {
            Self::None => 0,
            Self::BlockLocal | Self::Call | Self::High | Self::Low | Self::Absolute32 => 4,
            Self::Simt | Self::Absolute64 => 8,
            Self::LongCall => 12,
            Self::Address => 16,
        }
    }

    /// Stores `target` (symbol and addend) into the bytes at `place`, of which there are [`Self::length`].
    pub(crate) fn apply(self, field: &mut [u8], target: i128, place: u64) -> Result<(), Unfit> {
        let distance = |base: i128| target - i128::from(place) - base;
        match self {
            Self::None => {}
            Self::BlockLocal => {
                let highest = i128::from(BLOCK_LOCAL_ROOM) - 1;
                put(field, 0, 12, within("the offset of a block-local variable", target, 0, highest)?);
            }
            Self::Call => {
                let bytes = distance(0);
                // Said in bytes, as people measure code.
                within("a call", bytes, -(1 << 17), (1 << 17) - 4)?;
                put(field, 0, 16, instructions(bytes)?);
            }
            Self::LongCall => {
                let bytes = distance(12);
                within("a long call", bytes, -(1 << 49), (1 << 49) - 4)?;
                put_parts(field, instructions(bytes)?);
            }
            Self::Address => {
                let bytes = within("an address", distance(16), i64::MIN.into(), i64::MAX.into())?;
                put_parts(field, bytes);
            }
            Self::High => {
                // Relative to the page of the place or not: the same only on the first page.
                if i128::from(place) >= PAGE {
                    return Err(Unfit::Unproven { kind: 0x11d });
                }
                put(field, 0, 16, within("the high part of an address", target.div_euclid(PAGE), 0, (1 << 15) - 1)?);
            }
            Self::Low => put(field, 0, 12, target.rem_euclid(PAGE)),
            Self::Simt => {
                let bytes = within("an address in SIMT code", distance(8), i32::MIN.into(), i32::MAX.into())?;
                put(field, 24, 32, bytes);
            }
            Self::Absolute64 => {
                put(field, 0, 64, within("an address", target, i64::MIN.into(), u64::MAX.into())?);
            }
            Self::Absolute32 => {
                put(field, 0, 32, within("an address of 32 bits", target, i32::MIN.into(), u32::MAX.into())?);
            }
        }
        Ok(())
    }
}

fn within(what: &'static str, needed: i128, lowest: i128, highest: i128) -> Result<i128, Unfit> {
    if (lowest..=highest).contains(&needed) { Ok(needed) } else { Err(Unfit::Reach { what, needed, lowest, highest }) }
}

fn instructions(bytes: i128) -> Result<i128, Unfit> {
    if bytes % 4 == 0 { Ok(bytes / 4) } else { Err(Unfit::Misaligned { needed: bytes }) }
}

/// Writes `count` bits of `value` from bit `from` of the field on; the others stay.
fn put(field: &mut [u8], from: u32, count: u32, value: i128) {
    let mask = ((1_u128 << count) - 1) << from;
    let value = (value as u128) << from & mask;
    for (number, byte) in field.iter_mut().enumerate() {
        let shift = 8 * number;
        *byte = *byte & !((mask >> shift) as u8) | (value >> shift) as u8;
    }
}

/// Writes 16 bits of `value` into the low half of every instruction, the lowest first.
fn put_parts(field: &mut [u8], value: i128) {
    for (number, word) in field.chunks_exact_mut(4).enumerate() {
        put(word, 0, 16, value >> (16 * number));
    }
}
