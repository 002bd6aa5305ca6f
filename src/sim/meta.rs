//! What a kernel object says about itself: `.ascend.meta.*` sections.

use std::path::Path;

use object::{Object, ObjectSection};
use serde::Serialize;

use super::error::SimError;

const PREFIX: &str = ".ascend.meta.";
const KERNEL_TYPE_ITEM: u16 = 1;
const RATIO_ITEM: u16 = 3;

/// One kernel function with a meta section.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KernelMeta {
    /// The function.
    pub function: String,
    /// `K_TYPE_...` number.
    pub kernel_type: Option<u32>,
    /// AIC and AIV part of the task ratio.
    pub ratio: Option<(u16, u16)>,
}

/// All kernels of an object.
pub fn read(path: &Path) -> Result<Vec<KernelMeta>, SimError> {
    let data = crate::fs::read(path)?;
    let broken = |reason: String| SimError::Load { library: path.to_path_buf(), reason };
    let file = object::File::parse(&*data).map_err(|error| broken(error.to_string()))?;
    let mut found = Vec::new();
    for section in file.sections() {
        let Some(function) = section.name().ok().and_then(|name| name.strip_prefix(PREFIX)) else { continue };
        let bytes = section.data().map_err(|error| broken(error.to_string()))?;
        found.push(parse(function, bytes).ok_or_else(|| broken(format!("{PREFIX}{function} is cut off")))?);
    }
    Ok(found)
}

/// Items: type, length, payload.
fn parse(function: &str, mut bytes: &[u8]) -> Option<KernelMeta> {
    let mut meta = KernelMeta { function: function.to_owned(), kernel_type: None, ratio: None };
    while !bytes.is_empty() {
        let (head, rest) = bytes.split_at_checked(4)?;
        let kind = u16::from_le_bytes([head[0], head[1]]);
        let (payload, rest) = rest.split_at_checked(usize::from(u16::from_le_bytes([head[2], head[3]])))?;
        match (kind, payload) {
            (KERNEL_TYPE_ITEM, &[a, b, c, d]) => meta.kernel_type = Some(u32::from_le_bytes([a, b, c, d])),
            (RATIO_ITEM, &[a, b, c, d]) => {
                meta.ratio = Some((u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d])));
            }
            _ => {}
        }
        bytes = rest;
    }
    Some(meta)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_two_shapes() {
        let only = parse("f", &[1, 0, 4, 0, 3, 0, 0, 0]).unwrap();
        assert_eq!((only.kernel_type, only.ratio), (Some(3), None));
        let mix = parse("f", &[1, 0, 4, 0, 4, 0, 0, 0, 3, 0, 4, 0, 1, 0, 2, 0]).unwrap();
        assert_eq!((mix.kernel_type, mix.ratio), (Some(4), Some((1, 2))));
        assert!(parse("f", &[1, 0, 9, 0, 1]).is_none());
    }
}
