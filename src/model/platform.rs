//! What kernels are built for: a chip, and how many cores of it.

use super::{CoreCounts, ModelError, Soc};
use crate::artifact::Chip;

impl Soc {
    /// The SoC of this name.
    pub(crate) fn parse(name: &str) -> Result<Self, ModelError> {
        Self::ALL
            .into_iter()
            .find(|soc| soc.is_called(name))
            .ok_or_else(|| ModelError::UnsupportedSoc { soc: name.to_owned() })
    }
}

/// What the kernel is built for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Platform {
    /// The SoC.
    pub soc: Soc,
    /// Its cores.
    pub cores: CoreCounts,
}

impl Platform {
    /// The SoC named `soc`, with its usual core counts where none are given.
    pub fn new(soc: &str, aic: Option<u32>, aiv: Option<u32>) -> Result<Self, ModelError> {
        let soc = Soc::parse(soc)?;
        let usual = soc.default_cores();
        let cores = CoreCounts { aic: aic.unwrap_or(usual.aic), aiv: aiv.unwrap_or(usual.aiv) };
        Ok(Self { soc, cores })
    }

    /// Its chip generation.
    pub(crate) fn chip(&self) -> Chip {
        self.soc.chip()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_products_are_those_of_their_soc() {
        for (name, soc) in [
            ("Ascend910B", Some(Soc::Ascend910B)),
            ("Ascend910B3", Some(Soc::Ascend910B)),
            ("ASCEND910B4-1", Some(Soc::Ascend910B)),
            ("Ascend910B2C", Some(Soc::Ascend910B)),
            ("ascend910_93", Some(Soc::Ascend910_93)),
            ("Ascend910_9391", Some(Soc::Ascend910_93)),
            ("Ascend950", Some(Soc::Ascend950)),
            ("Ascend950PR_9599", Some(Soc::Ascend950)),
            ("ascend950dt_95a1", Some(Soc::Ascend950)),
            ("", None),
            ("Ascend", None),
            ("Ascend910", None),
            ("Ascend910A", None),
            ("Ascend910_9", None),
            ("Ascend910BX", None),
            ("Ascend910_93PR", None),
            ("Ascend9503", None),
            ("Ascend910B3 ", None),
            ("Ascend310P3", None),
            ("xAscend950", None),
            ("Ascend910_9\u{e9}", None),
        ] {
            assert_eq!(Soc::parse(name).ok(), soc, "{name}");
        }
        for soc in Soc::ALL {
            assert_eq!(Soc::parse(&soc.to_string()).ok(), Some(soc));
        }
    }
}
