//! The memories of a core, and which of them an address belongs to.

/// A memory an operand can lie in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Memory {
    /// Unified buffer of a vector core.
    Ub,
    /// Buffer in front of the cube unit.
    L1,
    /// Left operand of the cube unit.
    L0a,
    /// Right operand of the cube unit.
    L0b,
    /// Results of the cube unit.
    L0c,
    /// Bias table.
    Bt,
    /// Parameters of the fixpipe.
    Fb,
    /// Global memory, shared by all cores.
    Gm,
}

impl Memory {
    /// Local memories, in the order of the arrays that hold one entry for each.
    pub(crate) const LOCAL: [Self; 7] = [Self::Ub, Self::L1, Self::L0a, Self::L0b, Self::L0c, Self::Bt, Self::Fb];

    /// Its name in reports.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ub => "UB",
            Self::L1 => "L1",
            Self::L0a => "L0A",
            Self::L0b => "L0B",
            Self::L0c => "L0C",
            Self::Bt => "BT",
            Self::Fb => "FB",
            Self::Gm => "GM",
        }
    }

    /// Is an address below the size of the memory an offset into it? Device code writes such addresses literally.
    pub(crate) fn takes_offsets(self) -> bool {
        matches!(self, Self::Ub | Self::L1)
    }
}

/// One local memory.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct LocalMemory {
    /// First byte.
    pub base: *mut u8,
    /// Number of bytes; 0 if the core kind does not have it.
    pub size: u64,
}

impl LocalMemory {
    /// A memory the core does not have.
    pub(crate) const ABSENT: Self = Self { base: std::ptr::null_mut(), size: 0 };

    /// Offset of a host address, if it lies inside.
    pub(crate) fn offset_of(&self, address: u64) -> Option<u64> {
        address.checked_sub(self.base as u64).filter(|offset| *offset < self.size)
    }
}
