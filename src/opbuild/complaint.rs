//! What a compiler says about an operator's source, told by the place in the operator's own files.

use std::path::Path;

use super::scan::Foreign;
use crate::toolchain::ToolchainError;

/// Words of complaints about names that are not there.
const MISSING: [&str; 6] = [
    "was not declared",
    "has not been declared",
    "is not a member of",
    "does not name a type",
    "no member named",
    "No such file or directory",
];

/// What GCC before 14 says about members that a class specialises inside itself, as other compilers take them.
const IN_CLASS: &str = "explicit specialization in non-namespace scope";

/// What helps against a complaint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Remedy {
    /// All of AscendC may have what is missing.
    AscendC,
    /// A newer compiler takes the source as it is.
    NewerCompiler,
    /// A change of the source.
    Source,
}

impl Remedy {
    fn of(problem: &str, subset: bool) -> Self {
        if problem.contains(IN_CLASS) {
            Self::NewerCompiler
        } else if subset && MISSING.iter().any(|words| problem.contains(words)) {
            Self::AscendC
        } else {
            Self::Source
        }
    }
}

/// A source that does not compile.
#[derive(Debug, thiserror::Error)]
#[error("{place}: {problem}\n{output}\n  {title}: {command}")]
pub struct Complaint {
    /// File and line, the operator's own if there is one.
    place: String,
    /// What is wrong there.
    problem: String,
    /// What helps.
    pub(crate) remedy: Remedy,
    /// What was compiled.
    title: String,
    /// All the compiler said.
    output: String,
    /// The command, shortened.
    command: String,
}

/// The same failure, if it is one of the source: its first place first, the command last and short.
pub(crate) fn about_source(
    error: ToolchainError,
    foreign: &Foreign,
    subset: bool,
) -> Result<Complaint, ToolchainError> {
    let ToolchainError::Failed { program, title, command_line, stderr, status } = error else { return Err(error) };
    match first(&stderr, foreign) {
        Some((place, problem)) => Ok(Complaint {
            place,
            remedy: Remedy::of(&problem, subset),
            problem,
            title,
            output: stderr,
            command: short(&program, &command_line),
        }),
        None => Err(ToolchainError::Failed { program, title, command_line, status, stderr }),
    }
}

/// The first error: a place in the operator's own files, and what is wrong.
fn first(output: &str, foreign: &Foreign) -> Option<(String, String)> {
    let lines: Vec<&str> = output.lines().collect();
    let at = lines.iter().position(|line| error(line).is_some())?;
    let (place, problem) = error(lines[at])?;
    let is_own = |place: &str| !foreign.contains(place.split(':').next().unwrap_or(place));
    if is_own(place) {
        return Some((place.to_owned(), problem.to_owned()));
    }
    // Where headers are at fault, the lines in front of it and behind it lead to who called them.
    let next = lines[at + 1..].iter().position(|line| error(line).is_some()).map_or(lines.len(), |more| at + 1 + more);
    let around = lines[..at].iter().rev().chain(&lines[at + 1..next]);
    let own = around.filter_map(|line| place_of(line)).find(|place| is_own(place));
    Some((own.unwrap_or(place).to_owned(), problem.to_owned()))
}

/// `file:12:3: error: text`.
fn error(line: &str) -> Option<(&str, &str)> {
    let (place, problem) = line.split_once(" error: ").or_else(|| line.split_once(" fatal error: "))?;
    let place = place.strip_suffix(" fatal").unwrap_or(place);
    place_of(place).map(|found| (found, problem))
}

/// The `file:12` that a line begins with.
fn place_of(line: &str) -> Option<&str> {
    let line = line.trim_start_matches("In file included from ").trim_start();
    let file = line.find(':')?;
    let digits = line[file + 1..].bytes().take_while(u8::is_ascii_digit).count();
    (digits > 0 && !line[..file].contains(' ')).then(|| &line[..file + 1 + digits])
}

/// Its program and what it made of what.
fn short(program: &str, line: &str) -> String {
    const SHOWN: usize = 80;
    let tail = line.rfind(" -c ").map_or("", |at| &line[at..]);
    let name = Path::new(program).file_name().map_or(program, |name| name.to_str().unwrap_or(program));
    let end: String = tail.chars().take(SHOWN * 2).collect();
    format!("{name} …{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(output: &str) -> (String, String) {
        let foreign = Foreign { directories: vec!["/headers".into()], wrapper: "wrapper.cpp".into() };
        first(output, &foreign).unwrap()
    }

    #[test]
    fn the_operator_s_own_place_comes_first() {
        let own = "In file included from wrapper.cpp:9:\n/op/a.cpp: In function 'void f()':\n/op/a.cpp:7:3: error: 'x' was not declared";
        assert_eq!(found(own), ("/op/a.cpp:7".to_owned(), "'x' was not declared".to_owned()));
        let called = "/headers/h.h: In instantiation of 'f<int>':\n/op/b.h:12:5:   required from here\n\
                      /headers/h.h:3:1: error: static assertion failed\n/headers/h.h:3:1: note: more";
        assert_eq!(found(called).0, "/op/b.h:12");
        let expanded =
            "/headers/h.h:3:1: error: no\n/op/c.h:5:9: note: in expansion of macro 'M'\n/op/d.h:6:1: error: later";
        assert_eq!(found(expanded).0, "/op/c.h:5");
        let missing = "/op/a.cpp:1:10: fatal error: none.h: No such file or directory";
        assert_eq!(found(missing), ("/op/a.cpp:1".to_owned(), "none.h: No such file or directory".to_owned()));
    }

    #[test]
    fn a_complaint_has_a_remedy() {
        assert_eq!(Remedy::of("'x' was not declared in this scope", true), Remedy::AscendC);
        assert_eq!(Remedy::of("'x' was not declared in this scope", false), Remedy::Source);
        assert_eq!(Remedy::of(&format!("{IN_CLASS} 'class C<T>'"), false), Remedy::NewerCompiler);
    }

    #[test]
    fn commands_are_short() {
        assert_eq!(short("/usr/bin/c++", "/usr/bin/c++ -I a -DX -c w.cpp -o w.o"), "c++ … -c w.cpp -o w.o");
        assert_eq!(short("c++", "c++ -E"), "c++ …");
    }
}
