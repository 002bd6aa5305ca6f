//! Compile options that the CMake files of an operator name.

use std::path::Path;

use super::folder::OperatorFolder;
use crate::fs;

/// What they say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Options {
    /// Options for the compiler, without those that only device compilers have.
    pub compile: Vec<String>,
    /// Whether the device's compiler puts barriers and waits in, if they say it.
    pub auto_sync: Option<bool>,
    /// Operators whose files this one uses.
    pub dependencies: Vec<String>,
}

/// Of the operator `op_type`, built for `unit` (`ascend910_93`).
pub(crate) fn read(operator: &OperatorFolder, op_type: &str, unit: &str) -> Options {
    let mut options = Options::default();
    for path in operator.cmake_files() {
        let text = fs::read(&path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
        options.take(&text, op_type, unit);
    }
    options
}

/// What the unit tests of the operator `name` are compiled with: `AddOpTestCase(name "chips" "-D… -D…")`.
pub(crate) fn of_tests(file: &Path, name: &str) -> Vec<String> {
    let text = fs::read(file).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    let of_test = |(command, words): (String, Vec<String>)| {
        (command == "addoptestcase" && words.first().is_some_and(|word| word == name)).then_some(words)
    };
    let words = commands(&text).into_iter().find_map(of_test).unwrap_or_default();
    let options = words.iter().flat_map(|word| word.split([' ', ';']));
    options.filter(|option| ["-D", "-U"].iter().any(|start| option.starts_with(start))).map(str::to_owned).collect()
}

impl Options {
    fn take(&mut self, text: &str, op_type: &str, unit: &str) {
        // Whether each open `if` is taken now, and whether one of its branches was.
        let mut open: Vec<(bool, bool)> = Vec::new();
        for (name, words) in commands(text) {
            match name.as_str() {
                "if" => {
                    let holds = holds(&words, unit);
                    open.push((holds, holds));
                }
                "elseif" => {
                    if let Some((now, done)) = open.last_mut() {
                        *now = !*done && holds(&words, unit);
                        *done |= *now;
                    }
                }
                "else" => {
                    if let Some((now, done)) = open.last_mut() {
                        *now = !*done;
                    }
                }
                "endif" => drop(open.pop()),
                "add_ops_compile_options" if open.iter().all(|(now, _)| *now) => {
                    self.take_options(&words, op_type, unit)
                }
                "add_modules_sources" => {
                    let names = words.iter().skip_while(|word| *word != "DEPENDENCIES").skip(1);
                    self.dependencies.extend(names.take_while(|word| word.chars().any(char::is_lowercase)).cloned());
                }
                _ => {}
            }
        }
    }

    fn take_options(&mut self, words: &[String], op_type: &str, unit: &str) {
        let after = |key: &str| {
            let rest: Vec<&String> = words.iter().skip_while(|word| *word != key).skip(1).collect();
            let end = rest.iter().position(|word| ["OP_NAME", "COMPUTE_UNIT", "OPTIONS"].contains(&word.as_str()));
            rest[..end.unwrap_or(rest.len())].iter().map(|word| (*word).clone()).collect::<Vec<_>>()
        };
        let units = after("COMPUTE_UNIT");
        if !after("OP_NAME").iter().any(|name| name == op_type)
            || !(units.is_empty() || units.iter().any(|it| it == unit))
        {
            return;
        }
        // One word can hold several.
        for option in after("OPTIONS").iter().flat_map(|word| word.split([' ', ';'])) {
            match option {
                "--cce-auto-sync=off" => self.auto_sync = Some(false),
                "--cce-auto-sync=on" | "--cce-auto-sync" => self.auto_sync = Some(true),
                option if ["-D", "-U"].iter().any(|start| option.starts_with(start)) => {
                    self.compile.push(option.to_owned())
                }
                _ => {}
            }
        }
    }
}

/// `name(words)` one after another, without comments.
fn commands(text: &str) -> Vec<(String, Vec<String>)> {
    let plain: String = text.lines().map(|line| format!("{}\n", line.split('#').next().unwrap_or(""))).collect();
    let mut found = Vec::new();
    let mut rest = plain.as_str();
    while let Some(open) = rest.find('(') {
        let name = rest[..open].split_whitespace().last().unwrap_or("").to_ascii_lowercase();
        let mut depth = 0_usize;
        let end = rest[open..].find(|letter| {
            depth = match letter {
                '(' => depth + 1,
                ')' => depth.saturating_sub(1),
                _ => depth,
            };
            depth == 0
        });
        let Some(end) = end.map(|end| open + end) else { break };
        found.push((name, words(&rest[open + 1..end])));
        rest = &rest[end + 1..];
    }
    found
}

/// Words; what is in quotes is one.
fn words(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (index, part) in text.split('"').enumerate() {
        if index % 2 == 1 {
            found.push(part.to_owned());
        } else {
            found.extend(part.split(|letter: char| letter.is_whitespace() || "()".contains(letter)).map(str::to_owned));
        }
    }
    found.retain(|word| !word.is_empty());
    found
}

/// Comparisons with names of chips are made; everything else is taken to hold, as in a build of this operator.
fn holds(words: &[String], unit: &str) -> bool {
    let any = words.split(|word| word == "OR");
    let all = |part: &[String]| part.split(|word| word == "AND").all(|term| term_holds(term, unit));
    any.into_iter().any(all)
}

fn term_holds(term: &[String], unit: &str) -> bool {
    let (negated, term) = match term {
        [first, rest @ ..] if first == "NOT" => (true, rest),
        term => (false, term),
    };
    match term {
        [_, operator, value] if ["STREQUAL", "MATCHES"].contains(&operator.as_str()) && value.contains("ascend") => {
            let same =
                value.trim_matches(['^', '$']) == unit || (operator == "MATCHES" && unit.contains(value.as_str()));
            same != negated
        }
        // `NOT` of what is not known holds as well.
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
        # add_ops_compile_options(OP_NAME Made OPTIONS -DCOMMENT)
        if (BUILD_OPEN_PROJECT)
            if("${UNIT}" STREQUAL "ascend950")
                add_ops_compile_options(OP_NAME Made OPTIONS -DWRONG --cce-auto-sync=on)
            else()
                add_ops_compile_options(
                    OP_NAME Made
                    COMPUTE_UNIT ascend910b ascend910_93
                    OPTIONS --cce-auto-sync=off -Werror "-DRIGHT=1 -mllvm -cce-x" -mllvm -cce-y)
            endif()
        endif()
        add_ops_compile_options(OP_NAME Other OPTIONS -DOTHER)
        add_modules_sources(OPTYPE made ACLNNTYPE aclnn DEPENDENCIES norm_common other)
    "#;

    #[test]
    fn options_are_those_of_the_operator_on_its_chip() {
        let mut options = Options::default();
        options.take(TEXT, "Made", "ascend910_93");
        assert_eq!(options.compile, ["-DRIGHT=1"]);
        assert_eq!(options.auto_sync, Some(false));
        assert_eq!(options.dependencies, ["norm_common", "other"]);
        let mut options = Options::default();
        options.take(TEXT, "Made", "ascend950");
        assert_eq!((options.compile, options.auto_sync), (vec!["-DWRONG".to_owned()], Some(true)));
        let mut options = Options::default();
        options.take("if(A OR (B\nendif() x(", "Made", "ascend950");
        assert_eq!(options, Options::default());
    }
}
