//! The same question as the reality check, with more power.

use super::error::StatsError;
use super::replicates::ReplicateSums;
use super::stationary::StationaryBootstrap;
use super::table::DailyTable;
use crate::Undefined;
use crate::moments::{count, is_rounding};

/// Hansen's test for superior predictive ability (2005).
#[derive(Debug, Clone, PartialEq)]
pub struct SuperiorAbility {
    /// The largest studentised mean difference, at least 0.
    pub statistic: f64,
    /// Long-run deviation of each strategy's difference.
    pub deviations: Vec<f64>,
    /// Liberal p-value: strategies worse than the benchmark are taken to be as good.
    pub p_lower: f64,
    /// The p-value to quote: strategies that are clearly worse are left out.
    pub p_consistent: f64,
    /// Conservative p-value: every strategy is taken to be just as good as the benchmark.
    pub p_upper: f64,
}

/// Tests the hypothesis that no strategy beats the benchmark in daily mean, from each strategy's daily difference from
/// it. The deviations use the kernel of the stationary bootstrap with the mean block of `draws`.
///
/// # Errors
/// [`StatsError::Drawn`] when the draws are for another number of days. Within: [`Undefined::TooFewDays`] below three
/// days, where the threshold `sqrt(2 ln ln T)` has no value; [`Undefined::ConstantStrategy`] for a difference that does
/// not vary, as that of the benchmark itself; [`Undefined::OutOfRange`] where a sum overflows.
pub fn superior_ability(
    differences: &DailyTable,
    draws: &StationaryBootstrap,
) -> Result<Result<SuperiorAbility, Undefined>, StatsError> {
    let sums = ReplicateSums::of(differences, draws)?;
    Ok(test(differences, &sums, draws.mean_block_days()))
}

fn test(
    differences: &DailyTable,
    sums: &ReplicateSums,
    mean_block_days: f64,
) -> Result<SuperiorAbility, Undefined> {
    let days = differences.days();
    let too_few = Undefined::TooFewDays { days, need_days: 3 };
    let means = differences.means().filter(|_| 3 <= days).ok_or(too_few)?;
    let deviations = long_run_deviations(differences, &means, mean_block_days)?;
    let days = count(days);
    let studentised = |mean: f64, deviation: f64| days.sqrt() * mean / deviation;
    let scores = means.iter().zip(&deviations);
    let scores: Vec<f64> = scores
        .map(|(mean, deviation)| studentised(*mean, *deviation))
        .collect();
    let statistic = Undefined::unless_finite(scores.iter().copied().fold(0.0, f64::max))?;
    let threshold = -(2.0 * libm::log(libm::log(days))).sqrt();
    let centre = |keep: &dyn Fn(f64, f64) -> f64| -> Vec<f64> {
        let pairs = means.iter().zip(&scores);
        pairs.map(|(mean, score)| keep(*mean, *score)).collect()
    };
    let p = |centres: Vec<f64>| {
        let reaches = |row: &&[f64]| {
            let cells = row.iter().zip(&centres).zip(&deviations);
            let scores = cells.map(|((sum, centre), deviation)| studentised(sum / days - centre, *deviation));
            statistic <= scores.fold(0.0, f64::max)
        };
        count(sums.rows().filter(reaches).count()) / count(sums.replicates())
    };
    Ok(SuperiorAbility {
        p_lower: p(centre(&|mean, _| mean.max(0.0))),
        p_consistent: p(centre(&|mean, score| if threshold <= score { mean } else { 0.0 })),
        p_upper: p(centre(&|mean, _| mean)),
        statistic,
        deviations,
    })
}

/// Hansen's estimate: autocovariances weighted as the stationary bootstrap itself does.
fn long_run_deviations(
    differences: &DailyTable,
    means: &[f64],
    mean_block_days: f64,
) -> Result<Vec<f64>, Undefined> {
    let days = differences.days();
    let centred = differences.centred();
    let stay = 1.0 - 1.0 / mean_block_days;
    // `powers[i]` is `stay^i`, by products so that it is the same on every machine.
    let powers: Vec<f64> = std::iter::successors(Some(1.0), |power| Some(power * stay))
        .take(days + 1)
        .collect();
    let mut variances = vec![0.0; differences.columns()];
    for (lag, (near, far)) in powers.iter().zip(powers.iter().rev()).enumerate().take(days) {
        let share = count(lag) / count(days);
        let kernel = if lag == 0 {
            1.0
        } else {
            2.0 * ((1.0 - share) * near + share * far)
        };
        for (later, earlier) in centred.rows().skip(lag).zip(centred.rows()) {
            for ((variance, later), earlier) in variances.iter_mut().zip(later).zip(earlier) {
                *variance += kernel * later * earlier / count(days);
            }
        }
    }
    let deviation = |(column, (variance, mean)): (usize, (f64, &f64))| {
        let deviation = Undefined::unless_finite(variance.max(0.0).sqrt())?;
        if is_rounding(deviation, *mean) {
            return Err(Undefined::ConstantStrategy { column });
        }
        Ok(deviation)
    };
    variances
        .into_iter()
        .zip(means)
        .enumerate()
        .map(deviation)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SplitMix64;
    use proptest::prelude::*;

    fn check(columns: &[&[f64]]) -> Result<SuperiorAbility, Undefined> {
        let table = DailyTable::new("differences", columns).unwrap();
        let draws = StationaryBootstrap::new(table.days(), 5.0, 300, 8).unwrap();
        superior_ability(&table, &draws).unwrap()
    }

    fn noise(seed: u64, above: f64) -> Vec<f64> {
        let mut generator = SplitMix64::new(seed);
        (0..120).map(|_| generator.uniform() - 0.5 + above).collect()
    }

    #[test]
    fn a_bad_strategy_costs_the_consistent_test_no_power() {
        let (good, bad) = (noise(2, 0.09), noise(3, -0.4));
        let (alone, beside) = (check(&[&good]).unwrap(), check(&[&good, &bad]).unwrap());
        assert!(alone.p_consistent < 0.1);
        assert!((alone.p_consistent - beside.p_consistent).abs() < 1e-15);
    }

    #[test]
    fn when_all_are_worse_there_is_no_evidence_at_all() {
        let bad = check(&[&noise(3, -0.4)]).unwrap();
        assert!(bad.statistic.abs() < 1e-15);
        assert!(
            [bad.p_lower, bad.p_consistent, bad.p_upper]
                .iter()
                .all(|p| (p - 1.0).abs() < 1e-15)
        );
    }

    #[test]
    fn what_cannot_be_studentised_is_a_reason() {
        assert_eq!(
            check(&[&noise(1, 0.0), &[0.0; 120]]),
            Err(Undefined::ConstantStrategy { column: 1 })
        );
        assert!(matches!(check(&[&[0.1, 0.2]]), Err(Undefined::TooFewDays { .. })));
    }

    proptest! {
        #[test]
        fn the_three_p_values_are_in_order_and_know_no_order_of_strategies(seed: u64) {
            let columns: Vec<Vec<f64>> =
                (0..4_u8).map(|column| noise(seed ^ u64::from(column), 0.02 * (f64::from(column) - 2.0))).collect();
            let slices: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
            let turned: Vec<&[f64]> = slices.iter().rev().copied().collect();
            let (found, turned) = (check(&slices).unwrap(), check(&turned).unwrap());
            prop_assert!(found.p_lower <= found.p_consistent && found.p_consistent <= found.p_upper);
            prop_assert!((0.0..=1.0).contains(&found.p_lower) && found.p_upper <= 1.0);
            prop_assert_eq!(found.p_consistent.to_bits(), turned.p_consistent.to_bits());
        }
    }
}
