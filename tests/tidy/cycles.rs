//! Inside every folder: its files and folders can be put in an order in which each names only those before it.

use std::collections::{BTreeMap, BTreeSet};

use super::paths::{Module, Modules, Source};
use super::{made_up, report, sources};

/// Who names whom among the files and folders of one folder.
type Neighbours = BTreeMap<String, BTreeSet<String>>;

/// By folder. What is only there for tests does not count: tests may use whatever they like.
fn neighbours(sources: &[Source]) -> BTreeMap<Module, Neighbours> {
    let modules = Modules::of(sources);
    let mut found: BTreeMap<Module, Neighbours> = BTreeMap::new();
    for source in sources.iter().filter(|source| !source.is_test()) {
        let from = source.module();
        for path in modules.named_by(&from, false) {
            let to = modules.origin(&path);
            let shared = from.iter().zip(&to).take_while(|(left, right)| left == right).count();
            if let (Some(own), Some(other)) = (from.get(shared), to.get(shared)) {
                let folder = found.entry(from[..shared].to_vec()).or_default();
                folder.entry(own.clone()).or_default().insert(other.clone());
            }
        }
    }
    found
}

/// Those who are left when everybody who names none of them, or is named by none, is taken away again and again.
fn in_cycles(neighbours: &Neighbours) -> Vec<&String> {
    let mut left: BTreeSet<&String> = neighbours.keys().collect();
    loop {
        let names_some = |name: &String| neighbours[name].iter().any(|other| left.contains(other));
        let is_named = |name: &String| left.iter().any(|other| neighbours[*other].contains(name));
        let kept: BTreeSet<&String> = left.iter().filter(|name| names_some(name) && is_named(name)).copied().collect();
        if kept.len() == left.len() {
            return kept.into_iter().collect();
        }
        left = kept;
    }
}

fn cycles(sources: &[Source]) -> Vec<String> {
    let told = |(folder, neighbours): (&Module, &Neighbours)| {
        let names = in_cycles(neighbours);
        let edge = |name: &&String| {
            let others = neighbours[*name].iter().filter(|other| names.contains(other));
            format!("{name} names {}", others.map(String::as_str).collect::<Vec<_>>().join(", "))
        };
        let edges: Vec<String> = names.iter().map(edge).collect();
        (!edges.is_empty()).then(|| format!("src/{}: {}", folder.join("/"), edges.join("; ")))
    };
    neighbours(sources).iter().filter_map(told).collect()
}

#[test]
fn no_folder_has_a_cycle() {
    report("files or folders that know each other", &cycles(&sources("src", "rs")));
}

#[test]
fn a_cycle_among_files_is_found() {
    let low = |text: &str| made_up("src/big/low.rs", text);
    let high = || made_up("src/big/high/mod.rs", "use crate::big::low::x;\npub use deep::Top;");
    let deep = || made_up("src/big/high/deep.rs", "use super::Top; use crate::other;");
    let big = || made_up("src/big/mod.rs", "mod high;\nmod low;\npub use high::Top;");
    let all = |text: &str| cycles(&[low(text), high(), deep(), big(), made_up("src/other.rs", "")]);
    assert_eq!(all("use crate::other; use super::low;"), Vec::<String>::new());
    assert_eq!(all("mod tests { use crate::big::high; }"), Vec::<String>::new());
    let expected = ["src/big: high names low; low names high"];
    for upwards in ["use super::high::x;", "use super::Top;", "fn f() { crate::big::Top::new() }"] {
        assert_eq!(all(upwards), expected, "{upwards}");
    }
    assert_eq!(cycles(&[made_up("src/a.rs", "use crate::b;"), made_up("src/b.rs", "use super::a;")]).len(), 1);
}
