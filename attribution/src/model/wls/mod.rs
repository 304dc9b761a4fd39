//! Weighted least squares with a deterministic rank rule.
//!
//! Rows are scaled by the root of their weight, `beta = (X'VX)^-1 X'V y`. Columns are taken in the order given; one that
//! adds (almost) nothing to those before it is dropped, its coefficient is 0, and fitted values are the same as those of
//! any other solution. Several legs `y` share one factorisation.
//!
//! Two ways lead to the factor: a quick one over the Gram matrix, taken where no column is near another, and a
//! careful one by orthogonalisation. Tests hold them against each other.
//!
//! Source: docs/spec/factor-model.md#regression and #rank.

mod factorisation;
mod lanes;
mod products;
#[cfg(test)]
mod tests;
mod variation;

use factorisation::{Factorisation, add_row};
use products::Products;
use variation::{Variation, residual, take_weights};

/// Why there is no regression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WlsError {
    /// A column or leg has another length than the weights.
    #[error("{part} {place} has {rows} rows, but there are {expected_rows} weights")]
    Length {
        /// `column` or `leg`.
        part: &'static str,
        /// Its place.
        place: usize,
        /// Its rows.
        rows: usize,
        /// Rows of the weights.
        expected_rows: usize,
    },
    /// A row with a weight holds a value that is not finite, or one whose square is not.
    #[error("{part} {place} holds a value that is not finite in a row with a weight")]
    NotFinite {
        /// `column` or `leg`.
        part: &'static str,
        /// Its place.
        place: usize,
    },
    /// No more rows with a weight than columns that were kept: no variance is left to estimate.
    #[error("{rows} rows with a weight cannot tell {columns} columns and their errors")]
    TooFewRows {
        /// Rows with a weight that is finite and above 0.
        rows: usize,
        /// Columns kept.
        columns: usize,
    },
}

impl WlsError {
    /// How to fix it.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Length { .. } => "give every column and leg one value per row, in one order",
            Self::NotFinite { .. } => "give rows with missing values a weight of 0",
            Self::TooFewRows { .. } => "add rows, or take columns away",
        }
    }
}

/// A regression of several legs on the same columns.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Solution {
    /// Rows with a weight that is finite and above 0.
    pub observations: usize,
    /// Columns kept by the rank rule, ascending.
    pub kept: Vec<usize>,
    /// Coefficients by leg, then column; 0 for a dropped column.
    pub coefficients: Vec<Vec<f64>>,
    /// `y - X beta` by leg, then row, of all rows, those without a weight as well.
    pub residuals: Vec<Vec<f64>>,
    /// Residual variance of the first leg, `sum(v u^2) / (n - p)`.
    pub sigma_squared: f64,
    /// Weighted, centred R2 of the first leg; 0 where it does not vary.
    pub r_squared: f64,
    /// Classical standard errors of the first leg by column; `None` for a dropped column.
    pub standard_errors: Vec<Option<f64>>,
}

/// Fits regressions one after the other, with buffers that it keeps.
#[derive(Debug, Clone, Default)]
pub struct Solver {
    /// 0 for a row that is left out.
    weights: Vec<f64>,
    /// Copies of columns and legs with zeros in the rows that are left out, where those hold what is not finite.
    cleaned: Vec<Vec<f64>>,
    factorisation: Factorisation,
    solution: Solution,
}

/// Share of a leg's weighted squares up to which their sum about the mean is rounding: a deviation of 1e-12 of the mean.
const VARIATION: f64 = 1e-24;

/// Fits one regression; see [`Solver::fit`].
///
/// # Errors
/// As [`Solver::fit`].
pub fn wls(
    columns: &[&[f64]],
    legs: &[&[f64]],
    weights: &[f64],
    rank_tolerance: f64,
) -> Result<Solution, WlsError> {
    let mut solver = Solver::default();
    solver.fit(columns, legs, weights, rank_tolerance)?;
    Ok(solver.solution)
}

impl Solver {
    /// Regresses each of `legs` on `columns` (the intercept is a column of ones) under `weights`.
    ///
    /// A row whose weight is not finite and above 0 is left out; it has residuals all the same. `rank_tolerance`: the
    /// share of its own weighted norm squared up to which what is left of a column counts as nothing.
    ///
    /// # Errors
    /// [`WlsError`] when lengths differ, a row with a weight holds a value that is not finite, or rows are too few.
    pub fn fit(
        &mut self,
        columns: &[&[f64]],
        legs: &[&[f64]],
        weights: &[f64],
        rank_tolerance: f64,
    ) -> Result<&Solution, WlsError> {
        self.load(columns, legs, weights)?;
        if !self.factorisation.cholesky() {
            self.orthogonalise(columns, legs, rank_tolerance);
        }
        self.solve(columns, legs)
    }

    /// As [`Self::fit`], by orthogonalisation alone: slower, and the measure of the quick way.
    ///
    /// # Errors
    /// As [`Self::fit`].
    pub fn fit_by_gram_schmidt(
        &mut self,
        columns: &[&[f64]],
        legs: &[&[f64]],
        weights: &[f64],
        rank_tolerance: f64,
    ) -> Result<&Solution, WlsError> {
        self.load(columns, legs, weights)?;
        self.orthogonalise(columns, legs, rank_tolerance);
        self.solve(columns, legs)
    }

    /// The last regression.
    #[must_use]
    pub const fn solution(&self) -> &Solution {
        &self.solution
    }

    /// The HC1 (White) covariance of the first leg's coefficients, columns x columns, row by row, 0 for dropped columns.
    /// `columns` must be those of the last fit.
    #[must_use]
    pub fn covariance_hc1(&self, columns: &[&[f64]]) -> Vec<f64> {
        let solution = &self.solution;
        let (kept, size) = (&solution.kept, solution.kept.len());
        let residuals = solution.residuals.first().map_or(&[][..], Vec::as_slice);
        let score = |(weight, residual): (&f64, &f64)| {
            let score = weight * residual;
            if 0.0 < *weight { score * score } else { 0.0 }
        };
        let scores: Vec<f64> = self.weights.iter().zip(residuals).map(score).collect();
        let cleaned = self.cleaned.iter().map(Vec::as_slice);
        let all: Vec<&[f64]> = if self.cleaned.is_empty() {
            columns.to_vec()
        } else {
            cleaned.collect()
        };
        let chosen: Vec<&[f64]> = kept.iter().filter_map(|place| all.get(*place)).copied().collect();
        let mut meat = vec![0.0; size * size];
        Products::default().multiply(&chosen, &scores, size, &mut meat, size);
        mirror(&mut meat, size);
        let bread = self.factorisation.inverse_products();
        let rows = count(solution.observations);
        let correction = rows / (rows - count(size));
        let sandwich = multiplied(&multiplied(&bread, &meat, size), &bread, size);
        spread_out(&sandwich, kept, columns.len(), correction)
    }

    /// `(X'VX)^-1` of the last fit, columns x columns, row by row, 0 for dropped columns.
    #[must_use]
    pub fn inverse_products(&self) -> Vec<f64> {
        let columns = self.solution.standard_errors.len();
        spread_out(
            &self.factorisation.inverse_products(),
            &self.solution.kept,
            columns,
            1.0,
        )
    }

    fn load(&mut self, columns: &[&[f64]], legs: &[&[f64]], weights: &[f64]) -> Result<(), WlsError> {
        check_lengths("column", columns, weights.len())?;
        check_lengths("leg", legs, weights.len())?;
        take_weights(weights, &mut self.weights);
        self.cleaned.clear();
        let all = [columns, legs].concat();
        if self
            .factorisation
            .multiply(&all, &self.weights, legs.len())
            .is_ok()
        {
            return Ok(());
        }
        // A row that is left out may hold anything, but nothing times what is not finite is not nothing.
        self.cleaned = all.iter().map(|column| cleaned(column, &self.weights)).collect();
        let all: Vec<&[f64]> = self.cleaned.iter().map(Vec::as_slice).collect();
        let products = self.factorisation.multiply(&all, &self.weights, legs.len());
        products.map_err(|place| {
            let leg = place.checked_sub(columns.len());
            let (part, place) = leg.map_or(("column", place), |leg| ("leg", leg));
            WlsError::NotFinite { part, place }
        })
    }

    fn orthogonalise(&mut self, columns: &[&[f64]], legs: &[&[f64]], rank_tolerance: f64) {
        let roots: Vec<f64> = self.weights.iter().map(|weight| weight.sqrt()).collect();
        let weighted = |column: &[f64]| {
            let rows = column.iter().zip(&roots);
            rows.map(|(value, root)| if 0.0 < *root { value * root } else { 0.0 })
                .collect()
        };
        let all = columns.iter().chain(legs);
        let weighted: Vec<Vec<f64>> = all.map(|column| weighted(column)).collect();
        self.factorisation.gram_schmidt(&weighted, rank_tolerance);
    }

    fn solve(&mut self, columns: &[&[f64]], legs: &[&[f64]]) -> Result<&Solution, WlsError> {
        let observations = self.weights.iter().filter(|weight| 0.0 < **weight).count();
        let kept = &self.factorisation.kept;
        if observations <= kept.len() {
            return Err(WlsError::TooFewRows {
                rows: observations,
                columns: kept.len(),
            });
        }
        let Solution {
            coefficients,
            residuals,
            ..
        } = &mut self.solution;
        coefficients.resize(legs.len(), Vec::new());
        residuals.resize(legs.len(), Vec::new());
        let into = coefficients.iter_mut().zip(residuals);
        for ((place, leg), (coefficients, left)) in legs.iter().enumerate().zip(into) {
            coefficients.clear();
            coefficients.resize(columns.len(), 0.0);
            for (column, value) in kept.iter().zip(self.factorisation.coefficients(place)) {
                if let Some(cell) = coefficients.get_mut(*column) {
                    *cell = *value;
                }
            }
            residual(leg, columns, coefficients, left);
        }
        self.judge(columns.len(), legs, observations);
        Ok(&self.solution)
    }

    /// Variances and errors of the solution.
    fn judge(&mut self, columns: usize, legs: &[&[f64]], observations: usize) {
        let Variation {
            squares,
            total,
            unexplained,
        } = self.variation(columns, legs);
        let kept = &self.factorisation.kept;
        let solution = &mut self.solution;
        solution.observations = observations;
        solution.kept.clone_from(kept);
        solution.sigma_squared = unexplained / (count(observations) - count(kept.len()));
        // Rounding moves equal returns apart by 1e-16 of themselves.
        let varies = VARIATION * squares < total;
        solution.r_squared = if varies { 1.0 - unexplained / total } else { 0.0 };
        solution.standard_errors.clear();
        solution.standard_errors.resize(columns, None);
        for (place, cell) in kept.iter().zip(self.factorisation.inverse_diagonal()) {
            if let Some(error) = solution.standard_errors.get_mut(*place) {
                *error = Some((solution.sigma_squared * cell).sqrt());
            }
        }
    }

    /// How much of the first leg there is, and is left.
    fn variation(&self, columns: usize, legs: &[&[f64]]) -> Variation {
        let leg = legs.first().copied().unwrap_or(&[]);
        let left = self.solution.residuals.first().map_or(&[][..], Vec::as_slice);
        match self.cleaned.get(columns) {
            Some(leg) => Variation::new(leg, &cleaned(left, &self.weights), &self.weights),
            None => Variation::new(leg, left, &self.weights),
        }
    }
}

fn check_lengths(part: &'static str, columns: &[&[f64]], expected_rows: usize) -> Result<(), WlsError> {
    let wrong = columns
        .iter()
        .enumerate()
        .find(|(_, column)| column.len() != expected_rows);
    wrong.map_or(Ok(()), |(place, column)| {
        Err(WlsError::Length {
            part,
            place,
            rows: column.len(),
            expected_rows,
        })
    })
}

/// A copy of a column with zeros in the rows without a weight.
fn cleaned(column: &[f64], weights: &[f64]) -> Vec<f64> {
    let rows = column.iter().zip(weights);
    rows.map(|(value, weight)| if 0.0 < *weight { *value } else { 0.0 })
        .collect()
}

/// A number of rows or columns, as a divisor; exact up to 2^32.
fn count(items: usize) -> f64 {
    u32::try_from(items).map_or(f64::from(u32::MAX), f64::from)
}

/// Makes a square matrix whole from its upper triangle.
fn mirror(matrix: &mut [f64], size: usize) {
    for row in 0..size {
        for column in 0..row {
            let above = matrix.get(column * size + row).copied().unwrap_or(0.0);
            if let Some(below) = matrix.get_mut(row * size + column) {
                *below = above;
            }
        }
    }
}

/// The product of two square matrices, row by row.
fn multiplied(left: &[f64], right: &[f64], size: usize) -> Vec<f64> {
    let mut product = vec![0.0; left.len()];
    let size = size.max(1);
    for (cells, row) in product.chunks_exact_mut(size).zip(left.chunks_exact(size)) {
        for (scale, other) in row.iter().zip(right.chunks_exact(size)) {
            add_row(cells, other, *scale);
        }
    }
    product
}

/// Puts the cells of the kept columns, times `scale`, into a matrix of all columns.
fn spread_out(cells: &[f64], kept: &[usize], columns: usize, scale: f64) -> Vec<f64> {
    let mut whole = vec![0.0; columns * columns];
    for (row, place) in cells.chunks_exact(kept.len().max(1)).zip(kept) {
        for (cell, other) in row.iter().zip(kept) {
            if let Some(target) = whole.get_mut(place * columns + other) {
                *target = cell * scale;
            }
        }
    }
    whole
}
