//! A pool as judgements name it.

use serde::{Deserialize, Serialize};

/// A pool.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadingPool {
    pub(super) id: String,
    /// Names of the models that found it.
    pub(super) miners: Vec<String>,
    pub(super) alphas: Vec<ReadingAlpha>,
}

/// An alpha of a pool, by its canonical form.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadingAlpha {
    pub(super) id: String,
    pub(super) formula: String,
}
