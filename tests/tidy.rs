//! Keeps the module borders: which module may know which, and a few habits a compiler does not check.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What a module must not mention. The data flows one way: options, model → plan → program → (emit, sim) and
/// emit, elf, toolchain → build; knowledge flows the other way only.
const BORDERS: &[(&str, &[&str])] = &[
    (
        "artifact",
        &["options", "model", "plan", "program", "emit", "elf", "toolchain", "build", "sim", "scope", "store", "fs"],
    ),
    ("store", &["options", "model", "plan", "program", "emit", "elf", "toolchain", "build", "sim", "scope"]),
    ("options", &["model", "plan", "program", "emit", "elf", "toolchain", "build", "sim", "scope"]),
    ("model", &["plan", "program", "emit", "elf", "toolchain", "build", "sim", "scope"]),
    ("program", &["plan", "emit", "elf", "toolchain", "build", "sim", "scope"]),
    ("plan", &["emit", "elf", "toolchain", "build", "sim", "scope"]),
    ("emit", &["plan", "elf", "toolchain", "build", "sim", "scope"]),
    ("elf", &["options", "model", "plan", "program", "emit", "toolchain", "build", "sim", "scope"]),
    ("toolchain", &["options", "plan", "program", "emit", "elf", "build", "sim", "scope"]),
    ("sim", &["plan", "emit", "build", "scope"]),
    ("cost", &["emit", "elf", "toolchain", "build", "sim"]),
    ("scope", &["plan", "program", "emit", "elf", "toolchain", "build", "sim"]),
];

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

/// The modules of this crate that `code` names: `crate::plan::x`, `crate::{emit, elf::File}`.
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
fn modules_know_only_what_is_before_them() {
    let mut violations = Vec::new();
    for source in sources("src", "rs") {
        let module = source.module();
        let forbidden = BORDERS.iter().find(|(name, _)| *name == module).map_or(&[][..], |(_, names)| names);
        let code: String = source.code_lines().flat_map(|(_, line)| [line, "\n"]).collect();
        for named in named_modules(&code) {
            if forbidden.contains(&named.as_str()) || (named == "py" && module != "py") {
                violations.push(format!("{} mentions `crate::{named}`", source.path.display()));
            }
        }
    }
    violations.dedup();
    report("module borders are crossed", &violations);
}

/// Whoever wants to understand a module can stop at what it knows: nothing leads back.
#[test]
fn the_module_graph_has_no_cycle() {
    let mut graph: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for source in sources("src", "rs").iter().filter(|source| source.module() != "lib") {
        let code: String = source.code_lines().flat_map(|(_, line)| [line, "\n"]).collect();
        let named = named_modules(&code).into_iter().map(|name| match name.as_str() {
            // Under the names by which the front door offers them.
            "Error" => "error".to_owned(),
            "Diagnostic" => "diagnostic".to_owned(),
            _ => name,
        });
        graph.entry(source.module()).or_default().extend(named.filter(|name| *name != source.module()));
    }
    // What knows only modules that are gone already is on no cycle.
    while let Some(free) = graph.iter().find(|(_, knows)| knows.iter().all(|name| !graph.contains_key(name))) {
        let free = free.0.clone();
        graph.remove(&free);
    }
    let kept =
        |knows: &BTreeSet<String>| knows.iter().filter(|name| graph.contains_key(*name)).cloned().collect::<Vec<_>>();
    let left: Vec<String> =
        graph.iter().map(|(name, knows)| format!("{name} knows {}", kept(knows).join(", "))).collect();
    report("modules that know each other in a circle, or know such", &left);
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
