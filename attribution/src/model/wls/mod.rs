//! Weighted least squares with a deterministic rank rule.
//!
//! Rows are scaled by the root of their weight, `beta = (X'VX)^-1 X'V y`. Columns are taken in the order given; one that
//! adds (almost) nothing to those before it is dropped, its coefficient is 0, and fitted values are the same as those of
//! any other solution. Several legs `y` share one factorisation.
//!
//! Two ways lead to the factor: a quick one over the Gram matrix, taken where no column is near another, and a
//! careful one by orthogonalisation. Tests hold them against each other.
//!
//! Source: attribution.md, section 1 (equation 1, rank deficiency, Numerics).

mod columns;
mod factorisation;

use columns::{Columns, Triangle, product, weigh};
use factorisation::{Factorisation, add_row};

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
    /// How to mend it.
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
#[derive(Debug, Clone, PartialEq)]
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
    /// `(X'VX)^-1` of the kept columns, row by row.
    pub unscaled_covariance: Vec<f64>,
}

impl Solution {
    /// Classical standard errors of the first leg by column; `None` for a dropped column.
    ///
    /// `columns`: how many there were.
    #[must_use]
    pub fn standard_errors(&self, columns: usize) -> Vec<Option<f64>> {
        let size = self.kept.len();
        let mut errors = vec![None; columns];
        let diagonal = self.unscaled_covariance.iter().step_by(size + 1);
        for (column, cell) in self.kept.iter().zip(diagonal) {
            if let Some(error) = errors.get_mut(*column) {
                *error = Some((self.sigma_squared * cell).sqrt());
            }
        }
        errors
    }
}

/// Fits regressions one after the other, with buffers that it keeps.
#[derive(Debug, Clone, Default)]
pub struct Solver {
    roots: Vec<f64>,
    weighted: Columns,
    table: Triangle,
}

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
    Solver::default().fit(columns, legs, weights, rank_tolerance)
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
    ) -> Result<Solution, WlsError> {
        check_lengths("column", columns, weights.len())?;
        check_lengths("leg", legs, weights.len())?;
        self.load(columns, legs, weights)?;
        let quick = Factorisation::cholesky(&self.table, columns.len());
        let factorisation = quick.unwrap_or_else(|| {
            Factorisation::gram_schmidt(&self.weighted, columns.len(), legs.len(), rank_tolerance)
        });
        self.solve(&factorisation, columns, legs)
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
    ) -> Result<Solution, WlsError> {
        check_lengths("column", columns, weights.len())?;
        check_lengths("leg", legs, weights.len())?;
        self.load(columns, legs, weights)?;
        let factorisation =
            Factorisation::gram_schmidt(&self.weighted, columns.len(), legs.len(), rank_tolerance);
        self.solve(&factorisation, columns, legs)
    }

    /// The HC1 (White) covariance of the first leg's coefficients, `columns` x `columns`, row by row, 0 for dropped
    /// columns. `solution` must be the last one fitted.
    pub fn covariance_hc1(&mut self, solution: &Solution, columns: usize) -> Vec<f64> {
        let residuals = solution.residuals.first().map_or(&[][..], Vec::as_slice);
        let errors = weigh(residuals, &self.roots);
        let mut scores = Columns::default();
        scores.reset(self.roots.len());
        for place in &solution.kept {
            scores.push_product(self.weighted.column(*place), &errors);
        }
        let size = solution.kept.len();
        scores.products(size, &mut self.table);
        let meat = mirrored(&self.table, size);
        let bread = &solution.unscaled_covariance;
        let rows = count(solution.observations);
        let correction = rows / (rows - count(size));
        let sandwich = multiplied(&multiplied(bread, &meat, size), bread, size);
        spread_out(&sandwich, &solution.kept, columns, correction)
    }

    fn load(&mut self, columns: &[&[f64]], legs: &[&[f64]], weights: &[f64]) -> Result<(), WlsError> {
        self.roots.clear();
        // The root of what is no weight is not read: such a row's root is 0.
        let root = |weight: f64| {
            if 0.0 < weight && weight <= f64::MAX {
                weight.sqrt()
            } else {
                0.0
            }
        };
        self.roots.extend(weights.iter().map(|weight| root(*weight)));
        self.weighted.reset(weights.len());
        for values in columns.iter().chain(legs) {
            self.weighted.push(values, &self.roots);
        }
        self.weighted
            .products(columns.len() + legs.len(), &mut self.table);
        let own = self.table.rows().enumerate();
        let wrong = own
            .filter_map(|(place, row)| Some((place, *row.get(place)?)))
            .find(|(_, own)| !own.is_finite());
        wrong.map_or(Ok(()), |(place, _)| {
            Err(place.checked_sub(columns.len()).map_or(
                WlsError::NotFinite {
                    part: "column",
                    place,
                },
                |place| WlsError::NotFinite { part: "leg", place },
            ))
        })
    }

    fn solve(
        &self,
        factorisation: &Factorisation,
        columns: &[&[f64]],
        legs: &[&[f64]],
    ) -> Result<Solution, WlsError> {
        let observations = self.roots.iter().filter(|root| 0.0 < **root).count();
        let kept = factorisation.kept.clone();
        if observations <= kept.len() {
            return Err(WlsError::TooFewRows {
                rows: observations,
                columns: kept.len(),
            });
        }
        let mut coefficients = Vec::with_capacity(legs.len());
        let mut residuals = Vec::with_capacity(legs.len());
        for (leg, projected) in legs.iter().zip(&factorisation.projected) {
            let mut all = vec![0.0; columns.len()];
            for (column, value) in kept.iter().zip(factorisation.coefficients(projected)) {
                if let Some(cell) = all.get_mut(*column) {
                    *cell = value;
                }
            }
            residuals.push(residual(leg, columns, &all));
            coefficients.push(all);
        }
        let left = residuals.first().map_or(&[][..], Vec::as_slice);
        let leg = legs.first().copied().unwrap_or(&[]);
        let unexplained = self.weighted_squares(left, 0.0);
        let total = self.weighted_squares(leg, self.weighted_mean(leg));
        Ok(Solution {
            observations,
            sigma_squared: unexplained / (count(observations) - count(kept.len())),
            r_squared: if 0.0 < total {
                1.0 - unexplained / total
            } else {
                0.0
            },
            unscaled_covariance: factorisation.unscaled_covariance(),
            kept,
            coefficients,
            residuals,
        })
    }

    fn weighted_mean(&self, values: &[f64]) -> f64 {
        let weighted = weigh(values, &self.roots);
        let roots = weigh(&self.roots, &self.roots);
        let ones = weigh(&vec![1.0; values.len()], &self.roots);
        product(&weighted, &ones) / roots.iter().flatten().sum::<f64>()
    }

    /// Sum of `v (value - center)^2` over rows with a weight.
    fn weighted_squares(&self, values: &[f64], center: f64) -> f64 {
        let centered: Vec<f64> = values.iter().map(|value| value - center).collect();
        let weighted = weigh(&centered, &self.roots);
        product(&weighted, &weighted)
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

/// A number of rows or columns, as a divisor; exact up to 2^32.
fn count(items: usize) -> f64 {
    u32::try_from(items).map_or(f64::from(u32::MAX), f64::from)
}

/// `leg - columns * coefficients`, four columns in one pass.
fn residual(leg: &[f64], columns: &[&[f64]], coefficients: &[f64]) -> Vec<f64> {
    let mut left = leg.to_vec();
    for (columns, factors) in columns.chunks(4).zip(coefficients.chunks(4)) {
        if let ([a, b, c, d], [fa, fb, fc, fd]) = (columns, factors) {
            let rows = a.iter().zip(*b).zip(*c).zip(*d);
            for (left, (((a, b), c), d)) in left.iter_mut().zip(rows) {
                *left -= (a * fa + b * fb) + (c * fc + d * fd);
            }
        } else {
            for (column, factor) in columns.iter().zip(factors) {
                add_row(&mut left, column, -factor);
            }
        }
    }
    left
}

/// The whole matrix of a lower triangle.
fn mirrored(table: &Triangle, size: usize) -> Vec<f64> {
    let mut whole = vec![0.0; size * size];
    for (place, row) in table.rows().enumerate() {
        for (other, cell) in row.iter().enumerate().take(place + 1) {
            for at in [place * size + other, other * size + place] {
                if let Some(target) = whole.get_mut(at) {
                    *target = *cell;
                }
            }
        }
    }
    whole
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
