//! Answers that were lost, by whose fault it was.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LossKind {
    /// The model's answers broke the form until its retries were used up.
    ModelMistake,
    /// The model, or a filter before it, refused.
    Refusal,
    /// The infrastructure lost what the model said, and asking again could not help.
    Fault,
    /// Nobody was asked: the record ends before it.
    NotAsked,
}

/// Answers that were lost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LostCounts {
    /// By mistakes of the model.
    pub model_mistakes: usize,
    /// By refusals.
    pub refusals: usize,
    /// By faults of the infrastructure.
    pub faults: usize,
    /// Because nobody was asked.
    pub not_asked: usize,
}

impl LostCounts {
    /// All.
    #[must_use]
    pub const fn all(&self) -> usize {
        self.model_mistakes + self.refusals + self.faults + self.not_asked
    }

    /// Counts one more.
    pub(crate) const fn add(&mut self, kind: LossKind) {
        match kind {
            LossKind::ModelMistake => self.model_mistakes += 1,
            LossKind::Refusal => self.refusals += 1,
            LossKind::Fault => self.faults += 1,
            LossKind::NotAsked => self.not_asked += 1,
        }
    }
}

impl LossKind {
    /// The kind of the model's last mistake.
    pub(crate) fn of_mistake(code: &str) -> Self {
        if code == ktd_agents::ModelFault::Refusal.code() {
            Self::Refusal
        } else {
            Self::ModelMistake
        }
    }
}
