//! Sorting and merging records of a score and an index.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a family names its own among all instructions and element types; the rest is not for it"
)]

use std::cmp::Ordering;

use super::repeat::{BLOCK, repeat_count};
use crate::aicore::arguments::Arguments;
use crate::aicore::element::{Number, Real};
use crate::aicore::float16::F16;
use crate::aicore::memory::Memory;
use crate::aicore::operand::{Operands, Shape};
use crate::aicore::registers::{Register, Registers};
use crate::aicore::{ElementType, Fault, OpCode};

/// Bytes of a record: the score in the low bytes, the index in the upper four.
const RECORD: u64 = 8;
/// Records of one repeat of `vbitsort`.
const SORTED: u64 = 32;

fn score(kind: ElementType, record: u64) -> f64 {
    match kind {
        ElementType::F16 => F16::from_word(record & 0xffff).to_f64(),
        _ => f64::from(f32::from_word(record & 0xffff_ffff)),
    }
}

/// Higher scores first; a NaN comes before all numbers.
fn before(kind: ElementType, a: u64, b: u64) -> Ordering {
    let (a, b) = (score(kind, a), score(kind, b));
    match (a.is_nan(), b.is_nan()) {
        (true, true) => Ordering::Equal,
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
        (false, false) => b.partial_cmp(&a).unwrap_or(Ordering::Equal),
    }
}

/// `vbitsort`: sorts 32 scores with their indices, repeat by repeat.
#[derive(Debug, Clone)]
pub(crate) struct Sort {
    kind: ElementType,
    repeat: u64,
    dst: u64,
    scores: u64,
    indices: u64,
}

impl Sort {
    /// Decodes a record; `None` if it is of another family.
    pub(crate) fn decode(arguments: &Arguments<'_>) -> Result<Option<Self>, Fault> {
        if arguments.op != OpCode::Vbitsort {
            return Ok(None);
        }
        let kind = arguments.kind(0);
        if !matches!(kind, ElementType::F16 | ElementType::F32) {
            return Err(arguments.wrong_types());
        }
        let address = |at| arguments.address(at, Memory::Ub);
        let repeat = repeat_count(arguments, 3)?;
        Ok(Some(Self { kind, repeat, dst: address(0), scores: address(1), indices: address(2) }))
    }

    /// Adds everything it reads and writes.
    pub(crate) fn operands(&self, operands: &mut Operands) {
        let size = self.kind.bits() / 8;
        let rows = |bytes| Shape::cube((self.repeat, bytes), (1, 0), (1, 0), bytes);
        operands.read("src0", Memory::Ub, self.scores, rows(SORTED * size), BLOCK);
        operands.read("src1", Memory::Ub, self.indices, rows(SORTED * 4), BLOCK);
        operands.write("dst", Memory::Ub, self.dst, rows(SORTED * RECORD), BLOCK);
    }

    /// Does it.
    ///
    /// # Safety
    /// As for [`crate::aicore::Instruction::execute`].
    pub(crate) unsafe fn execute(&self) {
        let size = self.kind.bits() / 8;
        for repeat in 0..self.repeat {
            let mut records: [u64; SORTED as usize] = std::array::from_fn(|lane| {
                let at = repeat * SORTED + lane as u64;
                // SAFETY: declared and checked.
                unsafe {
                    let score = if size == 2 {
                        u64::from(((self.scores + at * 2) as *const u16).read_unaligned())
                    } else {
                        u64::from(((self.scores + at * 4) as *const u32).read_unaligned())
                    };
                    score | u64::from(((self.indices + at * 4) as *const u32).read_unaligned()) << 32
                }
            });
            records.sort_by(|a, b| before(self.kind, *a, *b));
            for (lane, record) in records.into_iter().enumerate() {
                let at = self.dst + (repeat * SORTED + lane as u64) * RECORD;
                // SAFETY: as above.
                unsafe { (at as *mut u64).write_unaligned(record) };
            }
        }
    }
}

/// `vmrgsort4`: merges up to four sorted lists.
#[derive(Debug, Clone)]
pub(crate) struct Merge {
    kind: ElementType,
    repeat: u64,
    /// Address and records of every list; records are 0 for a list that takes no part.
    lists: [(u64, u64); 4],
    stops_early: bool,
    dst: u64,
}

impl Merge {
    /// Decodes a record; `None` if it is of another family.
    pub(crate) fn decode(arguments: &Arguments<'_>) -> Result<Option<Self>, Fault> {
        if arguments.op != OpCode::Vmrgsort4 {
            return Ok(None);
        }
        let kind = arguments.kind(0);
        if !matches!(kind, ElementType::F16 | ElementType::F32) {
            return Err(arguments.wrong_types());
        }
        let (lengths, config) = (arguments.word(5), arguments.word(6));
        let (repeat, valid, stops_early) = (config & 0xff, config >> 8 & 0xf, config >> 12 & 1 != 0);
        if repeat > 0 && !matches!(valid, 3 | 7 | 15) {
            return Err(arguments.fault(format!("valid lists are {valid:#b}; two, three or four can be merged")));
        }
        let list = |at: usize| {
            let takes_part = valid >> at & 1 != 0;
            let length = if takes_part { lengths >> (16 * at) & 0xffff } else { 0 };
            (arguments.address(1 + at, Memory::Ub), length)
        };
        let lists: [(u64, u64); 4] = std::array::from_fn(list);
        if let Some((_, length)) = lists.iter().find(|(_, length)| *length > 4095) {
            return Err(arguments.fault(format!("a list has {length} records; at most 4095 are possible")));
        }
        if repeat > 1 {
            let equal = lists.iter().all(|(_, length)| *length == lists[0].1);
            let in_a_row = lists.windows(2).all(|pair| pair[1].0 == pair[0].0 + pair[0].1 * RECORD);
            if valid != 15 || stops_early || !equal || !in_a_row {
                return Err(arguments.fault("repeats need four equal lists in a row, all valid, without an early stop"));
            }
        }
        Ok(Some(Self { kind, repeat, lists, stops_early, dst: arguments.address(0, Memory::Ub) }))
    }

    fn records(&self) -> u64 {
        self.lists.iter().map(|(_, length)| length).sum()
    }

    /// Adds everything it reads and writes.
    pub(crate) fn operands(&self, operands: &mut Operands) {
        let step = self.records() * RECORD;
        let rows = |bytes| Shape::cube((self.repeat, step), (1, 0), (1, 0), bytes);
        for (name, (address, length)) in ["src0", "src1", "src2", "src3"].into_iter().zip(self.lists) {
            operands.read(name, Memory::Ub, address, rows(length * RECORD), RECORD);
        }
        operands.write("dst", Memory::Ub, self.dst, rows(step), RECORD);
    }

    /// Does it.
    ///
    /// # Safety
    /// As for [`crate::aicore::Instruction::execute`].
    pub(crate) unsafe fn execute(&self, registers: &mut Registers) {
        let step = self.records() * RECORD;
        let mut taken = [0u64; 4];
        for repeat in 0..self.repeat {
            taken = [0; 4];
            let mut merged = Vec::with_capacity(self.records() as usize);
            let head = |list: usize, at: u64| {
                // SAFETY: declared and checked.
                unsafe { ((self.lists[list].0 + repeat * step + at * RECORD) as *const u64).read_unaligned() }
            };
            let left = |taken: &[u64; 4], list: usize| taken[list] < self.lists[list].1;
            loop {
                let mut best: Option<(usize, u64)> = None;
                for list in (0..4).filter(|list| left(&taken, *list)) {
                    let record = head(list, taken[list]);
                    if best.is_none_or(|(_, found)| before(self.kind, record, found) == Ordering::Less) {
                        best = Some((list, record));
                    }
                }
                let Some((list, record)) = best else { break };
                merged.push(record);
                taken[list] += 1;
                if self.stops_early && !left(&taken, list) {
                    break;
                }
            }
            let target = (self.dst + repeat * step) as *mut u8;
            // SAFETY: at most as much as was declared.
            unsafe { std::ptr::copy_nonoverlapping(merged.as_ptr().cast::<u8>(), target, size_of_val(&merged[..])) };
        }
        if self.repeat > 0 {
            let packed = taken.iter().enumerate().fold(0, |all, (list, count)| all | count << (16 * list));
            registers.set(Register::Vms4Sr, packed);
        }
    }
}
