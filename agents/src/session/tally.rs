//! What is counted in a step.

use crate::model_fault::ModelFault;
use std::collections::BTreeMap;

/// The counters of one step.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tally {
    /// Turns of the model.
    pub turns: u32,
    /// Tool calls answered with data.
    pub tool_calls_answered: u32,
    /// Tool calls answered with a structured error.
    pub tool_calls_refused: u32,
    /// Tool calls beyond the budget, which were not run.
    pub tool_calls_over_budget: u32,
    /// Calls of one reply beyond what a reply may hold, which were dropped.
    pub tool_calls_dropped: u64,
    /// Calls of the submission tool during research.
    pub early_submissions: u32,
    /// Submissions handed out to be judged.
    pub submissions: u32,
    /// The model's mistakes by kind.
    pub faults: BTreeMap<ModelFault, u32>,
}

impl Tally {
    /// How often `fault` happened.
    #[must_use]
    pub fn count(&self, fault: ModelFault) -> u32 {
        self.faults.get(&fault).copied().unwrap_or(0)
    }

    pub(super) fn blame(&mut self, fault: ModelFault) {
        *self.faults.entry(fault).or_insert(0) += 1;
    }
}
