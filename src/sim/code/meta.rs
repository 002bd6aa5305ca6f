//! What a kernel object says about itself: `.ascend.meta.*` sections.

use std::path::Path;

use object::{Object, ObjectSection};
use serde::Serialize;

use crate::artifact::{LaunchMeta, META_SECTION_PREFIX};
use crate::sim::interface::error::SimError;

/// One kernel function with a meta section.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct KernelMeta {
    /// The function.
    pub function: String,
    /// `K_TYPE_...` number.
    pub kernel_type: Option<u32>,
    /// AIC and AIV part of the task ratio.
    pub ratio: Option<(u16, u16)>,
}

/// All kernels of an object.
pub(crate) fn read(path: &Path) -> Result<Vec<KernelMeta>, SimError> {
    let data = crate::fs::read(path)?;
    let broken = |reason: String| SimError::Load { kernel: path.display().to_string(), reason };
    let file = object::File::parse(&*data).map_err(|error| broken(error.to_string()))?;
    let mut found = Vec::new();
    for section in file.sections() {
        let Some(function) = section.name().ok().and_then(|name| name.strip_prefix(META_SECTION_PREFIX)) else {
            continue;
        };
        let bytes = section.data().map_err(|error| broken(error.to_string()))?;
        let meta =
            LaunchMeta::parse(bytes).ok_or_else(|| broken(format!("{META_SECTION_PREFIX}{function} is cut off")))?;
        found.push(KernelMeta { function: function.to_owned(), kernel_type: meta.launch_type, ratio: meta.ratio });
    }
    Ok(found)
}
