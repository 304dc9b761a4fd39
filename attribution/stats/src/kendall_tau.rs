//! How alike two orders are.

use super::error::StatsError;
use super::sample::Sample;
use crate::Undefined;
use std::cmp::Ordering;

/// Kendall's tau-b: pairs in the same order less pairs in the opposite one, over the geometric mean of the pairs that
/// are not tied on each side. 1 when both orders are the same, -1 when one is the other reversed.
///
/// # Errors
/// [`StatsError::Length`] unless there are as many values on both sides. Within: [`Undefined::TooFew`] below two;
/// [`Undefined::AllTied`] when all values of a side are equal.
pub fn kendall_tau(left: &Sample<'_>, right: &Sample<'_>) -> Result<Result<f64, Undefined>, StatsError> {
    if left.len() != right.len() {
        return Err(StatsError::Length {
            left: left.len(),
            right: right.len(),
        });
    }
    Ok(tau(left.values(), right.values()))
}

fn tau(left: &[f64], right: &[f64]) -> Result<f64, Undefined> {
    if left.len() < 2 {
        return Err(Undefined::TooFew {
            items: "values",
            count: left.len(),
            need: 2,
        });
    }
    let points: Vec<(f64, f64)> = left.iter().copied().zip(right.iter().copied()).collect();
    let (mut agreement, mut untied_left, mut untied_right) = (0.0, 0.0, 0.0);
    for (place, (left, right)) in points.iter().enumerate() {
        for (other_left, other_right) in points.iter().skip(place + 1) {
            let (sign_left, sign_right) = (sign(*left, *other_left), sign(*right, *other_right));
            agreement += sign_left * sign_right;
            untied_left += sign_left * sign_left;
            untied_right += sign_right * sign_right;
        }
    }
    if untied_left < 1.0 || untied_right < 1.0 {
        return Err(Undefined::AllTied);
    }
    Ok(agreement / f64::sqrt(untied_left * untied_right))
}

/// 1, 0 or -1; both zeros are equal.
fn sign(one: f64, other: f64) -> f64 {
    match one.partial_cmp(&other) {
        Some(Ordering::Greater) => 1.0,
        Some(Ordering::Less) => -1.0,
        Some(Ordering::Equal) | None => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(left: &[f64], right: &[f64]) -> Result<f64, Undefined> {
        let sample = |values| Sample::new("ranks", values).unwrap();
        kendall_tau(&sample(left), &sample(right)).unwrap()
    }

    #[test]
    fn known_values() {
        assert_eq!(of(&[1.0, 2.0, 3.0], &[10.0, 20.0, 30.0]), Ok(1.0));
        assert_eq!(of(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0]), Ok(-1.0));
        // scipy, with ties on both sides.
        let both = of(
            &[3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0],
            &[2.0, 7.0, 1.0, 8.0, 2.0, 8.0, 1.0, 8.0],
        );
        assert!((both.unwrap() - 0.160_514_470_781_025_63).abs() < 1e-15);
        // Eight pairs agree and one does not; one pair is tied on the left.
        let tied = of(&[1.0, 2.0, 2.0, 3.0, 4.0], &[1.0, 2.0, 3.0, 5.0, 4.0]).unwrap();
        assert!((tied - 7.0 / 90.0_f64.sqrt()).abs() < 1e-15);
    }

    #[test]
    fn what_has_no_order_is_a_reason() {
        assert_eq!(of(&[1.0, 1.0], &[1.0, 2.0]), Err(Undefined::AllTied));
        assert!(matches!(of(&[1.0], &[1.0]), Err(Undefined::TooFew { .. })));
        let (one, two) = (
            Sample::new("a", &[1.0]).unwrap(),
            Sample::new("b", &[1.0, 2.0]).unwrap(),
        );
        assert!(kendall_tau(&one, &two).is_err());
    }

    proptest! {
        #[test]
        fn it_is_symmetric_and_within_its_bounds(points in prop::collection::vec((-9..9_i8, -9..9_i8), 2..20)) {
            let (left, right): (Vec<f64>, Vec<f64>) =
                points.iter().map(|(left, right)| (f64::from(*left), f64::from(*right))).unzip();
            let found = of(&left, &right);
            prop_assert_eq!(found, of(&right, &left));
            if let Ok(tau) = found {
                prop_assert!((-1.0 - 1e-12..=1.0 + 1e-12).contains(&tau));
                let mirrored: Vec<f64> = left.iter().map(|value| -value).collect();
                prop_assert_eq!(of(&mirrored, &right), Ok(-tau));
            }
        }
    }
}
