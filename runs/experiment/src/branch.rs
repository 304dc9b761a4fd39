//! Where an episode left another one.

use crate::agent::AgentConfig;
use crate::provider::Provider;
use serde::{Deserialize, Serialize};

/// Where a branch left another episode, and who answered before. What was asked before is that episode's: it is
/// recorded in the branch too, and was not charged again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BranchRecord {
    /// The episode it left.
    pub cell: String,
    /// SHA-256 of that episode's events when it was left.
    pub events_sha256: String,
    /// 1-based first step of the branch's own.
    pub step: usize,
    /// Who answered in the step before it.
    pub agent: AgentConfig,
    /// How its model was spoken to.
    pub provider: Provider,
    /// Where that episode left yet another one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub branch: Option<Box<Self>>,
}
