//! The table of modules in ARCHITECTURE.md: who may know whom.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::paths::{Module, Modules, Source};
use super::{made_up, report, sources};

/// The rows of the table, in its order. A row is for a module, or for a room of one: `sim/machine`.
struct Borders(Vec<(String, BTreeSet<String>)>);

impl Borders {
    fn read(document: &str) -> Self {
        let rows = document.lines().skip_while(|line| !line.starts_with("| module | knows |")).skip(2);
        let quoted = |cell: &str| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>();
        let row = |line: &str| {
            let cells: Vec<&str> = line.split('|').collect();
            let [_, module, knows, ..] = cells[..] else { panic!("not a row of modules: {line}") };
            (quoted(module).concat(), quoted(knows).into_iter().collect())
        };
        Self(rows.take_while(|line| line.starts_with('|')).map(row).collect())
    }

    fn of_this_crate() -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("ARCHITECTURE.md");
        Self::read(&std::fs::read_to_string(path).unwrap())
    }

    /// The row that a module belongs to: its own, or that of what it is in.
    fn row_of(&self, module: &Module) -> String {
        if module.is_empty() {
            return "lib".to_owned();
        }
        let has_row = |name: &String| self.0.iter().any(|(row, _)| row == name);
        let mut around = (1..=module.len()).rev().map(|length| module[..length].join("/"));
        around.find(has_row).unwrap_or_else(|| module[0].clone())
    }

    /// The rows that a file names, its own left out.
    fn named_by(&self, source: &Source, modules: &Modules) -> BTreeSet<String> {
        let module = source.module();
        let own = self.row_of(&module);
        let named = modules.named_by(&module, true);
        // What tests share. The compiler sees to it that nothing but tests does.
        let named = named.iter().filter(|path| path.first().is_none_or(|first| first != "integration"));
        let rows = named.map(|path| match modules.nearest(path) {
            // What the front door offers is of those who define it.
            root if root.is_empty() => self.row_of(&modules.origin(path)),
            module => self.row_of(&module),
        });
        rows.filter(|row| *row != own).collect()
    }

    /// Modules that name what they may not, or that have no row; rows and permissions that nothing needs.
    fn violations(&self, sources: &[Source]) -> Vec<String> {
        let modules = Modules::of(sources);
        let mut found = Vec::new();
        let mut used: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for source in sources {
            let (row, named) = (self.row_of(&source.module()), self.named_by(source, &modules));
            match self.0.iter().find(|(name, _)| *name == row) {
                None => found.push(format!("module `{row}` has no row")),
                Some((_, allowed)) => found
                    .extend(named.difference(allowed).map(|name| format!("{} names `{name}`", source.path.display()))),
            }
            used.entry(row).or_default().extend(named);
        }
        for (row, allowed) in &self.0 {
            match used.get(row) {
                None => found.push(format!("there is no module `{row}`")),
                Some(named) => {
                    found.extend(allowed.difference(named).map(|name| format!("`{row}` no longer names `{name}`")))
                }
            }
        }
        found
    }

    /// Rows that know a module which is not above them: with none of these there is no circle.
    fn out_of_order(&self) -> Vec<String> {
        let mut above = BTreeSet::new();
        let mut found = Vec::new();
        for (row, knows) in &self.0 {
            found.extend(knows.difference(&above).map(|name| format!("`{row}` knows `{name}`")));
            if !above.insert(row.clone()) {
                found.push(format!("`{row}` has two rows"));
            }
        }
        found
    }
}

#[test]
fn modules_know_only_what_architecture_allows() {
    report("the table of modules in ARCHITECTURE.md", &Borders::of_this_crate().violations(&sources("src", "rs")));
}

/// Whoever wants to understand a module can stop at what it knows: nothing leads back.
#[test]
fn the_module_graph_has_no_cycle() {
    report("rows that know what is not above them in ARCHITECTURE.md", &Borders::of_this_crate().out_of_order());
}

#[test]
fn made_up_violations_are_found() {
    let table = "| module | knows | what |\n|---|---|---|\n| `low` | | |\n| `high` | `low` | |\n| `lib` | `high` | |\n";
    let borders = Borders::read(table);
    let low = || made_up("src/low.rs", "// crate::high is a comment\npub(crate) struct Low;");
    let high = || made_up("src/high/mod.rs", "use crate::low::Low;");
    let lib = || made_up("src/lib.rs", "mod high;\nuse high::x;");
    assert_eq!(borders.violations(&[low(), high(), lib()]), Vec::<String>::new());
    assert_eq!(borders.out_of_order(), Vec::<String>::new());

    for upwards in
        ["use crate::high::x;", "use crate::{fmt, high};", "fn f() { super::high::x() }", "use super::{high, x};"]
    {
        let found = borders.violations(&[made_up("src/low.rs", upwards), high(), lib()]);
        assert!(found.contains(&"src/low.rs names `high`".to_owned()), "{upwards}: {found:?}");
    }
    let inner = made_up("src/low/inner.rs", "use super::super::high;\nuse super::low;");
    assert_eq!(borders.violations(&[low(), inner, high(), lib()]), ["src/low/inner.rs names `high`"]);
    let front_door = made_up("src/high/inner.rs", "fn f() { crate::build(1) }");
    assert_eq!(borders.violations(&[low(), high(), front_door, lib()]), ["src/high/inner.rs names `lib`"]);
    let more = made_up("src/more.rs", "");
    assert_eq!(borders.violations(&[low(), high(), lib(), more]), ["module `more` has no row"]);
    let lonely = made_up("src/high/mod.rs", "");
    assert_eq!(borders.violations(&[low(), lonely, lib()]), ["`high` no longer names `low`"]);
    let without_low = borders.violations(&[high(), lib()]);
    assert!(without_low.contains(&"there is no module `low`".to_owned()), "{without_low:?}");
}

#[test]
fn rooms_have_rows_of_their_own() {
    let table = "| module | knows | what |\n|---|---|---|\n| `big/low` | | |\n| `big/high` | `big/low` | |\n\
                 | `big` | `big/high` | |\n";
    let borders = Borders::read(table);
    let low = |text: &str| made_up("src/big/low/inner.rs", text);
    let high = || made_up("src/big/high.rs", "use super::low::inner::x;");
    let big = || made_up("src/big/mod.rs", "mod high;\nuse high::x;");
    let folder = || made_up("src/big/low/mod.rs", "mod inner;");
    assert_eq!(borders.violations(&[low(""), high(), big(), folder()]), Vec::<String>::new());
    let upwards = low("use crate::big::high::x;");
    assert_eq!(borders.violations(&[upwards, high(), big(), folder()]), ["src/big/low/inner.rs names `big/high`"]);
}

#[test]
fn a_made_up_cycle_is_found() {
    let rows =
        |low: &str| format!("| module | knows | what |\n|---|---|---|\n| `low` | {low} | |\n| `high` | `low` | |\n");
    assert_eq!(Borders::read(&rows("`high`")).out_of_order(), ["`low` knows `high`"]);
    assert_eq!(Borders::read(&rows("`low`")).out_of_order(), ["`low` knows `low`"]);
}
