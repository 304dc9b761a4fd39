//! How far one side of a pair is above the other.

use super::quantile::median;
use super::sample::Sample;
use crate::Undefined;

/// The Hodges-Lehmann shift: the median of the means of all pairs of differences, each with itself too (the Walsh
/// averages). It is the estimate that goes with the signed-rank test. Takes memory for `n (n + 1) / 2` values.
///
/// # Errors
/// [`Undefined::TooFew`] without a difference; [`Undefined::OutOfRange`] where a mean overflows.
pub fn hodges_lehmann(differences: &Sample<'_>) -> Result<f64, Undefined> {
    let values = differences.values();
    let pairs = values.iter().enumerate().flat_map(|(place, left)| {
        let rest = values.iter().skip(place);
        rest.map(move |right| f64::midpoint(*left, *right))
    });
    let averages: Vec<f64> = pairs.collect();
    let averages = Sample::new("Walsh averages", &averages).map_err(|_| Undefined::OutOfRange)?;
    median(&averages)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shift(values: &[f64]) -> Result<f64, Undefined> {
        hodges_lehmann(&Sample::new("differences", values).unwrap())
    }

    #[test]
    fn small_cases() {
        assert!((shift(&[1.0, 2.0, 6.0]).unwrap() - 2.75).abs() < 1e-15);
        assert!(matches!(shift(&[]), Err(Undefined::TooFew { .. })));
        assert_eq!(shift(&[f64::MAX]), Ok(f64::MAX));
    }

    proptest! {
        #[test]
        fn it_moves_with_the_values(values in prop::collection::vec(-1.0..1.0_f64, 1..30), by in -5.0..5.0_f64) {
            let moved: Vec<f64> = values.iter().map(|value| value + by).collect();
            prop_assert!((shift(&moved).unwrap() - shift(&values).unwrap() - by).abs() < 1e-12);
            let mirrored: Vec<f64> = values.iter().map(|value| -value).collect();
            prop_assert!((shift(&mirrored).unwrap() + shift(&values).unwrap()).abs() < 1e-12);
        }
    }
}
