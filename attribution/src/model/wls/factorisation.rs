//! The triangular factor of the weighted columns, by either of two ways that must agree.

use super::columns::{Columns, Triangle, copy, product, take_off};

/// Least share of its own weighted norm squared that a column must keep after projection, for the quick way to be
/// taken (attribution.md, section 1, Numerics).
const SAFE_PIVOT_RATIO: f64 = 1e-6;

/// What a regression needs to know of its columns: `A = Q L'` for the kept columns of the weighted design `A`.
#[derive(Debug, Clone)]
pub(super) struct Factorisation {
    /// Kept columns, ascending.
    pub(super) kept: Vec<usize>,
    /// `L^-1`, row by row, `kept` x `kept`, zero above the diagonal.
    pub(super) inverse: Vec<f64>,
    /// `Q' b` of each leg `b`.
    pub(super) projected: Vec<Vec<f64>>,
}

/// `L` row by row; row `i` has `i + 1` cells.
type Lower = Vec<Vec<f64>>;

fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter()
        .zip(right)
        .fold(0.0, |sum, (left, right)| sum + left * right)
}

/// `row` from its products with all columns before, given the rows of `L` before.
fn eliminated(products: &[f64], lower: &[Vec<f64>]) -> Vec<f64> {
    let mut row = Vec::with_capacity(lower.len() + 1);
    for (product, before) in products.iter().zip(lower) {
        let pivot = before.last().copied().unwrap_or(1.0);
        row.push((product - dot(&row, before)) / pivot);
    }
    row
}

impl Factorisation {
    /// Cholesky's factor of the Gram matrix in the first `columns` rows of `table`, whose other rows are the legs;
    /// `None` where a column is so near to those before it that the rank rule must look closer.
    pub(super) fn cholesky(table: &Triangle, columns: usize) -> Option<Self> {
        let mut lower: Lower = Vec::with_capacity(columns);
        for (place, products) in table.rows().take(columns).enumerate() {
            let own = *products.get(place)?;
            let mut row = eliminated(products, &lower);
            let pivot = own - dot(&row, &row);
            // A comparison that NaN fails.
            if !(0.0 < own && SAFE_PIVOT_RATIO * own <= pivot) {
                return None;
            }
            row.push(pivot.sqrt());
            lower.push(row);
        }
        let legs = table.rows().skip(columns);
        Some(Self {
            kept: (0..columns).collect(),
            inverse: inverse(&lower),
            projected: legs.map(|products| eliminated(products, &lower)).collect(),
        })
    }

    /// Modified Gram-Schmidt, each column orthogonalised twice: a column whose residual norm squared is at most
    /// `tolerance` times its own is dropped, in the order of columns.
    pub(super) fn gram_schmidt(weighted: &Columns, columns: usize, legs: usize, tolerance: f64) -> Self {
        let mut directions: Vec<Vec<_>> = Vec::new();
        let mut kept = Vec::new();
        let mut lower: Lower = Vec::new();
        for place in 0..columns {
            let column = weighted.column(place);
            let own = product(column, column);
            let mut residual = copy(column);
            let mut row = vec![0.0; directions.len()];
            for _ in 0..2 {
                for (direction, cell) in directions.iter().zip(&mut row) {
                    let along = product(direction, &residual);
                    take_off(&mut residual, direction, along);
                    *cell += along;
                }
            }
            let left = product(&residual, &residual);
            if !(0.0 < own && tolerance * own < left) {
                continue;
            }
            let norm = left.sqrt();
            for rows in &mut residual {
                *rows = rows.map(|value| value / norm);
            }
            row.push(norm);
            lower.push(row);
            directions.push(residual);
            kept.push(place);
        }
        let leg = |place: usize| {
            let leg = weighted.column(columns + place);
            directions
                .iter()
                .map(|direction| product(direction, leg))
                .collect()
        };
        Self {
            kept,
            inverse: inverse(&lower),
            projected: (0..legs).map(leg).collect(),
        }
    }

    /// Coefficients of the kept columns for one leg: `L^-T Q' b`.
    pub(super) fn coefficients(&self, leg: &[f64]) -> Vec<f64> {
        let size = self.kept.len();
        let mut coefficients = vec![0.0; size];
        for (row, along) in self.inverse.chunks_exact(size.max(1)).zip(leg) {
            add_row(&mut coefficients, row, *along);
        }
        coefficients
    }

    /// `(A'A)^-1` of the kept columns, row by row.
    pub(super) fn unscaled_covariance(&self) -> Vec<f64> {
        let size = self.kept.len().max(1);
        let mut covariance = vec![0.0; self.inverse.len()];
        for (place, row) in self.inverse.chunks_exact(size).enumerate() {
            let rows = covariance.chunks_exact_mut(size);
            for (cells, scale) in rows.zip(row).take(place + 1) {
                add_row(cells, row, *scale);
            }
        }
        covariance
    }
}

/// Adds `scale` times a row to another.
pub(super) fn add_row(cells: &mut [f64], row: &[f64], scale: f64) {
    for (cell, value) in cells.iter_mut().zip(row) {
        *cell += scale * value;
    }
}

/// The inverse of a lower triangle, row by row: `(e_i - sum_k L_ik row_k) / L_ii`.
fn inverse(lower: &Lower) -> Vec<f64> {
    let size = lower.len();
    let mut inverse = vec![0.0; size * size];
    for (place, row) in lower.iter().enumerate() {
        let (before, after) = inverse.split_at_mut(place * size);
        let cells = after.get_mut(..size).unwrap_or_default();
        for (earlier, scale) in before.chunks_exact(size).zip(row) {
            add_row(cells, earlier, -scale);
        }
        if let Some(own) = cells.get_mut(place) {
            *own = 1.0;
        }
        let pivot = row.last().copied().unwrap_or(1.0);
        for cell in cells {
            *cell /= pivot;
        }
    }
    inverse
}
