//! What keeps sub-kernels apart that define symbols of the same name, and what they share all the same.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use crate::artifact::{Setter, TILING_PREFIX, copy_name};
use crate::elf::{self, Definition, Edits, Groups, Localize, SharedPart, SharedVariable};
use crate::objects::{Fate, ObjectBytes, Sharing, UsedObject};
use crate::store::digest::ContentDigest;

/// Decides about every object.
///
/// A linker takes one definition of a name for all objects. Two sub-kernels may bring different helpers of one name
/// (inline functions, templates, weak data, statics of inline functions), so each object keeps visible only the
/// functions that ops call. What the halves of one sub-kernel share gets a name of that sub-kernel. Block-local variables
/// that the linker merges stay shared by all, and so does what the super kernel or the loader sets: whoever sets it must
/// mean the same memory as whoever reads it, and there is no room for an instance per object.
pub(super) struct Isolation<'a> {
    /// The functions that ops call, copies included, by the content that defines them.
    called: HashMap<ContentDigest, HashSet<String>>,
    /// By file: what one of its objects defines and another needs, and its new name.
    within: HashMap<&'a Path, Vec<(&'a str, String)>>,
    sharing: &'a Sharing<'a>,
}

impl<'a> Isolation<'a> {
    pub(super) fn of(used: &'a [UsedObject<'a>], sharing: &'a Sharing<'a>) -> Self {
        let mut called: HashMap<ContentDigest, HashSet<String>> = HashMap::new();
        for object in used {
            let ready = (1..).zip(&object.ready).filter_map(|(copy, ready)| Some((copy, ready.as_ref()?)));
            for (copy, piece) in std::iter::once((0, &object.object)).chain(ready) {
                let names = object.functions.iter().map(|function| copy_name(function, copy));
                called.entry(piece.digest).or_default().extend(names);
            }
        }
        let mut by_file: HashMap<&Path, Vec<&ObjectBytes<'_>>> = HashMap::new();
        for object in used {
            by_file.entry(object.path).or_default().extend(object.pieces());
        }
        let all_called: HashSet<&str> = called.values().flatten().map(String::as_str).collect();
        let within = by_file.into_iter().map(|(path, objects)| (path, needed_within(&objects, &all_called))).collect();
        Self { called, within, sharing }
    }

    /// The edits of an object that was read: the first copy, or one that came ready.
    pub(super) fn edits(&self, object: &ObjectBytes<'_>, path: &Path) -> Edits {
        let within = self.needed_within(object, path);
        let called = self.called.get(&object.digest).into_iter().flatten().cloned();
        let defined = within.iter().map(|(name, _)| name).filter(|name| object.exports(name)).cloned();
        let mut edits = Edits {
            localize: Localize::AllDefinedExcept(sorted(called.chain(defined))),
            rename: within,
            rename_sections: whole_code(object.code_parts()),
            drop_unused_with_prefix: match object.describes_tiling() {
                true => vec![TILING_PREFIX.to_owned()],
                false => Vec::new(),
            },
            ..Edits::default()
        };
        share(&mut edits, object.shared(), self.sharing, |variable| self.sharing.fate(variable, object.digest));
        edits
    }

    /// The edits that make a copy of the isolated object.
    pub(super) fn copy_edits(&self, used: &UsedObject<'_>, copy: u32) -> Edits {
        let object = &used.object;
        let isolated = |variable: &SharedVariable| {
            let definition = match self.sharing.fate(variable, object.digest) {
                Fate::Merged => Definition::Weak,
                Fate::Yields | Fate::Kept => Definition::Only,
                Fate::Referred => return None,
            };
            Some(SharedVariable { name: self.sharing.name(variable), definition, ..variable.clone() })
        };
        let shared = object.shared();
        let variables = shared.variables.iter().filter_map(isolated).collect();
        let mut edits = elf::copy_edits(&used.functions, &SharedPart { variables, ..shared.clone() }, copy);
        // What is needed within the file is defined once, by the first copy; this one refers to it.
        let within = self.needed_within(object, used.path);
        edits.strip.extend(within.into_iter().filter(|(name, _)| object.exports(name)).map(|(_, new)| new));
        edits
    }

    /// What the object has to do with others of its file, and its new names.
    fn needed_within(&self, object: &ObjectBytes<'_>, path: &Path) -> Vec<(String, String)> {
        let names = self.within.get(path).into_iter().flatten();
        let known =
            names.filter(|(name, _)| object.exports(name) || object.imports().iter().any(|import| import == name));
        known.map(|(name, new)| ((*name).to_owned(), new.clone())).collect()
    }
}

/// Adds to `edits`, which make everything but a few symbols local, that shared variables stay shared.
pub(super) fn share(
    edits: &mut Edits,
    shared: &SharedPart,
    sharing: &Sharing<'_>,
    fate: impl Fn(&SharedVariable) -> Fate,
) {
    let mut merged = Vec::new();
    let mut visible = Vec::new();
    for variable in &shared.variables {
        match fate(variable) {
            Fate::Merged => {
                merged.push(variable.name.clone());
                visible.push(variable.name.clone());
                if variable.definition == Definition::Unique {
                    edits.weaken.push(variable.name.clone());
                }
                let name = sharing.name(variable);
                if name != variable.name {
                    edits.rename.push((variable.name.clone(), name));
                }
            }
            Fate::Yields => {
                visible.push(variable.name.clone());
                edits.weaken.push(variable.name.clone());
            }
            Fate::Kept => visible.push(variable.name.clone()),
            Fate::Referred => edits.strip.push(variable.name.clone()),
        }
    }
    if let Localize::AllDefinedExcept(names) = &mut edits.localize {
        names.extend(visible);
    }
    edits.groups = Groups::DissolveAllBut(merged);
}

/// All code of an object under one name: it stays together when the linker joins sections by name, and calls inside of
/// it stay within reach.
pub(super) fn whole_code(parts: &[String]) -> Vec<(String, String)> {
    parts.iter().map(|part| (part.clone(), ".text".to_owned())).collect()
}

/// What the objects of one file need from each other, apart from the functions that ops call.
fn needed_within<'a>(objects: &[&'a ObjectBytes<'a>], called: &HashSet<&str>) -> Vec<(&'a str, String)> {
    let mut needed_names: Vec<(&str, String)> = Vec::new();
    for needed in objects.iter().flat_map(|object| object.imports()) {
        let owner = objects.iter().find(|object| object.exports(needed));
        if let Some(owner) = owner.filter(|owner| !called.contains(needed.as_str()) && !is_shared(owner, needed)) {
            let digest = owner.digest.to_string();
            needed_names.push((needed, format!("{needed}__of_{}", &digest[..8])));
        }
    }
    needed_names.sort();
    needed_names.dedup();
    needed_names
}

fn is_shared(owner: &ObjectBytes<'_>, name: &str) -> bool {
    Setter::of(name) != Setter::Op || owner.shared().variables.iter().any(|variable| variable.name == name)
}

fn sorted(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut names: Vec<String> = names.collect();
    names.sort_unstable();
    names
}
