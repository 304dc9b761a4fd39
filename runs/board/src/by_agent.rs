//! The scores of one track, agent by agent.

use super::cohort::cohort;
use super::record::Cohort;
use super::score::ScoredEpisode;
use std::collections::BTreeMap;

/// A track's scores by agent, in the order of the agents' names.
pub(super) type ByAgent<'s> = BTreeMap<&'s str, Vec<&'s ScoredEpisode>>;

/// The cohort of the agent that these scores are of.
pub(super) fn cohort_of(scores: &[&ScoredEpisode]) -> Cohort {
    scores
        .first()
        .map_or(Cohort::Model, |score| cohort(&score.bundle))
}
