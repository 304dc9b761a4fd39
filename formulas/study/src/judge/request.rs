//! What judges are asked.

use super::config::JudgeWording;
use super::list::EntryLine;
use serde::{Deserialize, Serialize};

/// What decides every request to every judge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JudgeRequest {
    pub(super) prompt: JudgeWording,
    pub(super) prompts_sha256: String,
    pub(super) tools_sha256: String,
    pub(super) seed: u64,
    pub(super) orders: usize,
    pub(super) batch: usize,
    pub(super) formulas: Vec<EntryLine>,
}
