//! `docs/errors.md` lists exactly the error ids there are.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn files(folder: &Path, extensions: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, extensions));
        } else if path.extension().is_some_and(|have| extensions.iter().any(|wanted| have == *wanted)) {
            found.push(path);
        }
    }
    found
}

/// The ids in `text` that follow `before`, such as the `"` of a string or the `| ` of a table row.
fn ids_after<'a>(text: &'a str, before: &'a str) -> impl Iterator<Item = String> + 'a {
    text.split(before).skip(1).filter_map(|rest| {
        let id = rest.get(..6)?;
        let is_id = id.starts_with("SK") && id[2..].bytes().all(|byte| byte.is_ascii_digit());
        let ends_here = !rest[6..].starts_with(|letter: char| letter.is_alphanumeric());
        (is_id && ends_here).then(|| id.to_owned())
    })
}

fn used_ids() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for path in files(&root().join("src"), &["rs"]).into_iter().chain(files(&root().join("python"), &["py"])) {
        found.extend(ids_after(&std::fs::read_to_string(path).unwrap(), "\""));
    }
    found
}

fn documented_ids() -> Vec<String> {
    let table = std::fs::read_to_string(root().join("docs/errors.md")).unwrap();
    table.lines().filter_map(|line| ids_after(line, "| ").next().filter(|_| line.starts_with("| SK"))).collect()
}

#[test]
fn every_id_is_documented_once_and_nothing_else_is() {
    let documented = documented_ids();
    let used = used_ids();
    assert!(used.len() > 5, "found only {used:?}: does the search still work?");
    let listed: BTreeSet<String> = documented.iter().cloned().collect();
    let twice: Vec<&String> =
        listed.iter().filter(|id| documented.iter().filter(|row| row == id).count() > 1).collect();
    let missing: Vec<&String> = used.difference(&listed).collect();
    let unused: Vec<&String> = listed.difference(&used).collect();
    assert!(
        twice.is_empty() && missing.is_empty() && unused.is_empty(),
        "docs/errors.md: rows missing for {missing:?}, rows without an error {unused:?}, rows given twice {twice:?}"
    );
}

#[test]
fn ids_are_listed_in_their_order() {
    let documented = documented_ids();
    let out_of_order: Vec<_> = documented.windows(2).filter(|pair| pair[0] >= pair[1]).collect();
    assert!(out_of_order.is_empty(), "docs/errors.md: {out_of_order:?} are not in order");
}
