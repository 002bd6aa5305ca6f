//! The chips super kernels are built for.

use std::fmt;

use crate::artifact::Chip;

/// A supported SoC, by its short version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Soc {
    /// A2 products.
    Ascend910B,
    /// A3 products.
    Ascend910_93,
    /// The next generation.
    Ascend950,
}

impl Soc {
    /// All supported SoCs.
    pub(crate) const ALL: [Self; 3] = [Self::Ascend910B, Self::Ascend910_93, Self::Ascend950];

    /// The short version as the platform reports it.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Ascend910B => "Ascend910B",
            Self::Ascend910_93 => "Ascend910_93",
            Self::Ascend950 => "Ascend950",
        }
    }

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

impl fmt::Display for Soc {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
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
