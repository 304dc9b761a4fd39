//! How much was traded.

use super::TRADING_DAYS_PER_YEAR;
use super::nav_path::Daily;
use super::weight_path::WeightPath;
use ktd_stats::Undefined;
use ktd_stats::moments::count;
use std::collections::BTreeMap;

/// Annual two-way turnover: 252 times the mean over days of the value traded, buys and sells, over the net asset
/// value before the day. One-way turnover is half of it.
///
/// # Errors
/// [`Undefined::TooFewDays`] without a day.
pub fn turnover(traded: &Daily<'_>) -> Result<f64, Undefined> {
    let path = traded.path();
    let sum: f64 = traded
        .values()
        .iter()
        .zip(path.opens())
        .map(|(value, nav)| value / nav)
        .sum();
    annual_mean(sum, path.days())
}

/// Annual change of end-of-day weights, the literal reading of KTD-Fin: 252 times the mean over days of the sum
/// of absolute changes, the first from no holdings. It charges the drift of prices as if it were trading.
///
/// # Errors
/// [`Undefined::TooFewDays`] without a day.
pub fn weight_change<K: Ord>(weights: &WeightPath<'_, K>) -> Result<f64, Undefined> {
    let nothing = BTreeMap::new();
    let before = std::iter::once(&nothing).chain(weights.days());
    let sum: f64 = weights
        .days()
        .iter()
        .zip(before)
        .map(|(now, before)| day_change(before, now))
        .sum();
    annual_mean(sum, weights.days().len())
}

fn day_change<K: Ord>(before: &BTreeMap<K, f64>, now: &BTreeMap<K, f64>) -> f64 {
    let kept: f64 = now
        .iter()
        .map(|(name, weight)| (weight - before.get(name).copied().unwrap_or(0.0)).abs())
        .sum();
    let dropped: f64 = before
        .iter()
        .filter(|(name, _)| !now.contains_key(name))
        .map(|(_, weight)| weight)
        .sum();
    kept + dropped
}

fn annual_mean(sum: f64, days: usize) -> Result<f64, Undefined> {
    if days == 0 {
        return Err(Undefined::TooFewDays { days, need_days: 1 });
    }
    Undefined::unless_finite(TRADING_DAYS_PER_YEAR / count(days) * sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::NavPath;

    #[test]
    fn traded_value_is_taken_over_the_value_before_the_day() {
        let path = NavPath::new(100.0, &[200.0, 200.0]).unwrap();
        let traded = path.daily("value traded", &[50.0, 50.0]).unwrap();
        assert!((turnover(&traded).unwrap() - 126.0 * (0.5 + 0.25)).abs() < 1e-12);
    }

    #[test]
    fn a_name_that_leaves_counts_with_its_whole_weight() {
        let days = [
            BTreeMap::from([("a", 0.25), ("b", 0.25)]),
            BTreeMap::from([("b", 0.3), ("c", 0.1)]),
        ];
        let weights = WeightPath::new(&days).unwrap();
        let expected = 126.0 * (0.5 + (0.25 + 0.05 + 0.1));
        assert!((weight_change(&weights).unwrap() - expected).abs() < 1e-12);
    }

    #[test]
    fn no_day_has_no_turnover() {
        let days: [BTreeMap<u8, f64>; 0] = [];
        let reason = weight_change(&WeightPath::new(&days).unwrap()).unwrap_err();
        assert_eq!(reason.code(), "too_few_days");
    }
}
