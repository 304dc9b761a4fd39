//! The second intervention: on the signal day nothing is known but its open.

use crate::bench::LeakageBench;
use crate::error::LeakageError;
use crate::features::{OwnFeatures, own_features};
use crate::panel::{BarField, BarGrid, cell};
use crate::ridge_model::RidgeModel;
use crate::rolling::window_stats_from;
use crate::run::trade_day;
use crate::series::{HEADLINE_BPS, TradeSeries};
use crate::switch::Switch;
use ktd_stats::Undefined;

/// Sessions before the signal day that its features may read.
const HISTORY: usize = 90;

/// Annual ratios at the headline cost with the signal day's bar and without it, over the same rows.
#[derive(Debug, Clone, PartialEq)]
pub struct MaskCheck {
    /// With the whole bar.
    pub full: Result<f64, Undefined>,
    /// With the open alone: high, low and close are the open, the volume is that of the session before.
    pub masked: Result<f64, Undefined>,
    /// Rows that have both.
    pub rows: usize,
}

impl MaskCheck {
    /// What the bar was worth, negative for a loss without it; `None` where a ratio has no value.
    #[must_use]
    pub fn change(&self) -> Option<f64> {
        let masked = self.masked.as_ref().ok()?;
        Some(masked - self.full.as_ref().ok()?)
    }
}

/// Masks the bar of each signal day of a year and trades the scores of both, with one fit.
///
/// # Errors
/// [`LeakageError`] as the split of the year.
pub fn mask_check(
    bench: &LeakageBench,
    switch: Switch,
    (horizon, year): (usize, i32),
) -> Result<MaskCheck, LeakageError> {
    let split = bench.split(switch, horizon, year)?;
    let fit = RidgeModel::of_split(bench, switch, (horizon, year), &split, false)?;
    let labels = bench.labels(switch, horizon)?;
    let columns = bench.rows().columns(switch, false);
    let (mut full, mut masked, mut rows) = (Vec::new(), Vec::new(), 0);
    for session in split.test_sessions.iter().copied() {
        let own = masked_features(bench.bars(), session);
        let (mut with, mut without) = (Vec::new(), Vec::new());
        for row in bench.rows().of_sessions(&(session..session + 1)) {
            let (_, name) = bench.rows().place(row);
            let Some(own) = own
                .get(name)
                .filter(|own| own.iter().all(|value| value.is_finite()))
            else {
                continue;
            };
            let features: Vec<f64> = columns.iter().map(|column| cell(column, row)).collect();
            with.push((row, fit.score(&features)));
            without.push((row, fit.score(own)));
        }
        rows += with.len();
        full.extend(trade_day(bench, session, with.into_iter(), switch, labels));
        masked.extend(trade_day(bench, session, without.into_iter(), switch, labels));
    }
    Ok(MaskCheck {
        full: TradeSeries::of(full).sharpe(HEADLINE_BPS),
        masked: TradeSeries::of(masked).sharpe(HEADLINE_BPS),
        rows,
    })
}

/// The features of a session of which the open alone is known.
fn masked_features(bars: &BarGrid, session: usize) -> Vec<OwnFeatures> {
    let first = session.saturating_sub(HISTORY);
    let known = bars.map(first..session + 1, &mut |field, of, name, value| match field {
        BarField::High | BarField::Low | BarField::Close if of == session => {
            bars.value(BarField::Open, session, name)
        }
        BarField::Volume if of == session => {
            let before = session.checked_sub(1);
            before.map_or(f64::NAN, |before| bars.value(BarField::Volume, before, name))
        }
        BarField::Open | BarField::High | BarField::Low | BarField::Close | BarField::Volume => value,
    });
    let last = session - first;
    own_features(&known, last, &window_stats_from(&known, last))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::panel::tests::market;
    use crate::settings::LeakageSettings;

    #[test]
    fn a_masked_day_knows_its_open_alone() {
        let bars = market(200, 9, 3);
        let other = bars.map(0..200, &mut |field, session, _, value| {
            if session == 150 && field != BarField::Open || 150 < session {
                1.7 * value
            } else {
                value
            }
        });
        assert_eq!(masked_features(&bars, 150), masked_features(&other, 150));
        let gap = |bars: &BarGrid| masked_features(bars, 150)[2][4];
        let moved = bars.map(0..200, &mut |field, session, _, value| {
            if session == 150 && field == BarField::Open {
                1.1 * value
            } else {
                value
            }
        });
        assert!(gap(&bars) < gap(&moved));
        assert!(masked_features(&bars, 150)[2][5].abs() < f64::MIN_POSITIVE);
    }

    #[test]
    fn a_full_bar_at_the_open_is_worth_most_of_its_result() {
        let bench =
            LeakageBench::new(market(252 * 3, 30, 4), LeakageSettings::BENCHMARK, &[5], None).unwrap();
        let open = mask_check(&bench, Switch::ExecOpen, (5, 2020)).unwrap();
        let (full, masked) = (open.full.unwrap(), open.masked.unwrap());
        assert!(10.0 < full && masked < 0.2 * full, "{full} {masked}");
        let clean = mask_check(&bench, Switch::Clean, (5, 2020)).unwrap();
        assert!(clean.change().unwrap().abs() < 3.0, "{clean:?}");
    }
}
