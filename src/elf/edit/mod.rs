//! Edits of an object as data, applied in one pass over its bytes.
//!
//! The steps, each a module that only reads what earlier ones made:
//!
//! 1. [`names`]: which symbols the requested names mean, and whether the requests make sense;
//! 2. [`sections`]: which sections go, which groups lose their promise of being interchangeable;
//! 3. [`renumber`]: the new symbol table and the way from old to new symbol indices;
//! 4. [`rebuild`]: what each section of the new file holds;
//! 5. [`layout`]: the new file. What did not change is copied; nothing that a program loads moves.

mod layout;
mod names;
mod normalized;
mod rebuild;
mod references;
mod renumber;
mod sections;

use std::borrow::Cow;

use super::error::ElfError;
use super::file::ElfFile;
use super::symbols::SymbolTable;
pub(crate) use normalized::{AddedSection, normalized};
pub(crate) use references::{References, Shape, of_section};

/// What to change in an object.
///
/// All names are names of the *input*: with `rename: f → g`, `localize: f` means the symbol that ends up as a local
/// `g`. The edits apply in the order of the fields. Section and file symbols have no name of the program and are
/// never meant; a name means every symbol that has it, local ones included.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Edits {
    /// Old and new names, of definitions and references alike.
    pub rename: Vec<(String, String)>,
    /// Definitions that other objects no longer see.
    pub localize: Localize,
    /// Definitions that other objects still see and that give way to another of the same name.
    pub weaken: Vec<String>,
    /// Symbols to remove. One that relocations still use stays, as an undefined symbol.
    pub strip: Vec<String>,
    /// Old and new names of sections.
    pub rename_sections: Vec<(String, String)>,
    /// Sections to remove, with their relocations and symbols.
    pub drop_sections_with_prefix: Vec<String>,
    /// Sections to remove likewise, but only those that nothing loaded refers to.
    pub drop_unused_with_prefix: Vec<String>,
    /// What becomes of section groups.
    pub groups: Groups,
    /// How symbols follow one another.
    pub order: SymbolOrder,
    /// What to do about names that the object does not have.
    pub missing: Missing,
}

/// How symbols follow one another, local ones first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum SymbolOrder {
    /// As they did.
    #[default]
    Keep,
    /// By section and value: linkers order them by hashes of their names.
    ByPlace,
}

/// Which definitions become local.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub enum Localize {
    /// None.
    #[default]
    None,
    /// Those with these names.
    Names(Vec<String>),
    /// All but those with these names.
    AllDefinedExcept(Vec<String>),
}

/// What becomes of section groups.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub enum Groups {
    /// They stay. One that no longer defines what its signature promises stops being COMDAT.
    #[default]
    Keep,
    /// All are removed; their sections stay, as ordinary ones.
    Dissolve,
    /// Likewise, but those that define one of these symbols stay.
    DissolveAllBut(Vec<String>),
}

/// What to do about names that the object does not have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Missing {
    /// Fail, and list names that look alike.
    #[default]
    Error,
    /// Skip them.
    Ignore,
}

/// Writes a new file into memory of the length that was announced.
pub(crate) type Fill<'f> = &'f mut (dyn FnMut(&mut [u8]) -> Result<(), ElfError> + Send);

/// Applies the edits. Without any effect the result is the input itself.
pub fn edit<'a>(object: &'a [u8], edits: &Edits) -> Result<Cow<'a, [u8]>, ElfError> {
    let edited = edit_with(object, edits, |length, fill| {
        let mut bytes = vec![0; length];
        fill(&mut bytes)?;
        Ok(bytes)
    })?;
    Ok(edited.map_or(Cow::Borrowed(object), Cow::Owned))
}

/// Applies the edits; the result goes where `provide` wants it, `None` when nothing changes.
///
/// `provide` is told the length of the new file and calls what it is given on memory of that length: large files are
/// then written once, to where they are needed.
pub(crate) fn edit_with<T>(
    object: &[u8],
    edits: &Edits,
    provide: impl FnOnce(usize, Fill<'_>) -> Result<T, ElfError>,
) -> Result<Option<T>, ElfError> {
    let file = ElfFile::parse(object)?;
    let table = SymbolTable::find(&file)?;
    let changes = names::resolve(&file, table.as_ref(), edits)?;
    let extent = layout::Extent::check(&file, table.as_ref())?;
    let sections = sections::plan(&file, table.as_ref(), edits, &changes)?;
    if !changes.any && !sections.any && edits.order == SymbolOrder::Keep {
        return Ok(None);
    }
    let symbols = match &table {
        Some(table) => Some(renumber::plan(&file, table, &changes, &sections, edits.order)?),
        None => None,
    };
    let decisions = rebuild::Decisions {
        file: &file,
        table: table.as_ref(),
        changes: &changes,
        plan: &sections,
        symbols: symbols.as_ref(),
    };
    let position = |old: usize| (!sections.dropped[old]).then_some(sections.new_index[old] as usize);
    let names_index = sections.new_index.get(file.names_index).copied().unwrap_or(0) as usize;
    let arrangement = layout::Arrangement::new(&file, &extent, decisions.sections()?, position, names_index)?;
    provide(arrangement.length(), &mut |output| arrangement.write(output)).map(Some)
}
