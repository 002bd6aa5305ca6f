//! Which sections go, and what becomes of section groups.

use std::collections::{HashMap, HashSet};

use super::super::error::ElfError;
use super::super::file::ElfFile;
use super::super::format::{GROUP_COMDAT, flag, kind, section_at, word};
use super::super::symbols::{Place, SymbolTable};
use super::names::{Changes, Fate, check_symbol_name};
use super::references::uses;
use super::{Edits, Groups};

/// What happens to every section.
pub(crate) struct SectionPlan {
    /// Sections that go.
    pub dropped: Vec<bool>,
    /// Sections that no longer belong to a group.
    pub ungrouped: Vec<bool>,
    /// Groups that are no longer COMDAT.
    pub plain_groups: Vec<bool>,
    /// New section indices; 0 for those that go.
    pub new_index: Vec<u32>,
    /// Sections that get another name, and that name.
    pub renamed: Vec<(usize, String)>,
    /// Whether any section goes.
    pub drops: bool,
    /// Whether any section goes or gets another name, or any group changes.
    pub any: bool,
}

/// Decides about all sections.
pub(crate) fn plan(
    file: &ElfFile<'_>,
    table: Option<&SymbolTable<'_>>,
    edits: &Edits,
    changes: &Changes,
) -> Result<SectionPlan, ElfError> {
    let count = file.sections.len();
    let mut plan = SectionPlan {
        dropped: vec![false; count],
        ungrouped: vec![false; count],
        plain_groups: vec![false; count],
        new_index: Vec::new(),
        renamed: Vec::new(),
        drops: false,
        any: false,
    };
    rename(file, &edits.rename_sections, &mut plan)?;
    let mut dropped = sections_named(file, &edits.drop_sections_with_prefix)?;
    let unused = sections_named(file, &edits.drop_unused_with_prefix)?;
    if !unused.is_empty() {
        let used = used_sections(file, table, &plan)?;
        dropped.extend(unused.into_iter().filter(|index| !used[*index]));
    }
    if !dropped.is_empty() {
        plan.drops = true;
        dropped.into_iter().for_each(|index| plan.dropped[index] = true);
        drop_dependents(file, &mut plan);
    }
    if file.has_groups() {
        plan_groups(file, table, edits, changes, &mut plan)?;
    }
    if plan.drops {
        check_dropped(file, table, &plan)?;
    }
    plan.any |= plan.drops || !plan.renamed.is_empty();
    plan.new_index = new_indices(&plan.dropped);
    Ok(plan)
}

fn rename(file: &ElfFile<'_>, names: &[(String, String)], plan: &mut SectionPlan) -> Result<(), ElfError> {
    if names.is_empty() {
        return Ok(());
    }
    for (_, new) in names {
        check_symbol_name(new)?;
    }
    let new_names: HashMap<&[u8], &String> = names.iter().map(|(old, new)| (old.as_bytes(), new)).collect();
    let longest = names.iter().map(|(old, _)| old.len()).max().unwrap_or(0);
    let found = file.section_names()?;
    for (index, section) in file.sections.iter().enumerate().skip(1) {
        let Some(name) = found.short(section.name, longest) else { continue };
        if let Some(new) = new_names.get(name).filter(|new| new.as_bytes() != name) {
            plan.renamed.push((index, (*new).clone()));
        }
    }
    Ok(())
}

/// The sections whose names start with one of `prefixes`.
fn sections_named(file: &ElfFile<'_>, prefixes: &[String]) -> Result<Vec<usize>, ElfError> {
    let mut found = Vec::new();
    if prefixes.is_empty() {
        return Ok(found);
    }
    let names = file.section_names()?;
    for index in 1..file.sections.len() {
        let name = file.name_and_rest(&names, index)?;
        if prefixes.iter().any(|prefix| name.starts_with(prefix.as_bytes())) {
            found.push(index);
        }
    }
    Ok(found)
}

/// The sections that something loaded refers to.
fn used_sections(
    file: &ElfFile<'_>,
    table: Option<&SymbolTable<'_>>,
    plan: &SectionPlan,
) -> Result<Vec<bool>, ElfError> {
    let mut used = vec![false; file.sections.len()];
    let Some(table) = table else { return Ok(used) };
    for (index, found) in uses(file, table, &plan.dropped)?.into_iter().enumerate() {
        if found.loaded
            && let Place::Section(section) = table.place(file, index)?
        {
            used[section] = true;
        }
    }
    Ok(used)
}

/// Relocations of a dropped section go with it, and so do sections that only describe it (`SHF_LINK_ORDER`).
fn drop_dependents(file: &ElfFile<'_>, plan: &mut SectionPlan) {
    // Children by parent, as chains through two arrays: hostile files can have long chains in any order.
    const END: usize = usize::MAX;
    let count = file.sections.len();
    let mut first_child = vec![END; count];
    let mut next_sibling = vec![[END; 2]; count];
    for (index, section) in file.sections.iter().enumerate() {
        let described = (section.flags & flag::LINK_ORDER != 0).then_some(section.link as usize);
        let relocated = section.info_is_section().then_some(section.info as usize);
        for (slot, parent) in [described, relocated].into_iter().enumerate() {
            let Some(parent) = parent.filter(|parent| *parent != 0 && *parent < count) else { continue };
            next_sibling[index][slot] = first_child[parent];
            first_child[parent] = index * 2 + slot;
        }
    }
    let mut pending: Vec<usize> = (0..count).filter(|index| plan.dropped[*index]).collect();
    while let Some(parent) = pending.pop() {
        let mut link = first_child[parent];
        while link != END {
            let (child, slot) = (link / 2, link % 2);
            if !plan.dropped[child] {
                plan.dropped[child] = true;
                pending.push(child);
            }
            link = next_sibling[child][slot];
        }
    }
}

/// A group's members, and whether it is COMDAT.
struct Group {
    comdat: bool,
    members: Vec<usize>,
}

impl Group {
    fn read(file: &ElfFile<'_>, index: usize) -> Result<Self, ElfError> {
        let bytes = file.contents(index)?;
        if bytes.len() < 4 || bytes.len() % 4 != 0 {
            let offset = file.header_offset(index) + section_at::SIZE;
            return Err(ElfError::malformed(offset, "sh_size", "a section group is a flag word and section indices"));
        }
        let members = (4..bytes.len()).step_by(4).map(|at| {
            let member = word(bytes, at) as usize;
            if member == 0 || member >= file.sections.len() {
                let offset = file.sections[index].offset + at as u64;
                return Err(ElfError::malformed(offset, "group member", format!("there is no section {member}")));
            }
            Ok(member)
        });
        Ok(Self { comdat: word(bytes, 0) & GROUP_COMDAT != 0, members: members.collect::<Result<_, _>>()? })
    }
}

/// What edits do to the global definitions of a section.
#[derive(Clone, Copy, Default)]
struct Touched {
    renamed: bool,
    withdrawn: bool,
}

/// Groups lose dropped members; a COMDAT group promises that the linker may take any object's group of the same
/// signature instead, so one that no longer defines the same symbols must stop being COMDAT.
fn plan_groups(
    file: &ElfFile<'_>,
    table: Option<&SymbolTable<'_>>,
    edits: &Edits,
    changes: &Changes,
    plan: &mut SectionPlan,
) -> Result<(), ElfError> {
    let touched = touched_sections(file, table, changes)?;
    let defines_kept = match &edits.groups {
        Groups::Keep | Groups::Dissolve => Vec::new(),
        Groups::DissolveAllBut(names) => sections_defining(file, table, names)?,
    };
    for index in file.of_kind(kind::GROUP) {
        if plan.dropped[index] || table.is_none_or(|table| file.sections[index].link as usize != table.index) {
            continue;
        }
        let group = Group::read(file, index)?;
        let signature = file.sections[index].info as usize;
        let wrong = |problem| ElfError::malformed(file.header_offset(index) + section_at::INFO, "sh_info", problem);
        let (Some(table), Some(change)) = (table, changes.symbols.get(signature)) else {
            return Err(wrong(format!("there is no symbol {signature}")));
        };
        let signature_place = table.place(file, signature)?;
        if let Place::Section(section) = signature_place
            && section != index
            && file.sections[section].kind == kind::GROUP
        {
            return Err(wrong(format!("symbol {signature} is the signature of another group")));
        }
        let signature_gone = matches!(change.fate, Fate::Strip(_))
            || matches!(signature_place, Place::Section(section) if plan.dropped[section]);
        let empty = plan.drops && group.members.iter().all(|member| plan.dropped[*member]);
        let dissolved = match edits.groups {
            Groups::Keep => false,
            Groups::Dissolve => true,
            Groups::DissolveAllBut(_) => !group.members.iter().any(|member| defines_kept[*member]),
        };
        if dissolved || signature_gone || empty {
            plan.dropped[index] = true;
            plan.drops = true;
            for member in group.members {
                plan.ungrouped[member] = true;
            }
            continue;
        }
        let broken = group.members.iter().any(|member| {
            touched[*member].withdrawn || plan.dropped[*member] || touched[*member].renamed && change.new_name == 0
        });
        if group.comdat && (broken || change.fate == Fate::Localize) {
            plan.plain_groups[index] = true;
            plan.any = true;
        }
    }
    Ok(())
}

/// The sections with a definition of one of `names` that other objects see.
fn sections_defining(
    file: &ElfFile<'_>,
    table: Option<&SymbolTable<'_>>,
    names: &[String],
) -> Result<Vec<bool>, ElfError> {
    let mut defining = vec![false; file.sections.len()];
    let Some(table) = table.filter(|_| !names.is_empty()) else { return Ok(defining) };
    let wanted: HashSet<&[u8]> = names.iter().map(String::as_bytes).collect();
    let longest = names.iter().map(String::len).max().unwrap_or(0);
    for index in 1..table.count() {
        let raw = table.raw(index);
        if raw.is_local() || !raw.is_named_by_program() {
            continue;
        }
        if table.names.short(raw.name, longest).is_some_and(|name| wanted.contains(name))
            && let Place::Section(section) = table.place_of(file, index, raw.section)?
        {
            defining[section] = true;
        }
    }
    Ok(defining)
}

/// What edits do to the global definitions of each section.
fn touched_sections(
    file: &ElfFile<'_>,
    table: Option<&SymbolTable<'_>>,
    changes: &Changes,
) -> Result<Vec<Touched>, ElfError> {
    let mut touched = vec![Touched::default(); file.sections.len()];
    let Some(table) = table.filter(|_| changes.any) else { return Ok(touched) };
    for (index, change) in changes.symbols.iter().enumerate() {
        let withdrawn = match change.fate {
            Fate::Keep | Fate::Weaken => false,
            Fate::Localize | Fate::Strip(_) => true,
        };
        if (change.new_name == 0 && !withdrawn) || table.raw(index).is_local() {
            continue;
        }
        if let Place::Section(section) = table.place(file, index)? {
            touched[section].withdrawn |= withdrawn;
            touched[section].renamed |= change.new_name != 0;
        }
    }
    Ok(touched)
}

/// Refuses drops that would leave the file broken.
fn check_dropped(file: &ElfFile<'_>, table: Option<&SymbolTable<'_>>, plan: &SectionPlan) -> Result<(), ElfError> {
    let refused =
        |index: usize, problem: String| Err(ElfError::DropRefused { section: file.display_name(index), problem });
    for (index, section) in file.sections.iter().enumerate() {
        if plan.dropped[index] {
            let needed = index == file.names_index
                || table.is_some_and(|table| index == table.index || index == table.names_index);
            if needed || section.kind == kind::SYMTAB_SHNDX {
                return refused(index, "the file needs it".to_owned());
            }
            if file.is_linked() && section.is_allocated() {
                return refused(index, "the file is linked and the section is part of the program".to_owned());
            }
            continue;
        }
        let link = section.link as usize;
        let info = if section.info_is_section() { section.info as usize } else { 0 };
        for target in [link, info] {
            if plan.dropped.get(target).copied().unwrap_or(false) {
                return refused(target, format!("section `{}` refers to it", file.display_name(index)));
            }
        }
    }
    Ok(())
}

fn new_indices(dropped: &[bool]) -> Vec<u32> {
    let mut next = 0;
    dropped
        .iter()
        .map(|dropped| {
            let index = if *dropped { 0 } else { next };
            next += u32::from(!*dropped);
            index
        })
        .collect()
}
