//! What a loader reads about the kernels of a file.

use super::error::ElfError;
use super::inspect::{section_contents, sections};
use crate::artifact::{LaunchMeta, META_SECTION_PREFIX};

/// What the file says about how to launch its kernels, in section order; a kernel with several sections has several rows.
pub(crate) fn launch_data(object: &[u8]) -> Result<Vec<(String, LaunchMeta)>, ElfError> {
    let mut found = Vec::new();
    for (index, section) in sections(object)?.iter().enumerate() {
        let Some(kernel) = section.name.strip_prefix(META_SECTION_PREFIX) else { continue };
        let Some(meta) = LaunchMeta::parse(section_contents(object, index)?) else {
            let problem = format!("the items of `{}` are cut off", section.name);
            return Err(ElfError::malformed(section.offset, "launch data", problem));
        };
        found.push((kernel.to_owned(), meta));
    }
    Ok(found)
}
