//! The factor model under other returns: what a simulation of known truth is fitted with.

use super::day_fit::{DayFit, DayStatus};
use super::error::ModelError;
use super::factor_model::FactorModel;
use super::name_cells::NameCells;
use super::wls::Solver;

/// Returns of all names on one day: close to close, and overnight.
pub(crate) type ReturnLegs = [Vec<f64>; 2];

impl FactorModel {
    /// The model under other returns, one pair of legs a day: factor returns are fitted on the exposures of `self`, and
    /// specific returns are those through the exposures of `shown`. Weights, sets and thin days stay.
    ///
    /// # Errors
    /// [`ModelError::Regression`] where a day cannot be fitted.
    pub(crate) fn refitted(&self, shown: &Self, returns: &[ReturnLegs]) -> Result<Self, ModelError> {
        let mut solver = Solver::default();
        let tolerance = self.config().rank_tolerance;
        let days = self.fits().iter().zip(shown.fits()).zip(returns);
        let fits = days.map(|((own, shown), legs)| own.refitted(shown, legs, (&mut solver, tolerance)));
        Ok(shown.with_fits(fits.collect::<Result<_, _>>()?))
    }
}

impl DayFit {
    fn refitted(
        &self,
        shown: &Self,
        legs: &ReturnLegs,
        (solver, tolerance): (&mut Solver, f64),
    ) -> Result<Self, ModelError> {
        if self.status == DayStatus::Thin {
            return Ok(shown.clone());
        }
        let ones = vec![1.0; self.names()];
        let styles: Vec<Vec<f64>> = (0..self.styles())
            .map(|style| self.style_exposures(style).collect())
            .collect();
        let columns: Vec<&[f64]> = std::iter::once(&ones).chain(&styles).map(Vec::as_slice).collect();
        let weights: Vec<f64> = self
            .weights
            .iter()
            .zip(&self.estimation)
            .map(|(weight, is_in)| if *is_in { *weight } else { 0.0 })
            .collect();
        let [whole, overnight] = legs;
        let solution = solver
            .fit(&columns, &[whole, overnight], &weights, tolerance)
            .map_err(|error| ModelError::Regression { day: self.day, error })?;
        let exposures: Vec<f64> = (0..shown.styles())
            .flat_map(|style| shown.style_exposures(style))
            .collect();
        let covered: Vec<bool> = (0..shown.names()).map(|row| shown.is_covered(row)).collect();
        let residuals: Vec<Vec<f64>> = legs
            .iter()
            .zip(&solution.coefficients)
            .map(|(leg, coefficients)| left(leg, coefficients, &exposures))
            .collect();
        let fit = Self {
            factor_returns: with_intraday(&solution.coefficients),
            cells: NameCells::new(
                &covered,
                &exposures,
                &with_intraday(&residuals),
                &with_intraday(legs),
            ),
            r_squared: solution.r_squared,
            sigma_squared: solution.sigma_squared,
            ..shown.clone()
        };
        Ok(fit.with_sector_sums())
    }
}

/// Returns less what the factors explain through exposures, style by style.
fn left(returns: &[f64], coefficients: &[f64], exposures: &[f64]) -> Vec<f64> {
    let common = coefficients.first().copied().unwrap_or(0.0);
    let mut left: Vec<f64> = returns.iter().map(|daily| daily - common).collect();
    let columns = exposures.chunks_exact(returns.len().max(1));
    for (column, coefficient) in columns.zip(coefficients.iter().skip(1)) {
        for (left, exposure) in left.iter_mut().zip(column) {
            *left -= coefficient * exposure;
        }
    }
    left
}

/// Close to close, overnight, and the rest of the day.
fn with_intraday(legs: &[Vec<f64>]) -> [Vec<f64>; 3] {
    let mut both = legs.iter().cloned();
    let whole = both.next().unwrap_or_default();
    let overnight = both.next().unwrap_or_default();
    let rest = whole.iter().zip(&overnight).map(|(whole, part)| whole - part);
    let intraday = rest.collect();
    [whole, overnight, intraday]
}
