//! How concentrated the holdings were.

use super::weight_path::WeightPath;
use ktd_stats::Undefined;
use ktd_stats::moments::mean;
use std::collections::BTreeMap;

/// Herfindahl-Hirschman index: mean over days of the sum of squared weights over net asset value. All cash is 0.
///
/// # Errors
/// [`Undefined::TooFewDays`] without a day.
pub fn hhi<K: Ord>(weights: &WeightPath<'_, K>) -> Result<f64, Undefined> {
    let days: Vec<f64> = weights.days().iter().map(sum_of_squares).collect();
    let value = mean(&days).ok_or(Undefined::TooFewDays {
        days: 0,
        need_days: 1,
    })?;
    Undefined::unless_finite(value)
}

/// The same with weights over the invested value, on days that ended with a holding.
///
/// # Errors
/// [`Undefined::NeverInvested`] when no day did.
pub fn hhi_invested<K: Ord>(weights: &WeightPath<'_, K>) -> Result<f64, Undefined> {
    let days: Vec<f64> = weights.days().iter().filter_map(invested_day).collect();
    Undefined::unless_finite(mean(&days).ok_or(Undefined::NeverInvested)?)
}

fn sum_of_squares<K>(weights: &BTreeMap<K, f64>) -> f64 {
    weights.values().map(|weight| weight * weight).sum()
}

fn invested_day<K>(weights: &BTreeMap<K, f64>) -> Option<f64> {
    let invested: f64 = weights.values().sum();
    (0.0 < invested).then(|| {
        weights
            .values()
            .map(|weight| (weight / invested) * (weight / invested))
            .sum()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_cash_is_not_concentrated_and_was_never_invested() {
        let days: [BTreeMap<u8, f64>; 2] = [BTreeMap::new(), BTreeMap::from([(1, 0.0)])];
        let weights = WeightPath::new(&days).unwrap();
        assert!(hhi(&weights).unwrap().abs() < f64::MIN_POSITIVE);
        assert_eq!(hhi_invested(&weights), Err(Undefined::NeverInvested));
    }

    #[test]
    fn cash_lowers_the_index_but_not_that_of_the_invested_part() {
        let days = [BTreeMap::from([("a", 0.25), ("b", 0.25)]), BTreeMap::new()];
        let weights = WeightPath::new(&days).unwrap();
        assert!((hhi(&weights).unwrap() - 0.0625).abs() < 1e-15);
        let invested = hhi_invested(&weights).unwrap();
        assert!((invested - 0.5).abs() < 1e-15);
    }

    #[test]
    fn a_short_weight_is_an_error() {
        assert!(WeightPath::new(&[BTreeMap::from([("a", -0.1)])]).is_err());
        assert!(WeightPath::new(&[BTreeMap::from([("a", f64::NAN)])]).is_err());
    }
}
