//! Split copies: the same code under other names, so that cores fetch instructions from different addresses.

use super::edit::{Edits, Groups, Localize, Missing, edit};
use super::error::ElfError;
use super::shared::SharedPart;
use crate::artifact::{META_SECTION_PREFIX, copy_name};

/// The edits that make copy `number` (from 1) of an object with these entry functions.
///
/// Only the functions stay visible, under their new names, and what every object shares: everything else in the copy is
/// its own.
pub(crate) fn copy_edits(functions: &[&str], shared: &SharedPart, number: u32) -> Edits {
    let merged: Vec<String> = shared.merged().map(|variable| variable.name.clone()).collect();
    let functions: Vec<String> = functions.iter().map(|name| (*name).to_owned()).collect();
    Edits {
        rename: functions.iter().map(|name| (name.clone(), copy_name(name, number))).collect(),
        localize: Localize::AllDefinedExcept([functions, merged.clone()].concat()),
        // Defined once, by the object itself: the copy refers to it.
        strip: shared.only().map(|variable| variable.name.clone()).collect(),
        // They describe the kernel to the loader: once per kernel, not once per copy.
        drop_sections_with_prefix: vec![META_SECTION_PREFIX.to_owned()],
        groups: Groups::DissolveAllBut(merged),
        missing: Missing::Error,
        ..Edits::default()
    }
}

/// Copies 1 to `count` − 1 of an object whose entry functions are `functions`; the object itself is copy 0.
pub fn split_copies(object: &[u8], functions: &[&str], count: u32) -> Result<Vec<Vec<u8>>, ElfError> {
    if count == 0 {
        return Err(ElfError::BadCount { count });
    }
    if count == 1 {
        return Ok(Vec::new());
    }
    let shared = SharedPart::of(object)?;
    (1..count).map(|number| Ok(edit(object, &copy_edits(functions, &shared, number))?.into_owned())).collect()
}
