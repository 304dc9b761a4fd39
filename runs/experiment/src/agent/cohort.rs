//! The cohort that an agent names: what kind of decision maker it is compared with.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What decides in an agent that is not this program's own. Means and medians of boards are made cohort by cohort.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AgentCohort {
    /// A language model.
    LanguageModel,
    /// A fitted predictor: a regression, a tree, a network that is no language model.
    MachineLearning,
    /// A fixed rule.
    Rule,
    /// A control: it tests the harness, and has no rank.
    Control,
}
