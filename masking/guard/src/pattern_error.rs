//! Patterns that do not compile.

use thiserror::Error;

/// A compiled-in pattern that is invalid: a defect of this program.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("the pattern of {what} is invalid: {source}")]
pub struct PatternError {
    /// What the pattern finds.
    pub what: &'static str,
    /// What is wrong with it.
    pub source: regex::Error,
}

impl PatternError {
    /// How to fix it.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        "report this defect"
    }
}
