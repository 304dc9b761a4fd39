//! What a model is asked for, before anybody is asked.

use super::cell::FactorCodeUnit;
use super::world::FactorCodeWorld;
use ktd_experiment::agent::AgentConfig;
use ktd_study::{AlikeRequests, UnitRequests};

/// Tokens of a first request.
const TOKENS_IN: u64 = 1_100;
/// Tokens of an answer.
const TOKENS_OUT: u64 = 600;
/// Tokens of a feedback.
const FEEDBACK_TOKENS: u64 = 200;

impl FactorCodeWorld {
    /// What a unit asks: usually a round a task; at most all rounds, with answers as long as they may be.
    pub(crate) fn requests(&self, unit: &FactorCodeUnit, agent: &AgentConfig) -> UnitRequests {
        if !matches!(unit, FactorCodeUnit::Cell(_)) {
            return UnitRequests::default();
        }
        let count = self.answers();
        let longest = agent.max_output_tokens().map_or(TOKENS_OUT, u64::from);
        let rounds = 0..u64::from(self.config.rounds);
        let most = rounds.map(|round| AlikeRequests {
            count,
            tokens_in: TOKENS_IN + round * (longest + FEEDBACK_TOKENS),
            tokens_out: longest,
        });
        UnitRequests {
            usual: vec![AlikeRequests {
                count,
                tokens_in: TOKENS_IN,
                tokens_out: TOKENS_OUT,
            }],
            most: most.collect(),
        }
    }
}
