//! A version that another experiment ended with, and what reviewers said is wrong with it: where a submission may start.

use ktd_strategy_code::StrategySubmission;
use serde::{Deserialize, Serialize};

/// A version and what others say of it, of the same model, document and seed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReviewedStart {
    pub(crate) model: String,
    pub(crate) strategy: String,
    pub(crate) seed: u64,
    /// Card and program.
    pub(crate) submission: StrategySubmission,
    /// What reviewers other than its author call its weaknesses: foreign text.
    pub(crate) weaknesses: Vec<PeerWeakness>,
}

/// One reviewer's words.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PeerWeakness {
    /// Who wrote them; no model is shown it.
    pub(crate) reviewer: String,
    /// The words, cut where they are long.
    pub(crate) words: String,
}

impl ReviewedStart {
    /// Whether it is that of such a submission.
    pub(crate) fn is_of(&self, which: (&str, &str, u64)) -> bool {
        (self.model.as_str(), self.strategy.as_str(), self.seed) == which
    }
}
