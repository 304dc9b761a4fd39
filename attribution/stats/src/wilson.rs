//! The interval of a share.

use super::error::StatsError;
use super::interval::{Confidence, Interval};
use super::normal::normal_quantile;

/// Wilson's score interval (1927) of `successes` of `trials`. `None` without a trial. The lower end of no success is
/// exactly 0, the upper end of no failure exactly 1.
///
/// # Errors
/// [`StatsError::Successes`] for more successes than trials.
pub fn wilson(successes: u64, trials: u64, confidence: Confidence) -> Result<Option<Interval>, StatsError> {
    if trials < successes {
        return Err(StatsError::Successes { successes, trials });
    }
    if trials == 0 {
        return Ok(None);
    }
    let z = normal_quantile(confidence.upper())?;
    let (n, share) = (float(trials), float(successes) / float(trials));
    let ends = score_interval((share, n), z);
    Ok(Some(Interval {
        lower: if successes == 0 { 0.0 } else { ends.lower },
        upper: if successes == trials { 1.0 } else { ends.upper },
    }))
}

/// The score interval of a share of so many trials, to so many standard errors.
pub(crate) fn score_interval((share, n): (f64, f64), z: f64) -> Interval {
    let scale = 1.0 + z * z / n;
    let centre = (share + z * z / (2.0 * n)) / scale;
    let half = z / scale * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
    Interval {
        lower: (centre - half).max(0.0),
        upper: (centre + half).min(1.0),
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a share of more than 2^53 trials is exact enough"
)]
const fn float(counted: u64) -> f64 {
    counted as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nothing_is_known_without_a_trial() {
        assert_eq!(wilson(0, 0, Confidence::P95), Ok(None));
        assert!(wilson(2, 1, Confidence::P95).is_err());
    }

    proptest! {
        #[test]
        fn the_interval_holds_the_share_and_mirrors((trials, successes) in (1..500_u64).prop_flat_map(|trials| (Just(trials), 0..=trials))) {
            let interval = wilson(successes, trials, Confidence::P95).unwrap().unwrap();
            let share = float(successes) / float(trials);
            prop_assert!(0.0 <= interval.lower && interval.lower <= share);
            prop_assert!(share <= interval.upper && interval.upper <= 1.0);
            let failures = wilson(trials - successes, trials, Confidence::P95).unwrap().unwrap();
            prop_assert!((interval.lower - (1.0 - failures.upper)).abs() < 1e-14);
            prop_assert_eq!(successes == 0, interval.lower.to_bits() == 0);
        }
    }
}
