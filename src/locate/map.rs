//! What a finished kernel says about its own code: which function belongs to which ops, and where its object lies.

use serde::{Deserialize, Serialize};

use crate::elf::{self, AddedSection, ElfError};

/// The section it is kept in; no program loads it.
pub(crate) const SECTION: &str = ".superkernel.map";
/// Format of the section.
const VERSION: u32 = 1;

/// The code of a super kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CodeMap {
    version: u32,
    /// The kernel's name.
    pub kernel: String,
    /// Place in `op_list` and name of every op.
    pub ops: Vec<(usize, String)>,
    /// Its functions.
    pub functions: Vec<MappedFunction>,
}

/// One function with its copies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MappedFunction {
    /// `aic` or `aiv`.
    pub kind: String,
    /// Positions of the ops that call it; none for the super kernel's own code.
    pub ops: Vec<usize>,
    /// Its copies, by number.
    pub copies: Vec<MappedCopy>,
}

/// One copy of a function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MappedCopy {
    /// Its symbol.
    pub symbol: String,
    /// The code of the object it came with: section of the kernel, first byte, byte behind the last.
    pub code: Option<(String, u64, u64)>,
}

impl CodeMap {
    /// The map of `kernel`.
    pub(crate) fn new(kernel: &str, ops: Vec<(usize, String)>, functions: Vec<MappedFunction>) -> Self {
        Self { version: VERSION, kernel: kernel.to_owned(), ops, functions }
    }

    /// The map of the same code under other names: of the kernel, and of symbols as `(old, new)`.
    pub(crate) fn renamed(mut self, kernel: &str, symbols: &[(String, String)]) -> Self {
        self.kernel = kernel.to_owned();
        for copy in self.functions.iter_mut().flat_map(|function| &mut function.copies) {
            if let Some((_, new)) = symbols.iter().find(|(old, _)| *old == copy.symbol) {
                copy.symbol.clone_from(new);
            }
        }
        self
    }

    /// Whose code is at `address` of `section`, as messages say it: the super kernel's own, or that of the first op that
    /// calls it.
    pub(crate) fn owner(&self, section: &str, address: u64) -> Option<String> {
        let holds = |copy: &MappedCopy| {
            copy.code.as_ref().is_some_and(|(name, start, end)| name == section && (*start..*end).contains(&address))
        };
        let function = self.functions.iter().find(|function| function.copies.iter().any(holds))?;
        Some(match function.ops.first().and_then(|op| self.ops.get(*op)) {
            Some((index, name)) => format!("op {index} (`{name}`)"),
            None => "the super kernel itself".to_owned(),
        })
    }

    /// The section that holds this map.
    pub(crate) fn section(&self) -> AddedSection {
        AddedSection { name: SECTION, bytes: serde_json::to_vec(self).expect("plain data can be written") }
    }

    /// The map in an object, if there is one that this version understands.
    pub(crate) fn read(object: &[u8]) -> Result<Option<Self>, ElfError> {
        let bytes = elf::section_bytes(object, SECTION)?;
        let map = bytes.and_then(|bytes| serde_json::from_slice::<Self>(bytes).ok());
        Ok(map.filter(|map| map.version == VERSION))
    }
}
