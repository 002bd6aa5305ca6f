//! Kernel types: which core kinds run, and how many.

use crate::named::named;
use std::fmt;

use super::{Chip, CoreClass, CoreKind};

named! {
    /// The types an op inside a super kernel can have.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum KernelType {
        /// Vector cores, no cross-core flags of its own.
        AivOnly = "KERNEL_TYPE_AIV_ONLY",
        /// Cube cores, no cross-core flags of its own.
        AicOnly = "KERNEL_TYPE_AIC_ONLY",
        /// Vector cores with cross-core flags.
        MixAiv1_0 = "KERNEL_TYPE_MIX_AIV_1_0",
        /// Cube cores with cross-core flags.
        MixAic1_0 = "KERNEL_TYPE_MIX_AIC_1_0",
        /// One vector core for each cube core.
        MixAic1_1 = "KERNEL_TYPE_MIX_AIC_1_1",
        /// Two vector cores for each cube core.
        MixAic1_2 = "KERNEL_TYPE_MIX_AIC_1_2",
    }
}

impl KernelType {
    /// The number packed beside the block count of a dynamic op.
    pub(crate) fn number(self) -> u32 {
        match self {
            Self::AivOnly => 0,
            Self::AicOnly => 1,
            Self::MixAiv1_0 => 4,
            Self::MixAic1_0 => 5,
            Self::MixAic1_1 => 6,
            Self::MixAic1_2 => 7,
        }
    }

    /// The kinds of core it runs on.
    pub fn class(self) -> CoreClass {
        match self {
            Self::AivOnly | Self::MixAiv1_0 => CoreClass::Aiv,
            Self::AicOnly | Self::MixAic1_0 => CoreClass::Aic,
            Self::MixAic1_1 | Self::MixAic1_2 => CoreClass::Mix,
        }
    }

    /// Do its functions stand under `AiCore` in the JSON, instead of one arch per kind?
    pub(crate) fn is_single_arch(self) -> bool {
        match self {
            Self::AivOnly | Self::AicOnly => true,
            Self::MixAiv1_0 | Self::MixAic1_0 | Self::MixAic1_1 | Self::MixAic1_2 => false,
        }
    }

    /// The key under which its function for `kind` stands in the JSON.
    pub(crate) fn arch_key(self, kind: CoreKind, chip: Chip) -> String {
        if self.is_single_arch() { "AiCore".to_owned() } else { chip.arch(kind) }
    }

    /// Cube and vector cores of one block.
    pub(crate) fn task_ratio(self) -> (u16, u16) {
        match self {
            Self::AivOnly | Self::MixAiv1_0 => (0, 1),
            Self::AicOnly | Self::MixAic1_0 => (1, 0),
            Self::MixAic1_1 => (1, 1),
            Self::MixAic1_2 => (1, 2),
        }
    }

    /// Cube cores that `blocks` blocks of it use.
    pub fn aic_cores(self, blocks: u32) -> u32 {
        blocks.saturating_mul(u32::from(self.task_ratio().0))
    }

    /// Vector cores that `blocks` blocks of it use.
    pub fn aiv_cores(self, blocks: u32) -> u32 {
        blocks.saturating_mul(u32::from(self.task_ratio().1))
    }
}

/// The types a super kernel itself can have: always with cross-core flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SuperKernelType {
    /// Vector cores only.
    Aiv,
    /// Cube cores only.
    Aic,
    /// One vector core for each cube core.
    Mix1_1,
    /// Two vector cores for each cube core.
    Mix1_2,
}

impl SuperKernelType {
    /// The kernel type it is launched as.
    pub(crate) fn kernel_type(self) -> KernelType {
        match self {
            Self::Aiv => KernelType::MixAiv1_0,
            Self::Aic => KernelType::MixAic1_0,
            Self::Mix1_1 => KernelType::MixAic1_1,
            Self::Mix1_2 => KernelType::MixAic1_2,
        }
    }

    /// The kinds of core it has.
    pub(crate) fn class(self) -> CoreClass {
        self.kernel_type().class()
    }

    /// Does it have cores of both kinds?
    pub fn is_mix(self) -> bool {
        self.class() == CoreClass::Mix
    }

    /// The kind whose file holds what exists once per kernel.
    pub(crate) fn leading_kind(self) -> CoreKind {
        match self.class() {
            CoreClass::Aiv => CoreKind::Aiv,
            CoreClass::Aic | CoreClass::Mix => CoreKind::Aic,
        }
    }

    /// `taskRation` of the result JSON, cube to vector.
    pub fn task_ratio(self) -> (u16, u16) {
        self.kernel_type().task_ratio()
    }

    /// The type of a `taskRation`.
    pub(crate) fn from_task_ratio(ratio: (u16, u16)) -> Option<Self> {
        [Self::Aiv, Self::Aic, Self::Mix1_1, Self::Mix1_2].into_iter().find(|known| known.task_ratio() == ratio)
    }

    /// Cores of `kind` when launched with `blocks` blocks.
    pub(crate) fn cores(self, kind: CoreKind, blocks: u32) -> u32 {
        match kind {
            CoreKind::Aic => self.kernel_type().aic_cores(blocks),
            CoreKind::Aiv => self.kernel_type().aiv_cores(blocks),
        }
    }
}

impl fmt::Display for SuperKernelType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kernel_type().fmt(formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printing_and_parsing_are_inverse() {
        for kernel_type in KernelType::ALL {
            assert_eq!(KernelType::from_name(kernel_type.as_str()), Some(kernel_type));
        }
        assert_eq!(KernelType::from_name("KERNEL_TYPE_MIX_AIV_HARD_SYNC"), None);
    }

    #[test]
    fn a_one_to_two_block_has_three_cores() {
        assert_eq!(KernelType::MixAic1_2.aic_cores(24), 24);
        assert_eq!(KernelType::MixAic1_2.aiv_cores(24), 48);
        assert_eq!(SuperKernelType::Mix1_2.cores(CoreKind::Aiv, 24), 48);
        assert_eq!(SuperKernelType::Aiv.cores(CoreKind::Aic, 24), 0);
    }
}
