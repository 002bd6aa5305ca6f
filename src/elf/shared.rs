//! What an object shares with others even where everything else in it is its own.

use std::collections::BTreeSet;

use super::error::ElfError;
use super::format::binding;
use super::inspect::{DEVICE_MACHINE, Section, sections};
use super::symbols::{Binding, Place, Symbol, SymbolKind, symbols};
use crate::artifact::{BLOCK_LOCAL_PREFIX, Setter};

/// A variable of which a kernel has one, whichever objects define it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SharedVariable {
    /// Its name.
    pub name: String,
    /// Its bytes.
    pub size: u64,
    /// How it is defined.
    pub definition: Definition,
    /// Where it lies.
    pub memory: VariableMemory,
}

impl SharedVariable {
    /// Who gives it its value.
    pub(crate) fn setter(&self) -> Setter {
        Setter::of(&self.name)
    }
}

/// What a linker makes of two definitions of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Definition {
    /// It keeps one: the symbol is weak.
    Weak,
    /// Likewise, but the symbol is bound as GCC binds inline variables: a dynamic linker would share it with others.
    Unique,
    /// It reports an error.
    Only,
}

/// Where a variable lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VariableMemory {
    /// Among the block-local variables: every core has its own.
    BlockLocal,
    /// In global memory.
    Global,
}

/// What an object shares, and what it keeps of the memory that all share.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SharedPart {
    /// The variables that it shares, in symbol order.
    pub variables: Vec<SharedVariable>,
    /// Bytes of block-local variables that are its own.
    pub own_block_local: u64,
}

impl SharedPart {
    /// Reads an object.
    pub(crate) fn of(object: &[u8]) -> Result<Self, ElfError> {
        Ok(Self::among(&symbols(object)?, &sections(object)?))
    }

    /// The same for an object whose symbols and sections are known.
    pub(crate) fn among(symbols: &[Symbol<'_>], sections: &[Section<'_>]) -> Self {
        let block_local: Vec<bool> =
            sections.iter().map(|section| section.name.starts_with(BLOCK_LOCAL_PREFIX)).collect();
        let mut own: Vec<u64> =
            sections.iter().zip(&block_local).map(|(section, local)| if *local { section.size } else { 0 }).collect();
        let mut variables = Vec::new();
        for symbol in symbols.iter().filter(|symbol| symbol.is_exported() && symbol.kind != SymbolKind::Function) {
            let section = match symbol.place {
                Place::Section(section) => Some(section),
                Place::Common | Place::Absolute | Place::Special(_) | Place::Undefined => None,
            };
            let local = section.filter(|section| block_local[*section]);
            let definition = match symbol.binding {
                Binding::Weak => Definition::Weak,
                Binding::Other(binding::GNU_UNIQUE) => Definition::Unique,
                Binding::Global | Binding::Local | Binding::Other(_) => Definition::Only,
            };
            let shared = match Setter::of(&symbol.name) {
                Setter::SuperKernel | Setter::Loader => true,
                Setter::Op => local.is_some() && definition != Definition::Only,
            };
            if !shared {
                continue;
            }
            let memory = match local {
                Some(section) => {
                    own[section] = own[section].saturating_sub(symbol.size);
                    VariableMemory::BlockLocal
                }
                None => VariableMemory::Global,
            };
            variables.push(SharedVariable { name: symbol.name.to_string(), size: symbol.size, definition, memory });
        }
        Self { variables, own_block_local: own.iter().fold(0, |sum: u64, size| sum.saturating_add(*size)) }
    }

    /// The variables that a linker merges by itself: they stay as they are, in whatever copy.
    pub(crate) fn merged(&self) -> impl Iterator<Item = &SharedVariable> {
        self.variables.iter().filter(|variable| variable.definition != Definition::Only)
    }

    /// Those that must be defined once.
    pub(crate) fn only(&self) -> impl Iterator<Item = &SharedVariable> {
        self.variables.iter().filter(|variable| variable.definition == Definition::Only)
    }
}

/// The names, each once, of sections with a part of a device object's code: a linker would put the parts of all objects
/// side by side, and calls reach only so far there.
pub(crate) fn code_parts(machine: u16, sections: &[Section<'_>]) -> Vec<String> {
    const EXECUTABLE: u64 = 4;
    if machine != DEVICE_MACHINE {
        return Vec::new();
    }
    let code = sections.iter().filter(|section| section.flags & EXECUTABLE != 0);
    let parts: BTreeSet<&str> =
        code.map(|section| section.name.as_ref()).filter(|name| name.starts_with(".text.")).collect();
    parts.into_iter().map(str::to_owned).collect()
}
