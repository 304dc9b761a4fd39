//! The interval of a share whose trials come in clusters.

use crate::moments::count;
use crate::student_t::student_t_quantile;
use crate::wilson::score_interval;
use crate::{Confidence, Interval, StatsError};

/// Trials that may share a fate, such as answers to the tasks of one family.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TrialCluster {
    /// Trials that succeeded.
    pub successes: u32,
    /// All of them.
    pub trials: u32,
}

/// The interval of the share of all trials, for clusters like these: Wilson's, with as many trials as the variance between clusters
/// leaves (Kish 1965; Dean and Pagano 2015) and Student's t of as many degrees of freedom as there are clusters but one. Where
/// clusters do not vary, as where all trials fail, the trials count as `unvaried`. `None` of fewer than two clusters.
///
/// # Errors
/// [`StatsError::Successes`] for more successes than trials.
pub fn clustered_share(
    clusters: &[TrialCluster],
    unvaried: usize,
    confidence: Confidence,
) -> Result<Option<Interval>, StatsError> {
    let sum =
        |of: fn(&TrialCluster) -> u32| clusters.iter().map(|cluster| f64::from(of(cluster))).sum::<f64>();
    if let Some(wrong) = clusters.iter().find(|cluster| cluster.trials < cluster.successes) {
        return Err(StatsError::Successes {
            successes: wrong.successes.into(),
            trials: wrong.trials.into(),
        });
    }
    let trials = sum(|cluster| cluster.trials);
    if clusters.len() < 2 || trials <= 0.0 {
        return Ok(None);
    }
    let share = sum(|cluster| cluster.successes) / trials;
    let freedom = count(clusters.len()) - 1.0;
    // The share is a ratio of sums: each cluster's part of its variance, linearised.
    let off = |cluster: &TrialCluster| f64::from(cluster.successes) - share * f64::from(cluster.trials);
    let squares: f64 = clusters.iter().map(|cluster| off(cluster) * off(cluster)).sum();
    let variance = squares / (trials * trials) * (freedom + 1.0) / freedom;
    let worth = share * (1.0 - share) / variance;
    let varies = ROUNDING < variance && ROUNDING < worth;
    let worth = if varies { worth } else { count(unvaried) };
    let quantile = student_t_quantile(confidence.upper(), freedom)?;
    Ok(Some(score_interval((share, worth), quantile)))
}

/// A variance of a share below this is none.
const ROUNDING: f64 = 1e-12;

#[cfg(test)]
mod tests {
    use super::*;

    fn clusters(each: &[(u32, u32)]) -> Vec<TrialCluster> {
        let each = each.iter();
        each.map(|(successes, trials)| TrialCluster {
            successes: *successes,
            trials: *trials,
        })
        .collect()
    }

    #[test]
    fn families_of_one_fate_say_less_than_trials_of_their_own() {
        let of = |each: &[(u32, u32)]| {
            let found = clustered_share(&clusters(each), 48, Confidence::P95)
                .unwrap()
                .unwrap();
            assert!(0.0 <= found.lower && found.lower < 0.5 && 0.5 < found.upper && found.upper <= 1.0);
            found.upper - found.lower
        };
        let alike = of(&[(12, 12), (0, 12), (12, 12), (0, 12)]);
        let mixed = of(&[(7, 12), (5, 12), (6, 12), (6, 12)]);
        assert!(2.0 * mixed < alike, "{mixed} {alike}");
    }

    #[test]
    fn nothing_right_is_no_certainty() {
        let none = clustered_share(&clusters(&[(0, 4), (0, 1), (0, 1)]), 6, Confidence::P95);
        let none = none.unwrap().unwrap();
        // t of two degrees of freedom is 4.303: its square over six and itself.
        assert!(
            none.lower.abs() < 1e-12 && (none.upper - 18.513 / 24.513).abs() < 1e-4,
            "{none:?}"
        );
        assert_eq!(
            clustered_share(&clusters(&[(1, 4)]), 4, Confidence::P95),
            Ok(None)
        );
        assert!(clustered_share(&clusters(&[(2, 1), (0, 1)]), 2, Confidence::P95).is_err());
    }
}
