//! What can be wrong with an object, an archive or a requested edit.

use std::fmt;

use crate::diagnostic::{Advice, Diagnostic, advice};

/// An edit as messages name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EditKind {
    /// A new name for a symbol.
    Rename,
    /// A global definition made local.
    Localize,
    /// A symbol removed.
    Strip,
    /// A definition that stays global while all others become local.
    Keep,
    /// A global definition made weak.
    Weaken,
}

impl fmt::Display for EditKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Rename => "rename",
            Self::Localize => "localize",
            Self::Strip => "strip",
            Self::Keep => "keep",
            Self::Weaken => "weaken",
        })
    }
}

/// Why an object or archive cannot be read, or an edit cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ElfError {
    /// The bytes do not start like an ELF file.
    #[error("not an ELF file: the first bytes are {}", Hex(.found))]
    NotElf {
        /// The first bytes, at most four.
        found: Vec<u8>,
    },
    /// ELF, but of a form outside of what this engine edits.
    #[error("unsupported ELF file: `{field}` at offset {offset:#x} is {found}, expected {expected}")]
    Unsupported {
        /// Where in the file.
        offset: u64,
        /// The field at fault.
        field: &'static str,
        /// Its value.
        found: u64,
        /// What is accepted.
        expected: &'static str,
    },
    /// A field points outside of the file, or the file ends too early.
    #[error("`{field}` at offset {offset:#x} reaches {end:#x}, beyond the end of its data at {limit:#x}")]
    OutOfRange {
        /// Where the field is.
        offset: u64,
        /// The field at fault.
        field: &'static str,
        /// Where the data it describes would end.
        end: u64,
        /// Where the data really ends.
        limit: u64,
    },
    /// A field contradicts the rest of the file.
    #[error("`{field}` at offset {offset:#x} is wrong: {problem}")]
    Malformed {
        /// Where the field is.
        offset: u64,
        /// The field at fault.
        field: &'static str,
        /// What is wrong with it.
        problem: String,
    },
    /// The object asks for more than any kernel needs, which whoever links or loads it would have to provide.
    #[error("{of}: `{field}` at offset {offset:#x} is {value}, above the limit of {limit}")]
    Excessive {
        /// The section or symbol.
        of: String,
        /// Where the field is; 0 for a field of a symbol.
        offset: u64,
        /// The field at fault.
        field: &'static str,
        /// Its value.
        value: u64,
        /// What is accepted.
        limit: u64,
    },
    /// No symbol has this name.
    #[error("cannot {edit} symbol `{name}`: the object has no such symbol{}", DidYouMean(.near))]
    MissingSymbol {
        /// The requested edit.
        edit: EditKind,
        /// The name asked for.
        name: String,
        /// Names that are there and look alike.
        near: Vec<String>,
    },
    /// The symbol is there, but the object does not define it in the way the edit needs.
    #[error("cannot {edit} symbol `{name}`: {problem}")]
    WrongSymbol {
        /// The requested edit.
        edit: EditKind,
        /// The name asked for.
        name: String,
        /// What it is instead.
        problem: &'static str,
    },
    /// Two symbols would end up with one name.
    #[error("renaming would leave two global symbols named `{name}`")]
    DuplicateSymbol {
        /// The contested name.
        name: String,
    },
    /// Two requested edits exclude each other.
    #[error("the edits of symbol `{name}` contradict each other: {problem}")]
    ConflictingEdits {
        /// The symbol.
        name: String,
        /// Which edits.
        problem: &'static str,
    },
    /// A name that no symbol or archive member can have.
    #[error("`{}` cannot be used as {what}: {problem}", .name.escape_debug())]
    BadName {
        /// The name.
        name: String,
        /// What it should name.
        what: &'static str,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The object has no code section.
    #[error("the object has no section whose name starts with `.text`")]
    NoText,
    /// A section cannot be removed.
    #[error("cannot drop section `{section}`: {problem}")]
    DropRefused {
        /// The section.
        section: String,
        /// Why not.
        problem: String,
    },
    /// Symbols would get new indices, but a section of unknown format holds some.
    #[error(
        "section `{section}` of type {kind:#x} (header at offset {offset:#x}) refers to symbols in an unknown \
         format, so symbols cannot be reordered"
    )]
    UnknownReferences {
        /// The section.
        section: String,
        /// Its `sh_type`.
        kind: u32,
        /// Where its header is.
        offset: u64,
    },
    /// A split needs at least the original.
    #[error("cannot split into {count} copies")]
    BadCount {
        /// The requested number.
        count: u32,
    },
    /// The bytes do not start like an archive.
    #[error("not an archive: the first bytes are {}", Hex(.found))]
    NotArchive {
        /// The first bytes, at most eight.
        found: Vec<u8>,
    },
    /// The archive holds only the paths of its members.
    #[error("a thin archive holds no members, only their paths")]
    ThinArchive,
    /// An error of one member of an archive.
    #[error("member `{member}`: {source}")]
    InMember {
        /// The member's name.
        member: String,
        /// What is wrong with it.
        source: Box<ElfError>,
    },
}

impl ElfError {
    /// Adds the archive member the error is about.
    pub(crate) fn in_member(member: &str) -> impl FnOnce(Self) -> Self {
        let member = member.to_owned();
        move |source| Self::InMember { member, source: Box::new(source) }
    }

    /// Does the object ask for too much?
    pub(crate) fn is_excess(&self) -> bool {
        if let Self::InMember { source, .. } = self {
            return source.is_excess();
        }
        matches!(self, Self::Excessive { .. })
    }

    /// A [`ElfError::Malformed`] in short.
    pub(crate) fn malformed(offset: u64, field: &'static str, problem: impl Into<String>) -> Self {
        Self::Malformed { offset, field, problem: problem.into() }
    }
}

impl Diagnostic for ElfError {
    fn advice(&self) -> Advice {
        match self {
            Self::NotElf { .. } => advice("SK0601", "give an ELF64 little-endian object or executable"),
            Self::Unsupported { .. } => {
                advice("SK0602", "build the object as ELF64 little endian with one symbol table")
            }
            Self::OutOfRange { .. } => advice("SK0603", "the file is damaged or was cut off: build or copy it again"),
            Self::Malformed { .. } => advice("SK0604", "the file is damaged or was cut off: build or copy it again"),
            Self::MissingSymbol { near, .. } if !near.is_empty() => advice("SK0605", format!("use {}", Quoted(near))),
            Self::MissingSymbol { .. } => advice(
                "SK0605",
                "`superkernel elf show` lists the symbols; ask for missing names to be ignored if that is meant",
            ),
            Self::WrongSymbol { .. } => advice("SK0606", "`superkernel elf show` prints how the object defines it"),
            Self::DuplicateSymbol { .. } => {
                advice("SK0607", "choose a new name, or rename, localize or strip the other symbol in the same pass")
            }
            Self::ConflictingEdits { .. } => advice("SK0608", "ask for one of them"),
            Self::BadName { .. } => advice("SK0609", "choose another name"),
            Self::NoText => advice("SK0610", "give an object that holds code"),
            Self::DropRefused { .. } => advice("SK0611", "keep the section, or remove what refers to it first"),
            Self::UnknownReferences { .. } => advice("SK0612", "drop that section, or build the object without it"),
            Self::BadCount { .. } => advice("SK0613", "ask for at least one copy"),
            Self::Excessive { .. } => {
                advice("SK0614", "the file is damaged, or the kernel asks for too much: compile it with less")
            }
            Self::NotArchive { .. } => advice("SK0620", "give an archive made by `ar`"),
            Self::ThinArchive => advice("SK0621", "make a full archive: `ar rcs` without `T` or `--thin`"),
            Self::InMember { source, .. } => source.advice(),
        }
    }
}

/// Bytes as `7f 45 4c 46`.
struct Hex<'a>(&'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return formatter.write_str("missing (the file is empty)");
        }
        for (number, byte) in self.0.iter().enumerate() {
            write!(formatter, "{}{byte:02x}", if number > 0 { " " } else { "" })?;
        }
        Ok(())
    }
}

/// Names in backticks, joined by `or`.
struct Quoted<'a>(&'a [String]);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, name) in self.0.iter().enumerate() {
            write!(formatter, "{}`{name}`", if number > 0 { " or " } else { "" })?;
        }
        Ok(())
    }
}

/// `; did you mean …?`, or nothing.
struct DidYouMean<'a>(&'a [String]);

impl fmt::Display for DidYouMean<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(formatter, "; did you mean {}?", Quoted(self.0)) }
    }
}
