//! How long the blocks of the bootstrap should be.

use super::sample::Sample;
use crate::moments::{count, is_rounding};

/// Mean block where none can be estimated: two trading weeks.
pub const DEFAULT_MEAN_BLOCK_DAYS: f64 = 10.0;

/// A mean block length, and where it is from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum BlockLength {
    /// Estimated from the series, in days, between 1 and its cap.
    Estimated(f64),
    /// [`DEFAULT_MEAN_BLOCK_DAYS`], because the series is too short or does not vary.
    Default,
}

impl BlockLength {
    /// The mean block, in days.
    #[must_use]
    pub const fn days(self) -> f64 {
        match self {
            Self::Estimated(days) => days,
            Self::Default => DEFAULT_MEAN_BLOCK_DAYS,
        }
    }
}

/// The automatic length of the stationary bootstrap (Politis and White 2004, with the correction of Patton, Politis and
/// White 2009), as `arch.bootstrap.optimal_block_length` has it.
///
/// The bandwidth is twice the lag after which five autocorrelations in a row are insignificant. The result is capped at
/// `ceil(min(3 sqrt(T), T / 3))`, as there, and is at least 1: a shorter mean block cannot be drawn. Series of so few
/// days that the lags do not fit (about 12), and series that do not vary, get the default.
#[must_use]
pub fn block_length(sample: &Sample<'_>) -> BlockLength {
    estimate(sample.values()).map_or(BlockLength::Default, BlockLength::Estimated)
}

fn estimate(values: &[f64]) -> Option<f64> {
    let days = count(values.len());
    let mean = values.iter().sum::<f64>() / days;
    let centred: Vec<f64> = values.iter().map(|value| value - mean).collect();
    let run = usize::try_from(values.len().checked_ilog10()?).ok()?.max(5);
    let lags = values.len().isqrt() + usize::from(values.len().isqrt().pow(2) < values.len()) + run;
    if values.len() < lags + 2 {
        return None;
    }
    let covariances: Vec<f64> = (0..=lags)
        .map(|lag| cross_product(&centred, lag) / days)
        .collect();
    let variance = *covariances.first()?;
    if is_rounding(variance.sqrt(), mean) {
        return None;
    }
    let bandwidth = bandwidth(&centred, lags, run);
    let (mut slope, mut spectrum) = (0.0, variance);
    for (lag, covariance) in covariances.iter().enumerate().take(bandwidth + 1).skip(1) {
        let share = count(lag) / count(bandwidth);
        let window = if share <= 0.5 { 1.0 } else { 2.0 * (1.0 - share) };
        slope += 2.0 * window * count(lag) * covariance;
        spectrum += 2.0 * window * covariance;
    }
    let ratio = slope / spectrum;
    let length = libm::cbrt(ratio * ratio) * libm::cbrt(days);
    let cap = (3.0 * days.sqrt()).min(days / 3.0).ceil();
    length.is_finite().then(|| length.clamp(1.0, cap.max(1.0)))
}

/// Twice the lag before the first run of insignificant autocorrelations, at least 2; all lags when there is no run.
fn bandwidth(centred: &[f64], lags: usize, run: usize) -> usize {
    let days = count(centred.len());
    let significant = 2.0 * (libm::log10(days) / days).sqrt();
    let squares = |values: &mut dyn Iterator<Item = &f64>| values.map(|value| value * value).sum::<f64>();
    let mut quiet = 0;
    for lag in 0..lags {
        let ahead = squares(&mut centred.iter().skip(lag + 1));
        let behind = squares(&mut centred.iter().rev().skip(lag + 1));
        let correlation = cross_product(centred, lag).abs() / (ahead * behind).sqrt();
        quiet = if correlation < significant { quiet + 1 } else { 0 };
        if quiet == run {
            return (2 * (lag + 1 - run).max(1)).min(lags);
        }
    }
    lags
}

/// Sum of products of values so many days apart.
pub(crate) fn cross_product(values: &[f64], lag: usize) -> f64 {
    let later = values.iter().skip(lag);
    later.zip(values).map(|(later, earlier)| later * earlier).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SplitMix64;

    fn length(values: &[f64]) -> BlockLength {
        block_length(&Sample::new("returns", values).unwrap())
    }

    fn persistent(days: usize, persistence: f64) -> Vec<f64> {
        let mut generator = SplitMix64::new(5);
        let step = |state: &mut f64, _| {
            *state = persistence * *state + generator.uniform() - 0.5;
            Some(*state)
        };
        (0..days).scan(0.0, step).collect()
    }

    #[test]
    fn short_and_constant_series_get_the_default() {
        for values in [
            vec![],
            vec![0.1],
            vec![0.1, 0.2, 0.3],
            vec![0.0; 300],
            vec![0.01; 300],
        ] {
            assert_eq!(length(&values), BlockLength::Default, "{values:?}");
        }
        assert!((BlockLength::Default.days() - 10.0).abs() < 1e-15);
    }

    #[test]
    fn what_persists_longer_needs_longer_blocks() {
        let (short, long) = (
            length(&persistent(500, 0.1)).days(),
            length(&persistent(500, 0.9)).days(),
        );
        assert!(
            (1.0..8.0).contains(&short) && 2.0 * short < long,
            "{short} {long}"
        );
        let cap = (3.0 * 500.0_f64.sqrt()).ceil();
        assert!(length(&persistent(500, 0.999)).days() <= cap);
    }
}
