//! Iterations of a submission: whether a version counts, whether another is asked for, and which one is ranked.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Iterations after the first, at most.
pub const ITERATIONS_MAX: usize = 3;
/// Least of D1, D2 and D3 from which no patch is asked for.
const GOOD_ENOUGH: f64 = 0.85;

/// What became of an iteration's reply.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Deserialize,
    Serialize,
    JsonSchema,
    strum::IntoStaticStr,
    strum::VariantNames,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum IterationState {
    /// The version stands, and is the base of the next.
    Kept,
    /// More lines changed than a patch may: the version before stands.
    PatchTooLarge,
    /// The strategy changed: the version before stands, fidelity is 0.
    Drifted,
    /// The reply was no submission.
    NoSubmission,
}

impl IterationState {
    /// The name used in records.
    #[must_use]
    pub fn label(self) -> &'static str {
        self.into()
    }
}

/// One version as the choice between versions sees it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VersionScores {
    /// Iteration, from 0.
    pub iteration: usize,
    /// What became of its reply.
    pub state: IterationState,
    /// Whether it passes all gates.
    pub is_valid: bool,
    /// Measured D1, D2 and D3, each 0 to 1, and 0 where one says nothing.
    pub scores: [f64; 3],
}

impl VersionScores {
    /// Whether another iteration is asked for after this one.
    #[must_use]
    pub fn wants_patch(&self, iterations: usize) -> bool {
        let least = self.scores.into_iter().fold(f64::INFINITY, f64::min);
        self.iteration < iterations.min(ITERATIONS_MAX) && (!self.is_valid || least < GOOD_ENOUGH)
    }
}

/// The version that is ranked, among those that stand: a valid one first, then the largest D1 + D2 + D3, then the earliest.
/// `None` where none stands.
#[must_use]
pub fn ranked_version(versions: &[VersionScores]) -> Option<usize> {
    let mut best: Option<&VersionScores> = None;
    let sum = |version: &VersionScores| version.scores.iter().sum::<f64>();
    for version in versions
        .iter()
        .filter(|version| version.state == IterationState::Kept)
    {
        let is_better = best.is_none_or(|best| {
            (version.is_valid && !best.is_valid)
                || (version.is_valid == best.is_valid && sum(version) > sum(best))
        });
        if is_better {
            best = Some(version);
        }
    }
    best.map(|version| version.iteration)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(iteration: usize, state: IterationState, is_valid: bool, score: f64) -> VersionScores {
        VersionScores {
            iteration,
            state,
            is_valid,
            scores: [score; 3],
        }
    }

    #[test]
    fn validity_comes_before_scores_and_the_earliest_of_equals_is_ranked() {
        use IterationState::{Drifted, Kept, PatchTooLarge};
        let versions = [
            version(0, Kept, false, 0.9),
            version(1, Kept, true, 0.6),
            version(2, Drifted, true, 1.0),
            version(3, Kept, true, 0.6),
        ];
        assert_eq!(ranked_version(&versions), Some(1));
        assert_eq!(ranked_version(&[version(0, PatchTooLarge, true, 1.0)]), None);
    }

    #[test]
    fn a_patch_is_asked_for_until_it_is_good() {
        let good = version(1, IterationState::Kept, true, 0.85);
        assert!(!good.wants_patch(3));
        assert!(version(1, IterationState::Kept, true, 0.84).wants_patch(3));
        assert!(version(1, IterationState::Kept, false, 1.0).wants_patch(3));
        assert!(!version(3, IterationState::Kept, false, 0.0).wants_patch(9));
    }
}
