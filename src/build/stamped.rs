//! The first line of a build record: what it tells those who find its stamp again.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::fs;
use crate::store::digest::ContentDigest;

/// How the first line of a record with a stamp begins.
const HEAD: &[u8] = b"{\"stamp\":";

/// What a record says to those who find its stamp again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stamped {
    pub digest: String,
    /// Digests of the results.
    pub object: String,
    pub json: String,
    /// What a report tells.
    pub ops: usize,
    pub files: usize,
    pub toolchain: String,
    pub warnings: Vec<String>,
}

/// The first line of a record.
#[derive(Serialize, Deserialize)]
struct Line {
    stamp: Stamped,
    /// Digest of the other lines.
    rest: String,
}

impl Stamped {
    /// A record with this stamp: it takes the place of the opening brace and the end of its line.
    pub(super) fn put_into(&self, record: &[u8]) -> Vec<u8> {
        let rest = record.strip_prefix(b"{\n").unwrap_or(record);
        let line = Line { stamp: self.clone(), rest: ContentDigest::of(rest).to_string() };
        let mut stamped = serde_json::to_vec(&line).expect("plain data can be written");
        // The object goes on.
        stamped.pop();
        stamped.extend_from_slice(b",\n");
        stamped.extend_from_slice(rest);
        stamped
    }

    /// The stamp of a record that nobody has touched since it was written.
    pub(super) fn read(record: &Path) -> Option<Self> {
        let bytes = fs::read(record).ok()?;
        let end = memchr::memchr(b'\n', &bytes)?;
        let mut line = bytes[..end].strip_suffix(b",").filter(|line| line.starts_with(HEAD))?.to_vec();
        line.push(b'}');
        let line: Line = serde_json::from_slice(&line).ok()?;
        ContentDigest::of(&bytes[end + 1..]).is(&line.rest).then_some(line.stamp)
    }
}
