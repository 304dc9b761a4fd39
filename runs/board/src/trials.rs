//! Trials of each window: what every finished episode selected.

use super::cohort::cohort;
use super::record::Cohort;
use ktd_attribution::account::{
    Attribution, DayBook, Peers, WeightBasis, independent_decisions, random_selections, traded_days,
};
use ktd_attribution::model::FactorModel;
use ktd_attribution::{SelectionSeries, SelectionTrial};
use ktd_bundle::bundle_ref::BundleRef;
use ktd_env::DayIndex;
use ktd_stats::distinct_series;
use ktd_stats::moments::{column_means, count};
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

/// A trial, and whether it decided often enough for a test.
pub(super) struct Trial {
    selection: SelectionTrial,
    is_tested: bool,
}

impl Trial {
    /// The trial of an account.
    pub(super) fn of(books: &[DayBook], attribution: &Attribution, model: &FactorModel) -> Self {
        let daily = SelectionSeries::of(&[attribution])
            .seeds
            .into_iter()
            .next()
            .unwrap_or_default();
        let chance = (PORTFOLIOS, SEED);
        let luck = random_selections(
            &[books],
            (WeightBasis::HEADLINE, Peers::Alike),
            |day| model.day(day),
            chance,
        );
        let luck_mean = luck.iter().sum::<f64>() / count(luck.len().max(1));
        Self {
            selection: SelectionTrial { daily, luck_mean },
            is_tested: decide_enough(&[vec![books]]),
        }
    }
}

/// Whether an agent decided often enough, over all its windows and as a mean over the seeds of each, that days say something of its
/// choices: names that are bought together and kept are one decision, however many days they are held.
pub(super) fn decide_enough(windows: &[Vec<&[DayBook]>]) -> bool {
    let of_seed = |books: &&[DayBook]| vec![count(traded_days(books)), independent_decisions(books)];
    let of_window = |seeds: &Vec<&[DayBook]>| column_means(&seeds.iter().map(of_seed).collect::<Vec<_>>());
    let each: Vec<Vec<f64>> = windows.iter().map(of_window).collect();
    let sum = |place: usize| each.iter().filter_map(|window| window.get(place)).sum::<f64>();
    LEAST_DECISIONS <= sum(0) && LEAST_DECISIONS <= sum(1)
}

/// Every trial: all episodes on disk, shown or not; controls apart, which are no trials of skill.
#[derive(Default)]
pub(super) struct Trials(BTreeMap<Days, Vec<Trial>>);

impl Trials {
    /// Counts a trial on a window of these days.
    pub(super) fn add(&mut self, days: &[DayIndex], trial: Trial) {
        self.0.entry(key(days)).or_default().push(trial);
    }

    /// Those on a window of these days.
    pub(super) fn over(&self, days: &[DayIndex]) -> WindowTrials {
        let trials = self.0.get(&key(days)).map_or(&[][..], Vec::as_slice);
        let daily: Vec<&[f64]> = trials
            .iter()
            .map(|trial| trial.selection.daily.as_slice())
            .collect();
        let tested = trials.iter().filter(|trial| trial.is_tested);
        WindowTrials {
            count: trials.len(),
            distinct: distinct_series(&daily),
            tested: tested.map(|trial| trial.selection.clone()).collect(),
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
