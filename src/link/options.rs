//! What is linked, and how.

use crate::elf::Localize;

/// One object to link.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// What messages call it.
    pub name: &'a str,
    /// The relocatable object.
    pub bytes: &'a [u8],
}

/// What is made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OutputKind {
    /// A relocatable object: all relocations are kept, groups stay groups.
    #[default]
    Joined,
    /// The file that a device loads: everything has its address.
    Device(KeptRelocations),
}

/// Whether the device's file still says what was relocated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeptRelocations {
    /// As `-q` does.
    Keep,
    /// They are applied and gone.
    Drop,
}

impl OutputKind {
    /// Do sections have addresses?
    pub(super) fn is_placed(self) -> bool {
        match self {
            Self::Joined => false,
            Self::Device(_) => true,
        }
    }

    /// Are relocations written?
    pub(super) fn keeps_relocations(self) -> bool {
        match self {
            Self::Joined | Self::Device(KeptRelocations::Keep) => true,
            Self::Device(KeptRelocations::Drop) => false,
        }
    }
}

/// Which local symbols of the objects the result has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Locals {
    /// All.
    #[default]
    All,
    /// Those that relocations need (`-x`).
    Needed,
}

/// How objects are linked.
#[derive(Debug, Clone, Default)]
pub struct LinkOptions {
    /// What is made.
    pub kind: OutputKind,
    /// Definitions that nobody sees any more afterwards. Names that are not there are skipped.
    pub localize: Localize,
    /// Which local symbols are kept.
    pub locals: Locals,
}
