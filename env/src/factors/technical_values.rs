//! Values of the technical indicators.

use super::columns::TechnicalColumns;
use super::error::FactorError;
use super::marks::Marks;
use super::moments::{YEAR_DAYS, finite_or_missing, largest, mean, smallest, standard_deviation};
use super::packed::Packed;
use super::series::Series;
use super::technical::Technical;
use std::ops::Range;

/// Exchange days before the information day that a technical may read.
const LOOKBACK_DAYS: usize = 61;

/// Fewest traded days in 20 for a statistic of them.
const MIN_DAYS_OF_20: usize = 14;
/// Fewest traded days in 14 for a mean of them.
const MIN_DAYS_OF_14: usize = 10;
/// Fewest traded days in 5 for a mean of them.
const MIN_DAYS_OF_5: usize = 3;

/// The technicals of one name at the close of each of `days`.
///
/// # Errors
/// [`FactorError`] when the columns differ in length or `days` is not a range of the series.
pub fn compute_technicals(series: &Series<'_>, days: Range<usize>) -> Result<TechnicalColumns, FactorError> {
    series.check(&days)?;
    let recent = Recent::new(series, days.start.saturating_sub(LOOKBACK_DAYS)..days.end);
    Ok(TechnicalColumns::new(days.clone(), |technical| {
        days.clone().map(|day| recent.technical(technical, day)).collect()
    }))
}

/// What the technicals read of one name.
struct Recent {
    marks: Marks,
    returns: Packed,
    amounts: Packed,
    highs: Packed,
    lows: Packed,
    true_ranges: Packed,
}

impl Recent {
    fn new(series: &Series<'_>, days: Range<usize>) -> Self {
        let marks = Marks::new(series, days.clone());
        let (highs, lows) = (series.highs(&days), series.lows(&days));
        let reach = days.clone().zip(highs.iter().zip(&lows));
        let true_ranges = reach.map(|(day, (high, low))| {
            // Only taken where all three are known, as `f64::max` and `f64::min` pass over what is not.
            let before = marks.before(day, 1);
            if (high + low + before).is_nan() {
                f64::NAN
            } else {
                high.max(before) - low.min(before)
            }
        });
        Self {
            returns: Packed::new(days.clone(), &series.simple_returns(&days)),
            amounts: Packed::new(days.clone(), &series.amounts(&days)),
            true_ranges: Packed::new(days.clone(), &true_ranges.collect::<Vec<_>>()),
            highs: Packed::new(days.clone(), &highs),
            lows: Packed::new(days, &lows),
            marks,
        }
    }

    fn technical(&self, technical: Technical, day: usize) -> f64 {
        let value = match technical {
            Technical::Return1d => self.return_over(day, 1),
            Technical::Return5d => self.return_over(day, 5),
            Technical::Return20d => self.return_over(day, 20),
            Technical::Return60d => self.return_over(day, 60),
            Technical::MaGap20 => self.marks.at(day) / mean(self.marks.window(day, 20)) - 1.0,
            Technical::MaGap60 => self.marks.at(day) / mean(self.marks.window(day, 60)) - 1.0,
            Technical::Volatility20 => {
                standard_deviation(enough(self.returns.window(day, 20), MIN_DAYS_OF_20)) * YEAR_DAYS.sqrt()
            }
            Technical::AmountRatio5To20 => {
                let week = mean(enough(self.amounts.window(day, 5), MIN_DAYS_OF_5));
                week / mean(enough(self.amounts.window(day, 20), MIN_DAYS_OF_20))
            }
            Technical::Rsi14 => relative_strength(self.marks.window(day, 15)),
            Technical::Drawdown60 => self.marks.at(day) / largest(self.marks.window(day, 60)) - 1.0,
            Technical::RangePosition20 => self.range_position(day),
            Technical::TrueRange14 => {
                mean(enough(self.true_ranges.window(day, 14), MIN_DAYS_OF_14)) / self.marks.at(day)
            }
        };
        finite_or_missing(value)
    }

    fn return_over(&self, day: usize, days: usize) -> f64 {
        self.marks.at(day) / self.marks.before(day, days) - 1.0
    }

    fn range_position(&self, day: usize) -> f64 {
        let low = smallest(enough(self.lows.window(day, 20), MIN_DAYS_OF_20));
        let high = largest(enough(self.highs.window(day, 20), MIN_DAYS_OF_20));
        (self.marks.at(day) - low) / (high - low)
    }
}

/// The values when they are at least `min_days`, else none, of which every statistic is missing.
const fn enough(values: &[f64], min_days: usize) -> &[f64] {
    if values.len() < min_days { &[] } else { values }
}

/// Cutler's relative strength of consecutive marks.
fn relative_strength(marks: &[f64]) -> f64 {
    let (mut rises, mut falls) = (0.0, 0.0);
    for (before, after) in marks.iter().zip(marks.iter().skip(1)) {
        let change = after - before;
        rises += change.max(0.0);
        falls -= change.min(0.0);
    }
    100.0 * rises / (rises + falls)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Closes 1, 2, 3, …; opens half below; highs one above, lows one half below; amount 100 a day.
    fn rising(days: u32) -> Vec<f64> {
        (1..=days).map(f64::from).collect()
    }

    fn technicals(close: &[f64], traded: &[bool]) -> TechnicalColumns {
        let shifted = |by: f64| close.iter().map(|price| price + by).collect::<Vec<_>>();
        let (open, high, low) = (shifted(-0.5), shifted(1.0), shifted(-0.5));
        let amount = vec![100.0; close.len()];
        let series = Series {
            open: &open,
            high: &high,
            low: &low,
            close,
            volume: &amount,
            amount: &amount,
            traded,
        };
        compute_technicals(&series, 0..close.len()).unwrap()
    }

    fn check(columns: &TechnicalColumns, technical: Technical, day: usize, expected: Option<f64>) {
        let value = columns.value(technical, day);
        let near = match (value, expected) {
            (Some(value), Some(expected)) => (value - expected).abs() <= 1e-14,
            (value, expected) => value == expected,
        };
        assert!(
            near,
            "{} on day {day}: {value:?}, expected {expected:?}",
            technical.name()
        );
    }

    #[test]
    fn a_steady_climb_by_hand() {
        let columns = technicals(&rising(62), &[true; 62]);
        check(&columns, Technical::Return1d, 0, None);
        check(&columns, Technical::Return1d, 1, Some(1.0));
        check(&columns, Technical::Return5d, 4, None);
        check(&columns, Technical::Return5d, 5, Some(5.0));
        check(&columns, Technical::Return20d, 61, Some(20.0 / 42.0));
        check(&columns, Technical::Return60d, 59, None);
        check(&columns, Technical::Return60d, 61, Some(60.0 / 2.0));
        check(&columns, Technical::MaGap20, 18, None);
        check(&columns, Technical::MaGap20, 19, Some(20.0 / 10.5 - 1.0));
        check(&columns, Technical::MaGap60, 59, Some(60.0 / 30.5 - 1.0));
        check(&columns, Technical::Volatility20, 13, None);
        check(&columns, Technical::AmountRatio5To20, 12, None);
        check(&columns, Technical::AmountRatio5To20, 13, Some(1.0));
        check(&columns, Technical::Rsi14, 13, None);
        check(&columns, Technical::Rsi14, 14, Some(100.0));
        check(&columns, Technical::Drawdown60, 58, None);
        check(&columns, Technical::Drawdown60, 59, Some(0.0));
        // Day 19: close 20, lowest low 0.5, highest high 21.
        check(&columns, Technical::RangePosition20, 19, Some(19.5 / 20.5));
        // From the second day on: high close + 1, low the close before, so a range of 2.
        check(&columns, Technical::TrueRange14, 9, None);
        check(&columns, Technical::TrueRange14, 10, Some(2.0 / 11.0));
    }

    #[test]
    fn falls_show_in_drawdown_and_relative_strength() {
        let mut close = rising(60);
        close.extend([57.0, 54.0]);
        let columns = technicals(&close, &[true; 62]);
        check(&columns, Technical::Drawdown60, 61, Some(-0.1));
        // Twelve rises of 1 and two falls of 3.
        check(&columns, Technical::Rsi14, 61, Some(100.0 * 12.0 / 18.0));
    }

    #[test]
    fn a_suspension_carries_the_mark_and_starves_the_rest() {
        let mut close = rising(40);
        let mut traded = [true; 40];
        for day in 30..40 {
            close[day] = f64::NAN;
            traded[day] = false;
        }
        let columns = technicals(&close, &traded);
        check(&columns, Technical::Return1d, 35, Some(0.0));
        check(&columns, Technical::Return5d, 32, Some(30.0 / 28.0 - 1.0));
        check(&columns, Technical::AmountRatio5To20, 31, Some(1.0));
        check(&columns, Technical::AmountRatio5To20, 32, None);
        check(&columns, Technical::RangePosition20, 35, Some(13.5 / 14.5));
        check(&columns, Technical::RangePosition20, 36, None);
        check(&columns, Technical::TrueRange14, 33, Some(2.0 / 30.0));
        check(&columns, Technical::TrueRange14, 34, None);
    }

    #[test]
    fn a_price_that_never_moves_has_no_relative_strength() {
        let columns = technicals(&[5.0; 62], &[true; 62]);
        check(&columns, Technical::Rsi14, 61, None);
        check(&columns, Technical::Volatility20, 61, Some(0.0));
        check(&columns, Technical::Drawdown60, 61, Some(0.0));
    }

    #[test]
    fn names_are_unique_and_read_back() {
        for technical in Technical::ALL {
            assert_eq!(Technical::from_name(technical.name()), Some(technical));
            assert_eq!(Technical::ALL[technical.index()], technical);
            assert!(!technical.description().is_empty());
        }
    }
}
