//! Whether the factor model explains anything: what a reader checks before believing an attribution.
//!
//! Source: docs/spec/factor-model.md#errors.

use super::day_fit::{DayFit, DayStatus, Leg};
use super::error::ModelError;
use super::factor_model::FactorModel;
use crate::panel::Panel;
use ktd_env::factors::{Factor, mean_amount};

/// The absolute t above which a factor return is counted as distinct from zero.
const TELLING_T: f64 = 2.0;

/// One day's regression in a few numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DayHealth {
    /// Place of the return day in the calendar.
    pub day: usize,
    /// Whether there is a fit.
    pub status: DayStatus,
    /// Weighted, centred R2; 0 on a thin day.
    pub r_squared: f64,
    /// Names in the estimation set.
    pub estimation_names: usize,
    /// Missing exposures of the estimation set that were imputed.
    pub imputed: usize,
    /// Columns that the rank rule dropped.
    pub dropped_columns: usize,
}

/// One column of the regression over all fitted days, close to close.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnHealth {
    /// The style; `None` for the common factor.
    pub style: Option<Factor>,
    /// Mean factor return a day (Fama and `MacBeth` 1973), over the days on which it was kept; `None` without any.
    pub mean_return: Option<f64>,
    /// Factor returns of the days on which it was kept, oldest first: what a t of the mean is made of.
    pub returns: Vec<f64>,
    /// Mean absolute t of the day's factor return, by classical standard errors.
    pub mean_absolute_t: Option<f64>,
    /// Share of days with an absolute t above 2.
    pub share_telling: Option<f64>,
    /// Fitted days on which the rank rule dropped it.
    pub dropped_days: usize,
}

/// How residual variance falls with size: the slope g of `ln u^2` on the log of the mean amount traded, within days.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VarianceSlope {
    /// The slope g, each day's means taken off, as calm and hurried days differ in both. Feasible generalised least squares would
    /// weigh by the amount to the power -g, for which the benchmark takes 0.5.
    pub slope: f64,
    /// Name-days it is made of.
    pub observations: usize,
}

/// The health of a model over its days.
#[derive(Debug, Clone, PartialEq)]
pub struct Health {
    /// Day by day.
    pub days: Vec<DayHealth>,
    /// The common factor, then the styles in the order of the configuration.
    pub columns: Vec<ColumnHealth>,
    /// Mean R2 over fitted days; `None` without any.
    pub mean_r_squared: Option<f64>,
    /// Days without a fit.
    pub thin_days: usize,
    /// Whether the weights suit the residuals; `None` where amounts or residuals do not vary.
    pub variance_slope: Option<VarianceSlope>,
}

impl FactorModel {
    /// The health of the model; `panel` is the one it was fitted on.
    ///
    /// # Errors
    /// [`ModelError::Days`] when the panel does not hold the model's days, or [`ModelError::Factor`] when it holds other
    /// columns than a series needs.
    pub fn health(&self, panel: &Panel) -> Result<Health, ModelError> {
        let days: Vec<DayHealth> = self.fits().iter().map(DayHealth::new).collect();
        let fitted: Vec<&DayFit> = self
            .fits()
            .iter()
            .filter(|fit| fit.status == DayStatus::Fitted)
            .collect();
        let styles = self.config().styles.iter().copied().map(Some);
        let columns = std::iter::once(None)
            .chain(styles)
            .enumerate()
            .map(|(column, style)| ColumnHealth::new(style, column, &fitted));
        let r_squared: Vec<f64> = fitted.iter().map(|fit| fit.r_squared).collect();
        Ok(Health {
            thin_days: days.len() - fitted.len(),
            columns: columns.collect(),
            mean_r_squared: mean(&r_squared),
            variance_slope: self.variance_slope(panel)?,
            days,
        })
    }

    fn variance_slope(&self, panel: &Panel) -> Result<Option<VarianceSlope>, ModelError> {
        let (days, held) = (self.days(), panel.days());
        if days.start <= held.start || held.end < days.end {
            return Err(ModelError::Days {
                start: days.start,
                end: days.end,
                first: held.start + 1,
                last: held.end,
            });
        }
        let known = days.start - 1 - held.start..days.end - 1 - held.start;
        let amounts = (0..panel.names())
            .map(|name| mean_amount(&panel.series(name), self.config().weight_window, known.clone()))
            .collect::<Result<Vec<_>, _>>()?;
        let mut sums = SlopeSums::default();
        for (place, fit) in self.fits().iter().enumerate() {
            let rows = amounts
                .iter()
                .enumerate()
                .filter(|(row, _)| fit.is_estimated(*row));
            let points = rows.filter_map(|(row, amounts)| {
                let residual = fit.specific_return(row, Leg::CloseToClose);
                let point = (libm::log(*amounts.get(place)?), libm::log(residual * residual));
                (point.0.is_finite() && point.1.is_finite()).then_some(point)
            });
            sums.add_day(&points.collect::<Vec<_>>());
        }
        Ok(sums.slope())
    }
}

impl DayHealth {
    fn new(fit: &DayFit) -> Self {
        let dropped = fit.columns() - fit.kept().len();
        Self {
            day: fit.day,
            status: fit.status,
            r_squared: fit.r_squared,
            estimation_names: fit.estimation_names,
            imputed: fit.imputed,
            dropped_columns: if fit.status == DayStatus::Fitted {
                dropped
            } else {
                0
            },
        }
    }
}

impl ColumnHealth {
    fn new(style: Option<Factor>, column: usize, fitted: &[&DayFit]) -> Self {
        let kept: Vec<&DayFit> = fitted
            .iter()
            .copied()
            .filter(|fit| fit.kept().contains(&column))
            .collect();
        let value = |fit: &DayFit| fit.factor_return(column, Leg::CloseToClose);
        let returns: Vec<f64> = kept.iter().map(|fit| value(fit)).collect();
        let ratios: Vec<f64> = kept
            .iter()
            .filter_map(|fit| Some(value(fit).abs() / fit.standard_error(column)?))
            .filter(|ratio| ratio.is_finite())
            .collect();
        let telling = ratios
            .iter()
            .map(|ratio| f64::from(u8::from(TELLING_T < *ratio)))
            .collect::<Vec<_>>();
        Self {
            style,
            mean_return: mean(&returns),
            mean_absolute_t: mean(&ratios),
            share_telling: mean(&telling),
            dropped_days: fitted.len() - kept.len(),
            returns,
        }
    }
}

/// Sums of products within days.
#[derive(Default)]
struct SlopeSums {
    crossed: f64,
    squares: f64,
    observations: usize,
}

impl SlopeSums {
    fn add_day(&mut self, points: &[(f64, f64)]) {
        let (amounts, residuals): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
        let (Some(amount_mean), Some(residual_mean)) = (mean(&amounts), mean(&residuals)) else {
            return;
        };
        for (amount, residual) in points {
            self.crossed += (amount - amount_mean) * (residual - residual_mean);
            self.squares += (amount - amount_mean) * (amount - amount_mean);
        }
        self.observations += points.len();
    }

    fn slope(&self) -> Option<VarianceSlope> {
        let slope = self.crossed / self.squares;
        (0.0 < self.squares && slope.is_finite()).then_some(VarianceSlope {
            slope,
            observations: self.observations,
        })
    }
}

/// The mean; `None` of nothing.
fn mean(values: &[f64]) -> Option<f64> {
    let count = f64::from(u32::try_from(values.len()).unwrap_or(u32::MAX));
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slope_is_that_within_days() {
        // ln u^2 = -0.5 ln amount on both days, at other levels.
        let mut sums = SlopeSums::default();
        sums.add_day(&[(1.0, -0.5), (3.0, -1.5), (5.0, -2.5)]);
        sums.add_day(&[(11.0, 4.5), (13.0, 3.5)]);
        sums.add_day(&[]);
        let slope = sums.slope().unwrap();
        assert!((slope.slope + 0.5).abs() < 1e-15);
        assert_eq!(slope.observations, 5);
        assert_eq!(SlopeSums::default().slope(), None);
    }
}
