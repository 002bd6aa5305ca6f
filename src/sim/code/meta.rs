//! What a kernel object says about itself: `.ascend.meta.*` sections.

use std::path::Path;

use crate::artifact::LaunchMeta;
use crate::elf;
use crate::sim::interface::error::SimError;

/// The functions of an object that have launch data.
pub(crate) fn read(path: &Path) -> Result<Vec<(String, LaunchMeta)>, SimError> {
    let data = crate::fs::read(path)?;
    elf::launch_data(&data)
        .map_err(|error| SimError::Load { kernel: path.display().to_string(), reason: error.to_string() })
}
