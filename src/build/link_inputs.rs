//! What is linked to a kernel, in memory and as files.

use std::path::PathBuf;

use crate::link;
use crate::model::CoreKind;
use crate::objects::LinkGroup;
use crate::toolchain::LinkInput;

/// Everything that goes into a kernel. Paths are relative to the work directory; the files are there if a tool or a
/// person wants them.
pub(crate) struct LinkInputs<'a> {
    /// The super kernel's own objects: entry, code, copies; per core kind.
    pub own: Vec<(CoreKind, Vec<OwnFile>)>,
    /// The sub-kernels' objects with their copies, in op order: an archive per group.
    pub subs: Vec<SubArchive<'a>>,
}

/// An object of the super kernel's own code.
pub(crate) struct OwnFile {
    pub file: PathBuf,
    pub bytes: Vec<u8>,
}

/// The sub-kernels' objects of one group.
pub(crate) struct SubArchive<'a> {
    pub group: LinkGroup,
    pub file: PathBuf,
    pub members: Vec<Member<'a>>,
}

/// One of them.
pub(crate) struct Member<'a> {
    /// What messages call it.
    pub origin: String,
    pub bytes: &'a [u8],
}

/// A place in the link order.
enum Part<'p, 'a> {
    Own(&'p OwnFile),
    Subs(&'p SubArchive<'a>),
}

impl LinkInputs<'_> {
    /// As files.
    pub(crate) fn files(&self) -> Vec<LinkInput> {
        let input = |part: Part<'_, '_>| match part {
            Part::Own(own) => LinkInput::Object(own.file.clone()),
            Part::Subs(archive) => LinkInput::Archive(archive.file.clone()),
        };
        self.in_order().into_iter().map(input).collect()
    }

    /// In memory.
    pub(crate) fn objects(&self) -> Vec<link::Input<'_>> {
        let mut objects = Vec::new();
        for part in self.in_order() {
            match part {
                Part::Own(own) => {
                    objects.push(link::Input { name: own.file.to_str().unwrap_or(""), bytes: &own.bytes })
                }
                Part::Subs(archive) => {
                    let members = archive.members.iter();
                    objects.extend(members.map(|member| link::Input { name: &member.origin, bytes: member.bytes }));
                }
            }
        }
        objects
    }

    /// Link order: own cube code, cube ops, own vector code, vector ops, dynamic ops. A kernel with one core kind
    /// has its own code first.
    fn in_order(&self) -> Vec<Part<'_, '_>> {
        let own = |kind: CoreKind| {
            let files = self.own.iter().filter(move |(owner, _)| *owner == kind).flat_map(|(_, files)| files);
            files.map(Part::Own)
        };
        let subs = |group: LinkGroup| self.subs.iter().filter(move |archive| archive.group == group).map(Part::Subs);
        let mut order = Vec::new();
        if let [(kind, _)] = self.own.as_slice() {
            order.extend(own(*kind));
            LinkGroup::ALL.into_iter().for_each(|group| order.extend(subs(group)));
        } else {
            for kind in CoreKind::BOTH {
                order.extend(own(kind));
                order.extend(subs(LinkGroup::Static(kind)));
            }
            order.extend(subs(LinkGroup::Dynamic));
        }
        order
    }
}
