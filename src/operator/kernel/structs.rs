//! Tiling structs that an operator's host code describes (`BEGIN_TILING_DATA_DEF`), for its kernel.
//!
//! The device's build of an operator gives the kernel the structs that host code registers for its type. They are taken
//! from the text, so that they are there even where the host code cannot be compiled.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::folder::OperatorFolder;
use crate::fs;
use crate::opbuild::expression::evaluate;
use crate::opbuild::lexer::{closing, words};
use crate::opbuild::template::call;

/// Words of fields whose last argument but one is a number, or whose type is another struct.
const ARRAY: &str = "TILING_DATA_FIELD_DEF_ARR";
const INNER: [&str; 2] = ["TILING_DATA_FIELD_DEF_STRUCT", "TILING_DATA_FIELD_DEF"];

/// Everything that host files say about structs.
#[derive(Debug, Default)]
pub(crate) struct Structs {
    /// The macros of a struct's fields, by its name.
    definitions: BTreeMap<String, Definition>,
    /// Names that structs are registered for.
    registered: BTreeMap<String, String>,
    /// Texts of constants.
    constants: BTreeMap<String, String>,
    /// Files that were read.
    seen: BTreeSet<PathBuf>,
}

#[derive(Debug)]
struct Definition {
    file: PathBuf,
    line: usize,
    fields: Vec<String>,
}

/// Structs for one kernel.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// C++ text that describes them, each in front of those that hold it.
    pub text: String,
    /// The one that the operator's tiling data is.
    pub usual: Option<String>,
    /// Some of their fields are structs that only headers of AscendC know.
    pub needs_headers: bool,
}

impl Structs {
    /// Reads the host code of operators, those in front first, and what it includes from beside it or from `places`.
    pub(crate) fn read(folders: &[PathBuf], places: &[PathBuf]) -> Self {
        let mut structs = Self::default();
        for path in folders.iter().flat_map(|folder| OperatorFolder::host_files(folder)) {
            structs.take(&path, places);
        }
        structs
    }

    fn take(&mut self, path: &Path, places: &[PathBuf]) {
        let Ok(path) = fs::canonical(path) else { return };
        if !self.seen.insert(path.clone()) {
            return;
        }
        let Ok(bytes) = fs::read(&path) else { return };
        let text = String::from_utf8_lossy(&bytes);
        // What it includes is described before it.
        for name in text.lines().filter_map(included) {
            let folders = path.parent().into_iter().chain(places.iter().map(PathBuf::as_path));
            if let Some(found) = folders.map(|folder| folder.join(name)).find(|file| file.is_file()) {
                self.take(&found, places);
            }
        }
        self.take_text(&path, &without_comments(&text));
    }

    fn take_text(&mut self, path: &Path, text: &str) {
        for at in words(text, "BEGIN_TILING_DATA_DEF") {
            let Some(end) = words(&text[at..], "END_TILING_DATA_DEF").next().map(|end| at + end) else { continue };
            let block = macros(&text[at..end]);
            let Some((_, name)) = block.first().and_then(|begin| call(begin)) else { continue };
            let Some(name) = name.first().cloned() else { continue };
            let line = 1 + text[..at].matches('\n').count();
            let fields = block[1..].to_vec();
            self.definitions.entry(name).or_insert(Definition { file: path.to_path_buf(), line, fields });
        }
        for at in words(text, "REGISTER_TILING_DATA_CLASS") {
            if let Some([key, name]) = macros(&text[at..]).first().and_then(|it| call(it)).map(|it| it.1).as_deref() {
                let name = name.rsplit("::").next().unwrap_or(name).to_owned();
                self.registered.entry(key.clone()).or_insert(name);
            }
        }
        for line in text.lines() {
            if let Some((name, value)) = constant(line) {
                self.constants.entry(name.to_owned()).or_insert_with(|| format!("({value})"));
            }
        }
    }

    /// The structs for the kernel of `op_type` and a tiling key; `code`: its files.
    pub(crate) fn wanted(&self, op_type: &str, key: u64, code: &[PathBuf]) -> Wanted {
        let registered = |name: &str| self.registered.get(name).cloned();
        let usual = registered(&format!("{op_type}_{key}")).or_else(|| registered(op_type));
        let texts: Vec<String> = code.iter().filter_map(|path| fs::read(path).ok()).map(text_of).collect();
        let has = |name: &str| texts.iter().any(|text| words(text, name).next().is_some());
        // Kernels may describe structs of these names themselves.
        let own = |name: &str| texts.iter().any(|text| words(text, name).any(|at| is_definition(&text[..at])));
        // What a kernel chooses itself (`REGISTER_TILING_DEFAULT`) stands in its function and goes before this one.
        let mut wanted = Wanted { usual: usual.clone(), ..Wanted::default() };
        let mut done = BTreeSet::new();
        for name in self.definitions.keys().filter(|name| usual.as_deref() == Some(name) || has(name)) {
            self.add(name, &own, &mut done, &mut wanted);
        }
        wanted
    }

    fn add(&self, name: &str, own: &impl Fn(&str) -> bool, done: &mut BTreeSet<String>, wanted: &mut Wanted) {
        let Some(definition) = self.definitions.get(name).filter(|_| !own(name)) else { return };
        if !done.insert(name.to_owned()) {
            return;
        }
        let mut text =
            format!("#line {} \"{}\"\nBEGIN_TILING_DATA_DEF({name})\n", definition.line, definition.file.display());
        for field in &definition.fields {
            let Some((word, values)) = call(field) else { continue };
            match (word, values.as_slice()) {
                (ARRAY, [kind, count, field]) => {
                    let count = self.value(count).map_or_else(|| count.clone(), |count| count.to_string());
                    text.push_str(&format!("{ARRAY}({kind}, {count}, {field});\n"));
                }
                (word, [kind, field]) if INNER.contains(&word) => {
                    let plain = kind.rsplit("::").next().unwrap_or(kind);
                    self.add(plain, own, done, wanted);
                    wanted.needs_headers |= word == INNER[0] && !self.definitions.contains_key(plain) && !own(plain);
                    text.push_str(&format!("{word}({}, {field});\n", if word == INNER[0] { plain } else { kind }));
                }
                _ => {}
            }
        }
        text.push_str("END_TILING_DATA_DEF;\n");
        wanted.text.push_str(&text);
    }

    fn value(&self, text: &str) -> Option<i128> {
        self.value_at(text, 0)
    }

    fn value_at(&self, text: &str, depth: u8) -> Option<i128> {
        const DEEPEST: u8 = 16;
        if depth > DEEPEST {
            return None;
        }
        evaluate(text, &|name: &str| self.constants.get(name).and_then(|text| self.value_at(text, depth + 1)))
    }
}

/// The file that a line includes in quotes.
fn included(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?.trim_start();
    rest.strip_prefix('"')?.split('"').next()
}

/// `constexpr T NAME = value;` or `#define NAME value`.
fn constant(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    if let Some(rest) = line.strip_prefix('#').and_then(|rest| rest.trim_start().strip_prefix("define ")) {
        let (name, value) = rest.trim().split_once(char::is_whitespace)?;
        return (!name.contains('(')).then_some((name, value.trim()));
    }
    let (head, value) = line.strip_suffix(';')?.split_once('=')?;
    let is_constant = head.split_whitespace().any(|word| word == "constexpr" || word == "const");
    is_constant.then(|| head.split_whitespace().last().map(|name| (name, value.trim()))).flatten()
}

/// Does the text end with what begins the definition of the struct that is named next?
fn is_definition(before: &str) -> bool {
    let before = before.trim_end();
    let keyword = ["struct", "class", "BEGIN_TILING_DATA_DEF(", "using"].iter().any(|word| before.ends_with(word));
    keyword || before.ends_with(')') && before.rfind("struct ").is_some_and(|at| before[at..].contains("alignas"))
}

/// `NAME(…)` one after another, on one line each.
fn macros(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(open) = rest.find('(') {
        let Some(close) = closing(rest, open) else { break };
        let name = rest[..open].trim_end();
        let start = name.rfind(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').map_or(0, |at| at + 1);
        let whole: Vec<&str> = rest[start..=close].split_whitespace().collect();
        found.push(whole.join(" "));
        rest = &rest[close + 1..];
    }
    found
}

fn text_of(bytes: Vec<u8>) -> String {
    without_comments(&String::from_utf8_lossy(&bytes))
}

/// The same number of lines, without comments.
fn without_comments(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("//").into_iter().chain(rest.find("/*")).min() {
        kept.push_str(&rest[..at]);
        let is_line = rest[at..].starts_with("//");
        let end = if is_line { rest[at..].find('\n') } else { rest[at + 2..].find("*/").map(|end| end + 4) };
        let end = end.map_or(rest.len(), |end| at + end);
        kept.extend(rest[at..end].chars().filter(|letter| *letter == '\n'));
        rest = &rest[end..];
    }
    kept.push_str(rest);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "
constexpr int64_t CORES = 40; // of the chip
#define ROOM (CORES * 2)
BEGIN_TILING_DATA_DEF(Inner)
TILING_DATA_FIELD_DEF(uint32_t, count); /* BEGIN_TILING_DATA_DEF(No) */
END_TILING_DATA_DEF;
BEGIN_TILING_DATA_DEF(Outer)
    TILING_DATA_FIELD_DEF_ARR(int64_t,
                              ROOM, list);
    TILING_DATA_FIELD_DEF_STRUCT(optiling::Inner, inner)
    TILING_DATA_FIELD_DEF_STRUCT(TCubeTiling, cube);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(Made, optiling::Outer)
REGISTER_TILING_DATA_CLASS(Made_7, Inner);
";

    fn structs() -> Structs {
        let mut structs = Structs::default();
        structs.take_text(Path::new("made.h"), &without_comments(TEXT));
        structs
    }

    #[test]
    fn structs_stand_in_front_of_those_that_hold_them() {
        let wanted = structs().wanted("Made", 1, &[]);
        assert_eq!(wanted.usual.as_deref(), Some("Outer"));
        assert!(wanted.needs_headers);
        let inner = wanted.text.find("BEGIN_TILING_DATA_DEF(Inner)").unwrap();
        let outer = wanted.text.find("BEGIN_TILING_DATA_DEF(Outer)").unwrap();
        assert!(inner < outer && !wanted.text.contains("(No)"), "{}", wanted.text);
        assert!(wanted.text.contains("TILING_DATA_FIELD_DEF_ARR(int64_t, 80, list);"), "{}", wanted.text);
        assert!(wanted.text.contains("TILING_DATA_FIELD_DEF_STRUCT(Inner, inner);"), "{}", wanted.text);
        assert!(wanted.text.starts_with("#line 4 \"made.h\"\n"), "{}", wanted.text);
    }

    #[test]
    fn included_files_are_read_too() {
        let root = tempfile::tempdir().unwrap();
        let (host, shared) = (root.path().join("made/op_host"), root.path().join("common/op_host"));
        for folder in [&host, &shared] {
            std::fs::create_dir_all(folder).unwrap();
        }
        let (before, after) = TEXT.split_at(TEXT.find("BEGIN_TILING_DATA_DEF(Outer)").unwrap());
        std::fs::write(shared.join("inner.h"), before).unwrap();
        std::fs::write(host.join("tiling.h"), format!("#include \"inner.h\"\n{after}")).unwrap();
        let read = |places: &[PathBuf]| Structs::read(&[root.path().join("made")], places).wanted("Made", 1, &[]).text;
        assert!(read(&[shared]).contains("BEGIN_TILING_DATA_DEF(Inner)"));
        assert!(!read(&[]).contains("BEGIN_TILING_DATA_DEF(Inner)"));
    }

    #[test]
    fn a_key_can_have_a_struct_of_its_own() {
        let wanted = structs().wanted("Made", 7, &[]);
        assert_eq!((wanted.usual.as_deref(), wanted.needs_headers), (Some("Inner"), false));
        assert!(!wanted.text.contains("Outer"));
        assert_eq!(structs().wanted("Other", 7, &[]), Wanted::default());
    }
}
