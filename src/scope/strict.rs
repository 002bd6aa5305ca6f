//! `strict-scope-check`: what a scope wants to happen when not all of it can be fused.

use crate::named::named;

use super::error::ScopeError;
use super::graph::Node;
use super::settings::Mode;
use crate::options::OptionName;

const KEY: &str = OptionName::StrictScopeCheck.as_str();

named! {
    /// A legal value of the option.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum Strict {
        /// Leave the whole scope unfused, with a warning.
        Bypass = "bypass",
        /// Fail.
        Abort = "abort",
    }
}

/// The value in a node's option string; `None`: the option is not there.
///
/// The reference only looks at parts that split into exactly two strings at `=`, the first being the name byte
/// for byte. Everything else that is clearly meant to be the option is skipped by it and refused by us.
pub(crate) fn read(node: &Node, mode: Mode) -> Result<Option<Strict>, ScopeError> {
    let mut found = None;
    for part in node.options.split(':') {
        let fields: Vec<&str> = part.split('=').collect();
        let exact = fields[0] == KEY && fields.len() == 2;
        if !exact {
            if mode == Mode::Default && fields[0].trim().trim_matches('"') == KEY {
                return Err(ScopeError::StrictMalformed { node: node.name.clone().into(), part: part.to_owned() });
            }
            continue;
        }
        found = match fields[1] {
            "bypass" => Some(Strict::Bypass),
            "abort" => Some(Strict::Abort),
            value => {
                return Err(ScopeError::StrictValue {
                    node: node.name.clone().into(),
                    scope: node.scope.clone().into(),
                    value: value.to_owned(),
                });
            }
        };
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_options(options: &str, mode: Mode) -> Result<Option<Strict>, ScopeError> {
        let mut node = Node::new("n", "Op", 1, 0);
        node.scope = "sp1".to_owned().into();
        node.options = options.to_owned().into();
        read(&node, mode)
    }

    #[test]
    fn legal_values() {
        for mode in [Mode::Default, Mode::Compat] {
            for (options, expected) in [
                ("", None),
                ("stream-fusion=1", None),
                ("strict-scope-check=bypass", Some(Strict::Bypass)),
                ("stream-fusion=1:strict-scope-check=abort", Some(Strict::Abort)),
                ("strict-scope-check=abort:strict-scope-check=bypass", Some(Strict::Bypass)),
                ("my-strict-scope-check=abort", None),
            ] {
                assert_eq!(read_options(options, mode).unwrap(), expected, "{options}");
            }
        }
    }

    #[test]
    fn other_values_are_refused_also_the_empty_one() {
        for mode in [Mode::Default, Mode::Compat] {
            for value in ["xxx", "", "Abort", " abort"] {
                let error = read_options(&format!("strict-scope-check={value}"), mode).unwrap_err();
                let text = error.to_string();
                for part in [KEY, value, "bypass", "abort"] {
                    assert!(text.contains(part), "{text}");
                }
            }
        }
    }

    #[test]
    fn malformed_parts_are_skipped_by_the_reference_and_refused_by_us() {
        for options in [
            "strict-scope-check",
            "strict-scope-check=abort=1",
            " strict-scope-check=abort",
            "strict-scope-check =abort",
        ] {
            assert_eq!(read_options(options, Mode::Compat).unwrap(), None, "{options}");
            let error = read_options(options, Mode::Default).unwrap_err();
            assert!(matches!(error, ScopeError::StrictMalformed { .. }), "{options}");
        }
    }
}
