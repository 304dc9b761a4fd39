//! Trials of each window: what every finished episode selected.

use super::cohort::cohort;
use super::record::Cohort;
use ktd_attribution::SelectionTrial;
use ktd_attribution::account::{
    DayBook, Peers, WeightBasis, independent_decisions, random_selections, traded_days,
};
use ktd_attribution::model::FactorModel;
use ktd_bundle::bundle_ref::BundleRef;
use ktd_env::DayIndex;
use ktd_stats::distinct_series;
use ktd_stats::moments::{column_means, count};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Random portfolios whose mean is a trial's null: of a mean few are enough.
const PORTFOLIOS: u32 = 100;
const SEED: u64 = 1;

/// The fewest days of trading, and the fewest independent decisions, from which anything is concluded.
pub(super) const LEAST_DECISIONS: f64 = 10.0;

/// First and last trading day: a window under another name is the same window.
type Days = (Option<DayIndex>, Option<DayIndex>);

fn key(days: &[DayIndex]) -> Days {
    (days.first().copied(), days.last().copied())
}

/// What an account is as a trial, beside its daily selection.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TrialScore {
    luck_mean: f64,
    /// Whether it decided often enough for a test.
    is_tested: bool,
}

impl TrialScore {
    /// The trial of an account.
    pub(super) fn of(books: &[DayBook], model: &FactorModel) -> Self {
        let chance = (PORTFOLIOS, SEED);
        let luck = random_selections(
            &[books],
            (WeightBasis::HEADLINE, Peers::Alike),
            |day| model.day(day),
            chance,
        );
        Self {
            luck_mean: luck.iter().sum::<f64>() / count(luck.len().max(1)),
            is_tested: decide_enough(&[Decisions::of(&[books])]),
        }
    }
}

/// How often an agent decided in a window: means over its seeds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Decisions {
    /// Days on which it traded.
    traded_days: f64,
    /// Independent decisions: names that are bought together and kept are one, however many days they are held.
    pub(super) independent: f64,
}

impl Decisions {
    /// Those of an agent's accounts, a seed each.
    pub(super) fn of(seeds: &[&[DayBook]]) -> Self {
        let of_seed = |books: &&[DayBook]| vec![count(traded_days(books)), independent_decisions(books)];
        let means = column_means(&seeds.iter().map(of_seed).collect::<Vec<_>>());
        let mean = |place: usize| means.get(place).copied().unwrap_or(0.0);
        Self {
            traded_days: mean(0),
            independent: mean(1),
        }
    }
}

/// Whether an agent decided often enough, over all its windows, that days say something of its choices.
pub(super) fn decide_enough(windows: &[Decisions]) -> bool {
    let traded_days: f64 = windows.iter().map(|window| window.traded_days).sum();
    let independent: f64 = windows.iter().map(|window| window.independent).sum();
    LEAST_DECISIONS <= traded_days && LEAST_DECISIONS <= independent
}

/// A trial: its daily selection, and what it is.
type Trial = (Vec<f64>, TrialScore);

/// Every trial: all episodes on disk, shown or not; controls apart, which are no trials of skill.
#[derive(Default)]
pub(super) struct Trials(BTreeMap<Days, Vec<Trial>>);

impl Trials {
    /// Counts a trial on a window of these days.
    pub(super) fn add(&mut self, days: &[DayIndex], daily: Vec<f64>, score: TrialScore) {
        self.0.entry(key(days)).or_default().push((daily, score));
    }

    /// Those on a window of these days.
    pub(super) fn over(&self, days: &[DayIndex]) -> WindowTrials {
        let trials = self.0.get(&key(days)).map_or(&[][..], Vec::as_slice);
        let daily: Vec<&[f64]> = trials.iter().map(|(daily, _)| daily.as_slice()).collect();
        let tested = trials.iter().filter(|(_, score)| score.is_tested);
        let selection = |(daily, score): &Trial| SelectionTrial {
            daily: daily.clone(),
            luck_mean: score.luck_mean,
        };
        WindowTrials {
            count: trials.len(),
            distinct: distinct_series(&daily),
            tested: tested.map(selection).collect(),
        }
    }
}

/// The trials of one window.
pub(super) struct WindowTrials {
    /// All.
    pub(super) count: usize,
    /// Those that traded and are not alike.
    pub(super) distinct: usize,
    /// Those that decided often enough for a test.
    pub(super) tested: Vec<SelectionTrial>,
}

/// Whether an episode's agent is a control, and so no trial.
pub(super) fn is_control(bundle: &BundleRef) -> bool {
    cohort(bundle) == Cohort::Control
}
