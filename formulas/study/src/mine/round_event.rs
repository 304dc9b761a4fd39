//! What a round of a search is recorded as.

use crate::language::QuestionEnd;
use serde::{Deserialize, Serialize};

/// One proposal of a round, and what became of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProposalLine {
    /// As it was written.
    pub(super) expression: String,
    /// The idea, in the model's words. No model is shown it.
    pub(super) idea: String,
    /// Its canonical form, where it is a formula.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) form: Option<String>,
    /// Why it has no fitness.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) code: Option<String>,
}

/// Line of `events.jsonl`: a round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RoundEvent {
    pub(super) round: usize,
    #[serde(flatten)]
    pub(super) end: QuestionEnd<Vec<ProposalLine>>,
}
