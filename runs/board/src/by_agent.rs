//! The agents of one track.

use super::agent_score::AgentScore;
use super::record::Cohort;
use ktd_bundle::bundle_ref::BundleRef;
use ktd_env::DayIndex;
use std::collections::BTreeMap;

/// One agent on one track.
#[derive(Debug, Clone)]
pub(super) struct ScoredAgent {
    /// Its episodes, by seed; one at least.
    pub(super) bundles: Vec<BundleRef>,
    /// The trading days of all.
    pub(super) days: Vec<DayIndex>,
    /// How another episode of it on the track ended before its window did.
    pub(super) ended_early: Option<String>,
    /// What they scored.
    pub(super) score: AgentScore,
}

/// A track's agents, in the order of their names.
pub(super) type ByAgent<'s> = BTreeMap<&'s str, &'s ScoredAgent>;

impl ScoredAgent {
    /// Its name.
    pub(super) fn name(&self) -> &str {
        &self.score.row.agent
    }

    /// What it is.
    pub(super) const fn cohort(&self) -> Cohort {
        self.score.row.cohort
    }

    /// Why an agent that could have a rank has none.
    pub(super) fn why_unranked(&self) -> Option<String> {
        self.why_incomplete().or_else(|| self.score.nothing_held.clone())
    }

    /// Why its scores are a part of what it was asked to play.
    pub(super) fn why_incomplete(&self) -> Option<String> {
        self.ended_early.clone().or_else(|| self.score.undecided.clone())
    }

    /// Whether it has a rank: controls have none, nor has one of whom its scores say nothing.
    pub(super) fn has_rank(&self) -> bool {
        self.cohort().is_ranked() && self.why_unranked().is_none()
    }
}
