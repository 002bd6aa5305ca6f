//! What the header of an object for the device says about the code in it.

use super::{Chip, CoreKind};

/// `e_flags` of an object for the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CodeTarget {
    /// Code of a core kind of a chip that super kernels are built for.
    Core(Chip, CoreKind),
    /// Code of another chip, which is called so.
    OtherChip(&'static str),
    /// Nobody has said what these mean.
    Unknown,
}

impl CodeTarget {
    /// Reads `e_flags`.
    pub(crate) fn of(flags: u32) -> Self {
        match flags {
            0x93_0000 => Self::Core(Chip::C220, CoreKind::Aiv),
            0x94_0000 => Self::Core(Chip::C220, CoreKind::Aic),
            0x99_0000 => Self::Core(Chip::C310, CoreKind::Aiv),
            0x9a_0000 => Self::Core(Chip::C310, CoreKind::Aic),
            0x8a_0000 | 0x8b_0000 => Self::OtherChip("Ascend310P"),
            0x86_0000 => Self::OtherChip("Ascend910A"),
            _ => Self::Unknown,
        }
    }
}

/// The section with the stack that each function of an object needs.
pub(crate) const STACK_RECORD: &str = ".ascend.stack.size.record";

/// The stack that code of c220 must be compiled for: block-local variables lie at its bottom, and the super kernel's own
/// code looks for them there.
pub(crate) const STACK_BYTES: u64 = 0x8000;

/// A relocation of a call instruction, and how far it reaches in both directions.
pub(crate) const CALL: u32 = 0x11b;
pub(crate) const CALL_REACH: i128 = 1 << 17;
