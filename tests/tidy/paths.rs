//! Reads which modules a file of Rust names: paths from the root (`crate::plan::Step`), outwards (`super::step`) and to
//! modules of its own, in groups too.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A source file and the module it is.
pub(super) struct Source {
    /// Relative to the repository.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
}

/// A module, from the root of the crate; the root itself is empty.
pub(super) type Module = Vec<String>;

impl Source {
    /// The module that the file is: `src/plan/sync.rs` is `plan`, `sync`.
    pub(super) fn module(&self) -> Module {
        let below = self.path.strip_prefix("src").unwrap_or(&self.path).with_extension("");
        let mut module: Module = below.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        if module.last().is_some_and(|last| last == "mod") || module == ["lib"] {
            module.pop();
        }
        module
    }

    /// Number and text of the lines that are not comments.
    pub(super) fn code_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        (1..).zip(self.text.lines()).filter(|(_, line)| !line.trim_start().starts_with("//"))
    }

    /// Is it only there for tests?
    pub(super) fn is_test(&self) -> bool {
        self.path.iter().any(|part| Path::new(part).file_stem().is_some_and(|stem| stem == "tests"))
    }
}

/// A path that code names.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Named {
    /// The module that the code is in: the file's, and those written in the file.
    within: Module,
    /// As written, one path of a group.
    segments: Vec<String>,
    /// It stands behind `pub use`: others find it under this module too.
    is_offered: bool,
}

/// All modules of the crate, and what each offers under a name of its own.
pub(super) struct Modules {
    names: BTreeMap<Module, Vec<Named>>,
    offered: BTreeMap<(Module, String), Module>,
}

impl Modules {
    pub(super) fn of(sources: &[Source]) -> Self {
        let named = |source: &Source| (source.module(), named_paths(source));
        let mut modules = Self { names: sources.iter().map(named).collect(), offered: BTreeMap::new() };
        let offers: Vec<Named> =
            modules.names.values().flatten().filter(|named| named.is_offered && !is_glob(named)).cloned().collect();
        // An offer may lead through another one.
        for _ in 0..3 {
            for offer in &offers {
                if let Some(origin) = modules.absolute(offer).map(|path| modules.origin(&path))
                    && let Some(name) = offer.segments.last()
                    && origin != offer.within
                {
                    modules.offered.insert((offer.within.clone(), name.clone()), origin);
                }
            }
        }
        modules
    }

    /// What the code of a module names, from the root of the crate; what is not of this crate is left out.
    pub(super) fn named_by(&self, module: &Module, with_tests: bool) -> Vec<Vec<String>> {
        let counts = |named: &&Named| with_tests || !named.within[module.len()..].iter().any(|part| part == "tests");
        self.names[module].iter().filter(counts).filter_map(|named| self.absolute(named)).collect()
    }

    /// The innermost module on a path.
    pub(super) fn nearest(&self, path: &[String]) -> Module {
        let is_module = |length: &usize| *length == 0 || self.names.contains_key(&path[..*length]);
        path[..(0..=path.len()).rev().find(is_module).unwrap_or(0)].to_vec()
    }

    /// The module that a path leads to in the end, when others offer what it defines.
    pub(super) fn origin(&self, path: &[String]) -> Module {
        let (mut module, mut rest) = (Module::new(), path);
        while let Some((first, behind)) = rest.split_first() {
            let inner: Module = module.iter().chain([first]).cloned().collect();
            module = match (self.names.contains_key(&inner), self.offered.get(&(module.clone(), first.clone()))) {
                (true, _) => inner,
                (false, Some(origin)) => origin.clone(),
                (false, None) => return module,
            };
            rest = behind;
        }
        module
    }

    fn absolute(&self, named: &Named) -> Option<Vec<String>> {
        let mut base = named.within.clone();
        let mut rest = named.segments.as_slice();
        match rest.first()?.as_str() {
            "crate" => base.clear(),
            "self" | "super" => {}
            own => {
                base.push(own.to_owned());
                let is_module = self.names.contains_key(&base);
                base.pop();
                return is_module.then(|| [base.as_slice(), rest].concat());
            }
        }
        while let Some((first, behind)) = rest.split_first()
            && matches!(first.as_str(), "crate" | "self" | "super")
        {
            if first == "super" {
                base.pop();
            }
            rest = behind;
        }
        Some([base.as_slice(), rest].concat())
    }
}

fn is_glob(named: &Named) -> bool {
    named.segments.last().is_some_and(|last| last == "*")
}

fn named_paths(source: &Source) -> Vec<Named> {
    let words = words(&source.text);
    let mut reader = Reader { words: &words, at: 0, found: Vec::new() };
    reader.module(&source.module());
    reader.found
}

struct Reader<'a> {
    words: &'a [&'a str],
    at: usize,
    found: Vec<Named>,
}

impl Reader<'_> {
    fn word(&self, ahead: usize) -> &str {
        self.words.get(self.at + ahead).copied().unwrap_or_default()
    }

    /// Reads to the end of a module or of the file.
    fn module(&mut self, within: &Module) {
        let mut depth = 0;
        let mut is_offered = false;
        while self.at < self.words.len() {
            match self.word(0) {
                "mod" if self.word(2) == "{" => {
                    let inner = within.iter().cloned().chain([self.word(1).to_owned()]).collect();
                    self.at += 3;
                    self.module(&inner);
                }
                "{" => depth += 1,
                "}" if depth == 0 => return,
                "}" => depth -= 1,
                "pub" => is_offered = true,
                "use" => {
                    self.at += 1;
                    self.tree(within, &[], is_offered && depth == 0);
                    continue;
                }
                ";" | "fn" | "struct" | "enum" | "const" | "static" | "trait" | "type" => is_offered = false,
                word if is_name(word) && self.word(1) == "::" && (self.at == 0 || self.words[self.at - 1] != "::") => {
                    self.tree(within, &[], false);
                    continue;
                }
                _ => {}
            }
            self.at += 1;
        }
    }

    /// Reads a path, or a group of them.
    fn tree(&mut self, within: &Module, before: &[String], is_offered: bool) {
        let mut segments = before.to_vec();
        while is_name(self.word(0)) || self.word(0) == "*" {
            segments.push(self.word(0).to_owned());
            self.at += 1;
            if self.word(0) != "::" {
                break;
            }
            self.at += 1;
        }
        if self.word(0) == "{" && self.words[self.at - 1] == "::" {
            self.at += 1;
            while !matches!(self.word(0), "}" | "") {
                self.tree(within, &segments, is_offered);
                // Another name for it.
                self.at += if self.word(0) == "as" { 2 } else { 0 };
                self.at += usize::from(self.word(0) == ",");
            }
            self.at += 1;
            return;
        }
        if segments.len() == before.len() {
            // Nothing that belongs to a path: macros have such forms.
            self.at += 1;
        }
        self.found.push(Named { within: within.clone(), segments, is_offered });
    }
}

fn is_name(word: &str) -> bool {
    word.starts_with(|letter: char| letter.is_alphabetic() || letter == '_')
}

/// The words and signs of Rust, without comments, texts and letters in quotes.
fn words(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            'r' if rest.starts_with("r\"") || rest.starts_with("r#") => {
                let signs = rest[1..].bytes().take_while(|byte| *byte == b'#').count();
                let end = format!("\"{}", "#".repeat(signs));
                match rest[1 + signs..].strip_prefix('"').and_then(|content| content.find(&end)) {
                    Some(content) => 2 + signs + content + end.len(),
                    None => 1,
                }
            }
            '"' => {
                let mut is_escaped = false;
                let ends = |(_, letter): &(usize, char)| {
                    let ends = *letter == '"' && !is_escaped;
                    is_escaped = *letter == '\\' && !is_escaped;
                    ends
                };
                rest[1..].char_indices().find(ends).map_or(rest.len(), |(end, _)| end + 2)
            }
            '\'' => letter_in_quotes(rest).unwrap_or(1),
            ':' if rest.starts_with("::") => 2,
            _ if first.is_alphabetic() || first == '_' => {
                rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(rest.len())
            }
            _ => first.len_utf8(),
        };
        let word = &rest[..length];
        if !(first.is_whitespace() || first == '"' || first == '\'' || word.starts_with("//") || word.starts_with("/*"))
        {
            found.push(word);
        }
        rest = &rest[length..];
    }
    found
}

/// Bytes of `'x'`; `None` for a lifetime.
fn letter_in_quotes(text: &str) -> Option<usize> {
    let mut letters = text.char_indices().skip(1);
    let (_, first) = letters.next()?;
    if first == '\\' {
        return Some(text[2..].char_indices().skip(1).find(|(_, letter)| *letter == '\'')?.0 + 3);
    }
    let (end, second) = letters.next()?;
    (second == '\'').then_some(end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(path: &str, text: &str) -> Vec<String> {
        let of = |path: &str, text: &str| Source { path: path.into(), text: text.to_owned() };
        let sources = [
            of("src/lib.rs", "pub use high::Top;"),
            of(
                "src/high/mod.rs",
                "mod deep;\npub use deep::Top;\npub(crate) use self::deep::{Other as Another, Third};",
            ),
            of("src/high/deep.rs", ""),
            of("src/low.rs", ""),
            of(path, text),
        ];
        let modules = Modules::of(&sources);
        let paths = modules.named_by(&sources[4].module(), true);
        paths.iter().map(|path| modules.origin(path).join("::")).collect()
    }

    #[test]
    fn all_forms_of_paths_are_read() {
        assert_eq!(named("src/a.rs", "use crate::high::deep::X;"), ["high::deep"]);
        assert_eq!(
            named("src/a.rs", "use crate::{low, high::{deep::{X, Y}, *}};"),
            ["low", "high::deep", "high::deep", "high"]
        );
        assert_eq!(named("src/high/a.rs", "fn f(x: super::deep::X) -> super::super::low::Y {}"), ["high::deep", "low"]);
        assert_eq!(named("src/a.rs", "mod tests { use super::super::low; use super::*; }"), ["low", "a"]);
        assert_eq!(named("src/high/mod.rs", "fn f() { deep::g() }"), ["high::deep"]);
    }

    #[test]
    fn what_is_no_path_is_left_out() {
        let text = "// crate::low\n/* crate::low */ const A: &str = \"crate::low \\\" crate::low\"; \
                    const B: char = '\"'; fn f<'a>(x: &'a str) { r#\"crate::low \"x\" crate::low\"#; std::low::x() }";
        assert_eq!(named("src/a.rs", text), Vec::<String>::new());
    }

    #[test]
    fn what_others_offer_leads_to_where_it_is_defined() {
        assert_eq!(named("src/a.rs", "use crate::high::{Top, Third};"), ["high::deep", "high::deep"]);
        assert_eq!(named("src/a.rs", "use crate::Top;"), ["high::deep"]);
    }
}
