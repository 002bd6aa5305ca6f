//! Chip generations, as kernel files name them.

use crate::named::named;

use super::CoreKind;

named! {
    /// A chip generation: what decides about code.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Chip {
        /// Architecture 2201.
        C220 = "c220",
        /// Architecture 3510.
        C310 = "c310",
    }
}

impl Chip {
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

    /// The value of `__CCE_AICORE__`, by which sources that are older than `__NPU_ARCH__` tell chips apart.
    pub(crate) fn cce_aicore(self) -> u32 {
        match self {
            Self::C220 => 220,
            Self::C310 => 310,
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
