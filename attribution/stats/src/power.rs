//! What a design can detect, before anything is run.

use super::error::StatsError;
use super::normal::normal_quantile;
use super::wilcoxon::{Underpowered, minimum_p};
use crate::Undefined;
use crate::moments::count;

/// The test that a design will be read with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PairedTest {
    /// Wilcoxon's signed-rank test: of pairs such as windows.
    SignedRank,
    /// The t of a mean: of many pairs such as days.
    Mean,
}

impl PairedTest {
    /// How many pairs of the t test one pair is worth when differences are normal (asymptotic relative efficiency).
    const fn efficiency(self) -> f64 {
        match self {
            Self::SignedRank => 3.0 / std::f64::consts::PI,
            Self::Mean => 1.0,
        }
    }
}

/// A comparison of two agents over pairs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairedDesign {
    pairs: usize,
    deviation: f64,
    significance: f64,
    power: f64,
    test: PairedTest,
}

impl PairedDesign {
    /// So many pairs, whose differences have this standard deviation, tested two-sided at `significance` (0.05) with
    /// the wish to find a true difference with probability `power` (0.8).
    ///
    /// # Errors
    /// [`StatsError::Negative`] unless the deviation is a number of 0 or more; [`StatsError::Share`] unless
    /// significance and power lie strictly between 0 and 1.
    pub fn new(
        pairs: usize,
        deviation: f64,
        significance: f64,
        power: f64,
        test: PairedTest,
    ) -> Result<Self, StatsError> {
        if !(deviation.is_finite() && 0.0 <= deviation) {
            return Err(StatsError::Negative {
                name: "the deviation of the differences",
                value: deviation,
            });
        }
        for (name, value) in [("the significance", significance), ("the power", power)] {
            if !(0.0 < value && value < 1.0) {
                return Err(StatsError::Share {
                    name,
                    value,
                    above: 0.0,
                    below: 1.0,
                });
            }
        }
        Ok(Self {
            pairs,
            deviation,
            significance,
            power,
            test,
        })
    }

    /// The smallest true difference found with the power asked for, in the unit of the deviation: by the normal
    /// approximation, `(Q(1 - a / 2) + Q(power)) sd / sqrt(n e)`, with the efficiency `e` of the test.
    ///
    /// It says nothing of whether the test can reach its significance at all: see [`PairedDesign::underpowered`].
    ///
    /// # Errors
    /// [`Undefined::TooFew`] below two pairs, which have no deviation; [`Undefined::OutOfRange`].
    pub fn minimum_difference(&self) -> Result<f64, Undefined> {
        if self.pairs < 2 {
            return Err(Undefined::TooFew {
                items: "pairs",
                count: self.pairs,
                need: 2,
            });
        }
        let quantile = |share: f64| normal_quantile(share).map_err(|_| Undefined::OutOfRange);
        let distance = quantile(1.0 - self.significance / 2.0)? + quantile(self.power)?;
        let worth = count(self.pairs) * self.test.efficiency();
        // A power below half the significance is had without any difference.
        Undefined::unless_finite(distance.max(0.0) * self.deviation / worth.sqrt())
    }

    /// The smallest two-sided p-value the pairs can reach; `None` of the t test, which has no such bound.
    #[must_use]
    pub fn minimum_p(&self) -> Option<f64> {
        (self.test == PairedTest::SignedRank).then(|| minimum_p(self.pairs))
    }

    /// Says so when no outcome could be significant.
    #[must_use]
    pub fn underpowered(&self) -> Option<Underpowered> {
        self.minimum_p()?;
        Underpowered::of(self.pairs, self.significance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn design(pairs: usize, test: PairedTest) -> PairedDesign {
        PairedDesign::new(pairs, 0.1, 0.05, 0.8, test).unwrap()
    }

    #[test]
    fn ten_windows_can_be_significant_and_five_cannot() {
        let ten = design(10, PairedTest::SignedRank);
        assert_eq!((ten.minimum_p(), ten.underpowered()), (Some(2.0 / 1024.0), None));
        let five = design(5, PairedTest::SignedRank);
        assert!(
            five.underpowered()
                .unwrap()
                .to_string()
                .starts_with("underpowered: with 5 pairs")
        );
        assert_eq!(design(5, PairedTest::Mean).underpowered(), None);
    }

    #[test]
    fn the_usual_factor() {
        // 1.959964 + 0.841621 = 2.801585 standard errors.
        let mean = design(100, PairedTest::Mean).minimum_difference().unwrap();
        assert!((mean - 0.028_015_852).abs() < 1e-8, "{mean}");
        let ranks = design(100, PairedTest::SignedRank).minimum_difference().unwrap();
        assert!((ranks / mean - (std::f64::consts::PI / 3.0).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn one_window_has_no_test() {
        let one = design(1, PairedTest::SignedRank);
        assert!(matches!(
            one.minimum_difference(),
            Err(Undefined::TooFew { count: 1, .. })
        ));
        assert!(one.underpowered().is_some());
    }

    #[test]
    fn shares_and_deviations_are_checked() {
        let new = |deviation, significance, power| {
            PairedDesign::new(10, deviation, significance, power, PairedTest::Mean)
        };
        assert!(new(-0.1, 0.05, 0.8).is_err() && new(f64::NAN, 0.05, 0.8).is_err());
        assert!(
            new(0.1, 0.0, 0.8).is_err() && new(0.1, 0.05, 1.0).is_err() && new(0.1, f64::NAN, 0.8).is_err()
        );
    }

    proptest! {
        #[test]
        fn more_pairs_see_more_and_the_unit_carries_over(pairs in 2..500_usize, deviation in 0.001..5.0_f64) {
            let of = |pairs, deviation| {
                let design = PairedDesign::new(pairs, deviation, 0.05, 0.8, PairedTest::SignedRank).unwrap();
                design.minimum_difference().unwrap()
            };
            prop_assert!(of(pairs + 1, deviation) < of(pairs, deviation));
            prop_assert!((of(pairs, 2.0 * deviation) - 2.0 * of(pairs, deviation)).abs() < 1e-12);
        }
    }
}
