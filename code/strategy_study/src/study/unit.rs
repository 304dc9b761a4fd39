//! The units of a study of strategies: submissions, and reviewers.

use crate::arena::ReviewUnit;
use crate::run::{SubmissionFound, SubmissionUnit, VersionEvent};
use ktd_strategy_code::{ReviewEvent, ReviewsFound};
use serde::{Deserialize, Serialize};

/// What decides one unit beside the keys.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StrategyUnit {
    /// One strategy asked of one model with one seed.
    Submission(Box<SubmissionUnit>),
    /// Reviews of all submissions by one model.
    Reviews(ReviewUnit),
}

/// A line of the events of a unit.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum StrategyEvent {
    /// What was judged of one iteration.
    Version(Box<VersionEvent>),
    /// What became of one review.
    Review(Box<ReviewEvent>),
}

/// What a unit came to.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StrategyFound {
    /// Of [`StrategyUnit::Submission`].
    Submission(Box<SubmissionFound>),
    /// Of [`StrategyUnit::Reviews`].
    Reviews(Box<ReviewsFound>),
}

impl From<VersionEvent> for StrategyEvent {
    fn from(event: VersionEvent) -> Self {
        Self::Version(Box::new(event))
    }
}

impl From<ReviewEvent> for StrategyEvent {
    fn from(event: ReviewEvent) -> Self {
        Self::Review(Box::new(event))
    }
}
