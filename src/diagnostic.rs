//! What every error of the crate can say about itself. Knows no module, so that every module can know it.

use std::borrow::Cow;

/// What every phase's error says about itself beside its text: `Display` tells what is wrong and where.
pub trait Diagnostic: std::error::Error {
    /// Under which id it is documented, and what to do about it.
    fn advice(&self) -> Advice;

    /// Stable id such as `SK0101`, documented in `docs/errors.md`.
    fn id(&self) -> &'static str {
        self.advice().id
    }

    /// What the user can do about it, as a short imperative sentence without a full stop.
    fn solution(&self) -> String {
        self.advice().solution.into_owned()
    }
}

/// The id and the solution of an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advice {
    id: &'static str,
    solution: Cow<'static, str>,
}

/// A row of the table that every [`Diagnostic::advice`] is.
pub(crate) fn advice(id: &'static str, solution: impl Into<Cow<'static, str>>) -> Advice {
    Advice { id, solution: solution.into() }
}
