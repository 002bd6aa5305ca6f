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
    /// Is this a name of it: its short version, or the full name of a product as devices print it (`Ascend910B3`,
    /// `Ascend910_9391`, `Ascend950PR_9599`); in any case?
    pub(crate) fn is_called(self, name: &str) -> bool {
        let short = self.as_str();
        let Some((start, product)) = name.split_at_checked(short.len()) else { return false };
        let mut letters = product.bytes();
        let begins = match (self, letters.next()) {
            (_, None) => true,
            // `Ascend910B2C`, `Ascend910B4-1`; `Ascend910_9362`.
            (Self::Ascend910B | Self::Ascend910_93, Some(first)) => first.is_ascii_digit(),
            // `Ascend950DT_9571`.
            (Self::Ascend950, Some(first)) => first.is_ascii_alphabetic(),
        };
        begins
            && start.eq_ignore_ascii_case(short)
            && letters.all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, b'_' | b'-'))
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
