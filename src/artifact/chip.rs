//! Chip generations, as kernel files name them.

use std::fmt;

use super::CoreKind;

/// A chip generation: what decides about code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Chip {
    /// Architecture 2201.
    C220,
    /// Architecture 3510.
    C310,
}

impl Chip {
    /// All of them.
    pub(crate) const ALL: [Self; 2] = [Self::C220, Self::C310];

    /// As it stands in arch names: `dav-c220-cube`.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::C220 => "c220",
            Self::C310 => "c310",
        }
    }

    /// The architecture of its cores of `kind`, as compilers and JSONs call it.
    pub(crate) fn arch(self, kind: CoreKind) -> String {
        format!("dav-{self}-{}", kind.arch_suffix())
    }

    /// The value of `__NPU_ARCH__`.
    pub fn npu_arch(self) -> u32 {
        match self {
            Self::C220 => 2201,
            Self::C310 => 3510,
        }
    }

    /// Does parameter slot 0 hold the FFTS address?
    pub(crate) fn has_ffts_slot(self) -> bool {
        match self {
            Self::C220 => true,
            Self::C310 => false,
        }
    }
}

impl fmt::Display for Chip {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}
