//! The scores of one track, agent by agent.

use super::cohort::cohort;
use super::record::{Cohort, UNSPLIT};
use super::score::ScoredEpisode;
use std::collections::BTreeMap;

/// A track's scores by agent, in the order of the agents' names.
pub(super) type ByAgent<'s> = BTreeMap<&'s str, Vec<&'s ScoredEpisode>>;

/// Why an agent that could have a rank has none.
pub(super) fn why_unranked(scores: &[&ScoredEpisode]) -> Option<String> {
    let held_nothing = || !scores.iter().any(|score| score.held_anything());
    let split_nothing = || !scores.iter().any(|score| score.is_split());
    why_incomplete(scores)
        .or_else(|| held_nothing().then(|| "held nothing".to_owned()))
        .or_else(|| split_nothing().then(|| UNSPLIT.to_owned()))
}

/// Why the scores of an agent are a part of what it was asked to play.
pub(super) fn why_incomplete(scores: &[&ScoredEpisode]) -> Option<String> {
    if let Some(why) = scores.iter().find_map(|score| score.ended_early.clone()) {
        return Some(why);
    }
    let counters = || scores.iter().map(|score| &score.summary.counters);
    let decided: usize = counters()
        .map(|counters| counters.submitted + counters.hold)
        .sum();
    let undecided: usize = counters()
        .map(|counters| counters.fallback + counters.uncovered)
        .sum();
    let steps = decided + undecided;
    (decided < undecided).then(|| format!("decided {decided} of {steps} steps"))
}

/// Whether an agent has a rank: controls have none, nor has one of whom its scores say nothing.
pub(super) fn has_rank(scores: &[&ScoredEpisode]) -> bool {
    cohort_of(scores).is_ranked() && why_unranked(scores).is_none()
}

/// The cohort of the agent that these scores are of.
pub(super) fn cohort_of(scores: &[&ScoredEpisode]) -> Cohort {
    scores
        .first()
        .map_or(Cohort::Model, |score| cohort(&score.bundle))
}
