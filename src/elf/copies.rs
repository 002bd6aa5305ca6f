//! Split copies: the same code under other names, so that cores fetch instructions from different addresses.

use super::edit::{Edits, Groups, Localize, Missing, edit};
use super::error::ElfError;

/// Sections that describe a kernel to the runtime: once per kernel, not once per copy.
pub const META_SECTION_PREFIX: &str = ".ascend.meta.";

/// The name of copy `number` (from 1) of a function.
pub fn copy_name(function: &str, number: usize) -> String {
    format!("{function}_split{number}")
}

/// The edits that make copy `number` (from 1) of an object with these entry functions.
///
/// Only the functions stay visible, under their new names: everything else in the copy is its own.
pub fn copy_edits(functions: &[&str], number: usize) -> Edits {
    Edits {
        rename: functions.iter().map(|name| ((*name).to_owned(), copy_name(name, number))).collect(),
        localize: Localize::AllDefinedExcept(functions.iter().map(|name| (*name).to_owned()).collect()),
        drop_sections_with_prefix: vec![META_SECTION_PREFIX.to_owned()],
        groups: Groups::Dissolve,
        missing: Missing::Error,
        strip: Vec::new(),
    }
}

/// Copies 1 to `count` − 1 of an object whose entry functions are `functions`; the object itself is copy 0.
pub fn split_copies(object: &[u8], functions: &[&str], count: usize) -> Result<Vec<Vec<u8>>, ElfError> {
    if count == 0 {
        return Err(ElfError::BadCount { count });
    }
    (1..count).map(|number| Ok(edit(object, &copy_edits(functions, number))?.into_owned())).collect()
}
