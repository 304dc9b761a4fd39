//! Whether a Sharpe ratio is more than luck and search.

use super::error::StatsError;
use super::normal::{normal_cdf, normal_quantile};
use super::sample::Sample;
use crate::Undefined;
use crate::moments::{Moments, count, mean};

/// The probabilistic Sharpe ratio (Bailey and Lopez de Prado 2012). All ratios are of one day, not of a year.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProbabilisticSharpe {
    /// Mean over deviation (ddof 1) of daily returns.
    pub sharpe: f64,
    /// Third standardised moment, of the population.
    pub skewness: f64,
    /// Fourth standardised moment, of the population; 3 of a normal distribution.
    pub kurtosis: f64,
    /// Distance from the threshold in standard errors.
    pub z: f64,
    /// Probability that the true ratio is above the threshold.
    pub probability: f64,
}

/// The probability that the true daily Sharpe ratio exceeds `threshold`, also a ratio of one day. Daily selection may
/// stand for daily returns.
///
/// # Errors
/// [`Undefined::TooFewDays`] below two days; [`Undefined::ZeroVariance`] when the values do not vary;
/// [`Undefined::OutOfRange`] where the standard error vanishes or a moment overflows.
pub fn probabilistic_sharpe(returns: &Sample<'_>, threshold: f64) -> Result<ProbabilisticSharpe, Undefined> {
    let days = returns.len();
    let too_few = Undefined::TooFewDays { days, need_days: 2 };
    let moments = Moments::of(returns.values()).ok_or(too_few)?;
    let sharpe = moments.daily_ratio(Undefined::ZeroVariance)?;
    let mean = mean(returns.values()).ok_or(too_few)?;
    let power_mean = |term: fn(f64) -> f64| {
        let terms = returns.values().iter().map(|value| term(value - mean));
        terms.sum::<f64>() / count(days)
    };
    let variance = power_mean(|error| error * error);
    let skewness = power_mean(|error| error * error * error) / (variance * variance.sqrt());
    let kurtosis = power_mean(|error| error * error * error * error) / (variance * variance);
    let spread = 1.0 - skewness * sharpe + (kurtosis - 1.0) / 4.0 * sharpe * sharpe;
    let z = (sharpe - threshold) * (count(days) - 1.0).sqrt() / spread.max(0.0).sqrt();
    Ok(ProbabilisticSharpe {
        sharpe,
        skewness: Undefined::unless_finite(skewness)?,
        kurtosis: Undefined::unless_finite(kurtosis)?,
        z: Undefined::unless_finite(z)?,
        probability: normal_cdf(z),
    })
}

/// How much was tried before a result was shown: all trials that were run, not those published.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trials {
    number: u64,
    sharpe_variance: f64,
}

impl Trials {
    /// So many trials, whose daily Sharpe ratios had this variance (ddof 1; 0 of a single trial).
    ///
    /// # Errors
    /// [`StatsError::NoTrials`]; [`StatsError::Negative`] unless the variance is a number of 0 or more.
    pub fn new(number: u64, sharpe_variance: f64) -> Result<Self, StatsError> {
        if number == 0 {
            return Err(StatsError::NoTrials);
        }
        if !(sharpe_variance.is_finite() && 0.0 <= sharpe_variance) {
            return Err(StatsError::Negative {
                name: "the variance of the trials' Sharpe ratios",
                value: sharpe_variance,
            });
        }
        Ok(Self {
            number,
            sharpe_variance,
        })
    }

    /// So many trials without skill over so many days, at least one: the ratio of each varies by `1 / (days - 1)`. What trials
    /// with skill vary by says nothing of luck.
    #[must_use]
    pub fn without_skill(number: usize, days: usize) -> Self {
        Self {
            number: u64::try_from(number.max(1)).unwrap_or(u64::MAX),
            sharpe_variance: 1.0 / (count(days) - 1.0).max(1.0),
        }
    }

    /// The daily Sharpe ratio to expect of the best when none has skill; 0 of a single trial.
    ///
    /// `sd ((1 - g) Q(1 - 1 / N) + g Q(1 - 1 / (N e)))` with the normal quantile `Q` and the constant `g` of Euler and
    /// Mascheroni (Bailey and Lopez de Prado 2014).
    #[must_use]
    pub fn expected_best_sharpe(&self) -> f64 {
        if self.number == 1 {
            return 0.0;
        }
        #[expect(
            clippy::cast_precision_loss,
            reason = "a quantile of more than 2^53 trials is exact enough"
        )]
        let number = self.number as f64;
        let quantile = |tail: f64| normal_quantile(1.0 - tail).unwrap_or(LARGEST_QUANTILE);
        let best = (1.0 - EULER_GAMMA) * quantile(1.0 / number)
            + EULER_GAMMA * quantile(1.0 / (number * std::f64::consts::E));
        self.sharpe_variance.sqrt() * best
    }
}

/// The constant of Euler and Mascheroni.
const EULER_GAMMA: f64 = 0.577_215_664_901_532_9;
/// The normal quantile of the largest float below 1, for trials beyond 2^53.
const LARGEST_QUANTILE: f64 = 8.209_536_151_601_387;

/// A Sharpe ratio held against the best of all trials.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DeflatedSharpe {
    /// The daily Sharpe ratio that luck and search alone let expect.
    pub expected_best_sharpe: f64,
    /// The ratio held against it. Its probability is the deflated Sharpe ratio.
    pub against_best: ProbabilisticSharpe,
}

/// The deflated Sharpe ratio: the probability that the true ratio exceeds what the best of all trials would show
/// without skill. Of a single trial it is the probabilistic ratio against 0.
///
/// # Errors
/// As [`probabilistic_sharpe`].
pub fn deflated_sharpe(returns: &Sample<'_>, trials: &Trials) -> Result<DeflatedSharpe, Undefined> {
    let expected_best_sharpe = trials.expected_best_sharpe();
    Ok(DeflatedSharpe {
        expected_best_sharpe,
        against_best: probabilistic_sharpe(returns, expected_best_sharpe)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sample(values: &[f64]) -> Sample<'_> {
        Sample::new("returns", values).unwrap()
    }

    #[test]
    fn what_has_no_sharpe_ratio_has_no_probability() {
        let of = |values: &[f64]| probabilistic_sharpe(&sample(values), 0.0);
        assert!(matches!(of(&[0.1]), Err(Undefined::TooFewDays { .. })));
        assert_eq!(of(&[0.1; 9]), Err(Undefined::ZeroVariance));
    }

    #[test]
    fn trials_are_counted_from_one() {
        assert_eq!(Trials::new(0, 0.1), Err(StatsError::NoTrials));
        assert!(Trials::new(3, f64::NAN).is_err() && Trials::new(3, -0.1).is_err());
        let one = Trials::new(1, 0.1).unwrap();
        assert_eq!(one.expected_best_sharpe().to_bits(), 0.0_f64.to_bits());
        let many = Trials::new(u64::MAX, 1.0).unwrap();
        assert!((8.0..9.0).contains(&many.expected_best_sharpe()));
    }

    proptest! {
        #[test]
        fn more_trials_deflate_more(
            values in prop::collection::vec(-0.1..0.1_f64, 10..60), trials in 2..1000_u64,
        ) {
            let returns = sample(&values);
            let of = |number: u64| {
                let trials = Trials::new(number, 0.01).unwrap();
                deflated_sharpe(&returns, &trials).unwrap().against_best.probability
            };
            prop_assert!(of(trials + 1) <= of(trials) && of(trials) <= of(1));
            let against_zero = probabilistic_sharpe(&returns, 0.0).unwrap().probability;
            prop_assert_eq!(of(1).to_bits(), against_zero.to_bits());
            prop_assert!((0.0..=1.0).contains(&of(trials)));
        }
    }
}
