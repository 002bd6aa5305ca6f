//! The grammar:
//!
//! ```text
//! options = blank | '"' options '"' | part { ":" part }
//! part    = name "=" value        the first "=" counts, so a value may contain more of them
//!         | blank                 skipped
//!         | text without "="      skipped with a warning: shipped models pass such junk
//! ```
//! Names, values and parts are trimmed.

use std::ops::Range;

use super::{GivenOption, Located, OptionError, OptionName, OptionProblem, Options};
use crate::nearest::nearest;

/// How the words of an option name are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Separator {
    /// `split-mode` only.
    Hyphen,
    /// `split_mode` is read as `split-mode`.
    HyphenOrUnderscore,
}

/// Parses an option string; all problems are reported together.
///
/// ```
/// use superkernel::options::{Separator, parse};
/// let options = parse("split-mode=2:profiling=1", Separator::Hyphen)?;
/// assert_eq!(options.split.get(), 2);
/// assert!(options.profiling);
/// # Ok::<(), superkernel::options::OptionError>(())
/// ```
pub fn parse(input: &str, separator: Separator) -> Result<Options, OptionError> {
    let mut options = Options::default();
    let mut problems = Vec::new();
    for part in parts(input) {
        let Some(equals) = input[part.clone()].find('=') else {
            options.warnings.push(skipped(&input[part.clone()], part.start));
            continue;
        };
        let name = trim(input, part.start..part.start + equals);
        let value = trim(input, part.start + equals + 1..part.end);
        if let Err(located) = take_part(&mut options, input, &name, &value, &part, separator) {
            problems.push(located);
        }
    }
    if problems.is_empty() { Ok(options) } else { Err(OptionError { input: input.to_owned(), problems }) }
}

/// The option string with `name=value` in the place of what it says of `name`, if anything. Everything else stays, also
/// what is wrong.
pub(crate) fn with(input: &str, name: OptionName, value: &str) -> String {
    let is_other = |part: &&str| part.split_once('=').is_none_or(|(given, _)| given.trim() != name.as_str());
    let others = parts(input).map(|part| &input[part]).filter(is_other);
    others.chain([&*format!("{}={value}", name.as_str())]).collect::<Vec<_>>().join(":")
}

/// The trimmed, non-empty parts between the colons.
fn parts(input: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut whole = trim(input, 0..input.len());
    if whole.len() >= 2 && input[whole.clone()].starts_with('"') && input[whole.clone()].ends_with('"') {
        whole = whole.start + 1..whole.end - 1;
    }
    let mut start = whole.start;
    input[whole]
        .split(':')
        .map(move |text| {
            let part = start..start + text.len();
            start = part.end + 1;
            part
        })
        .map(|part| trim(input, part))
        .filter(|part| !part.is_empty())
}

fn trim(input: &str, range: Range<usize>) -> Range<usize> {
    let text = &input[range.clone()];
    let start = range.start + (text.len() - text.trim_start().len());
    start..start + text.trim().len()
}

fn take_part(
    options: &mut Options,
    input: &str,
    name: &Range<usize>,
    value: &Range<usize>,
    part: &Range<usize>,
    separator: Separator,
) -> Result<(), Located> {
    let at = |problem, span: &Range<usize>| Located { problem, span: span.clone() };
    let written = &input[name.clone()];
    if written.is_empty() {
        return Err(at(OptionProblem::EmptyName, part));
    }
    let spelled = match separator {
        Separator::Hyphen => written.to_owned(),
        Separator::HyphenOrUnderscore => written.replace('_', "-"),
    };
    let Some(option) = OptionName::from_name(&spelled) else {
        let known = OptionName::ALL.iter().map(|option| option.as_str());
        let suggestion = nearest(&spelled.replace('_', "-"), known, 1).first().copied();
        return Err(at(OptionProblem::Unknown { name: written.to_owned(), suggestion }, name));
    };
    let text = &input[value.clone()];
    if text.is_empty() {
        return Err(at(OptionProblem::EmptyValue { name: spelled }, part));
    }
    let refused = || at(OptionProblem::BadValue { name: option, value: text.to_owned() }, value);
    let shared = options.set(option, text).ok_or_else(refused)?;
    if options.is_given(option) {
        return Err(at(OptionProblem::Duplicate { name: option }, part));
    }
    options.given.push(GivenOption { name: option, value: shared, span: part.clone() });
    Ok(())
}

fn skipped(part: &str, position: usize) -> String {
    let shown: String = part.chars().take(60).collect();
    format!("option string: `{shown}` at position {position} has no `=` and is skipped")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn message(input: &str) -> String {
        parse(input, Separator::Hyphen).unwrap_err().to_string()
    }

    #[test]
    fn nothing_means_defaults() {
        for input in ["", "  ", "\"\"", ":", " : : ", "\"  \""] {
            assert_eq!(parse(input, Separator::Hyphen).unwrap(), Options::default(), "{input:?}");
        }
    }

    #[test]
    fn values_may_contain_equals_signs_and_blanks_around() {
        let options = parse("\" compile-options = -DX=1,-g : early-start=2 \"", Separator::Hyphen).unwrap();
        assert_eq!(*options.compile_options, ["-DX=1", "-g"]);
        assert!(options.early_start.is_on());
    }

    #[test]
    fn one_option_is_set_and_the_others_stay() {
        for (input, wanted) in [
            ("", "sync=contract"),
            ("split-mode=2", "split-mode=2:sync=contract"),
            ("\" sync = proven : junk:split-mode=2\"", "junk:split-mode=2:sync=contract"),
            ("synch=1", "synch=1:sync=contract"),
        ] {
            assert_eq!(with(input, OptionName::Sync, "contract"), wanted);
        }
    }

    #[test]
    fn junk_without_equals_is_a_warning() {
        let options = parse("option_xxx2:split-mode=1", Separator::Hyphen).unwrap();
        assert_eq!(options.split.get(), 1);
        assert_eq!(options.warnings, ["option string: `option_xxx2` at position 0 has no `=` and is skipped"]);
    }

    #[test]
    fn a_near_miss_gets_a_suggestion() {
        assert_eq!(
            message("early-start=1:stream-funsion=1"),
            "there is no option `stream-funsion`; did you mean `stream-fusion`?\n  \
             early-start=1:stream-funsion=1\n                \
             ^^^^^^^^^^^^^^"
        );
    }

    #[test]
    fn all_problems_come_together() {
        let error = parse("=1:split-mode=:profiling=2:profiling=1:profiling=0", Separator::Hyphen).unwrap_err();
        let problems: Vec<String> = error.problems.iter().map(|located| located.problem.to_string()).collect();
        assert_eq!(
            problems,
            [
                "an option has no name before its `=`",
                "option `split-mode` has no value after its `=`",
                "option `profiling` cannot be `2`; expected `0` or `1`",
                "option `profiling` is given twice",
            ]
        );
    }

    #[test]
    fn underscores_are_read_on_request_only() {
        assert!(parse("split_mode=2", Separator::Hyphen).is_err());
        assert_eq!(parse("split_mode=2", Separator::HyphenOrUnderscore).unwrap().split.get(), 2);
    }

    #[test]
    fn numbers_are_digits_in_range() {
        for bad in [
            "split-mode=0",
            "split-mode=65",
            "split-mode=+4",
            "split-mode=4.0",
            "func-align=1",
            "func-align=3",
            "func-align=-2",
            "debug-aic-num=99999999999999999999",
            "early-start=3",
            "preload-code=perfunc",
        ] {
            assert!(parse(bad, Separator::Hyphen).is_err(), "{bad}");
        }
        for good in ["split-mode=1", "split-mode=64", "func-align=0", "func-align=2", "func-align=4096"] {
            assert!(parse(good, Separator::Hyphen).is_ok(), "{good}");
        }
    }

    #[test]
    fn the_default_of_an_option_is_a_value_of_it() {
        for option in OptionName::ALL {
            let text = option.default_text();
            if !text.is_empty() {
                let options = parse(&format!("{option}={text}"), Separator::Hyphen).unwrap();
                assert_eq!(options.text(*option), text);
            }
        }
    }

    proptest! {
        #[test]
        fn never_panics_and_spans_lie_inside(input in "\\PC{0,80}") {
            match parse(&input, Separator::HyphenOrUnderscore) {
                Ok(options) => for given in options.given {
                    prop_assert!(input.get(given.span).is_some());
                },
                Err(error) => {
                    prop_assert!(error.problems.iter().all(|located| input.get(located.span.clone()).is_some()));
                    prop_assert!(!error.to_string().is_empty());
                }
            }
        }
    }
}
