//! What is wrong with the options of scopes: all of it at once, and the other scopes are planned all the same.

use serde::Serialize;

use super::error::ScopeError;
use super::graph::Node;
use super::settings::Mode;
use super::strict::{self, Strict};
use crate::diagnostic::Diagnostic;
use crate::options::{OptionError, OptionName, OptionProblem, Separator, parse};

/// Something wrong with the options of a scope, which is not planned because of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Mistake {
    /// The id of the error that a build would end with.
    pub id: &'static str,
    /// The scope.
    pub scope: String,
    /// The nested graph it is in; empty for the root.
    pub branch: String,
    /// The first node that has these options.
    pub node: String,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub solution: String,
}

impl Mistake {
    /// `error` is about the options of `node`, which is in the nested graph `branch`.
    pub(crate) fn new(node: &Node, branch: &str, error: &ScopeError) -> Self {
        Self {
            id: error.id(),
            scope: node.scope.to_string(),
            branch: branch.to_owned(),
            node: node.name.to_string(),
            message: error.to_string(),
            solution: error.solution(),
        }
    }
}

/// What `strict-scope-check` is in the options of a node, and everything that is wrong with them. The reference looks at
/// nothing but that one option.
pub(crate) fn check(node: &Node, mode: Mode) -> (Option<Strict>, Vec<ScopeError>) {
    let (strict, mut errors) = match strict::read(node, mode) {
        Ok(strict) => (strict, Vec::new()),
        Err(error) => (None, vec![error]),
    };
    if mode == Mode::Compat {
        return (strict, errors);
    }
    if let Err(OptionError { input, problems }) = parse(&node.options, Separator::Hyphen) {
        // Its own rules have spoken already.
        let is_strict = |problem: &OptionProblem| match problem {
            OptionProblem::BadValue { name, .. } => *name == OptionName::StrictScopeCheck,
            OptionProblem::EmptyValue { name } => name == OptionName::StrictScopeCheck.as_str(),
            OptionProblem::EmptyName | OptionProblem::Duplicate { .. } | OptionProblem::Unknown { .. } => false,
        };
        let said = !errors.is_empty();
        errors.extend(problems.into_iter().filter(|located| !(said && is_strict(&located.problem))).map(|located| {
            let source = OptionError { input: input.clone(), problems: vec![located] };
            ScopeError::Options { node: node.name.to_string(), source }
        }));
    }
    (strict, errors)
}
