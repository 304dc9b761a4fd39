//! The screen of style factors by variance inflation, on days before the evaluation.
//!
//! Source: docs/spec/factor-model.md#vif.

use super::config::ModelConfig;
use super::day_fit::{DayFit, DayStatus};
use super::error::ModelError;
use super::factor_model::FactorModel;
use crate::panel::Panel;
use ktd_env::factors::Factor;
use std::ops::Range;

/// The inflation above which a style is dropped, where nothing else is asked for.
pub const VIF_THRESHOLD: f64 = 5.0;

/// What the other styles leave of a style's variance, at or below which they are taken to leave nothing.
const SINGULAR: f64 = 1e-10;

/// One round of the screen.
#[derive(Debug, Clone, PartialEq)]
pub struct VifStep {
    /// The styles of the round with their inflation; `None` where the others determine a style, and it is infinite.
    pub inflations: Vec<(Factor, Option<f64>)>,
    /// The style that was dropped, if the largest inflation was above the threshold.
    pub dropped: Option<Factor>,
}

/// The screen from all styles to those kept.
#[derive(Debug, Clone, PartialEq)]
pub struct VifScreen {
    /// The styles before the screen, in the order of the configuration.
    pub styles: Vec<Factor>,
    /// Mean over days of the daily correlation of exposures on the estimation set: styles x styles, row by row.
    pub correlation: Vec<f64>,
    /// Days that had a fit.
    pub fitted_days: usize,
    /// Inflation above which a style is dropped.
    pub threshold: f64,
    /// The rounds.
    pub path: Vec<VifStep>,
    /// The styles kept, in the order of the configuration.
    pub kept: Vec<Factor>,
}

impl VifScreen {
    /// Screens the styles of a model on all its days.
    ///
    /// While the largest inflation is above `threshold` its style is dropped; of equal ones the later in the
    /// configuration. The last style stays.
    ///
    /// # Errors
    /// [`ModelError::Setting`] for a threshold that is no number of 1 or more; [`ModelError::AllThin`] when no day has a
    /// fit.
    pub fn new(model: &FactorModel, threshold: f64) -> Result<Self, ModelError> {
        if !(1.0 <= threshold && threshold.is_finite()) {
            return Err(ModelError::Setting {
                key: "vif_threshold",
                value: threshold,
                rule: "a number of 1 or more",
            });
        }
        let styles = &model.config().styles;
        let (correlation, fitted_days) = pooled_correlation(model.fits(), styles.len());
        if fitted_days == 0 {
            return Err(ModelError::AllThin {
                days: model.days().len(),
            });
        }
        let mut kept: Vec<usize> = (0..styles.len()).collect();
        let mut path = Vec::new();
        loop {
            let step = step(&correlation, styles, &kept, threshold);
            let dropped = step.dropped;
            path.push(step);
            let Some(dropped) = dropped else { break };
            kept.retain(|place| styles.get(*place) != Some(&dropped));
        }
        Ok(Self {
            styles: styles.clone(),
            correlation,
            fitted_days,
            threshold,
            path,
            kept: kept
                .iter()
                .filter_map(|place| styles.get(*place))
                .copied()
                .collect(),
        })
    }
}

/// The model of `config` less the styles that the screen drops on the return days `days`, which should lie before any
/// evaluation; and the screen.
///
/// # Errors
/// As [`FactorModel::fit`] and [`VifScreen::new`].
pub fn calibrate(
    panel: &Panel,
    config: &ModelConfig,
    days: Range<usize>,
    threshold: f64,
) -> Result<(ModelConfig, VifScreen), ModelError> {
    let screen = VifScreen::new(&FactorModel::fit(panel, config, days)?, threshold)?;
    let calibrated = ModelConfig {
        styles: screen.kept.clone(),
        ..config.clone()
    };
    Ok((calibrated, screen))
}

fn step(correlation: &[f64], styles: &[Factor], kept: &[usize], threshold: f64) -> VifStep {
    let inflation = |place: &usize| inflation(correlation, styles.len(), kept, *place);
    let inflations: Vec<(Factor, Option<f64>)> = kept
        .iter()
        .filter_map(|place| Some((*styles.get(*place)?, inflation(place))))
        .collect();
    let size = |inflation: Option<f64>| inflation.unwrap_or(f64::INFINITY);
    // Of equal ones `max_by` takes the last, which is the later in the configuration.
    let worst = inflations
        .iter()
        .max_by(|left, right| size(left.1).total_cmp(&size(right.1)))
        .filter(|worst| threshold < size(worst.1) && 1 < kept.len());
    VifStep {
        dropped: worst.map(|worst| worst.0),
        inflations,
    }
}

/// The diagonal cell of the inverse correlation: 1 over the share of a style's variance that the others leave.
fn inflation(correlation: &[f64], size: usize, kept: &[usize], place: usize) -> Option<f64> {
    let cell = |row: usize, column: usize| correlation.get(row * size + column).copied().unwrap_or(0.0);
    let others = kept.iter().copied().filter(|other| *other != place);
    let mut rows: Vec<(usize, Vec<f64>)> = Vec::new();
    let mut left = 0.0;
    for current in others.chain([place]) {
        let mut row: Vec<f64> = Vec::with_capacity(rows.len() + 1);
        for (other, before) in &rows {
            let along: f64 = row.iter().zip(before).map(|(left, right)| left * right).sum();
            let pivot = before.last().copied().unwrap_or(1.0);
            row.push((cell(current, *other) - along) / pivot);
        }
        left = cell(current, current) - row.iter().map(|value| value * value).sum::<f64>();
        // A style that those before it determine tells nothing more of the one in question.
        if SINGULAR < left {
            row.push(left.sqrt());
            rows.push((current, row));
        }
    }
    (SINGULAR < left).then(|| cell(place, place) / left)
}

/// The mean daily correlation of exposures, and of how many days. A pair counts on the days on which both vary.
fn pooled_correlation(fits: &[DayFit], styles: usize) -> (Vec<f64>, usize) {
    let mut sums = vec![0.0; styles * styles];
    let mut days = vec![0_u32; styles * styles];
    let fitted = fits.iter().filter(|fit| fit.status == DayStatus::Fitted);
    let mut fitted_days = 0;
    for fit in fitted {
        fitted_days += 1;
        let columns: Vec<Vec<f64>> = (0..styles).map(|style| directions(fit, style)).collect();
        let pairs = columns
            .iter()
            .flat_map(|left| columns.iter().map(move |right| (left, right)));
        for ((sum, days), (left, right)) in sums.iter_mut().zip(&mut days).zip(pairs) {
            if !left.is_empty() && !right.is_empty() {
                *sum += left
                    .iter()
                    .zip(right)
                    .map(|(left, right)| left * right)
                    .sum::<f64>();
                *days += 1;
            }
        }
    }
    let mut correlation: Vec<f64> = sums
        .iter()
        .zip(&days)
        .map(|(sum, days)| if *days == 0 { 0.0 } else { sum / f64::from(*days) })
        .collect();
    for own in correlation.iter_mut().step_by(styles + 1) {
        *own = 1.0;
    }
    (correlation, fitted_days)
}

/// The exposures of the estimation set to a style, centred and of length 1; empty where they do not vary.
fn directions(fit: &DayFit, style: usize) -> Vec<f64> {
    const ROUNDING: f64 = 1e-12;
    let rows = fit.style_exposures(style).enumerate();
    let mut values: Vec<f64> = rows
        .filter(|(row, _)| fit.is_estimated(*row))
        .map(|(_, exposure)| exposure)
        .collect();
    let names = f64::from(u32::try_from(values.len()).unwrap_or(u32::MAX));
    let mean = values.iter().sum::<f64>() / names;
    for value in &mut values {
        *value -= mean;
    }
    let length = values.iter().map(|value| value * value).sum::<f64>().sqrt();
    let varies = ROUNDING * mean.abs().max(1.0) < length;
    if !varies {
        return Vec::new();
    }
    for value in &mut values {
        *value /= length;
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    const STYLES: [Factor; 3] = [Factor::Mom12_1, Factor::Rv60, Factor::Illiq];

    #[test]
    fn two_correlated_styles_inflate_each_other() {
        // 1 / (1 - 0.8^2), and nothing for the third.
        let correlation = [1.0, 0.8, 0.0, 0.8, 1.0, 0.0, 0.0, 0.0, 1.0];
        let kept = [0, 1, 2];
        let inflations: Vec<f64> = kept
            .iter()
            .map(|place| inflation(&correlation, 3, &kept, *place).unwrap())
            .collect();
        assert!((inflations[0] - 1.0 / 0.36).abs() < 1e-14 && (inflations[1] - 1.0 / 0.36).abs() < 1e-14);
        assert!((inflations[2] - 1.0).abs() < 1e-15);
        // Equal ones: the later is dropped.
        let round = step(&correlation, &STYLES, &kept, 2.0);
        assert_eq!(round.dropped, Some(Factor::Rv60));
        assert_eq!(step(&correlation, &STYLES, &kept, 3.0).dropped, None);
        assert_eq!(step(&correlation, &STYLES, &[0], 1.0).dropped, None);
    }

    #[test]
    fn styles_that_determine_each_other_are_infinite_and_go_first() {
        let correlation = [1.0, 0.5, 1.0, 0.5, 1.0, 0.5, 1.0, 0.5, 1.0];
        let kept = [0, 1, 2];
        let inflations: Vec<Option<f64>> = kept
            .iter()
            .map(|place| inflation(&correlation, 3, &kept, *place))
            .collect();
        assert_eq!((inflations[0], inflations[2]), (None, None));
        assert!((inflations[1].unwrap() - 1.0 / 0.75).abs() < 1e-14);
        assert_eq!(
            step(&correlation, &STYLES, &kept, 1e9).dropped,
            Some(Factor::Illiq)
        );
        assert_eq!(
            inflation(&correlation, 3, &[0, 1], 0),
            inflation(&correlation, 3, &[0, 1], 1)
        );
    }
}
