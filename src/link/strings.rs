//! String tables in the making: every name once.

use std::borrow::Cow;
use std::collections::HashMap;

use super::error::LinkError;

/// A string table.
pub(super) struct Strings<'a> {
    pub bytes: Vec<u8>,
    known: HashMap<Cow<'a, [u8]>, u32>,
}

impl<'a> Strings<'a> {
    pub(super) fn new() -> Self {
        Self { bytes: vec![0], known: HashMap::new() }
    }

    /// Where a name is, after it was added unless it was there.
    pub(super) fn add(&mut self, name: Cow<'a, [u8]>) -> Result<u32, LinkError> {
        if name.is_empty() {
            return Ok(0);
        }
        if let Some(place) = self.known.get(&name) {
            return Ok(*place);
        }
        let (start, end) = (self.bytes.len(), self.bytes.len() + name.len() + 1);
        let limit = u64::from(u32::MAX);
        let (Ok(place), Ok(_)) = (u32::try_from(start), u32::try_from(end)) else {
            return Err(LinkError::TooMuch {
                what: "bytes of names",
                found: end as u64,
                limit,
                who: "the file format",
            });
        };
        self.bytes.extend_from_slice(&name);
        self.bytes.push(0);
        self.known.insert(name, place);
        Ok(place)
    }
}
