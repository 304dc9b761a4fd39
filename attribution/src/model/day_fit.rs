//! One day's cross-sectional regression, and what it says of each name.

use super::name_cells::{NameCells, NameFit};
use ktd_env::factors::CrossSection;

/// Which part of a day's return. The two parts add up to the whole, on one base, and so do their fits, because the
/// regression is linear in the return.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Leg {
    /// From the mark of the day before to the mark of the day.
    CloseToClose,
    /// From the mark of the day before to the open; 0 on a day without trade.
    Overnight,
    /// The rest of the day: close to close less overnight.
    Intraday,
}

impl Leg {
    /// All legs, in the order of the golden tables.
    pub const ALL: [Self; 3] = [Self::CloseToClose, Self::Overnight, Self::Intraday];

    /// Its place in [`Self::ALL`].
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// Whether a day has a fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DayStatus {
    /// The regression was run.
    Fitted,
    /// The estimation set was below the smallest cross-section: nothing is covered, and all P&L of the day is
    /// unattributed.
    Thin,
}

/// Sectors as of the day before, and what their names' selection adds up to.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct SectorSums {
    /// The sector of each row; empty where the panel has none.
    pub(super) of_row: Vec<Option<u16>>,
    /// By sector: names of the estimation set, and the sum of their selection by leg.
    pub(super) sums: Vec<(usize, [f64; 3])>,
}

impl SectorSums {
    pub(super) const fn new(of_row: Vec<Option<u16>>) -> Self {
        Self {
            of_row,
            sums: Vec::new(),
        }
    }
}

/// The least that a row leaves of its own return where it can be left out: below it, it alone decides a factor.
const LEAST_LEFT: f64 = 1e-6;

/// The regression of one return day on exposures of the day before.
///
/// Rows are the names of the panel, in its order; columns are the common factor (the intercept, column 0) and then the
/// style factors of the model, in the order of its configuration. A dropped column has a factor return of 0.
#[derive(Debug, Clone, PartialEq)]
pub struct DayFit {
    /// Place of the return day in the panel's calendar.
    pub day: usize,
    /// Whether there is a fit.
    pub status: DayStatus,
    /// Names in the estimation set.
    pub estimation_names: usize,
    /// Exposures of the estimation set that were missing and imputed.
    pub imputed: usize,
    /// Weighted, centred R2 of the close-to-close leg; NaN-free: 0 on a thin day or where returns do not vary.
    pub r_squared: f64,
    /// Residual variance of the close-to-close leg, sum(v u^2) / (n - p).
    pub sigma_squared: f64,
    /// Factor returns by leg, then column.
    pub(super) factor_returns: [Vec<f64>; 3],
    /// Classical standard errors of the close-to-close leg by column; `None` for a dropped column.
    pub(super) standard_errors: Vec<Option<f64>>,
    /// HC1 (White) covariance of the close-to-close factor returns, columns x columns, row-major; 0 for dropped columns.
    pub(super) covariance_hc1: Vec<f64>,
    /// `(X'VX)^-1`, columns x columns, row-major; empty where names are not left out.
    pub(super) inverse_products: Vec<f64>,
    /// Exposures, residuals and returns, name after name.
    pub(super) cells: NameCells,
    /// Whether a row is in the estimation set.
    pub(super) estimation: Vec<bool>,
    /// Regression weight by row; 0 where it is not defined.
    pub(super) weights: Vec<f64>,
    /// Sectors, and what they selected.
    pub(super) sectors: SectorSums,
    /// How each style was standardised.
    pub(super) scales: Vec<CrossSection>,
    /// Columns kept by the rank rule, ascending; column 0 is the intercept.
    pub(super) kept: Vec<usize>,
}

impl DayFit {
    /// Rows: the names of the panel.
    #[must_use]
    pub const fn names(&self) -> usize {
        self.estimation.len()
    }

    /// Style factors of the model, the intercept apart.
    #[must_use]
    pub fn styles(&self) -> usize {
        self.columns().saturating_sub(1)
    }

    /// Columns of the regression: the intercept and the styles.
    #[must_use]
    pub const fn columns(&self) -> usize {
        self.factor_returns[0].len()
    }

    /// The return of a factor on a leg; column 0 is the common factor. 0 for a column that was dropped.
    #[must_use]
    pub fn factor_return(&self, column: usize, leg: Leg) -> f64 {
        let returns = self.factor_returns.get(leg.index());
        returns
            .and_then(|returns| returns.get(column))
            .copied()
            .unwrap_or(0.0)
    }

    /// The returns of all factors on a leg, the common factor first.
    #[must_use]
    pub fn leg_returns(&self, leg: Leg) -> &[f64] {
        self.factor_returns.get(leg.index()).map_or(&[], Vec::as_slice)
    }

    /// What the fit says of a row; `None` for one that is not there.
    #[must_use]
    pub fn name(&self, row: usize) -> Option<NameFit<'_>> {
        self.cells.name(row)
    }

    /// Z-scored exposure of a row to a style, as of the day before.
    #[must_use]
    pub fn exposure(&self, row: usize, style: usize) -> f64 {
        self.name(row).map_or(0.0, |name| name.exposure(style))
    }

    /// The exposures of all rows to one style, as of the day before.
    pub fn style_exposures(&self, style: usize) -> impl Iterator<Item = f64> {
        self.cells.names().map(move |name| name.exposure(style))
    }

    /// A row's return on a leg, whether it is covered or not; 0 where it has no mark on both ends.
    #[must_use]
    pub fn name_return(&self, row: usize, leg: Leg) -> f64 {
        let returns = self.name(row).map(|name| name.returns());
        returns
            .and_then(|legs| legs.get(leg.index()).copied())
            .unwrap_or(0.0)
    }

    /// A covered row's specific return on a leg; 0 for a row that is not covered.
    #[must_use]
    pub fn specific_return(&self, row: usize, leg: Leg) -> f64 {
        let covered = self.name(row).filter(NameFit::is_covered);
        let specific = covered.map(|name| name.specific());
        specific
            .and_then(|legs| legs.get(leg.index()).copied())
            .unwrap_or(0.0)
    }

    /// What a row moves of the factors that explain it, column by column: of each of its returns so many of its residuals were
    /// taken for common and style, which without the row had not been. Nothing for a row outside the regression, for one
    /// that alone decides a factor, and where names are not left out.
    ///
    /// With a leverage `h` of the row, v x' (X'VX)^-1 x, they add up to h / (1 - h).
    #[must_use]
    pub fn own_influence(&self, row: usize) -> Option<Vec<f64>> {
        let name = self.name(row).filter(|_| self.is_estimated(row))?;
        let weight = self.weight(row).filter(|_| !self.inverse_products.is_empty())?;
        let loadings: Vec<f64> = std::iter::once(1.0)
            .chain((0..self.styles()).map(|style| name.exposure(style)))
            .collect();
        let moved = self.inverse_products.chunks_exact(self.columns().max(1));
        let shares = loadings.iter().zip(moved).map(|(own, row)| {
            let moved = row.iter().zip(&loadings).map(|(cell, other)| cell * other);
            weight * own * moved.sum::<f64>()
        });
        let shares: Vec<f64> = shares.collect();
        let left = 1.0 - shares.iter().sum::<f64>();
        (LEAST_LEFT < left).then(|| shares.into_iter().map(|share| share / left).collect())
    }

    /// What of a row's return is selection on a leg: its specific return, by the model's rule of residuals; 0 for a row that is
    /// not covered.
    #[must_use]
    pub fn selection_return(&self, row: usize, leg: Leg) -> f64 {
        let influence = self.own_influence(row).unwrap_or_default();
        self.specific_return(row, leg) * (1.0 + influence.iter().sum::<f64>())
    }

    /// Whether the row's return is split into common, style and specific.
    #[must_use]
    pub fn is_covered(&self, row: usize) -> bool {
        self.name(row).is_some_and(|name| name.is_covered())
    }

    /// Whether the row was used to estimate.
    #[must_use]
    pub fn is_estimated(&self, row: usize) -> bool {
        self.estimation.get(row).copied().unwrap_or(false)
    }

    /// The row's regression weight.
    #[must_use]
    pub fn weight(&self, row: usize) -> Option<f64> {
        self.weights.get(row).copied().filter(|weight| 0.0 < *weight)
    }

    /// How a style was standardised on the day: its median, limits, mean and deviation, and how many were clipped.
    #[must_use]
    pub fn scale(&self, style: usize) -> Option<&CrossSection> {
        self.scales.get(style)
    }

    /// Columns kept by the rank rule, ascending; column 0 is the intercept.
    #[must_use]
    pub fn kept(&self) -> &[usize] {
        &self.kept
    }

    /// Classical standard error of a close-to-close factor return; `None` for a dropped column.
    #[must_use]
    pub fn standard_error(&self, column: usize) -> Option<f64> {
        self.standard_errors.get(column).copied().flatten()
    }

    /// HC1 standard error of a close-to-close factor return; `None` for a dropped column.
    #[must_use]
    pub fn standard_error_hc1(&self, column: usize) -> Option<f64> {
        let variance = *self.covariance_hc1.get(column * self.columns() + column)?;
        self.kept.contains(&column).then(|| variance.sqrt())
    }

    /// Variance of a portfolio's common and style part from the fit's own uncertainty: `g' C g`, with C the HC1
    /// covariance of the factor returns, and `loadings` g the covered weight and then the weighted exposures.
    #[must_use]
    pub fn loading_variance_hc1(&self, loadings: &[f64]) -> f64 {
        let rows = self.covariance_hc1.chunks_exact(self.columns().max(1));
        rows.zip(loadings)
            .map(|(row, own)| {
                own * row
                    .iter()
                    .zip(loadings)
                    .map(|(cell, other)| cell * other)
                    .sum::<f64>()
            })
            .sum()
    }
}
