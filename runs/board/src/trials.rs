//! Trials of each window, for deflated Sharpe ratios.

use super::cohort::cohort;
use super::record::Cohort;
use ktd_attribution::account::{Attribution, WeightBasis};
use ktd_bundle::bundle_ref::BundleRef;
use ktd_env::DayIndex;
use ktd_stats::{Sample, probabilistic_sharpe};
use std::collections::BTreeMap;

/// First and last trading day: a window under another name is the same window.
type Days = (Option<DayIndex>, Option<DayIndex>);

fn key(days: &[DayIndex]) -> Days {
    (days.first().copied(), days.last().copied())
}

/// Daily Sharpe ratios of selection of every trial: all episodes on disk, shown or not; controls apart, which
/// are no trials of skill: foresight would blow up the spread of the trials.
#[derive(Default)]
pub(super) struct Trials(BTreeMap<Days, Vec<f64>>);

impl Trials {
    /// Counts a trial on a window of these days.
    pub(super) fn add(&mut self, days: &[DayIndex], sharpe: f64) {
        self.0.entry(key(days)).or_default().push(sharpe);
    }

    /// Those on a window of these days.
    pub(super) fn over(&self, days: &[DayIndex]) -> &[f64] {
        self.0.get(&key(days)).map_or(&[], Vec::as_slice)
    }
}

/// The Sharpe ratio of an account's daily selection. A trial whose selection does not vary was a trial all the same, of
/// Sharpe ratio 0.
pub(super) fn selection_sharpe(attribution: &Attribution) -> f64 {
    let daily = attribution.selection(WeightBasis::HEADLINE);
    let sample = Sample::new("daily selection", &daily).ok();
    let sharpe = sample.and_then(|daily| probabilistic_sharpe(&daily, 0.0).ok());
    sharpe.map_or(0.0, |found| found.sharpe)
}

/// Whether an episode's agent is a control, and so no trial.
pub(super) fn is_control(bundle: &BundleRef) -> bool {
    cohort(bundle) == Cohort::Control
}
