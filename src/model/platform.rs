//! What kernels are built for: a chip, and how many cores of it.

use super::{CoreCounts, ModelError, Soc};
use crate::artifact::Chip;

impl Soc {
    /// The SoC with this short version.
    pub(crate) fn parse(name: &str) -> Result<Self, ModelError> {
        Self::ALL
            .into_iter()
            .find(|soc| soc.as_str() == name)
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
