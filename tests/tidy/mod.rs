//! Keeps the module borders: which module may know which, and a few habits a compiler does not check.

mod borders;
mod cycles;
mod paths;

use std::path::{Path, PathBuf};

use paths::Source;

const LONGEST_FILE: usize = 600;

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

fn made_up(path: &str, text: &str) -> Source {
    Source { path: PathBuf::from(path), text: text.to_owned() }
}

fn report(title: &str, violations: &[String]) {
    assert!(violations.is_empty(), "{title}:\n  {}", violations.join("\n  "));
}

#[test]
fn only_the_python_border_knows_python() {
    let mut violations = Vec::new();
    for source in sources("src", "rs").iter().filter(|source| source.module().first().is_none_or(|name| name != "py")) {
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

fn too_long(sources: &[Source]) -> Vec<String> {
    let lines = |source: &Source| source.text.lines().count();
    let told = |source: &Source| format!("{}: {} lines", source.path.display(), lines(source));
    sources.iter().filter(|source| lines(source) > LONGEST_FILE).map(told).collect()
}

#[test]
fn files_are_short_enough_to_read() {
    let title = format!("files longer than {LONGEST_FILE} lines");
    for (folder, extension) in
        [("src", "rs"), ("src", "cpp"), ("python", "py"), ("python", "h"), ("tests", "rs"), ("tests", "py")]
    {
        report(&title, &too_long(&sources(folder, extension)));
    }
    let made_up = made_up("src/long.rs", &"//\n".repeat(LONGEST_FILE + 1));
    assert_eq!(too_long(&[made_up]), [format!("src/long.rs: {} lines", LONGEST_FILE + 1)]);
}
