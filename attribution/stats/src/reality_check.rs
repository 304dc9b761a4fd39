//! Whether the best of many strategies beats a benchmark, their number considered.

use super::replicates::ReplicateSums;
use crate::Undefined;
use crate::moments::count;

/// White's reality check (2000).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RealityCheck {
    /// The largest `sqrt(T) mean` of the differences.
    pub statistic: f64,
    /// Share of replicates, centred on what was observed, that reach it.
    pub p: f64,
}

/// Tests the hypothesis that no strategy beats the benchmark in daily mean, from sums of each strategy's daily
/// difference from it ([`DailyTable::less`](super::DailyTable::less): the index for returns, nothing for selection).
///
/// # Errors
/// [`Undefined::OutOfRange`] where a sum overflows.
pub fn reality_check(differences: &ReplicateSums) -> Result<RealityCheck, Undefined> {
    let days = count(differences.days());
    let observed: Vec<f64> = differences.observed().iter().map(|sum| sum / days).collect();
    let largest = |means: &mut dyn Iterator<Item = f64>| {
        let largest = means.map(|mean| days.sqrt() * mean).reduce(f64::max);
        Undefined::unless_finite(largest.unwrap_or(f64::NAN))
    };
    let statistic = largest(&mut observed.iter().copied())?;
    let mut reached = 0_usize;
    for sums in differences.rows() {
        let mut centred = sums.iter().zip(&observed).map(|(sum, mean)| sum / days - mean);
        reached += usize::from(statistic <= largest(&mut centred)?);
    }
    Ok(RealityCheck {
        statistic,
        p: count(reached) / count(differences.replicates()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DailyTable, SplitMix64, StationaryBootstrap};
    use proptest::prelude::*;

    fn check(columns: &[&[f64]]) -> RealityCheck {
        let table = DailyTable::new("differences", columns).unwrap();
        let draws = StationaryBootstrap::new(table.days(), 5.0, 300, 8).unwrap();
        reality_check(&ReplicateSums::of(&table, &draws).unwrap()).unwrap()
    }

    fn noise(seed: u64, above: f64) -> Vec<f64> {
        let mut generator = SplitMix64::new(seed);
        (0..120).map(|_| generator.uniform() - 0.5 + above).collect()
    }

    #[test]
    fn skill_is_seen_and_its_absence_too() {
        let (none, some) = (noise(1, -0.02), noise(2, 0.2));
        assert!(check(&[&none, &some]).p < 0.01);
        assert!(0.1 < check(&[&none]).p);
    }

    #[test]
    fn no_difference_is_no_evidence() {
        assert!((check(&[&[0.0; 30]]).p - 1.0).abs() < 1e-15);
    }

    proptest! {
        #[test]
        fn order_and_unit_do_not_matter(seed: u64, exponent in 0..6_u32) {
            let (one, two) = (noise(seed, 0.01), noise(seed ^ 1, 0.0));
            let found = check(&[&one, &two]);
            let factor = f64::from(1_u32 << exponent) / 8.0;
            let scale = |values: &[f64]| -> Vec<f64> { values.iter().map(|value| value * factor).collect() };
            let other = check(&[&scale(&two), &scale(&one)]);
            prop_assert_eq!(found.p.to_bits(), other.p.to_bits());
            prop_assert!((0.0..=1.0).contains(&found.p));
        }
    }
}
