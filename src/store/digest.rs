//! What identifies content: its SHA-256.

use std::fmt;

use sha2::{Digest as _, Sha256};

/// SHA-256 of some bytes; prints as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContentDigest([u8; 32]);

impl ContentDigest {
    /// Is it what somebody wrote down as `text`?
    pub(crate) fn is(&self, text: &str) -> bool {
        text.trim().eq_ignore_ascii_case(&self.to_string())
    }

    /// The digest of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Its first digits: enough to tell a few things apart in file names.
    pub(crate) fn short(&self) -> String {
        self.to_string()[..10].to_owned()
    }

    /// The digest of several pieces, one after another.
    pub(crate) fn of_all<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut hasher = Sha256::new();
        for piece in pieces {
            hasher.update(piece);
        }
        Self(hasher.finalize().into())
    }
}

impl fmt::Display for ContentDigest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

impl fmt::Debug for ContentDigest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_the_known_value_of_nothing() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(ContentDigest::of(b"").to_string(), empty);
        assert_eq!(ContentDigest::of_all([b"ab".as_slice(), b"c"]), ContentDigest::of(b"abc"));
    }
}
