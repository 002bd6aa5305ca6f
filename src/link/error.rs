//! What can keep objects from being linked.

use std::fmt;

use crate::diagnostic::{Advice, Diagnostic, advice};
use crate::elf::ElfError;

/// Why objects cannot be linked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    /// There is nothing to link.
    #[error("there are no objects to link")]
    NoObjects,
    /// An object cannot be read.
    #[error("`{object}`: {source}")]
    Object {
        /// The object.
        object: String,
        /// What is wrong with it.
        source: ElfError,
    },
    /// A file that was linked already.
    #[error("`{object}` is not a relocatable object: its `e_type` is {kind}")]
    NotRelocatable {
        /// The object.
        object: String,
        /// Its `e_type`.
        kind: u16,
    },
    /// Objects for different machines.
    #[error("`{object}` cannot be linked with `{first}`: its `{field}` is {found:#x} instead of {expected:#x}")]
    Different {
        /// The object.
        object: String,
        /// The object before it.
        first: String,
        /// The field of the file header.
        field: &'static str,
        /// The object's.
        found: u32,
        /// The first object's.
        expected: u32,
    },
    /// Only objects of AI cores can be placed.
    #[error(
        "`{object}` is an object of machine {machine:#x}: only those of AI cores (0x1029) can be linked for a device"
    )]
    NotForDevice {
        /// The object.
        object: String,
        /// Its `e_machine`.
        machine: u16,
    },
    /// Two objects define one name.
    #[error("`{symbol}` is defined by `{first}` and by `{second}`")]
    Duplicate {
        /// The name.
        symbol: String,
        /// Who defines it.
        first: String,
        /// Who defines it as well.
        second: String,
    },
    /// Nobody defines a name that the device's file needs.
    #[error("no definition of {}", Needed(.symbols))]
    Undefined {
        /// Names, and an object that needs each.
        symbols: Vec<(String, String)>,
    },
    /// Code refers to a local symbol of a group that is not linked, because another object's is.
    #[error(
        "`{object}`: section `{section}` refers to `{symbol}`, which is in a section group that another object brings"
    )]
    Discarded {
        /// The object.
        object: String,
        /// Who refers.
        section: String,
        /// To what.
        symbol: String,
    },
    /// Relocations whose value does not fit, or that are not known.
    #[error("{}", Lines(.problems))]
    Relocations {
        /// At most twenty.
        problems: Vec<RelocationProblem>,
    },
    /// More than the file format or the loader takes.
    #[error("the result would have {found} {what}, more than the {limit} that {who} takes")]
    TooMuch {
        /// Of what.
        what: &'static str,
        /// How many.
        found: u64,
        /// How many there may be.
        limit: u64,
        /// Who takes no more.
        who: &'static str,
    },
}

/// A relocation that cannot be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelocationProblem {
    /// The object.
    pub object: String,
    /// The function around the place, else the section.
    pub place: String,
    /// The offset in that section of the object.
    pub offset: u64,
    /// What is referred to.
    pub symbol: String,
    /// What is wrong.
    pub unfit: Unfit,
}

/// Why a value does not fit into a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unfit {
    /// The number means nothing that is known.
    Unknown {
        /// The relocation's type.
        kind: u32,
    },
    /// Too far, or too large.
    Reach {
        /// What is done there.
        what: &'static str,
        /// What would have to be stored.
        needed: i128,
        /// The smallest that can be.
        lowest: i128,
        /// The largest that can be.
        highest: i128,
    },
    /// Calls reach multiples of an instruction.
    Misaligned {
        /// What would have to be stored.
        needed: i128,
    },
    /// The meaning depends on what is not known, and here it would matter.
    Unproven {
        /// The relocation's type.
        kind: u32,
    },
    /// The field is not inside of its section.
    Outside {
        /// The section's size.
        size: u64,
    },
}

impl fmt::Display for Unfit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { kind } => write!(formatter, "relocation type {kind:#x} is not known"),
            Self::Reach { what, needed, lowest, highest } => {
                write!(formatter, "{what} needs {needed}, and {lowest} to {highest} is possible")
            }
            Self::Misaligned { needed } => write!(formatter, "{needed} bytes are not a multiple of an instruction"),
            Self::Unproven { kind } => {
                write!(
                    formatter,
                    "relocation type {kind:#x} beyond the first 4,096 bytes of code has no proven meaning"
                )
            }
            Self::Outside { size } => write!(formatter, "the place is outside of the section's {size} bytes"),
        }
    }
}

impl fmt::Display for RelocationProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { object, place, offset, symbol, unfit } = self;
        write!(formatter, "`{object}`: `{place}` refers to `{symbol}` at offset {offset:#x}: {unfit}")
    }
}

impl LinkError {
    /// Adds the object that an error is about.
    pub(super) fn of(object: &str) -> impl Fn(ElfError) -> Self {
        let object = object.to_owned();
        move |source| Self::Object { object: object.clone(), source }
    }
}

impl Diagnostic for LinkError {
    fn advice(&self) -> Advice {
        match self {
            Self::Object { source, .. } => source.advice(),
            Self::NoObjects => advice("SK0630", "give at least one object"),
            Self::NotRelocatable { .. } => {
                advice("SK0631", "give the object as the compiler made it, before it was linked")
            }
            Self::Different { .. } => advice("SK0632", "link objects of one machine only"),
            Self::NotForDevice { .. } => {
                advice("SK0633", "join them instead, or give objects made by the device compiler")
            }
            Self::Duplicate { .. } => advice("SK0634", "rename one of them, or make it local"),
            Self::Undefined { .. } => advice("SK0635", "link the objects that define them as well"),
            Self::Discarded { .. } => {
                advice("SK0636", "compile both objects with the same compiler, or dissolve the groups of one")
            }
            Self::Relocations { .. } => advice(
                "SK0637",
                "compile the op with long calls (`-mllvm -cce-aicore-long-call`) if a call does not reach; else report this",
            ),
            Self::TooMuch { .. } => advice("SK0638", "link fewer objects, or objects with fewer sections"),
        }
    }
}

/// Names with who needs them.
struct Needed<'a>(&'a [(String, String)]);

impl fmt::Display for Needed<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        const TOLD: usize = 10;
        for (number, (symbol, object)) in self.0.iter().take(TOLD).enumerate() {
            write!(formatter, "{}`{symbol}` (needed by `{object}`)", if number > 0 { ", " } else { "" })?;
        }
        match self.0.len().checked_sub(TOLD) {
            Some(more) if more > 0 => write!(formatter, " and {more} more"),
            Some(_) | None => Ok(()),
        }
    }
}

/// One problem per line.
struct Lines<'a>(&'a [RelocationProblem]);

impl fmt::Display for Lines<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, problem) in self.0.iter().enumerate() {
            write!(formatter, "{}{problem}", if number > 0 { "\n  " } else { "" })?;
        }
        Ok(())
    }
}
