//! Of interchangeable section groups (COMDAT) the first stays.

use std::collections::HashSet;

use super::input::Object;
use crate::elf::format::flag;

/// By object and section: is it left out because another object brings the same group?
pub(super) fn duplicates(objects: &[Object<'_>]) -> Vec<Vec<bool>> {
    let mut known: HashSet<&[u8]> = HashSet::new();
    objects.iter().map(|object| duplicates_of(object, &mut known)).collect()
}

fn duplicates_of<'a>(object: &Object<'a>, known: &mut HashSet<&'a [u8]>) -> Vec<bool> {
    let mut left_out = vec![false; object.sections.len()];
    for group in object.groups.iter().filter(|group| group.comdat) {
        if !known.insert(group.name) {
            left_out[group.section] = true;
            group.members.iter().for_each(|member| left_out[*member] = true);
        }
    }
    // What only describes a section goes with it.
    let described = |index: usize| {
        let header = object.header(index);
        let target = (header.flags & flag::LINK_ORDER != 0).then_some(header.link as usize);
        target.is_some_and(|target| left_out.get(target).copied().unwrap_or(false))
    };
    let more: Vec<usize> = (0..left_out.len()).filter(|index| described(*index)).collect();
    more.into_iter().for_each(|index| left_out[index] = true);
    left_out
}
