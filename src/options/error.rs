//! What can be wrong with an option string.

use std::fmt;
use std::ops::Range;

use super::OptionName;
use crate::diagnostic::{Advice, Diagnostic, advice};
use crate::shortened::Shortened;

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OptionProblem {
    /// `=value`
    EmptyName,
    /// `name=`
    EmptyValue {
        /// The option without a value.
        name: String,
    },
    /// The same option twice.
    Duplicate {
        /// The option given again.
        name: OptionName,
    },
    /// There is no such option.
    Unknown {
        /// As written.
        name: String,
        /// The option probably meant.
        suggestion: Option<&'static str>,
    },
    /// The option refuses the value.
    BadValue {
        /// The option.
        name: OptionName,
        /// As written.
        value: String,
    },
}

impl fmt::Display for OptionProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EmptyName => write!(formatter, "an option has no name before its `=`"),
            Self::EmptyValue { name } => {
                write!(formatter, "option `{}` has no value after its `=`", Shortened(name))
            }
            Self::Duplicate { name } => write!(formatter, "option `{name}` is given twice"),
            Self::Unknown { name, suggestion: Some(suggestion) } => {
                write!(formatter, "there is no option `{}`; did you mean `{suggestion}`?", Shortened(name))
            }
            Self::Unknown { name, suggestion: None } => write!(formatter, "there is no option `{}`", Shortened(name)),
            Self::BadValue { name, value } => {
                write!(formatter, "option `{name}` cannot be `{}`; expected {}", Shortened(value), name.accepts())
            }
        }
    }
}

/// A problem and the bytes of the option string it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    /// What is wrong.
    pub problem: OptionProblem,
    /// Where, in bytes of the string as given.
    pub span: Range<usize>,
}

/// Everything that is wrong with one option string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptionError {
    /// The string as given.
    pub input: String,
    /// At least one problem, in the order of the string.
    pub problems: Vec<Located>,
}

impl std::error::Error for OptionError {}

impl fmt::Display for OptionError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Enough to correct a string by; a string with more problems is something else altogether.
        const SHOWN: usize = 8;
        for (number, located) in self.problems.iter().take(SHOWN).enumerate() {
            if number > 0 {
                writeln!(formatter)?;
            }
            writeln!(formatter, "{}", located.problem)?;
            write!(formatter, "{}", Caret { input: &self.input, span: &located.span })?;
        }
        match self.problems.len().saturating_sub(SHOWN) {
            0 => Ok(()),
            more => write!(formatter, "\nand {more} more"),
        }
    }
}

impl Diagnostic for OptionError {
    fn advice(&self) -> Advice {
        match self.problems.first().map(|located| &located.problem) {
            Some(OptionProblem::Unknown { .. }) | None => advice("SK0101", "`superkernel options` lists all of them"),
            Some(OptionProblem::BadValue { value, .. }) if joins_options(value) => {
                advice("SK0102", "options are joined by `:`, as in `split-mode=2:profiling=1`")
            }
            Some(OptionProblem::BadValue { name, .. }) => {
                advice("SK0102", format!("set `{name}` to {}", name.accepts()))
            }
            Some(OptionProblem::Duplicate { name }) => advice("SK0103", format!("keep one `{name}`")),
            Some(OptionProblem::EmptyName | OptionProblem::EmptyValue { .. }) => {
                advice("SK0104", "write every option as `name=value`, joined by `:`")
            }
        }
    }
}

/// Does a value look like several options, joined by another sign than `:`?
fn joins_options(value: &str) -> bool {
    value.contains('=') && value.contains([';', ',', ' ', '|', '&'])
}

/// The part of the string around the span with a line of carets under the span.
struct Caret<'a> {
    input: &'a str,
    span: &'a Range<usize>,
}

impl fmt::Display for Caret<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Long strings are shown only around the span, so that a message stays a message.
        const AROUND: usize = 60;
        let before: Vec<char> = self.input[..self.span.start].chars().collect();
        let marked: Vec<char> = self.input[self.span.clone()].chars().collect();
        let after: Vec<char> = self.input[self.span.end..].chars().collect();
        let shown_before = &before[before.len().saturating_sub(AROUND)..];
        let shown_marked = &marked[..marked.len().min(2 * AROUND)];
        let shown_after = &after[..after.len().min(AROUND)];
        let line: String = shown_before.iter().chain(shown_marked).chain(shown_after).map(|c| printable(*c)).collect();
        let blanks = " ".repeat(shown_before.len());
        let carets = "^".repeat(shown_marked.len().max(1));
        write!(formatter, "  {line}\n  {blanks}{carets}")
    }
}

/// Control characters would break the caret line.
fn printable(letter: char) -> char {
    if letter.is_control() { '\u{fffd}' } else { letter }
}
