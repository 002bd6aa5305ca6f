//! Which objects a super kernel needs, each once: identity is by content, never by file name.

use std::collections::HashMap;
use std::path::Path;

use super::read::origin;
use super::{ObjectBytes, ObjectError, Objects};
use crate::artifact::copy_name;
use crate::model::{CoreKind, Op, OpName, SubKernelCode, SuperKernel};
use crate::store::digest::ContentDigest;

/// Where an object stands in the link order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum LinkGroup {
    /// Static code of one core kind.
    Static(CoreKind),
    /// Code of dynamic ops.
    Dynamic,
}

impl LinkGroup {
    /// All groups, in link order.
    pub(crate) const ALL: [Self; 3] = [Self::Static(CoreKind::Aic), Self::Static(CoreKind::Aiv), Self::Dynamic];
}

/// One object that takes part in the link, with its copies.
#[derive(Debug)]
pub(crate) struct UsedObject<'a> {
    /// Its place in the link order.
    pub group: LinkGroup,
    /// The first op that uses it.
    pub op: OpName,
    /// The file it came from.
    pub path: &'a Path,
    /// The object itself: copy 0.
    pub object: ObjectBytes<'a>,
    /// The functions that ops call in it, in order of first use.
    pub functions: Vec<&'a str>,
    /// Copies that its archive holds already, by number from 1; `None`: to be made.
    pub ready: Vec<Option<ObjectBytes<'a>>>,
}

impl<'a> UsedObject<'a> {
    /// The object and the copies that came with it.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = &ObjectBytes<'a>> {
        std::iter::once(&self.object).chain(self.ready.iter().flatten())
    }

    /// How messages call it: the file, the member if it is an archive, and the first op that uses it.
    pub(crate) fn origin(&self) -> String {
        let OpName { index, kernel_name } = &self.op;
        format!("{} of op {index} {kernel_name}", origin(self.path, self.object.name))
    }
}

/// The objects of all ops: in op order within each group, equal contents once.
pub(crate) fn used<'a>(kernel: &'a SuperKernel, objects: &'a Objects) -> Result<Vec<UsedObject<'a>>, ObjectError> {
    let mut finder = Finder { objects, by_content: HashMap::new(), found: Vec::new() };
    // One function per (file, name) is enough: a list repeats the same few kernels over and over.
    let mut seen = std::collections::HashSet::new();
    for op in &kernel.ops {
        for (group, function, file_name) in functions(op) {
            if seen.insert((op.bin_path.as_deref(), function, file_name)) {
                finder.add(op, group, function, file_name)?;
            }
        }
    }
    let mut used = finder.found;
    used.sort_by_key(|object| object.group);
    for object in &mut used {
        object.ready = ready_copies(object, objects, kernel.options.split.get());
    }
    check_names(&used)?;
    Ok(used)
}

/// The functions of an op: group, name, and the file name its JSON gives.
pub(super) fn functions(op: &Op) -> Vec<(LinkGroup, &str, Option<&str>)> {
    match &op.kernel.code {
        SubKernelCode::Static(functions) => functions
            .iter()
            .map(|function| (LinkGroup::Static(function.kind), function.name.as_str(), function.object.as_deref()))
            .collect(),
        SubKernelCode::Dynamic(table) => table
            .iter()
            .flat_map(|entry| [entry.aic.as_deref(), entry.aiv.as_deref()])
            .flatten()
            .map(|name| (LinkGroup::Dynamic, name, None))
            .collect(),
    }
}

struct Finder<'a> {
    objects: &'a Objects,
    by_content: HashMap<ContentDigest, usize>,
    found: Vec<UsedObject<'a>>,
}

impl<'a> Finder<'a> {
    fn add(
        &mut self,
        op: &'a Op,
        group: LinkGroup,
        function: &'a str,
        file_name: Option<&str>,
    ) -> Result<(), ObjectError> {
        let (file, object) = self.objects.find(op, function, file_name)?;
        let place = *self.by_content.entry(object.digest).or_insert_with(|| {
            let (functions, ready) = (Vec::new(), Vec::new());
            self.found.push(UsedObject { group, op: op.name(), path: &file.path, object, functions, ready });
            self.found.len() - 1
        });
        let known = &mut self.found[place];
        if !known.functions.contains(&function) {
            known.functions.push(function);
        }
        // Used by two groups: it stands where the earlier one is linked.
        known.group = known.group.min(group);
        Ok(())
    }
}

/// Copies that come with the object. One counts only if it holds all of its functions: a part would be useless.
fn ready_copies<'a>(used: &UsedObject<'a>, objects: &'a Objects, copies: u32) -> Vec<Option<ObjectBytes<'a>>> {
    let Some(file) = objects.file_at(used.path) else { return Vec::new() };
    (1..copies)
        .map(|number| {
            let mut wanted = used.functions.iter().map(|function| copy_name(function, number));
            let first = file.object_with(&wanted.next()?, None)?;
            wanted.all(|name| first.exports(&name)).then_some(first)
        })
        .collect()
}

/// No two objects may define the same sub-kernel function, or a copy of one: the linker would take either.
fn check_names(used: &[UsedObject<'_>]) -> Result<(), ObjectError> {
    let mut owners: HashMap<String, &UsedObject<'_>> = HashMap::new();
    for object in used {
        for function in &object.functions {
            for number in 0..=object.ready.len() as u32 {
                let name = copy_name(function, number);
                if let Some(first) = owners.insert(name.clone(), object) {
                    let (first, second) = (first.origin(), object.origin());
                    return Err(ObjectError::SameFunction { function: name, first, second });
                }
            }
        }
    }
    Ok(())
}
