//! What a model is asked for, before anybody is asked.

use super::unit::StrategyUnit;
use crate::run::StrategyWorld;
use ktd_experiment::agent::AgentConfig;
use ktd_study::{AlikeRequests, UnitRequests};

/// A build.
const BUILD: AlikeRequests = AlikeRequests {
    count: 1,
    tokens_in: 10_000,
    tokens_out: 4_000,
};
/// A patch.
const PATCH: AlikeRequests = AlikeRequests {
    count: 1,
    tokens_in: 9_000,
    tokens_out: 4_000,
};
/// A review.
const REVIEW: AlikeRequests = AlikeRequests {
    count: 1,
    tokens_in: 6_000,
    tokens_out: 400,
};

impl StrategyWorld {
    /// What a unit asks if every iteration is used: a submission that starts with a version is asked for no build, and a
    /// review may be asked for twice. At most: answers as long as they may be.
    pub(crate) fn requests(&self, unit: &StrategyUnit, agent: &AgentConfig) -> UnitRequests {
        let (usual, times) = match unit {
            StrategyUnit::Submission(unit) => {
                let patches = AlikeRequests {
                    count: count(self.experiment.iterations),
                    ..PATCH
                };
                let build = unit.start.is_none().then_some(BUILD);
                (build.into_iter().chain([patches]).collect(), 1)
            }
            StrategyUnit::Reviews(unit) => {
                let count = unit.reviews();
                (vec![AlikeRequests { count, ..REVIEW }], 2)
            }
        };
        let longest = agent.max_output_tokens().map(u64::from);
        let at_most = |alike: &AlikeRequests| AlikeRequests {
            count: alike.count * times,
            tokens_out: longest.unwrap_or(alike.tokens_out),
            ..*alike
        };
        UnitRequests {
            most: usual.iter().map(at_most).collect(),
            usual,
        }
    }
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
