//! String tables, read in bounded time.

use std::borrow::Cow;

/// The bytes of a `SHT_STRTAB` section.
#[derive(Clone, Copy)]
pub(crate) struct StringTable<'a>(&'a [u8]);

impl<'a> StringTable<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(crate) fn bytes(&self) -> &'a [u8] {
        self.0
    }

    /// Everything from `offset` on; `None` outside of the table.
    pub(crate) fn from(&self, offset: u32) -> Option<&'a [u8]> {
        self.0.get(offset as usize..).filter(|rest| !rest.is_empty())
    }

    /// The string at `offset` if it is at most `longest` bytes long. Looks at no byte beyond that, so that a sweep
    /// over many symbols stays linear whatever the table holds.
    pub(crate) fn short(&self, offset: u32, longest: usize) -> Option<&'a [u8]> {
        let rest = self.from(offset)?;
        let window = &rest[..rest.len().min(longest.saturating_add(1))];
        memchr::memchr(0, window).map(|end| &window[..end])
    }
}

/// Reads the names of many records as text.
///
/// Names may share bytes, so a small hostile table can spell gigabytes of names: the total is limited to a multiple
/// of the file's size that no compiler comes near.
pub(crate) struct NameReader<'a> {
    table: StringTable<'a>,
    budget: usize,
}

/// What is wrong with a name.
pub(crate) enum NameProblem {
    /// It starts outside of the table.
    OutOfRange,
    /// It does not end inside of the table.
    Unterminated,
    /// All names together are unreasonably long.
    TooMuch,
}

impl NameProblem {
    /// As a message ends.
    pub(crate) fn describe(&self) -> &'static str {
        match self {
            Self::OutOfRange => "the name starts beyond the end of the string table",
            Self::Unterminated => "the name does not end inside of the string table",
            Self::TooMuch => "all names together are far longer than the file",
        }
    }
}

/// How often a byte of the file may be part of a name.
const REUSE: usize = 16;

impl<'a> NameReader<'a> {
    /// For names in `table`, in a file of `file_size` bytes.
    pub(crate) fn new(table: StringTable<'a>, file_size: usize) -> Self {
        Self { table, budget: file_size.saturating_mul(REUSE).saturating_add(1 << 16) }
    }

    /// The string at `offset`; bytes that are not UTF-8 are replaced.
    pub(crate) fn read(&mut self, offset: u32) -> Result<Cow<'a, str>, NameProblem> {
        let bytes = self.read_bytes(offset)?;
        let name = String::from_utf8_lossy(bytes);
        if let Cow::Owned(_) = name {
            // Replaced names are new memory and cost accordingly.
            let cost = bytes.len().saturating_mul(REUSE - 1);
            self.budget = self.budget.checked_sub(cost).ok_or(NameProblem::TooMuch)?;
        }
        Ok(name)
    }

    /// The string at `offset` as it is stored.
    pub(crate) fn read_bytes(&mut self, offset: u32) -> Result<&'a [u8], NameProblem> {
        if offset == 0 {
            return Ok(&[]);
        }
        let rest = self.table.from(offset).ok_or(NameProblem::OutOfRange)?;
        let window = &rest[..rest.len().min(self.budget.saturating_add(1))];
        let Some(end) = memchr::memchr(0, window) else {
            return Err(if window.len() < rest.len() { NameProblem::TooMuch } else { NameProblem::Unterminated });
        };
        self.budget = self.budget.checked_sub(end).ok_or(NameProblem::TooMuch)?;
        Ok(&window[..end])
    }
}
