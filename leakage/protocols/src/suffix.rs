//! The first intervention: the future is replaced and the past must not move.

use crate::bench::LeakageBench;
use crate::error::LeakageError;
use crate::features::own_features;
use crate::panel::{BarField, BarGrid, cell};
use crate::ridge_model::RidgeModel;
use crate::rolling::window_stats;
use crate::switch::Switch;
use ktd_stats::SplitMix64;
use ktd_stats::moments::{count, mean};

/// Sessions at the end of the panel, the first of which is the cut: what lies after it is replaced.
pub const SUFFIX_SESSIONS: usize = 60;
/// The deviation of a day of the price paths.
const PRICE_DEVIATION: f64 = 0.03;
/// The deviation of the logarithm of volume factors.
const VOLUME_DEVIATION: f64 = 0.5;

/// Factors by which prices and volumes after the cut are multiplied: a cell for each name of the first session after it,
/// then of the second.
#[derive(Debug, Clone, PartialEq)]
pub struct SuffixPaths {
    prices: Vec<f64>,
    volumes: Vec<f64>,
}

impl SuffixPaths {
    /// Factors as they are handed in.
    ///
    /// # Errors
    /// [`LeakageError`] unless there is a cell for each of 59 sessions and each name, all finite and above 0.
    pub fn new(names: usize, prices: Vec<f64>, volumes: Vec<f64>) -> Result<Self, LeakageError> {
        for (series, factors) in [("price factors", &prices), ("volume factors", &volumes)] {
            check_cells(series, factors.len(), names)?;
            if !factors.iter().all(|factor| factor.is_finite() && 0.0 < *factor) {
                let (name, rule) = (series, "finite numbers above 0");
                return Err(LeakageError::Setting { name, rule });
            }
        }
        Ok(Self { prices, volumes })
    }

    /// Random paths: a normal step a day for each name, and an independent factor for each volume.
    #[must_use]
    pub fn drawn(names: usize, seed: u64) -> Self {
        let mut stream = SplitMix64::new(seed);
        let mut sums = vec![0.0; names];
        let (mut prices, mut volumes) = (Vec::new(), Vec::new());
        for _ in 1..SUFFIX_SESSIONS {
            for sum in &mut sums {
                *sum += PRICE_DEVIATION * stream.normal();
                prices.push(libm::exp(*sum));
                volumes.push(libm::exp(VOLUME_DEVIATION * stream.normal()));
            }
        }
        Self { prices, volumes }
    }

    fn replace(&self, bars: &BarGrid, cut: usize) -> BarGrid {
        bars.map(0..bars.sessions(), &mut |field, session, name, value| {
            let Some(after) = session.checked_sub(cut + 1) else {
                return value;
            };
            let factors = if field == BarField::Volume {
                &self.volumes
            } else {
                &self.prices
            };
            value * cell(factors, after * bars.names() + name)
        })
    }
}

/// There is a cell for each session after the cut and each name.
fn check_cells(series: &'static str, cells: usize, names: usize) -> Result<(), LeakageError> {
    let sessions = SUFFIX_SESSIONS - 1;
    if sessions.checked_mul(names) == Some(cells) {
        return Ok(());
    }
    Err(LeakageError::Shape {
        series,
        cells,
        sessions,
        names,
    })
}

/// What changed up to the cut when all after it was replaced.
#[derive(Debug, Clone, PartialEq)]
pub struct SuffixCheck {
    /// The last session that was left as it is.
    pub cut: usize,
    /// Cells of features that changed on sessions up to the cut, in any bit.
    pub cells_changed: usize,
    /// Sessions up to the cut with a score that changed.
    pub sessions_changed: Vec<usize>,
    /// Mean over those of the mean absolute change of a score over the deviation of that session's scores; 0 of none.
    pub normalised_change: f64,
}

/// Replaces what lies after the cut and scores all sessions up to it again: nothing is fitted anew, and labels are held.
/// Under the reference nothing may change; under a centred window it is the last sessions before the cut.
///
/// # Errors
/// [`LeakageError`] as the split of the year, for paths of another panel, and for a panel of less than 60 sessions.
pub fn suffix_check(
    bench: &LeakageBench,
    switch: Switch,
    (horizon, year): (usize, i32),
    paths: &SuffixPaths,
) -> Result<SuffixCheck, LeakageError> {
    let bars = bench.bars();
    let (sessions, names) = (bars.sessions(), bars.names());
    let (need, what) = (SUFFIX_SESSIONS, "the suffix intervention");
    let too_short = LeakageError::TooShort { sessions, need, what };
    let cut = sessions.checked_sub(SUFFIX_SESSIONS).ok_or(too_short)?;
    check_cells("price factors", paths.prices.len(), names)?;
    let fit = RidgeModel::fit(bench, switch, (horizon, year), false)?;
    let replaced = paths.replace(bars, cut);
    let stats = window_stats(&replaced);
    let ahead = if switch == Switch::TempCenter {
        bench.settings().future_days
    } else {
        0
    };
    let columns = bench.rows().columns(switch, false);
    let mut check = SuffixCheck {
        cut,
        cells_changed: 0,
        sessions_changed: Vec::new(),
        normalised_change: 0.0,
    };
    let mut changes = Vec::new();
    for session in 0..=cut {
        let from = (session + ahead) * names;
        let own = own_features(&replaced, session, stats.get(from..from + names).unwrap_or(&[]));
        let (mut scores, mut moved) = (Vec::new(), Vec::new());
        for row in bench.rows().of_sessions(&(session..session + 1)) {
            let before: Vec<f64> = columns.iter().map(|column| cell(column, row)).collect();
            let (_, name) = bench.rows().place(row);
            let after = own.get(name).map_or(&[][..], |own| &own[..]);
            let cells = before.iter().zip(after);
            check.cells_changed += cells.filter(|(a, b)| a.to_bits() != b.to_bits()).count();
            scores.push(fit.score(&before));
            moved.push(fit.score(after));
        }
        if let Some(change) = normalised_change(&scores, &moved) {
            check.sessions_changed.push(session);
            changes.push(change);
        }
    }
    check.normalised_change = mean(&changes).unwrap_or(0.0);
    Ok(check)
}

/// Mean absolute change over the deviation of the scores (over all of them); `None` where no bit changed.
fn normalised_change(scores: &[f64], moved: &[f64]) -> Option<f64> {
    let changed = scores.iter().zip(moved).any(|(a, b)| a.to_bits() != b.to_bits());
    let centre = mean(scores).filter(|_| changed)?;
    let squares: f64 = scores
        .iter()
        .map(|score| (score - centre) * (score - centre))
        .sum();
    let changes: Vec<f64> = scores.iter().zip(moved).map(|(a, b)| (a - b).abs()).collect();
    Some(mean(&changes)? / (squares / count(scores.len())).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::panel::tests::market;
    use crate::settings::LeakageSettings;

    #[test]
    fn the_reference_does_not_move_and_a_centred_window_moves_its_last_sessions() {
        let bars = market(252 * 3, 13, 4);
        let bench = LeakageBench::new(bars, LeakageSettings::BENCHMARK, &[5], None).unwrap();
        for seed in 0..3 {
            let paths = SuffixPaths::drawn(13, seed);
            let check = |switch| suffix_check(&bench, switch, (5, 2020), &paths).unwrap();
            let clean = check(Switch::Clean);
            assert_eq!((clean.cells_changed, clean.sessions_changed.len()), (0, 0));
            assert!(clean.normalised_change.abs() < f64::MIN_POSITIVE);
            let centred = check(Switch::TempCenter);
            assert_eq!(centred.sessions_changed, [694, 695, 696]);
            assert!(0.1 < centred.normalised_change && 0 < centred.cells_changed);
        }
    }

    #[test]
    fn paths_of_another_panel_are_refused() {
        let bench =
            LeakageBench::new(market(252 * 3, 13, 4), LeakageSettings::BENCHMARK, &[5], None).unwrap();
        let paths = SuffixPaths::drawn(12, 1);
        assert!(suffix_check(&bench, Switch::Clean, (5, 2020), &paths).is_err());
        assert!(SuffixPaths::new(2, vec![1.0; 118], vec![1.0; 117]).is_err());
        assert!(SuffixPaths::new(2, vec![1.0; 118], vec![0.0; 118]).is_err());
        assert!(SuffixPaths::new(2, vec![1.0; 118], vec![2.0; 118]).is_ok());
    }
}
