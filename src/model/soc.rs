//! The chips super kernels are built for.

use crate::named::named;

use crate::artifact::Chip;

named! {
    /// A supported SoC, by its short version.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Soc {
        /// A2 products.
        Ascend910B = "Ascend910B",
        /// A3 products.
        Ascend910_93 = "Ascend910_93",
        /// The next generation.
        Ascend950 = "Ascend950",
    }
}

impl Soc {
    /// The SoC of a device by its full name: the short version and a product's letters or numbers behind it.
    pub(crate) fn from_full_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|soc| name.starts_with(soc.as_str()))
    }

    /// Its chip generation.
    pub(crate) fn chip(self) -> Chip {
        match self {
            Self::Ascend910B | Self::Ascend910_93 => Chip::C220,
            Self::Ascend950 => Chip::C310,
        }
    }

    /// Cube and vector cores when nothing else says.
    pub(crate) fn default_cores(self) -> CoreCounts {
        match self {
            Self::Ascend910B | Self::Ascend910_93 => CoreCounts { aic: 24, aiv: 48 },
            Self::Ascend950 => CoreCounts { aic: 32, aiv: 64 },
        }
    }
}

/// Numbers of cores of the two kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CoreCounts {
    /// Cube cores.
    pub aic: u32,
    /// Vector cores.
    pub aiv: u32,
}
