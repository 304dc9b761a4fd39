//! What the best of many versions is worth: deflated Sharpe ratios, and the probability that choosing among models overfits.

use crate::real_rows::RealVersion;
use ktd_stats::{Sample, Trials, Undefined, deflated_sharpe, distinct_series, pbo_of_distinct};

/// Sessions a year.
const SESSIONS_A_YEAR: f64 = 252.0;
/// Valid submissions below which there is no choice to speak of.
const VALID_MIN: usize = 5;

/// What one submission tried on real bars.
#[derive(Debug, Clone, Copy)]
pub struct TriedVersions<'r> {
    /// Its versions.
    pub versions: &'r [RealVersion],
    /// The iteration that is ranked.
    pub ranked: Option<usize>,
    /// Whether that one passes all gates, and no fault of the infrastructure ended the submission early.
    pub is_valid: bool,
}

impl<'r> TriedVersions<'r> {
    /// Returns of the ranked version on the test split.
    #[must_use]
    pub fn returns(&self) -> Option<&'r [f64]> {
        let mut versions = self.versions.iter();
        let ranked = versions.find(|version| Some(version.iteration) == self.ranked)?;
        ranked.test_returns.as_deref()
    }
}

/// What was tried of one strategy by all submissions.
#[derive(Debug, Clone, Default)]
pub struct StrategyTrials<'r> {
    /// The submissions.
    pub own: Vec<TriedVersions<'r>>,
}

/// Sharpe ratio of a ranked version against all that was tried.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DeflatedRatio {
    /// The ratio a year.
    pub sharpe: f64,
    /// The ratio a year that the best of as many shows without skill.
    pub luckiest: f64,
    /// The probability that the true ratio is above the luckiest.
    pub probability: f64,
}

impl<'r> StrategyTrials<'r> {
    /// Versions that ran on real bars: all versions of all models.
    #[must_use]
    pub fn count(&self) -> usize {
        let versions = self.own.iter().flat_map(|own| own.versions);
        versions.filter(|version| !version.rows.is_empty()).count()
    }

    /// Trials that are trials of their own: of versions whose returns are alike one counts, who never trades is none, and one that
    /// cannot be counted may be like nobody.
    #[must_use]
    pub fn distinct(&self) -> usize {
        let versions = self.own.iter().flat_map(|own| own.versions);
        let returns: Vec<&[f64]> = versions
            .filter_map(|version| version.test_returns.as_deref())
            .collect();
        distinct_series(&returns) + self.count().saturating_sub(returns.len())
    }

    /// The ratio of these returns against all that was tried.
    ///
    /// # Errors
    /// A sentence where there is none.
    pub fn deflated(&self, returns: &[f64]) -> Result<DeflatedRatio, String> {
        let sample = Sample::new("daily returns", returns).map_err(|error| error.to_string())?;
        let trials = Trials::without_skill(self.distinct(), returns.len());
        let found = deflated_sharpe(&sample, &trials).map_err(|error| error.to_string())?;
        Ok(DeflatedRatio {
            sharpe: SESSIONS_A_YEAR.sqrt() * found.against_best.sharpe,
            luckiest: SESSIONS_A_YEAR.sqrt() * trials.expected_best_sharpe(),
            probability: found.against_best.probability,
        })
    }

    /// Returns of ranked versions that pass all gates.
    #[must_use]
    pub fn valid(&self) -> Vec<&'r [f64]> {
        let valid = self.own.iter().filter(|own| own.is_valid);
        valid.filter_map(TriedVersions::returns).collect()
    }

    /// How often the best of the valid submissions in one half of the days is in the lower half of them in the other.
    ///
    /// # Errors
    /// A sentence where there is nothing to choose among.
    pub fn overfitting(&self) -> Result<f64, String> {
        let valid = self.valid();
        if valid.len() < VALID_MIN {
            return Err(format!(
                "{} valid submissions with returns, at least {VALID_MIN} are needed",
                valid.len()
            ));
        }
        match pbo_of_distinct(&valid) {
            Ok(Ok(found)) => Ok(found.probability),
            Ok(Err(Undefined::TooFew { count, need, .. })) => Err(format!(
                "{count} valid submissions trade in every half of the days and differ from each other, at least {need} are needed"
            )),
            Ok(Err(reason)) => Err(reason.to_string()),
            Err(error) => Err(error.to_string()),
        }
    }
}
