//! The program of a finished kernel, as text in a section of its object: pictures of its runs tell from it why cores wait.

use std::path::Path;
use std::sync::Arc;

use crate::artifact::PROGRAM_SECTION;
use crate::elf::{self, AddedSection};
use crate::fs;
use crate::program::Program;

/// The text of a program, as `superkernel plan --text` prints it. It is read when somebody asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoredProgram(Arc<str>);

impl StoredProgram {
    /// The text of `program`.
    pub(crate) fn of(program: &Program) -> Self {
        Self(program.text().into())
    }

    /// The section that holds this program.
    pub(crate) fn section(&self) -> AddedSection {
        AddedSection { name: PROGRAM_SECTION, bytes: self.0.as_bytes().to_vec() }
    }

    /// The program in an object. Kernels of others, and those of older versions, have none.
    pub(crate) fn read(object: &[u8]) -> Option<Self> {
        let bytes = elf::section_bytes(object, PROGRAM_SECTION).ok()??;
        Some(Self(std::str::from_utf8(bytes).ok()?.into()))
    }

    /// The same from a file; one that cannot be read has none.
    pub(crate) fn read_file(object: &Path) -> Option<Self> {
        Self::read(&fs::read(object).ok()?)
    }

    /// The program, if this version understands it.
    pub(crate) fn program(&self) -> Option<Program> {
        Program::read(&self.0).ok()
    }

    /// The same program under another name.
    pub(crate) fn renamed(&self, kernel: &str) -> Option<Self> {
        Some(Self::of(&Program { kernel_name: kernel.to_owned(), ..self.program()? }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_comes_back_under_its_name_or_another() {
        let text = include_str!("../../tests/cases/several_streams_all_extras/program.txt");
        let program = Program::read(text).unwrap();
        let stored = StoredProgram::of(&program);
        assert_eq!(stored.program().as_ref(), Some(&program));
        let other = stored.renamed("te_superkernel_other").unwrap().program().unwrap();
        assert_eq!(other.kernel_name, "te_superkernel_other");
        assert_eq!(other.steps, program.steps);
        assert_eq!(StoredProgram("super kernel of tomorrow".into()).program(), None);
        assert_eq!(StoredProgram::read(b"no object"), None);
    }
}
