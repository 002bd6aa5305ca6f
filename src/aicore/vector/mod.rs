//! The vector unit.
//!
//! | file | instructions |
//! |---|---|
//! | [`repeat`] | what they share: repeats, strides, masks |
//! | [`elementwise`] | arithmetic, logic, shifts, copies and fills element by element |
//! | [`copy`] | copies in count mode |
//! | [`convert`] | conversions between element types, alone or behind an operation |
//! | [`compare`] | comparisons into bits, selection by bits, the compare-mask register |
//! | [`reduce`] | sums and extremes of repeats, blocks and pairs |
//! | [`gather`] | gathering by offset, packing by pattern, broadcasting |
//! | [`sort`] | sorting and merging records |
//! | [`transpose`] | transposition of small matrices, the address registers of their rows |

pub(crate) mod compare;
pub(crate) mod convert;
pub(crate) mod copy;
pub(crate) mod elementwise;
pub(crate) mod gather;
pub(crate) mod reduce;
pub(crate) mod repeat;
pub(crate) mod sort;
pub(crate) mod transpose;

use super::Fault;
use super::arguments::Arguments;
use super::operand::Operands;
use super::registers::Registers;
use compare::{Compare, MoveCompareMask, Select};
use convert::Convert;
use copy::CountedCopy;
use elementwise::Elementwise;
use gather::{Broadcast, Gather, GatherBlocks, Pack};
use reduce::Reduce;
use sort::{Merge, Sort};
use transpose::{LoadAddresses, Transpose};

/// A decoded instruction of the vector unit.
#[derive(Debug, Clone)]
pub(crate) enum VectorInstruction {
    CountedCopy(CountedCopy),
    Elementwise(Elementwise),
    Convert(Convert),
    Compare(Compare),
    MoveCompareMask(MoveCompareMask),
    Select(Select),
    Reduce(Reduce),
    Gather(Gather),
    GatherBlocks(GatherBlocks),
    Pack(Pack),
    Broadcast(Broadcast),
    Sort(Sort),
    Merge(Merge),
    Transpose(Transpose),
    LoadAddresses(LoadAddresses),
}

impl VectorInstruction {
    /// Decodes a record; `None` if it is not for the vector unit.
    pub(crate) fn decode(arguments: &Arguments<'_>) -> Result<Option<Self>, Fault> {
        first_of!(arguments; CountedCopy, Elementwise, Convert, Compare, MoveCompareMask, Select, Reduce, Gather);
        first_of!(arguments; GatherBlocks, Pack, Broadcast, Sort, Merge, Transpose, LoadAddresses);
        Ok(None)
    }

    /// Adds everything it reads and writes.
    pub(crate) fn operands(&self, operands: &mut Operands) {
        match self {
            Self::CountedCopy(it) => it.operands(operands),
            Self::Elementwise(it) => it.operands(operands),
            Self::Convert(it) => it.operands(operands),
            Self::Compare(it) => it.operands(operands),
            Self::MoveCompareMask(it) => it.operands(operands),
            Self::Select(it) => it.operands(operands),
            Self::Reduce(it) => it.operands(operands),
            Self::Gather(it) => it.operands(operands),
            Self::GatherBlocks(it) => it.operands(operands),
            Self::Pack(it) => it.operands(operands),
            Self::Broadcast(it) => it.operands(operands),
            Self::Sort(it) => it.operands(operands),
            Self::Merge(it) => it.operands(operands),
            Self::Transpose(it) => it.operands(operands),
            Self::LoadAddresses(it) => it.operands(operands),
        }
    }

    /// Does it.
    ///
    /// # Safety
    /// As for [`super::Instruction::execute`].
    pub(crate) unsafe fn execute(&self, registers: &mut Registers) -> Result<(), Fault> {
        // SAFETY: the caller's promise is handed on.
        unsafe {
            match self {
                Self::CountedCopy(it) => it.execute(),
                Self::Elementwise(it) => it.execute(),
                Self::Convert(it) => it.execute(),
                Self::Compare(it) => it.execute(registers),
                Self::MoveCompareMask(it) => it.execute(registers),
                Self::Select(it) => it.execute(registers),
                Self::Reduce(it) => it.execute(registers),
                Self::Gather(it) => return it.execute(),
                Self::GatherBlocks(it) => return it.execute(),
                Self::Pack(it) => it.execute(registers),
                Self::Broadcast(it) => it.execute(),
                Self::Sort(it) => it.execute(),
                Self::Merge(it) => it.execute(registers),
                Self::Transpose(it) => it.execute(),
                Self::LoadAddresses(it) => it.execute(registers),
            }
        }
        Ok(())
    }
}
