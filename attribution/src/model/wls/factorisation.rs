//! The triangular factor of the weighted columns, by either of two ways that must agree.

use super::lanes::LANES;
use super::products::Products;
use pulp::{Arch, NullaryFnOnce};

/// Least share of its own weighted norm squared that a column must keep after projection, for the quick way to be
/// taken (docs/spec/factor-model.md#rank).
const SAFE_PIVOT_RATIO: f64 = 1e-6;

/// What a regression needs to know of its columns: `A = Q D^(1/2) L'` for the kept columns of the weighted design `A`,
/// with `Q` orthonormal, `D` diagonal and `L` a lower triangle of ones on its diagonal.
#[derive(Debug, Clone, Default)]
pub(super) struct Factorisation {
    /// Kept columns, ascending.
    pub(super) kept: Vec<usize>,
    /// For each kept column a row of three parts: workings, its cell of `D^(1/2) Q' b` of each leg, its row of `L^-1`.
    rows: Vec<f64>,
    /// Cells of a row: whole lanes.
    width: usize,
    /// Where the legs' cells begin, and how many there are.
    legs: std::ops::Range<usize>,
    /// Where the row of `L^-1` begins.
    inverse: usize,
    /// `D^-1` of the kept columns.
    inverse_pivots: Vec<f64>,
    /// A row for each leg, with its coefficients where `L^-1` stands, and one with the diagonal of `(A'A)^-1` there.
    solved: Vec<f64>,
    /// Weighted norms squared of the columns.
    norms: Vec<f64>,
    products: Products,
}

impl Factorisation {
    /// Takes the weighted products of all columns, the last `legs` of which are legs. Weights are finite.
    ///
    /// # Errors
    /// The place of the first column whose products are not finite.
    pub(super) fn multiply(&mut self, all: &[&[f64]], weights: &[f64], legs: usize) -> Result<(), usize> {
        let columns = all.len() - legs;
        self.legs = columns..all.len();
        // The products of a column without a partner are written twice.
        self.inverse = all.len().next_multiple_of(2);
        self.width = (self.inverse + columns).next_multiple_of(LANES);
        self.rows.clear();
        self.rows.resize(self.width * columns, 0.0);
        self.products
            .multiply(all, weights, columns, &mut self.rows, self.width);
        self.norms.clear();
        let mut wrong = all.len();
        for (place, row) in self.rows.chunks_exact(self.width.max(1)).enumerate() {
            let norm = row.get(place).copied().unwrap_or(f64::NAN);
            self.norms.push(norm);
            if !norm.is_finite() {
                return Err(place);
            }
            let products = row.get(self.legs.clone()).unwrap_or(&[]);
            let leg = products.iter().position(|product| !product.is_finite());
            wrong = leg.map_or(wrong, |leg| wrong.min(columns + leg));
        }
        if wrong < all.len() { Err(wrong) } else { Ok(()) }
    }

    /// Cholesky's factor of the products; `false` where a column is so near to those before it that the rank rule must
    /// look closer.
    pub(super) fn cholesky(&mut self) -> bool {
        let inverse = self.inverse;
        for (place, row) in self.rows.chunks_exact_mut(self.width.max(1)).enumerate() {
            if let Some(own) = row.get_mut(inverse + place) {
                *own = 1.0;
            }
        }
        self.kept.clear();
        self.inverse_pivots.clear();
        let safe = Arch::new().dispatch(Eliminate {
            rows: &mut self.rows,
            width: self.width,
            norms: &self.norms,
            inverse_pivots: &mut self.inverse_pivots,
        });
        if safe {
            self.kept.extend(0..self.norms.len());
            self.solve();
        }
        safe
    }

    fn solve(&mut self) {
        self.solved.clear();
        self.solved.resize((self.legs.len() + 1) * self.width, 0.0);
        Arch::new().dispatch(Combine {
            rows: &self.rows,
            width: self.width,
            legs: self.legs.clone(),
            inverse_pivots: &self.inverse_pivots,
            solved: &mut self.solved,
        });
    }

    /// Modified Gram-Schmidt, each column orthogonalised twice: a column whose residual norm squared is at most
    /// `tolerance` times its own is dropped, in the order of columns.
    ///
    /// `weighted`: columns and legs times the roots of the weights.
    pub(super) fn gram_schmidt(&mut self, weighted: &[Vec<f64>], tolerance: f64) {
        let (columns, legs) = weighted.split_at(self.legs.start.min(weighted.len()));
        let mut directions: Vec<Vec<_>> = Vec::new();
        let mut rows: Vec<f64> = Vec::new();
        self.kept.clear();
        self.inverse_pivots.clear();
        for (place, column) in columns.iter().enumerate() {
            let mut residual = column.clone();
            let mut along = vec![0.0; directions.len()];
            for _ in 0..2 {
                for (direction, along) in directions.iter().zip(&mut along) {
                    let cell = product(direction, &residual);
                    add_row(&mut residual, direction, -cell);
                    *along += cell;
                }
            }
            let (own, left) = (product(column, column), product(&residual, &residual));
            let kept = 0.0 < own && tolerance * own < left;
            if !kept {
                continue;
            }
            let norm = left.sqrt();
            for value in &mut residual {
                *value /= norm;
            }
            let mut row = vec![0.0; self.width];
            for (cell, leg) in row.iter_mut().skip(self.legs.start).zip(legs) {
                *cell = product(&residual, leg);
            }
            // Row of L^-1: the unit row less the rows before it, over the norm.
            if let Some(cells) = row.get_mut(self.inverse..) {
                for (before, along) in rows.chunks_exact(self.width).zip(&along) {
                    add_row(cells, before.get(self.inverse..).unwrap_or(&[]), -along);
                }
                if let Some(own) = cells.get_mut(directions.len()) {
                    *own = 1.0;
                }
                for cell in cells {
                    *cell /= norm;
                }
            }
            rows.extend(row);
            directions.push(residual);
            self.kept.push(place);
            self.inverse_pivots.push(1.0);
        }
        self.rows = rows;
        self.solve();
    }

    /// Coefficients of the kept columns for one leg, `L^-T D^-1/2 Q' b`.
    pub(super) fn coefficients(&self, leg: usize) -> &[f64] {
        let start = leg * self.width + self.inverse;
        self.solved.get(start..start + self.kept.len()).unwrap_or(&[])
    }

    /// The diagonal of `(A'A)^-1` of the kept columns.
    pub(super) fn inverse_diagonal(&self) -> &[f64] {
        self.coefficients(self.legs.len())
    }

    /// `(A'A)^-1` of the kept columns, row by row.
    pub(super) fn inverse_products(&self) -> Vec<f64> {
        let size = self.kept.len();
        let mut products = vec![0.0; size * size];
        let rows = self.rows.chunks_exact(self.width.max(1));
        for (row, inverse_pivot) in rows.zip(&self.inverse_pivots) {
            let row = row.get(self.inverse..self.inverse + size).unwrap_or(&[]);
            for (cells, own) in products.chunks_exact_mut(size.max(1)).zip(row) {
                add_row(cells, row, own * inverse_pivot);
            }
        }
        products
    }
}

/// Forward elimination of `[A'A | A'b | identity]`, which leaves `[D L' | D^(1/2) Q'b | L^-1]`; `false` at a pivot that is
/// not safe.
struct Eliminate<'a> {
    rows: &'a mut [f64],
    width: usize,
    norms: &'a [f64],
    inverse_pivots: &'a mut Vec<f64>,
}

impl NullaryFnOnce for Eliminate<'_> {
    type Output = bool;

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
    fn call(self) -> bool {
        let mut rest = self.rows;
        for (place, norm) in self.norms.iter().enumerate() {
            let Some((row, later)) = rest.split_at_mut_checked(self.width) else {
                return false;
            };
            let pivot = row.get(place).copied().unwrap_or(0.0);
            let safe = 0.0 < *norm && SAFE_PIVOT_RATIO * norm <= pivot;
            if !safe {
                return false;
            }
            let inverse_pivot = 1.0 / pivot;
            self.inverse_pivots.push(inverse_pivot);
            for (other, cell) in later.chunks_exact_mut(self.width).zip(row.iter().skip(place + 1)) {
                add_row(other, row, -(cell * inverse_pivot));
            }
            rest = later;
        }
        true
    }
}

/// Sums of rows: for each leg weighted by its cells over the pivots, and at last of squares over the pivots.
struct Combine<'a> {
    rows: &'a [f64],
    width: usize,
    legs: std::ops::Range<usize>,
    inverse_pivots: &'a [f64],
    solved: &'a mut [f64],
}

impl NullaryFnOnce for Combine<'_> {
    type Output = ();

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
    fn call(self) {
        let width = self.width.max(1);
        for (row, inverse_pivot) in self.rows.chunks_exact(width).zip(self.inverse_pivots) {
            let mut solved = self.solved.chunks_exact_mut(width);
            for (along, sums) in row.get(self.legs.clone()).unwrap_or(&[]).iter().zip(&mut solved) {
                add_row(sums, row, along * inverse_pivot);
            }
            let Some(squares) = solved.next() else { continue };
            for (sum, value) in squares.iter_mut().zip(row) {
                *sum += value * value * inverse_pivot;
            }
        }
    }
}

/// Sum of the products of two columns, in their order.
fn product(left: &[f64], right: &[f64]) -> f64 {
    left.iter()
        .zip(right)
        .fold(0.0, |sum, (left, right)| sum + left * right)
}

/// Adds `scale` times a row to another.
#[inline(always)]
#[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
pub(super) fn add_row(cells: &mut [f64], row: &[f64], scale: f64) {
    for (cell, value) in cells.iter_mut().zip(row) {
        *cell += scale * value;
    }
}
