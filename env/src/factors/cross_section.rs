//! One factor across names on one day: winsorised, imputed, standardised.
//!
//! Limits and moments come from the members given, and from nothing else; they are then applied to every
//! name.

use super::median::Medians;
use super::moments::{count, mean};
use thiserror::Error;

/// A spread at or below this share of the mean (or of one) is rounding: the factor does not tell names apart.
const DEGENERATE: f64 = 1e-12;

/// Where the limits lie beyond which a value is pulled in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Winsor {
    /// `k * scale` median absolute deviations from the median; no limits where the deviation is zero.
    Mad {
        /// Half-width in scaled deviations.
        k: f64,
        /// What scales a median absolute deviation to a normal's standard deviation.
        scale: f64,
    },
    /// `k` standard deviations (divisor n) from the mean.
    Sigma {
        /// Half-width in standard deviations.
        k: f64,
    },
    /// At two percentiles, interpolated between order statistics (type 7).
    Percentile {
        /// The lower one, in percent.
        low: f64,
        /// The upper one, in percent.
        high: f64,
    },
    /// Nowhere: nothing is pulled in.
    Unlimited,
}

impl Winsor {
    /// Whether the limits can be drawn.
    ///
    /// # Errors
    /// [`CrossSectionError::Winsor`] for widths that are not finite and positive, or percentiles that are not in
    /// order within 0 to 100.
    pub fn check(self) -> Result<(), CrossSectionError> {
        let positive = |value: f64| value.is_finite() && 0.0 < value;
        let sound = match self {
            Self::Mad { k, scale } => positive(k) && positive(scale),
            Self::Sigma { k } => positive(k),
            Self::Percentile { low, high } => 0.0 <= low && low < high && high <= 100.0,
            Self::Unlimited => true,
        };
        if sound {
            Ok(())
        } else {
            Err(CrossSectionError::Winsor)
        }
    }
}

/// How a factor is made comparable between names.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CrossSectionConfig {
    /// Where raw values are cut off.
    pub winsor: Winsor,
    /// Most missing factors with which a name is still covered.
    pub max_missing: usize,
}

impl CrossSectionConfig {
    /// The values of this benchmark: three deviations, 1.4826, and three missing of nine.
    pub const KTD: Self = Self {
        winsor: Winsor::Mad {
            k: 3.0,
            scale: 1.4826,
        },
        max_missing: 3,
    };

    /// Whether a name with that many missing factors is covered; its gaps are then imputed.
    #[must_use]
    pub const fn covers(&self, missing: usize) -> bool {
        missing <= self.max_missing
    }
}

/// Where zero lies on the standardised scale.
#[derive(Debug, Clone, Copy)]
pub enum Center<'a> {
    /// At the members' equal-weighted mean.
    Equal,
    /// At the members' mean weighted by these regression weights, one a name; only members' weights are read.
    Regression(&'a [f64]),
}

/// Winsor limits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Values below are raised to it.
    pub low: f64,
    /// Values above are lowered to it.
    pub high: f64,
}

impl Limits {
    const fn excludes(self, value: f64) -> bool {
        value < self.low || self.high < value
    }
}

/// Where a sample lies, robustly, and how far a value may lie from it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// Median of the sample.
    pub median: f64,
    /// Median absolute deviation from it.
    pub mad: f64,
    /// The limits; `None` where there are none, and then nothing is clipped.
    pub limits: Option<Limits>,
}

/// What the members' values were scaled by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    /// Spread of the members' raw values.
    pub spread: Spread,
    /// Equal-weighted mean of the members' winsorised values: what a missing value becomes.
    pub mean: f64,
    /// What is subtracted: `mean`, or the weighted mean of winsorised and imputed values.
    pub center: f64,
    /// What is divided by: standard deviation (divisor n) about `mean`.
    pub sd: f64,
    /// Members' values beyond the limits.
    pub clipped: usize,
}

/// What became of a cross-section.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CrossSection {
    /// Fewer than two members have a value, or the values do not differ: every name stands at zero.
    Degenerate,
    /// Standardised.
    Scaled(Scale),
}

/// A cross-section whose parts do not fit together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum CrossSectionError {
    /// A column has another length than the values.
    #[error("`{column}` holds {rows} names, the factor holds {expected_rows}")]
    Length {
        /// The column at fault.
        column: &'static str,
        /// Its length.
        rows: usize,
        /// The number of names.
        expected_rows: usize,
    },
    /// A member's weight is not finite and positive.
    #[error("the weight of member {row} is not finite and positive")]
    Weight {
        /// The member's place in the cross-section.
        row: usize,
    },
    /// Winsor limits that cannot be drawn.
    #[error("the winsor limits are not finite, positive and in order")]
    Winsor,
}

impl CrossSectionError {
    /// How to fix it.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Length { .. } => "give every column one entry per name, in one order",
            Self::Weight { .. } => "leave a name without a positive weight out of the members",
            Self::Winsor => "give widths above 0, or two ascending percentiles from 0 to 100",
        }
    }

    const fn same_rows(column: &'static str, rows: usize, expected_rows: usize) -> Result<(), Self> {
        if rows == expected_rows {
            Ok(())
        } else {
            Err(Self::Length {
                column,
                rows,
                expected_rows,
            })
        }
    }
}

/// Missing values of each name over the factors' columns.
///
/// # Errors
/// [`CrossSectionError::Length`] when the columns differ in length.
pub fn missing_per_row(columns: &[&[f64]]) -> Result<Vec<usize>, CrossSectionError> {
    let rows = columns.first().map_or(0, |column| column.len());
    let mut missing = vec![0; rows];
    for column in columns {
        CrossSectionError::same_rows("column", column.len(), rows)?;
        for (missing, value) in missing.iter_mut().zip(*column) {
            *missing += usize::from(!value.is_finite());
        }
    }
    Ok(missing)
}

impl Spread {
    /// The spread of a sample of finite values; `None` for an empty one.
    #[must_use]
    pub fn of(sample: &[f64], config: &CrossSectionConfig) -> Option<Self> {
        let mut medians = Medians::default();
        let median = medians.median(sample.iter().copied())?;
        let mad = medians.median(sample.iter().map(|value| (value - median).abs()))?;
        let limits = match config.winsor {
            Winsor::Mad { k, scale } => {
                let reach = k * scale * mad;
                let limits = Limits {
                    low: median - reach,
                    high: median + reach,
                };
                (0.0 < mad).then_some(limits)
            }
            Winsor::Sigma { .. } | Winsor::Percentile { .. } | Winsor::Unlimited => {
                config.winsor.limits_without_median(sample)
            }
        };
        Some(Self { median, mad, limits })
    }
}

impl Winsor {
    /// The limits that need no median.
    fn limits_without_median(self, sample: &[f64]) -> Option<Limits> {
        match self {
            Self::Mad { .. } | Self::Unlimited => None,
            Self::Sigma { k } => {
                let mean = mean(sample);
                let reach = k * deviation(sample, mean);
                let limits = Limits {
                    low: mean - reach,
                    high: mean + reach,
                };
                (0.0 < reach).then_some(limits)
            }
            Self::Percentile { low, high } => {
                let mut ascending = sample.to_vec();
                ascending.sort_unstable_by(f64::total_cmp);
                Some(Limits {
                    low: percentile(&ascending, low)?,
                    high: percentile(&ascending, high)?,
                })
            }
        }
    }
}

/// Standard deviation (divisor n) about `mean`.
fn deviation(values: &[f64], mean: f64) -> f64 {
    let squares = values
        .iter()
        .fold(0.0, |total, value| total + (value - mean) * (value - mean));
    (squares / count(values.len())).sqrt()
}

/// The percentile (type 7) of ascending values; `None` of nothing.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a place within the sample, as percentiles lie within 0 to 100"
)]
fn percentile(ascending: &[f64], percent: f64) -> Option<f64> {
    let place = count(ascending.len().checked_sub(1)?) * percent / 100.0;
    let below = *ascending.get(place.floor() as usize)?;
    let above = *ascending.get(place.ceil() as usize)?;
    Some(below + (above - below) * (place - place.floor()))
}

/// Pulls values beyond the limits onto them; missing values stay.
pub fn winsorise(values: &mut [f64], limits: Limits) {
    for value in values {
        let raised = if *value < limits.low { limits.low } else { *value };
        *value = if limits.high < raised { limits.high } else { raised };
    }
}

/// Winsorises, imputes and standardises one factor across names, in place.
///
/// `values`: one raw value a name, missing as a number that is not finite; afterwards no value is missing.
/// `members`: the names whose values set limits and moments. A missing value becomes the members' mean of
/// winsorised values before centring, so that residuals do not depend on the centre.
///
/// # Errors
/// [`CrossSectionError`] when lengths differ or a member's regression weight is not finite and positive.
pub fn standardise(
    values: &mut [f64],
    members: &[bool],
    center: Center<'_>,
    config: &CrossSectionConfig,
) -> Result<CrossSection, CrossSectionError> {
    CrossSectionError::same_rows("members", members.len(), values.len())?;
    check_weights(members, center)?;
    let mut winsorised = valid_members(values, members);
    let Some(spread) = Spread::of(&winsorised, config) else {
        return Ok(degenerate(values));
    };
    let mut clipped = 0;
    if let Some(limits) = spread.limits {
        clipped = winsorised.iter().filter(|value| limits.excludes(**value)).count();
        winsorise(&mut winsorised, limits);
        winsorise(values, limits);
    }
    let mean = mean(&winsorised);
    let sd = deviation(&winsorised, mean);
    if winsorised.len() < 2 || sd <= DEGENERATE * mean.abs().max(1.0) {
        return Ok(degenerate(values));
    }
    for value in values.iter_mut() {
        *value = if value.is_finite() { *value } else { mean };
    }
    let center = match center {
        Center::Equal => mean,
        Center::Regression(weights) => weighted_mean(values, members, weights),
    };
    for value in values {
        *value = (*value - center) / sd;
    }
    Ok(CrossSection::Scaled(Scale {
        spread,
        mean,
        center,
        sd,
        clipped,
    }))
}

fn check_weights(members: &[bool], center: Center<'_>) -> Result<(), CrossSectionError> {
    let Center::Regression(weights) = center else {
        return Ok(());
    };
    CrossSectionError::same_rows("weights", weights.len(), members.len())?;
    let sound = |weight: f64| weight.is_finite() && 0.0 < weight;
    let wrong = members
        .iter()
        .zip(weights)
        .position(|(member, weight)| *member && !sound(*weight));
    wrong.map_or(Ok(()), |row| Err(CrossSectionError::Weight { row }))
}

/// The members' values that are not missing, in the names' order.
fn valid_members(values: &[f64], members: &[bool]) -> Vec<f64> {
    let mut valid = vec![0.0; values.len()];
    let mut count = 0;
    for (value, member) in values.iter().zip(members) {
        // Written over by the next one where it does not count: no branch to be guessed.
        if let Some(cell) = valid.get_mut(count) {
            *cell = *value;
        }
        count += usize::from(*member && value.is_finite());
    }
    valid.truncate(count);
    valid
}

fn weighted_mean(values: &[f64], members: &[bool], weights: &[f64]) -> f64 {
    let mut weighted = 0.0;
    let mut total = 0.0;
    for ((value, member), weight) in values.iter().zip(members).zip(weights) {
        if *member {
            weighted += weight * value;
            total += weight;
        }
    }
    weighted / total
}

fn degenerate(values: &mut [f64]) -> CrossSection {
    values.fill(0.0);
    CrossSection::Degenerate
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: CrossSectionConfig = CrossSectionConfig::KTD;
    const GAP: f64 = f64::NAN;

    fn check(values: &[f64], members: &[bool], center: Center<'_>, expected: &[f64]) -> CrossSection {
        let mut values = values.to_vec();
        let outcome = standardise(&mut values, members, center, &CONFIG).unwrap();
        let near = values
            .iter()
            .zip(expected)
            .all(|(value, expected)| (value - expected).abs() <= 1e-15);
        assert!(
            near && values.len() == expected.len(),
            "{values:?}, expected {expected:?}"
        );
        outcome
    }

    fn scale(outcome: CrossSection) -> Scale {
        match outcome {
            CrossSection::Scaled(scale) => scale,
            CrossSection::Degenerate => panic!("degenerate"),
        }
    }

    #[test]
    fn two_names_stand_one_deviation_apart_from_the_mean() {
        let scale = scale(check(&[1.0, 3.0], &[true; 2], Center::Equal, &[-1.0, 1.0]));
        assert_eq!((scale.spread.median, scale.spread.mad), (2.0, 1.0));
        assert_eq!((scale.mean, scale.center, scale.sd), (2.0, 2.0, 1.0));
        assert_eq!(scale.clipped, 0);
    }

    #[test]
    fn an_outlier_is_pulled_to_the_limit() {
        let spread = Spread::of(&[2.0, 1.0, 100.0, 3.0, 0.0], &CONFIG).unwrap();
        assert_eq!((spread.median, spread.mad), (2.0, 1.0));
        let limits = spread.limits.unwrap();
        assert!((limits.high - 6.4478).abs() < 1e-12 && (limits.low + 2.4478).abs() < 1e-12);
        let mut values = [100.0, GAP, -50.0, 2.0];
        winsorise(&mut values, limits);
        assert_eq!((values[0], values[2], values[3]), (limits.high, limits.low, 2.0));
        assert!(values[1].is_nan());
    }

    #[test]
    fn limits_by_deviation_by_percentile_and_none() {
        let limits = |winsor| {
            let config = CrossSectionConfig { winsor, ..CONFIG };
            Spread::of(&[4.0, 0.0, 2.0, 1.0, 3.0], &config).unwrap().limits
        };
        let sd = 2.0_f64.sqrt();
        let sigma = limits(Winsor::Sigma { k: 1.0 }).unwrap();
        assert!((sigma.low - (2.0 - sd)).abs() < 1e-15 && (sigma.high - (2.0 + sd)).abs() < 1e-15);
        let cut = limits(Winsor::Percentile {
            low: 12.5,
            high: 100.0,
        });
        assert_eq!(cut, Some(Limits { low: 0.5, high: 4.0 }));
        assert_eq!(limits(Winsor::Unlimited), None);
        for refused in [
            Winsor::Sigma { k: 0.0 },
            Winsor::Mad { k: 3.0, scale: GAP },
            Winsor::Percentile { low: 99.0, high: 1.0 },
        ] {
            assert_eq!(refused.check(), Err(CrossSectionError::Winsor));
        }
        assert_eq!(CONFIG.winsor.check(), Ok(()));
    }

    #[test]
    fn most_names_alike_means_no_clip() {
        let outcome = check(&[0.0, 0.0, 0.0, 4.0], &[true; 4], Center::Equal, &{
            let sd = 3.0_f64.sqrt();
            [-1.0 / sd, -1.0 / sd, -1.0 / sd, 3.0 / sd]
        });
        assert_eq!(scale(outcome).spread.limits, None);
    }

    #[test]
    fn what_does_not_differ_is_degenerate() {
        let constant = check(&[3.3; 4], &[true; 4], Center::Equal, &[0.0; 4]);
        assert_eq!(constant, CrossSection::Degenerate);
        let one = check(&[GAP, 2.0, GAP], &[true; 3], Center::Equal, &[0.0; 3]);
        assert_eq!(one, CrossSection::Degenerate);
        let none = check(&[1.0, 2.0], &[false; 2], Center::Equal, &[0.0; 2]);
        assert_eq!(none, CrossSection::Degenerate);
        let rounding = check(&[1e6, 1e6 + 1e-8], &[true; 2], Center::Equal, &[0.0; 2]);
        assert_eq!(rounding, CrossSection::Degenerate);
    }

    #[test]
    fn only_members_set_the_scale_but_all_are_put_on_it() {
        let members = [true, false, true, false];
        check(
            &[1.0, 4.0, 3.0, GAP],
            &members,
            Center::Equal,
            &[-1.0, 2.0, 1.0, 0.0],
        );
    }

    #[test]
    fn a_gap_is_filled_before_centring() {
        // Weighted centre of 1, 3 and the imputed 2 under weights 1, 5, 2: (1 + 15 + 4) / 8 = 2.5.
        let weights = [1.0, 5.0, 2.0];
        let outcome = check(
            &[1.0, 3.0, GAP],
            &[true; 3],
            Center::Regression(&weights),
            &[-1.5, 0.5, -0.5],
        );
        assert_eq!((scale(outcome).mean, scale(outcome).center), (2.0, 2.5));
    }

    #[test]
    fn parts_that_do_not_fit_are_refused() {
        let length = CrossSectionError::Length {
            column: "members",
            rows: 1,
            expected_rows: 2,
        };
        assert_eq!(
            standardise(&mut [1.0, 2.0], &[true], Center::Equal, &CONFIG),
            Err(length)
        );
        let refused = |weights: &[f64]| {
            standardise(
                &mut [1.0, 2.0],
                &[false, true],
                Center::Regression(weights),
                &CONFIG,
            )
            .err()
        };
        let length = CrossSectionError::Length {
            column: "weights",
            rows: 1,
            expected_rows: 2,
        };
        assert_eq!(refused(&[1.0]), Some(length));
        for weight in [0.0, -1.0, GAP, f64::INFINITY] {
            assert_eq!(
                refused(&[1.0, weight]),
                Some(CrossSectionError::Weight { row: 1 })
            );
        }
        assert_eq!(refused(&[GAP, 1.0]), None);
    }

    #[test]
    fn coverage_counts_gaps_a_name() {
        let columns: [&[f64]; 4] = [&[GAP, 1.0], &[GAP, GAP], &[GAP, 1.0], &[GAP, 1.0]];
        assert_eq!(missing_per_row(&columns), Ok(vec![4, 1]));
        assert!(!CONFIG.covers(4) && CONFIG.covers(3));
        let uneven: [&[f64]; 2] = [&[1.0], &[1.0, 2.0]];
        assert!(missing_per_row(&uneven).is_err());
        assert_eq!(missing_per_row(&[]), Ok(vec![]));
    }
}
