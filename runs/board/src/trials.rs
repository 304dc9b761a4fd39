//! Trials of each window, for deflated Sharpe ratios.

use super::collect::cohort;
use super::record::Cohort;
use super::score::Score;
use ktd_attribution::account::Basis;
use ktd_bundle::bundle_ref::Found;
use ktd_env::DayIndex;
use ktd_stats::{Sample, probabilistic_sharpe};
use std::collections::BTreeMap;

/// First and last trading day: a window under another name is the same window.
type Days = (Option<DayIndex>, Option<DayIndex>);

fn key(days: &[DayIndex]) -> Days {
    (days.first().copied(), days.last().copied())
}

/// Daily Sharpe ratios of selection of every trial: all episodes on disk, shown or not; controls and the cheater apart,
/// whose foresight is no trial of skill and would blow up the spread of the trials.
pub(super) struct Trials(BTreeMap<Days, Vec<f64>>);

impl Trials {
    pub(super) fn of(all: &[(bool, Score)]) -> Self {
        let mut trials: BTreeMap<Days, Vec<f64>> = BTreeMap::new();
        for (_, score) in all.iter().filter(|(_, score)| !foresees(&score.found)) {
            let daily = score.attribution.selection(Basis::Pre);
            let sharpe = Sample::new("daily selection", &daily).ok();
            // A trial whose selection does not vary was a trial all the same, of Sharpe ratio 0.
            let sharpe = sharpe
                .and_then(|daily| probabilistic_sharpe(&daily, 0.0).ok())
                .map_or(0.0, |found| found.sharpe);
            trials.entry(key(&score.days)).or_default().push(sharpe);
        }
        Self(trials)
    }

    /// Those on a window of these days.
    pub(super) fn over(&self, days: &[DayIndex]) -> &[f64] {
        self.0.get(&key(days)).map_or(&[], Vec::as_slice)
    }
}

/// Whether an episode's agent is made to know the future.
fn foresees(found: &Found) -> bool {
    cohort(found) == Cohort::Control || found.header.agent.builtin_name() == Some("cheater")
}
