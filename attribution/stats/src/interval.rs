//! Percentile intervals of the bootstrap.

use super::error::StatsError;
use super::quantile::of_sorted;
use super::replicates::ReplicateSums;
use super::stationary::StationaryBootstrap;
use super::table::DailyTable;
use crate::moments::{count, is_rounding};
use crate::{TRADING_DAYS_PER_YEAR, Undefined};

/// How much an interval leaves out on each side.
///
/// The tail is what is kept, not the level: 1 - 0.95 is not 0.05 in floats, and a rank would move by one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Confidence {
    tail: f64,
}

impl Confidence {
    /// 95 %: 2.5 % on each side.
    pub const P95: Self = Self { tail: 0.025 };
    /// 90 %: 5 % on each side.
    pub const P90: Self = Self { tail: 0.05 };

    /// An interval that leaves out `tail` on each side.
    ///
    /// # Errors
    /// [`StatsError::Share`] unless the tail lies strictly between 0 and a half.
    pub fn with_tail(tail: f64) -> Result<Self, StatsError> {
        if 0.0 < tail && tail < 0.5 {
            return Ok(Self { tail });
        }
        Err(StatsError::Share {
            name: "the tail left out on each side",
            value: tail,
            above: 0.0,
            below: 0.5,
        })
    }

    /// The share left out below.
    #[must_use]
    pub const fn lower(self) -> f64 {
        self.tail
    }

    /// The share up to the upper end.
    #[must_use]
    pub const fn upper(self) -> f64 {
        1.0 - self.tail
    }
}

/// An interval, both ends included.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub lower: f64,
    /// Upper end.
    pub upper: f64,
}

impl Interval {
    /// The percentiles of values, type 7.
    ///
    /// # Errors
    /// [`Undefined`] where there is no value, or none that is a float.
    pub fn of_values(mut values: Vec<f64>, confidence: Confidence) -> Result<Self, Undefined> {
        values.sort_unstable_by(f64::total_cmp);
        Ok(Self {
            lower: of_sorted(&values, confidence.lower())?,
            upper: of_sorted(&values, confidence.upper())?,
        })
    }
}

/// Intervals of each column's daily mean.
///
/// # Errors
/// For a column, [`Undefined::OutOfRange`] where sums overflow.
#[must_use]
pub fn mean_intervals(sums: &ReplicateSums, confidence: Confidence) -> Vec<Result<Interval, Undefined>> {
    let interval = |column: usize| {
        let values = sums
            .column(column)
            .into_iter()
            .map(|sum| sum / count(sums.days()));
        Interval::of_values(finite(values)?, confidence)
    };
    (0..sums.columns()).map(interval).collect()
}

fn finite(values: impl Iterator<Item = f64>) -> Result<Vec<f64>, Undefined> {
    values.map(Undefined::unless_finite).collect()
}

/// Intervals of the annualised Sharpe ratio of each column of daily returns.
///
/// A column has none when a single replicate of it does not vary, as may be of an agent that held cash on nearly all
/// days: percentiles of what is left would be too narrow.
///
/// # Errors
/// [`StatsError::Drawn`] when the draws are for another number of days. For a column, [`Undefined::TooFewDays`] below
/// two days, [`Undefined::DegenerateReplicates`], or [`Undefined::OutOfRange`].
pub fn sharpe_intervals(
    returns: &DailyTable,
    draws: &StationaryBootstrap,
    confidence: Confidence,
) -> Result<Vec<Result<Interval, Undefined>>, StatsError> {
    // About the mean of the window, so that the sum of squares does not cancel.
    let centred = returns.centred();
    let squares = centred.squared();
    let [sums, squares] = ReplicateSums::of_all([&centred, &squares], draws)?;
    let means = returns.means().unwrap_or_default();
    let column = |(column, mean): (usize, &f64)| {
        let moments = sums.column(column).into_iter().zip(squares.column(column));
        let ratios: Vec<Option<f64>> = moments
            .map(|(sum, square)| daily_ratio(*mean, sum, square, returns.days()))
            .collect();
        annual_interval(&ratios, returns.days(), confidence)
    };
    Ok(means.iter().enumerate().map(column).collect())
}

/// Mean over deviation (ddof 1) from sums about `origin`; `None` where the values do not vary.
///
/// The variance is a difference of two sums, whose rounding is 1e-16 of the larger: below 1e-12 of it nothing is left.
pub(crate) fn daily_ratio(origin: f64, sum: f64, sum_of_squares: f64, days: usize) -> Option<f64> {
    let days = count(days);
    let offset = sum / days;
    let rest = sum_of_squares - days * offset * offset;
    let deviation = (rest / (days - 1.0)).sqrt();
    let mean = origin + offset;
    let varies = 1e-12 * sum_of_squares < rest && !is_rounding(deviation, mean);
    (varies && deviation.is_finite()).then(|| mean / deviation)
}

fn annual_interval(
    ratios: &[Option<f64>],
    days: usize,
    confidence: Confidence,
) -> Result<Interval, Undefined> {
    if days < 2 {
        return Err(Undefined::TooFewDays { days, need_days: 2 });
    }
    let replicates = ratios.len();
    let defined: Vec<f64> = ratios.iter().copied().flatten().collect();
    if defined.len() < replicates {
        return Err(Undefined::DegenerateReplicates {
            degenerate: replicates - defined.len(),
            replicates,
        });
    }
    let annual = defined
        .into_iter()
        .map(|ratio| TRADING_DAYS_PER_YEAR.sqrt() * ratio);
    Interval::of_values(finite(annual)?, confidence)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn draws(days: usize) -> StationaryBootstrap {
        StationaryBootstrap::new(days, 5.0, 200, 3).unwrap()
    }

    #[test]
    fn an_all_cash_agent_earns_nothing_for_sure_and_has_no_sharpe_ratio() {
        let cash = [0.0; 40];
        let table = DailyTable::new("returns", &[&cash]).unwrap();
        let sums = ReplicateSums::of(&table, &draws(40)).unwrap();
        let nothing = Interval {
            lower: 0.0,
            upper: 0.0,
        };
        assert_eq!(mean_intervals(&sums, Confidence::P95), [Ok(nothing)]);
        let sharpe = sharpe_intervals(&table, &draws(40), Confidence::P95).unwrap();
        let none = Undefined::DegenerateReplicates {
            degenerate: 200,
            replicates: 200,
        };
        assert_eq!(sharpe, [Err(none)]);
    }

    #[test]
    fn one_day_has_no_sharpe_ratio() {
        let table = DailyTable::new("returns", &[&[0.01]]).unwrap();
        let sharpe = sharpe_intervals(&table, &draws(1), Confidence::P95).unwrap();
        let reason = Undefined::TooFewDays {
            days: 1,
            need_days: 2,
        };
        assert_eq!(sharpe, [Err(reason)]);
    }

    #[test]
    fn a_tail_is_below_a_half() {
        for tail in [0.0, 0.5, -0.1, f64::NAN] {
            assert!(Confidence::with_tail(tail).is_err());
        }
        assert_eq!(Confidence::with_tail(0.025), Ok(Confidence::P95));
    }

    proptest! {
        #[test]
        fn intervals_scale_and_widen(
            values in prop::collection::vec(-0.05..0.05_f64, 20..60), factor in 0.25..4.0_f64,
        ) {
            let scaled: Vec<f64> = values.iter().map(|value| value * factor).collect();
            let table = DailyTable::new("returns", &[&values, &scaled]).unwrap();
            let draws = draws(values.len());
            let sums = ReplicateSums::of(&table, &draws).unwrap();
            let wide = mean_intervals(&sums, Confidence::P95);
            let narrow = mean_intervals(&sums, Confidence::P90);
            let [one, other] = [wide[0].unwrap(), wide[1].unwrap()];
            prop_assert!((one.lower * factor - other.lower).abs() < 1e-12);
            prop_assert!((one.upper * factor - other.upper).abs() < 1e-12);
            let narrow = narrow[0].unwrap();
            prop_assert!(one.lower <= narrow.lower && narrow.upper <= one.upper);
            let sharpe = sharpe_intervals(&table, &draws, Confidence::P95).unwrap();
            let [one, other] = [sharpe[0].unwrap(), sharpe[1].unwrap()];
            prop_assert!((one.lower - other.lower).abs() < 1e-9 && (one.upper - other.upper).abs() < 1e-9);
        }
    }
}
