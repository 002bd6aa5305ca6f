//! What every error of the crate can say about itself. Knows no module, so that every module can know it.

/// What every phase's error says about itself beside its text.
///
/// `Display` tells what is wrong and where; [`Diagnostic::solution`] tells what to do about it.
pub trait Diagnostic: std::error::Error {
    /// Stable id such as `SK0101`, documented in `docs/errors.md`.
    fn id(&self) -> &'static str;

    /// What the user can do about it, as a short imperative sentence without a full stop.
    fn solution(&self) -> String;
}
