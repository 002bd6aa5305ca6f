//! Keeps the module borders: which module may know which, and a few habits a compiler does not check.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

const LONGEST_FILE: usize = 800;

struct Source {
    /// Relative to the repository.
    path: PathBuf,
    text: String,
}

impl Source {
    /// The first folder (or file) below `src`: `src/plan/sync.rs` is of module `plan`.
    fn module(&self) -> String {
        let below = self.path.strip_prefix("src").unwrap_or(&self.path);
        let first = below.components().next().expect("a file has a name");
        first.as_os_str().to_string_lossy().trim_end_matches(".rs").to_owned()
    }

    /// How many `super::` lead from this file's module to the root of the crate.
    fn supers_to_root(&self) -> usize {
        let steps = self.path.components().count() - 1;
        if self.path.ends_with("mod.rs") { steps - 1 } else { steps }
    }

    /// Number and text of the lines that are not comments.
    fn code_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        (1..).zip(self.text.lines()).filter(|(_, line)| !line.trim_start().starts_with("//"))
    }
}

fn sources(folder: &str, extension: &str) -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    let mut folders = vec![root.join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                let text = std::fs::read_to_string(&path).unwrap();
                found.push(Source { path: path.strip_prefix(root).unwrap().to_path_buf(), text });
            }
        }
    }
    found.sort_by(|left, right| left.path.cmp(&right.path));
    assert!(!found.is_empty(), "no {extension} files in {folder}");
    found
}

/// The names right below the root of this crate that `code` mentions: `crate::plan::x`, `crate::{emit, elf::File}`.
fn named_modules(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    for rest in code.split("crate::").skip(1) {
        match rest.strip_prefix('{') {
            None => found.push(identifier(rest)),
            Some(group) => {
                let mut depth = 0;
                let mut expected = true;
                for (position, letter) in group.char_indices() {
                    match letter {
                        '{' => depth += 1,
                        '}' if depth == 0 => break,
                        '}' => depth -= 1,
                        ',' => expected = depth == 0,
                        _ if expected && !letter.is_whitespace() => {
                            found.push(identifier(&group[position..]));
                            expected = false;
                        }
                        _ => {}
                    }
                }
            }
        }
    }
    found
}

/// First names of the paths in `code`, which is how the root of the crate names its modules: `plan` in `plan::Step`.
fn first_names(code: &str) -> Vec<String> {
    let is_name = |letter: char| letter.is_alphanumeric() || letter == '_';
    let begin = |end: usize| code[..end].rfind(|letter| !is_name(letter)).map_or(0, |before| before + 1);
    let paths = code.match_indices("::").map(|(end, _)| (begin(end), end));
    paths.filter(|(begin, _)| !code[..*begin].ends_with(':')).map(|(begin, end)| code[begin..end].to_owned()).collect()
}

fn identifier(text: &str) -> String {
    text.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect()
}

#[test]
fn named_modules_reads_all_forms() {
    assert_eq!(named_modules("use crate::plan::Step;"), ["plan"]);
    assert_eq!(named_modules("use crate::{emit, elf::{File, Edit}, model::x};"), ["emit", "elf", "model"]);
    assert!(named_modules("use std::fmt;").is_empty());
}

fn report(title: &str, violations: &[String]) {
    assert!(violations.is_empty(), "{title}:\n  {}", violations.join("\n  "));
}

#[test]
fn first_names_reads_the_forms_of_the_root() {
    assert_eq!(first_names("use plan::Step; model::load(&a::b::c)"), ["plan", "model", "a"]);
}

/// Who may know whom: the rows of the table of modules in ARCHITECTURE.md, in its order.
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

    fn is_module(&self, name: &str) -> bool {
        self.0.iter().any(|(module, _)| module == name)
    }

    /// The modules that a file names, its own left out.
    fn named_by(&self, source: &Source) -> BTreeSet<String> {
        let code: String = source.code_lines().flat_map(|(_, line)| [line, "\n"]).collect();
        let module = source.module();
        let mut named = named_modules(&code);
        // The root by other names; the same path may mean something nearer, which then has the name of no module.
        let outwards = source.supers_to_root();
        let (from_inner_module, from_file) = ("super::".repeat(outwards + 1), "super::".repeat(outwards));
        let by_super =
            code.replace("crate::", "").replace(&from_inner_module, "crate::").replace(&from_file, "crate::");
        let by_other_names = match module.as_str() {
            "lib" => first_names(&code),
            _ => named_modules(&by_super),
        };
        named.extend(by_other_names.into_iter().filter(|name| self.is_module(name)));
        // What tests share. The compiler sees to it that nothing but tests does.
        named.retain(|name| name != "integration");
        let owner = |name: String| match name.as_str() {
            // Under the names by which the front door offers them.
            "Error" => "error".to_owned(),
            "Diagnostic" => "diagnostic".to_owned(),
            _ if self.is_module(&name) => name,
            _ => "lib".to_owned(),
        };
        named.into_iter().map(owner).filter(|name| *name != module).collect()
    }

    /// Modules that name what they may not, or that have no row; rows and permissions that nothing needs.
    fn violations(&self, sources: &[Source]) -> Vec<String> {
        let mut found = Vec::new();
        let mut used: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for source in sources {
            let (module, named) = (source.module(), self.named_by(source));
            match self.0.iter().find(|(name, _)| *name == module) {
                None => found.push(format!("module `{module}` has no row")),
                Some((_, allowed)) => found
                    .extend(named.difference(allowed).map(|name| format!("{} names `{name}`", source.path.display()))),
            }
            used.entry(module).or_default().extend(named);
        }
        for (module, allowed) in &self.0 {
            match used.get(module) {
                None => found.push(format!("there is no module `{module}`")),
                Some(named) => {
                    found.extend(allowed.difference(named).map(|name| format!("`{module}` no longer names `{name}`")))
                }
            }
        }
        found
    }

    /// Rows that know a module which is not above them: with none of these there is no circle.
    fn out_of_order(&self) -> Vec<String> {
        let mut above = BTreeSet::new();
        let mut found = Vec::new();
        for (module, knows) in &self.0 {
            found.extend(knows.difference(&above).map(|name| format!("`{module}` knows `{name}`")));
            if !above.insert(module.clone()) {
                found.push(format!("`{module}` has two rows"));
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

fn made_up(path: &str, text: &str) -> Source {
    Source { path: PathBuf::from(path), text: text.to_owned() }
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
    assert_eq!(borders.violations(&[high(), lib()]), ["there is no module `low`"]);
}

#[test]
fn a_made_up_cycle_is_found() {
    let rows =
        |low: &str| format!("| module | knows | what |\n|---|---|---|\n| `low` | {low} | |\n| `high` | `low` | |\n");
    assert_eq!(Borders::read(&rows("`high`")).out_of_order(), ["`low` knows `high`"]);
    assert_eq!(Borders::read(&rows("`low`")).out_of_order(), ["`low` knows `low`"]);
}

#[test]
fn only_the_python_border_knows_python() {
    let mut violations = Vec::new();
    for source in sources("src", "rs").iter().filter(|source| source.module() != "py") {
        for (number, _) in source.code_lines().filter(|(_, line)| line.contains("pyo3")) {
            violations.push(format!("{}:{number}", source.path.display()));
        }
    }
    report("`pyo3` is mentioned outside `src/py`", &violations);
}

#[test]
fn nothing_is_left_undone() {
    // Spelled apart so that this file does not find itself.
    let forbidden = [concat!("todo", "!("), concat!("unimpl", "emented!("), concat!("d", "bg!(")];
    let mut violations = Vec::new();
    for source in sources("src", "rs").iter().chain(&sources("tests", "rs")) {
        for (number, line) in source.code_lines() {
            for name in forbidden.iter().filter(|name| line.contains(**name)) {
                violations.push(format!("{}:{number}: {name}", source.path.display()));
            }
        }
    }
    report("unfinished code", &violations);
}

#[test]
fn files_are_short_enough_to_read() {
    let mut violations = Vec::new();
    for source in sources("src", "rs").iter().chain(&sources("python", "py")) {
        let lines = source.text.lines().count();
        if lines > LONGEST_FILE {
            violations.push(format!("{}: {lines} lines", source.path.display()));
        }
    }
    report(&format!("files longer than {LONGEST_FILE} lines"), &violations);
}
