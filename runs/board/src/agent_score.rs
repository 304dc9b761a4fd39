//! What a board needs of one agent's episodes on one track. It is kept, so that ranking again reads it in their place.

use super::cohort::cohort;
use super::record::{Cohort, LeaderboardRow, Resampling, UNSPLIT};
use super::row::leader;
use super::score::ScoredEpisode;
use super::size_cost::cost_per_root_cny;
use super::trials::{Decisions, TrialScore};
use ktd_attribution::SelectionSeries;
use ktd_attribution::account::{Attribution, DayBook, Peers, WeightBasis, random_selections};
use ktd_attribution::model::FactorModel;
use ktd_env::Market;
use ktd_stats::moments::mean;
use serde::{Deserialize, Serialize};

/// What a board needs of one agent's episodes on one track.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AgentScore {
    /// Its row, without what hangs on other agents.
    pub(super) row: LeaderboardRow,
    /// Why its scores are a part of what it was asked to play, where they are.
    pub(super) undecided: Option<String>,
    /// Why nothing can be said of it, where it decided.
    pub(super) nothing_held: Option<String>,
    /// Daily selection under the default, a seed a list.
    daily: Vec<Vec<f64>>,
    /// The same under each setting that its track needs.
    settings: Vec<Vec<Vec<f64>>>,
    /// Selections a day of random portfolios that trade as all seeds together; none of what has no rank.
    pub(super) luck: Vec<f64>,
    /// How often it decided.
    pub(super) decisions: Decisions,
    /// Cost of size a day, as a share of the account, per root of a CNY of its capital; none of what has no rank.
    pub(super) cost_per_root_cny: Option<f64>,
    /// What each seed is as a trial; none of a control.
    pub(super) trials: Vec<TrialScore>,
}

impl AgentScore {
    /// The score of an agent's episodes, by seed, under the default model. Settings are added one by one.
    pub(super) fn of(
        agent: &str,
        scores: &[&ScoredEpisode],
        (model, market): (&FactorModel, &Market),
        draws: Resampling,
    ) -> Self {
        let cohort = scores
            .first()
            .map_or(Cohort::Model, |score| cohort(&score.bundle));
        let books: Vec<&[DayBook]> = scores.iter().map(|score| score.books.as_slice()).collect();
        let (undecided, nothing_held) = (undecided(scores), nothing_held(scores));
        let has_rank = cohort.is_ranked() && undecided.is_none() && nothing_held.is_none();
        let luck = |books: &[&[DayBook]]| {
            let chance = (draws.null_portfolios, draws.seed);
            let kind = (WeightBasis::HEADLINE, Peers::Alike);
            random_selections(books, kind, |day| model.day(day), chance)
        };
        let costs = || -> Vec<f64> {
            let each = scores.iter().map(|score| cost_per_root_cny(score, market));
            each.collect()
        };
        let attributions: Vec<&Attribution> = scores.iter().map(|score| &score.attribution).collect();
        let trials = scores.iter().filter(|_| cohort != Cohort::Control);
        Self {
            row: leader(agent, cohort, scores, draws),
            daily: SelectionSeries::of(&attributions).seeds,
            settings: Vec::new(),
            luck: if has_rank { luck(&books) } else { Vec::new() },
            decisions: Decisions::of(&books),
            cost_per_root_cny: has_rank.then(|| mean(&costs())).flatten(),
            trials: trials.map(|score| TrialScore::of(&score.books, model)).collect(),
            undecided,
            nothing_held,
        }
    }

    /// Adds its selections under the next setting.
    pub(super) fn add_setting(&mut self, series: SelectionSeries) {
        self.settings.push(series.seeds);
    }

    /// How many settings it has.
    pub(super) const fn settings(&self) -> usize {
        self.settings.len()
    }

    /// The same with so many settings at most.
    pub(super) fn with_settings(mut self, most: usize) -> Self {
        self.settings.truncate(most);
        self
    }

    /// Its selections under the default.
    pub(super) fn series(&self) -> SelectionSeries {
        SelectionSeries::of_seeds(self.daily.clone())
    }

    /// Its selections under the setting at a place; `None` where its track does not need it.
    pub(super) fn under(&self, setting: usize) -> Option<SelectionSeries> {
        Some(SelectionSeries::of_seeds(self.settings.get(setting)?.clone()))
    }

    /// The daily selection of each seed.
    pub(super) fn daily(&self) -> &[Vec<f64>] {
        &self.daily
    }
}

/// Why the scores of an agent are a part of what it was asked to play.
fn undecided(scores: &[&ScoredEpisode]) -> Option<String> {
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

/// Why nothing can be said of what an agent selected.
fn nothing_held(scores: &[&ScoredEpisode]) -> Option<String> {
    if !scores.iter().any(|score| score.held_anything()) {
        return Some("held nothing".to_owned());
    }
    (!scores.iter().any(|score| score.is_split())).then(|| UNSPLIT.to_owned())
}
