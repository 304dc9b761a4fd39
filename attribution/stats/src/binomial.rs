//! Exact tails of a share, and its exact test.

use super::error::StatsError;
use super::incomplete_beta::incomplete_beta;

/// Probability that `trials` with this chance of success give a number of successes as far out as `successes` or further:
/// twice the smaller tail, at most 1 (Clopper and Pearson 1934). 1 without a trial.
///
/// Where the chances of the trials differ and `chance` is their mean, it is an upper bound of that for any tail beyond one
/// standard deviation (Hoeffding 1956).
///
/// # Errors
/// [`StatsError::Successes`] for more successes than trials, [`StatsError::PValue`] for a chance that is none.
pub fn binomial_two_sided_p(successes: u64, trials: u64, chance: f64) -> Result<f64, StatsError> {
    check(successes, trials, chance)?;
    let at_least = |count| at_least(count, trials, (chance, 1.0 - chance));
    let (above, below) = (at_least(successes), 1.0 - at_least(successes + 1));
    Ok((2.0 * above.min(below)).clamp(0.0, 1.0))
}

/// Probability that `trials` with this chance of success give at most so many successes. 1 without a trial.
///
/// # Errors
/// [`StatsError::Successes`] for more successes than trials, [`StatsError::PValue`] for a chance that is none.
pub fn binomial_at_most(successes: u64, trials: u64, chance: f64) -> Result<f64, StatsError> {
    check(successes, trials, chance)?;
    // As many failures at least as are left.
    Ok(at_least(trials - successes, trials, (1.0 - chance, chance)))
}

fn check(successes: u64, trials: u64, chance: f64) -> Result<(), StatsError> {
    if trials < successes {
        return Err(StatsError::Successes { successes, trials });
    }
    if !(0.0..=1.0).contains(&chance) {
        return Err(StatsError::PValue {
            place: 0,
            value: chance,
        });
    }
    Ok(())
}

/// Probability of at least so many of `trials`, of a chance and the rest of it: P(at least k of n) is `I_p(k, n - k + 1)`.
fn at_least(count: u64, trials: u64, (chance, rest): (f64, f64)) -> f64 {
    if count == 0 {
        return 1.0;
    }
    if trials < count {
        return 0.0;
    }
    incomplete_beta((float(count), float(trials - count + 1)), chance, rest).clamp(0.0, 1.0)
}

#[expect(clippy::cast_precision_loss, reason = "counts of probes are far below 2^53")]
const fn float(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From sums of exact binomial terms.
    #[test]
    fn tails_are_those_of_the_sums() {
        let choose = |n: u64, k: u64| (0..k).fold(1.0, |product, i| product * float(n - i) / float(i + 1));
        for (n, p) in [(12, 0.01), (20, 0.3), (7, 0.5)] {
            let exactly = |k: u64| choose(n, k) * libm::pow(p, float(k)) * libm::pow(1.0 - p, float(n - k));
            for k in 0..=n {
                let above: f64 = (k..=n).map(exactly).sum();
                let below: f64 = (0..=k).map(exactly).sum();
                let at_most = binomial_at_most(k, n, p).unwrap();
                assert!(
                    (at_most - below).abs() < 1e-10,
                    "{k} of {n} at {p}: {at_most} for {below}"
                );
                let wanted = (2.0 * above.min(below)).min(1.0);
                let found = binomial_two_sided_p(k, n, p).unwrap();
                assert!(
                    (found - wanted).abs() < 1e-10,
                    "{k} of {n} at {p}: {found} for {wanted}"
                );
            }
        }
    }

    #[test]
    fn ends_and_what_is_no_share() {
        let p = |k, n, chance| binomial_two_sided_p(k, n, chance);
        assert!((p(0, 0, 0.2).unwrap() - 1.0).abs() < 1e-15);
        assert!((p(5, 5, 1.0).unwrap() - 1.0).abs() < 1e-15 && p(4, 5, 1.0).unwrap() < 1e-15);
        assert!((p(0, 5, 0.0).unwrap() - 1.0).abs() < 1e-15 && p(1, 5, 0.0).unwrap() < 1e-15);
        assert!(p(6, 5, 0.5).is_err() && p(1, 5, 1.5).is_err() && p(1, 5, f64::NAN).is_err());
    }
}
