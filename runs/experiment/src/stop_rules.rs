//! When an agent is given up that will not come to anything.

use crate::amount::Picodollars;
use crate::caps::{DollarText, dollars};
use schemars::JsonSchema;
use serde::Deserialize;

/// `stop_after` of an experiment: a model or program that meets one of these is stopped before its next step, and its record says
/// by which. What was played stays, and is not ranked. Built-in agents are never stopped; 0 switches a rule off.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StopRules {
    /// Steps in a row without a decision of the model (default 20).
    pub fallbacks_in_a_row: usize,
    /// Mistakes in a row, of calls and submissions, without a good one between them (default 200).
    pub faults_in_a_row: usize,
    /// Least share of decided steps, from the fortieth on (default 0.1).
    pub decided_share: f64,
    /// Most answers a step, on average from the tenth on (default 0).
    pub answers_a_step: f64,
    /// Most that a step may cost, on average from the tenth on, such as `"0.50"`; needs `prices` (default: any).
    #[serde(deserialize_with = "dollars")]
    #[schemars(with = "Option<DollarText>")]
    pub dollars_a_step: Option<Picodollars>,
}

impl Default for StopRules {
    fn default() -> Self {
        Self {
            fallbacks_in_a_row: 20,
            faults_in_a_row: 200,
            decided_share: 0.1,
            answers_a_step: 0.0,
            dollars_a_step: None,
        }
    }
}

impl StopRules {
    /// Whether the rules can hold.
    ///
    /// # Errors
    /// What is wrong with one of them.
    pub(crate) fn check(&self, has_prices: bool) -> Result<(), String> {
        if !(0.0..=1.0).contains(&self.decided_share) {
            return Err("`stop_after.decided_share` is a share: write 0 to 1".to_owned());
        }
        if !self.answers_a_step.is_finite() || self.answers_a_step < 0.0 {
            return Err("`stop_after.answers_a_step` must be 0 or more".to_owned());
        }
        if self.dollars_a_step.is_some() && !has_prices {
            return Err(
                "`stop_after.dollars_a_step` needs `prices`: nobody knows what a step costs".to_owned(),
            );
        }
        Ok(())
    }
}
