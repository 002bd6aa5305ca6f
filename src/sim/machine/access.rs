//! Accesses to memory as a run sees them: who touches which bytes, from where in the source.
//!
//! Instructions declare their operands ([`crate::aicore::operand`]). Loads and stores of the scalar unit are ordinary
//! host code; built with hooks around them they arrive in the [`crate::sim::code::access_log`], neighbours joined. Both become
//! [`AccessEvent`]s, which all checks of memory read.

use std::ffi::c_char;

use super::clock::Mark;
use super::topology::CoreIndex;
use crate::aicore::Memory;
use crate::aicore::issued::Pipe;
use crate::aicore::operand::{Access, Shape};
use crate::model::OpPosition;

/// Where in the kernel something happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Site {
    /// Nobody said.
    Unknown,
    /// A line, as the header passed it: a literal of the loaded library.
    Line(*const c_char, u32),
    /// The code behind a call, in the loaded library.
    Code(u64),
    /// The calls that led there, as [`crate::sim::code::sites::Sites`] keeps them.
    Calls(u32),
}

impl Site {
    /// From the two values a header passes.
    pub(crate) fn line(file: *const c_char, line: u32) -> Self {
        if file.is_null() { Self::Unknown } else { Self::Line(file, line) }
    }
}

/// One access of one core.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AccessEvent {
    /// Who.
    pub core: CoreIndex,
    /// In which operator; `None` outside of all.
    pub op: Option<OpPosition>,
    /// Read, written, or combined with what is there.
    pub access: Access,
    /// Which memory.
    pub memory: Memory,
    /// Host address of the first byte.
    pub address: u64,
    /// The bytes, relative to the address.
    pub shape: Shape,
    /// The pipe of the instruction; `S`: the scalar unit.
    pub pipe: Pipe,
    /// What others know who have heard of it; `None`: the moment of its core, as nobody watches its pipe.
    pub mark: Option<Mark>,
    /// Where in the source.
    pub site: Site,
}

impl AccessEvent {
    /// Calls `visit` with start and end of every stretch of bytes, pieces without a gap between them taken together.
    pub(crate) fn stretches(&self, mut visit: impl FnMut(u64, u64)) {
        if self.shape.is_empty() {
            return;
        }
        let mut open: Option<(u64, u64)> = None;
        self.shape.for_each(|offset| {
            let (start, end) = (self.address + offset, self.address + offset + self.shape.bytes);
            open = Some(match open {
                Some((first, last)) if start == last => (first, end),
                Some((first, last)) => {
                    visit(first, last);
                    (start, end)
                }
                None => (start, end),
            });
        });
        if let Some((first, last)) = open {
            visit(first, last);
        }
    }
}

/// What the scalar unit did to some bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScalarAccess {
    /// Data was read or written.
    Data(Access),
    /// A word was written by which cores hear of each other.
    Exchange,
    /// Such a word was looked at.
    Look,
}

impl ScalarAccess {
    /// As the shim numbers them.
    pub(crate) fn from_number(number: u64) -> Self {
        match number {
            0 => Self::Data(Access::Read),
            1 => Self::Data(Access::Write),
            2 => Self::Exchange,
            4 => Self::Data(Access::Combine),
            _ => Self::Look,
        }
    }

    /// Do the bytes change?
    pub(crate) fn writes(self) -> bool {
        match self {
            Self::Data(access) => access.writes(),
            Self::Exchange => true,
            Self::Look => false,
        }
    }

    /// In reports.
    pub(crate) fn words(self) -> &'static str {
        if self.writes() { "a scalar store" } else { "a scalar load" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_without_gaps_are_one_stretch() {
        let event = |shape| AccessEvent {
            core: 0,
            op: None,
            access: Access::Read,
            memory: Memory::Gm,
            address: 1000,
            shape,
            pipe: Pipe::Mte2,
            mark: None,
            site: Site::Unknown,
        };
        let stretches = |shape| {
            let mut found = Vec::new();
            event(shape).stretches(|start, end| found.push((start, end)));
            found
        };
        assert_eq!(stretches(Shape::rows(4, 32, 32)), [(1000, 1128)]);
        assert_eq!(stretches(Shape::rows(2, 64, 32)), [(1000, 1032), (1064, 1096)]);
        assert_eq!(stretches(Shape::rows(3, 64, 0)), []);
    }
}
