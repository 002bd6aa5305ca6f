//! Reads a preprocessed operator source and finds what the builder must know about it.
//!
//! Preprocessing has removed comments and expanded macros; line markers (`# 12 "file.cpp" 2`) tell which file a line
//! comes from. Only the operator's own files count: the emulation headers have the very names that are looked for.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::expression::evaluate;
use super::kernel_type::{MATMUL_SERVERS, Uses};
use super::lexer;
use super::template::{Template, arguments};
use crate::artifact::KernelType;

/// A place in the operator's source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// As the compiler names it.
    pub file: String,
    /// From 1.
    pub line: usize,
}

impl std::fmt::Display for Place {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}:{}", self.file, self.line)
    }
}

/// What a source does.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Findings {
    /// `SyncAll` is called.
    pub sync_all: bool,
    /// `SetNextTaskStart` is called.
    pub sets_next_task_start: bool,
    /// `WaitPreTaskEnd` is called.
    pub waits_pre_task_end: bool,
    /// Vector cores ask cube cores for products by messages (`REGIST_MATMUL_OBJ`).
    pub matmul_objects: bool,
    /// Parameter names of the kernel's definition; `None` if there is no definition.
    pub parameters: Option<Vec<String>>,
    /// What the kernel's definition or its template say about its type, by key; without a key: for all others.
    pub task_types: Vec<(Option<u64>, KernelType)>,
    /// Structs of tiling data for some keys, by a condition on the key.
    pub tiling_structs: Vec<(String, String)>,
    /// Its template arguments.
    pub template: Option<Template>,
    /// What of the cores it uses.
    pub uses: Uses,
    /// Names of `__global__`-like functions (void functions with a body), for a suggestion.
    pub functions: Vec<String>,
}

impl Findings {
    /// Takes over what another core kind or tiling key of the same source does.
    pub(crate) fn merge(&mut self, other: Self) {
        self.sync_all |= other.sync_all;
        self.sets_next_task_start |= other.sets_next_task_start;
        self.waits_pre_task_end |= other.waits_pre_task_end;
        self.matmul_objects |= other.matmul_objects;
        if self.parameters.is_none() {
            self.parameters = other.parameters;
        }
        if self.template.is_none() {
            self.template = other.template;
        }
        self.uses.merge(other.uses);
        for entry in other.task_types {
            if !self.task_types.contains(&entry) {
                self.task_types.push(entry);
            }
        }
        for entry in other.tiling_structs {
            if !self.tiling_structs.contains(&entry) {
                self.tiling_structs.push(entry);
            }
        }
        for function in other.functions {
            if !self.functions.contains(&function) {
                self.functions.push(function);
            }
        }
    }
}

/// Which files are not the operator's own.
#[derive(Debug, Clone)]
pub(crate) struct Foreign {
    /// Directories of the emulation headers.
    pub directories: Vec<PathBuf>,
    /// The generated wrapper.
    pub wrapper: PathBuf,
}

impl Foreign {
    pub(crate) fn contains(&self, file: &str) -> bool {
        let file = Path::new(file);
        file == self.wrapper || self.directories.iter().any(|directory| file.starts_with(directory))
    }
}

/// `text` without the marks `[aicore]` and `[host, aicore]`, as device compilers spell function marks: host compilers do
/// not know them. `None`: there are none.
pub(crate) fn without_marks(text: &str) -> Option<String> {
    let mut rest = text;
    let mut kept = String::new();
    while let Some(end) = rest.find("aicore") {
        let open = rest[..end].rfind('[');
        let close = rest[end..].find(']').map(|at| end + at);
        let mark = open.zip(close).filter(|(open, close)| {
            let words = || rest[open + 1..*close].split(',').map(str::trim);
            words().all(|word| word == "aicore" || word == "host") && words().any(|word| word == "aicore")
        });
        let (before, behind) = mark.map_or((end + 6, end + 6), |(open, close)| (open, close + 1));
        kept.push_str(&rest[..before]);
        rest = &rest[behind..];
    }
    kept.push_str(rest);
    (kept.len() != text.len()).then_some(kept)
}

/// Looks through `text`, the preprocessed source that defines `kernel`.
pub(crate) fn scan(text: &str, kernel: &str, foreign: &Foreign) -> Findings {
    let tokens = own_tokens(text, foreign);
    let used: BTreeSet<&str> = tokens.iter().copied().collect();
    let uses = |list: &[&str]| list.iter().any(|word| used.contains(word));
    let mut findings = Findings {
        sync_all: uses(&["SyncAll"]),
        sets_next_task_start: uses(&["SetNextTaskStart"]),
        waits_pre_task_end: uses(&["WaitPreTaskEnd", "WaitPreTaskEndImpl"]),
        matmul_objects: uses(&MATMUL_SERVERS),
        uses: Uses::of(uses, uses(&MATMUL_SERVERS)),
        ..Findings::default()
    };
    let constants = constants(&tokens);
    let names = |name: &str| constant(&constants, name, 0);
    for (index, token) in tokens.iter().enumerate() {
        match *token {
            "void" => {
                if let Some((name, parameters)) = definition(&tokens[index + 1..]) {
                    if name == kernel {
                        findings.parameters = Some(parameters);
                    }
                    findings.functions.push(name.to_owned());
                }
            }
            mark if mark.starts_with("sk_look_") => {
                let arguments = arguments(&bracketed(&tokens[index + 1..]));
                match (mark, arguments.as_slice()) {
                    ("sk_look_task_type", [key, name]) => {
                        let key = evaluate(key, &names).and_then(|key| u64::try_from(key).ok());
                        findings.task_types.extend(KernelType::from_name(name).map(|found| (key, found)));
                    }
                    ("sk_look_tiling", [condition, name]) => {
                        findings.tiling_structs.push((condition.trim_matches('"').to_owned(), name.clone()));
                    }
                    ("sk_look_template", arguments) if findings.template.is_none() => {
                        findings.template = Template::declared(arguments, &names);
                    }
                    ("sk_look_selections", arguments) => {
                        if let Some(template) = &mut findings.template {
                            template.select(arguments, &names);
                        }
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }
    findings
}

/// What stands in the brackets at the start of `tokens`, as text.
fn bracketed(tokens: &[&str]) -> String {
    let mut text = String::new();
    let mut depth = 0_usize;
    for token in tokens {
        match *token {
            "(" => depth += 1,
            ")" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            break;
        }
        push(&mut text, token);
    }
    text.strip_prefix('(').unwrap_or(&text).to_owned()
}

/// Adds a token, apart from a word or number in front of it.
fn push(text: &mut String, token: &str) {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    if token.starts_with(is_part) && text.ends_with(is_part) {
        text.push(' ');
    }
    text.push_str(token);
}

/// Texts of `constexpr` values by name.
fn constants<'a>(tokens: &[&'a str]) -> BTreeMap<&'a str, String> {
    let mut found = BTreeMap::new();
    for (index, _) in tokens.iter().enumerate().filter(|(_, token)| ["constexpr", "const"].contains(token)) {
        let rest = &tokens[index + 1..];
        let Some(equals) = rest.iter().take(8).position(|token| *token == "=") else { continue };
        let Some(end) = rest.iter().take(equals + 40).position(|token| *token == ";") else { continue };
        let is_plain = rest[..equals].iter().all(|token| is_word(token) || *token == ":");
        if let Some(name) = rest[..equals].last().filter(|_| is_plain && end > equals) {
            let mut text = String::from("(");
            for token in &rest[equals + 1..end] {
                push(&mut text, token);
            }
            text.push(')');
            found.insert(*name, text);
        }
    }
    found
}

/// The value of such a name. Names that stand for each other end somewhere.
fn constant(constants: &BTreeMap<&str, String>, name: &str, depth: u8) -> Option<i128> {
    const DEEPEST: u8 = 16;
    let text = constants.get(name).filter(|_| depth < DEEPEST)?;
    evaluate(text, &|other: &str| constant(constants, other, depth + 1))
}

/// `name ( parameters ) {` at the start of `tokens`: a function with a body.
fn definition<'a>(tokens: &[&'a str]) -> Option<(&'a str, Vec<String>)> {
    let name = tokens.first().filter(|token| is_word(token))?;
    tokens.get(1).filter(|token| **token == "(")?;
    let mut depth = 0_usize;
    let mut parameters = Vec::new();
    // The last word of a declarator is its name, unless a default value follows.
    let mut candidate = None;
    let mut in_default = false;
    for (index, token) in tokens.iter().enumerate().skip(1) {
        match *token {
            "(" | "<" | "[" | "{" => depth += 1,
            ")" | ">" | "]" | "}" => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    parameters.extend(candidate.take());
                    let body = tokens[index + 1..].first().is_some_and(|next| *next == "{");
                    let nothing = parameters.len() == 1 && parameters[0] == "void";
                    return body.then(|| (*name, if nothing { Vec::new() } else { parameters }));
                }
            }
            "," if depth == 1 => {
                parameters.extend(candidate.take());
                in_default = false;
            }
            "=" if depth == 1 => in_default = true,
            ";" => return None,
            word if depth == 1 && !in_default && is_word(word) => candidate = Some(word.to_owned()),
            _ => {}
        }
    }
    None
}

fn is_word(text: &str) -> bool {
    text.starts_with(|letter: char| letter.is_alphabetic() || letter == '_')
}

/// The words, signs, numbers and literals of the own files.
fn own_tokens<'a>(text: &'a str, foreign: &Foreign) -> Vec<&'a str> {
    let mut tokens = Vec::new();
    let mut own = false;
    let mut rest = text;
    let mut line_start = true;
    while let Some(letter) = rest.chars().next() {
        let at_marker = line_start && letter == '#';
        // Headers are nearly all of the text, and of them only the markers count.
        if !own && !at_marker {
            let Some(before) = memchr::memmem::find(rest.as_bytes(), b"\n#") else { break };
            rest = &rest[before + 1..];
            line_start = true;
            continue;
        }
        if at_marker {
            let (marker, after) = rest.split_once('\n').unwrap_or((rest, ""));
            // `#pragma` stays in preprocessed text.
            if let Some(marker) = LineMarker::parse(marker) {
                own = !marker.system && !foreign.contains(marker.file);
            }
            rest = after;
            continue;
        }
        let length = if let Some(length) = lexer::literal_length(rest) {
            tokens.push(&rest[..length]);
            length
        } else if is_word(&rest[..letter.len_utf8()]) {
            let length = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(rest.len());
            tokens.push(&rest[..length]);
            length
        } else if letter.is_ascii_digit() {
            // Numbers swallow their suffixes and the `'` between digits.
            let length = rest.find(|letter: char| !letter.is_alphanumeric() && !"_.'".contains(letter));
            let length = length.unwrap_or(rest.len());
            tokens.push(&rest[..length]);
            length
        } else {
            if !letter.is_whitespace() {
                tokens.push(&rest[..letter.len_utf8()]);
            }
            letter.len_utf8()
        };
        line_start = letter == '\n' || (line_start && letter.is_whitespace());
        rest = &rest[length..];
    }
    tokens
}

/// `# line "file" flags`
struct LineMarker<'a> {
    file: &'a str,
    system: bool,
}

impl<'a> LineMarker<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let text = text.strip_prefix('#')?.trim_start();
        let text = text.strip_prefix("line").unwrap_or(text).trim_start();
        let (number, rest) = text.split_once(' ')?;
        let rest = rest.trim_start().strip_prefix('"')?;
        let (file, flags) = rest.rsplit_once('"')?;
        // Flag 3 marks system headers; names in angle brackets are the compiler's own.
        let system = flags.split_whitespace().any(|flag| flag == "3") || file.starts_with('<');
        number.parse::<usize>().ok()?;
        Some(Self { file, system })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(text: &str) -> Findings {
        let foreign = Foreign { directories: vec!["/headers".into()], wrapper: "wrapper.cpp".into() };
        scan(text, "pows", &foreign)
    }

    #[test]
    fn marks_of_device_compilers_go_and_nothing_else_does() {
        let marked =
            "inline [aicore] int f(); [host, aicore] g(); x[aicore + 1]; [ host,aicore ]h(); [aicores]; aicore;";
        let kept = "inline  int f();  g(); x[aicore + 1]; h(); [aicores]; aicore;";
        assert_eq!(without_marks(marked).as_deref(), Some(kept));
        assert_eq!(without_marks(kept), None);
        assert_eq!(without_marks("[host]() {}"), None);
    }

    #[test]
    fn only_own_files_count() {
        let text = "# 1 \"wrapper.cpp\"\nSetNextTaskStart();\n# 1 \"/headers/kernel_operator.h\" 1\nSyncAll();\n\
                    # 1 \"/usr/include/x.h\" 1 3\nSyncAll();\n# 7 \"op.cpp\" 2\nint a;\n  WaitPreTaskEnd ( );\n";
        assert_eq!(look(text), Findings { waits_pre_task_end: true, ..Findings::default() });
    }

    #[test]
    fn literals_are_not_code() {
        let text = "# 1 \"op.cpp\"\nauto a = \"x \\\" SyncAll\"; auto b = R\"x(SyncAll\n)\" SyncAll)x\";\n\
                    char c = '\"'; int d = 1'000'000; auto e = u8\"SyncAll\";\nSetNextTaskStart;\n";
        assert_eq!(look(text), Findings { sets_next_task_start: true, ..Findings::default() });
    }

    #[test]
    fn longer_names_are_other_names() {
        let findings = look("# 1 \"op.cpp\"\nmySyncAll; SyncAll_; SyncAllOfThem(); u8x; L; R;\n");
        assert_eq!(findings, Findings::default());
    }

    #[test]
    fn calls_are_found() {
        let text = "# 1 \"op.cpp\"\nAscendC::SyncAll<false>(); AscendC :: SetNextTaskStart ( ) ; WaitPreTaskEnd();\n";
        let findings = look(text);
        assert!(findings.sync_all && findings.sets_next_task_start && findings.waits_pre_task_end);
    }

    #[test]
    fn matmul_objects_are_seen_by_what_registering_one_becomes() {
        assert!(look("# 1 \"op.cpp\"\nAscendC::KfcServer server;\n").matmul_objects);
        assert!(!look("# 1 \"op.cpp\"\nMatmul<A, B> object; auto text = \"KfcServer\";\n").matmul_objects);
    }

    #[test]
    fn the_definition_gives_the_parameters() {
        let text = "# 1 \"op.cpp\"\nextern \"C\" void pows(uint8_t* a);\nextern \"C\" void pows(uint8_t* x1,\n uint8_t *x2, \
                    std::pair<int, int> p = std::pair<int, int>(1, 2), uint64_t workspace)\n{ }\nvoid other(void) {}\n";
        let findings = look(text);
        assert_eq!(findings.parameters.unwrap(), ["x1", "x2", "p", "workspace"]);
        assert_eq!(findings.functions, ["pows", "other"]);
    }

    #[test]
    fn any_text_is_survived() {
        for text in
            ["", "#", "# 1", "\"", "'", "R\"(", "R\"", "void", "void pows(", "void pows(a", "u8", "\u{e4}\u{f6}("]
        {
            let _ = look(&format!("# 1 \"op.cpp\"\n{text}"));
        }
    }
}
