//! Several tests at once.

use super::error::StatsError;
use crate::moments::count;

/// Holm's adjusted p-values (1979), in the order given: each may be held against the significance on its own, and the
/// chance of even one false finding stays below it.
///
/// # Errors
/// [`StatsError::PValue`] for one that is not a number from 0 to 1.
pub fn holm(p_values: &[f64]) -> Result<Vec<f64>, StatsError> {
    for (place, value) in p_values.iter().copied().enumerate() {
        if !(0.0..=1.0).contains(&value) {
            return Err(StatsError::PValue { place, value });
        }
    }
    let mut ascending: Vec<(usize, f64)> = p_values.iter().copied().enumerate().collect();
    ascending.sort_by(|left, right| left.1.total_cmp(&right.1));
    let mut largest = 0.0_f64;
    for (step, (_, p)) in ascending.iter_mut().enumerate() {
        largest = largest.max(*p * count(p_values.len() - step)).min(1.0);
        *p = largest;
    }
    ascending.sort_unstable_by_key(|(place, _)| *place);
    Ok(ascending.into_iter().map(|(_, p)| p).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn steps_down_and_never_back() {
        let adjusted = holm(&[0.01, 0.04, 0.03, 0.005, 0.2]).unwrap();
        for (found, expected) in adjusted.iter().zip([0.04, 0.09, 0.09, 0.025, 0.2]) {
            assert!((found - expected).abs() < 1e-15);
        }
        assert_eq!(holm(&[]), Ok(vec![]));
        assert!(holm(&[0.5, f64::NAN]).is_err() && holm(&[1.1]).is_err());
    }

    proptest! {
        #[test]
        fn adjusted_lies_between_its_p_and_bonferroni(
            p_values in prop::collection::vec(0.0..=1.0_f64, 1..20),
        ) {
            let adjusted = holm(&p_values).unwrap();
            let tests = count(p_values.len());
            for (p, adjusted) in p_values.iter().zip(&adjusted) {
                prop_assert!(p <= adjusted && *adjusted <= (p * tests).min(1.0).max(adjusted.min(1.0)));
            }
            let reversed: Vec<f64> = p_values.iter().rev().copied().collect();
            let again: Vec<f64> = holm(&reversed).unwrap().into_iter().rev().collect();
            prop_assert_eq!(adjusted, again);
        }
    }
}
