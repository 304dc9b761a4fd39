//! Linear regression with a penalty on the squares of its coefficients.

use crate::error::{LearnError, check_rows};
use crate::kernel::{Kernel, dot};
use crate::real::count;
use pulp::NullaryFnOnce;

/// A ridge regression: it minimises `|y - a - Zw|^2 + penalty |w|^2`, where the intercept `a` is not penalised.
#[derive(Debug, Clone, PartialEq)]
pub struct RidgeFit {
    intercept: f64,
    coefficients: Vec<f64>,
}

impl RidgeFit {
    /// Fits row-major rows by the normal equations of the centred columns and Cholesky's factor.
    ///
    /// # Errors
    /// [`LearnError`] without a row, for values that are no such rows or not finite, for a penalty below 0, and for
    /// columns that have no solution without a penalty.
    pub fn fit(rows: &[f64], width: usize, labels: &[f64], penalty: f64) -> Result<Self, LearnError> {
        if labels.is_empty() {
            return Err(LearnError::NoRows);
        }
        check_rows("rows", rows, labels.len(), width)?;
        check_rows("labels", labels, labels.len(), 1)?;
        if !(penalty.is_finite() && 0.0 <= penalty) {
            let (name, rule) = ("penalty", "a finite number of at least 0");
            return Err(LearnError::Setting { name, rule });
        }
        let kernel = Kernel::default();
        let mut means = vec![0.0; width + 1];
        kernel.run(Means {
            rows,
            width,
            labels,
            sums: &mut means,
        });
        // The upper triangle of the products of columns, and last in each row the product with the labels.
        let side = width + 1;
        let mut products = vec![0.0; side * side];
        kernel.run(Gram {
            rows,
            width,
            labels,
            means: &means,
            products: &mut products,
        });
        let coefficients = solve(&mut products, width, penalty)?;
        let label_mean = means.get(width).copied().unwrap_or(0.0);
        let intercept = label_mean - dot(&coefficients, means.get(..width).unwrap_or(&[]));
        Ok(Self {
            intercept,
            coefficients,
        })
    }

    /// The intercept.
    #[must_use]
    pub const fn intercept(&self) -> f64 {
        self.intercept
    }

    /// The coefficients, in the order of the columns.
    #[must_use]
    pub fn coefficients(&self) -> &[f64] {
        &self.coefficients
    }

    /// The forecast of each row.
    #[must_use]
    pub fn predict(&self, rows: &[f64]) -> Vec<f64> {
        let width = self.coefficients.len().max(1);
        let of_row = |row| self.intercept + dot(&self.coefficients, row);
        rows.chunks_exact(width).map(of_row).collect()
    }
}

/// Means of the columns and, behind them, of the labels.
struct Means<'a> {
    rows: &'a [f64],
    width: usize,
    labels: &'a [f64],
    sums: &'a mut [f64],
}

impl NullaryFnOnce for Means<'_> {
    type Output = ();

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
    fn call(self) {
        let (columns, last) = self.sums.split_at_mut(self.width);
        for row in self.rows.chunks_exact(self.width) {
            for (sum, value) in columns.iter_mut().zip(row) {
                *sum += value;
            }
        }
        for sum in last.iter_mut() {
            *sum = self.labels.iter().sum();
        }
        let rows = count(self.labels.len());
        for mean in columns.iter_mut().chain(last) {
            *mean /= rows;
        }
    }
}

/// Rows that are taken into the products at once: their columns stay in the nearest cache.
const BLOCK: usize = 64;
/// Sums that run next to each other for one product of columns.
const LANES: usize = 8;

/// Products of the centred columns, block by block of rows.
struct Gram<'a> {
    rows: &'a [f64],
    width: usize,
    labels: &'a [f64],
    means: &'a [f64],
    products: &'a mut [f64],
}

impl NullaryFnOnce for Gram<'_> {
    type Output = ();

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
    fn call(self) {
        let side = self.width + 1;
        let mut columns = vec![[0.0_f64; BLOCK]; side];
        let blocks = self.rows.chunks(BLOCK * self.width);
        for (block, labels) in blocks.zip(self.labels.chunks(BLOCK)) {
            // A short last block is padded with zeros, which add nothing.
            for column in &mut columns {
                column.fill(0.0);
            }
            for (place, row) in block.chunks_exact(self.width).enumerate() {
                for ((column, value), mean) in columns.iter_mut().zip(row).zip(self.means) {
                    if let Some(cell) = column.get_mut(place) {
                        *cell = value - mean;
                    }
                }
            }
            if let (Some(column), Some(mean)) = (columns.last_mut(), self.means.last()) {
                for (cell, label) in column.iter_mut().zip(labels) {
                    *cell = label - mean;
                }
            }
            for (place, (left, sums)) in columns
                .iter()
                .zip(self.products.chunks_exact_mut(side))
                .enumerate()
            {
                for (sum, right) in sums.iter_mut().zip(&columns).skip(place) {
                    *sum += product(left, right);
                }
            }
        }
    }
}

/// The sum of the products of two columns of a block, over lanes that are joined in order.
#[inline(always)]
#[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
fn product(left: &[f64; BLOCK], right: &[f64; BLOCK]) -> f64 {
    let mut lanes = [0.0; LANES];
    let (left, _) = left.as_chunks::<LANES>();
    let (right, _) = right.as_chunks::<LANES>();
    for (left, right) in left.iter().zip(right) {
        for ((lane, left), right) in lanes.iter_mut().zip(left).zip(right) {
            *lane += left * right;
        }
    }
    // By pairs of neighbours, and pairs of those.
    let (pairs, _) = lanes.as_chunks::<2>();
    let (fours, _) = pairs.as_chunks::<2>();
    fours.iter().map(|[[a, b], [c, d]]| (a + b) + (c + d)).sum()
}

/// Solves `(P + penalty I) w = p` for the upper triangle `P` of rows whose last cell is `p`.
fn solve(products: &mut [f64], width: usize, penalty: f64) -> Result<Vec<f64>, LearnError> {
    let side = width + 1;
    let mut pivots = Vec::with_capacity(width);
    let mut rest = products;
    for column in 0..width {
        let (row, later) = rest.split_at_mut_checked(side).ok_or(LearnError::NoColumns)?;
        // Scaled to `L'`: each later row loses its share of this one.
        let row = row.get_mut(column..).unwrap_or(&mut []);
        if let Some(diagonal) = row.first_mut() {
            *diagonal += penalty;
        }
        let pivot = row.first().copied().unwrap_or(0.0);
        if !(0.0 < pivot && pivot.is_finite()) {
            return Err(LearnError::Singular { column });
        }
        for (offset, below) in later.chunks_exact_mut(side).take(width - column - 1).enumerate() {
            let share = row.get(offset + 1).copied().unwrap_or(0.0) / pivot;
            let cells = below.iter_mut().skip(column + 1 + offset);
            for (cell, value) in cells.zip(row.iter().skip(1 + offset)) {
                *cell -= share * value;
            }
        }
        pivots.push(row.to_vec());
        rest = later;
    }
    // Each kept row: pivot, the cells of later columns, and the right side last.
    let mut solved: Vec<f64> = Vec::with_capacity(width);
    for row in pivots.iter().rev() {
        let (Some(pivot), Some(right)) = (row.first(), row.last()) else {
            continue;
        };
        let later = row.get(1..row.len() - 1).unwrap_or(&[]);
        let known: f64 = later
            .iter()
            .zip(solved.iter().rev())
            .map(|(cell, value)| cell * value)
            .sum();
        solved.push((right - known) / pivot);
    }
    solved.reverse();
    Ok(solved)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::Chance;
    use crate::chance::tests::stream;

    #[test]
    fn two_columns_by_hand() {
        // Centred: x = (-1, 0, 1), y = (-2, 0, 2), w = 4 / (2 + penalty).
        let fit = RidgeFit::fit(&[1.0, 2.0, 3.0], 1, &[3.0, 5.0, 7.0], 2.0).unwrap();
        assert!((fit.coefficients()[0] - 1.0).abs() < 1e-15 && (fit.intercept() - 3.0).abs() < 1e-15);
        assert!((fit.predict(&[10.0])[0] - 13.0).abs() < 1e-14);
    }

    #[test]
    fn the_gradient_is_zero_at_the_solution() {
        let mut next = stream(1);
        let mut chance = Chance::new(&mut next);
        let (rows, width) = (333, 7);
        let cells: Vec<f64> = (0..rows * width).map(|_| chance.uniform() - 0.3).collect();
        let labels: Vec<f64> = (0..rows).map(|_| chance.uniform()).collect();
        let fit = RidgeFit::fit(&cells, width, &labels, 1.5).unwrap();
        let errors: Vec<f64> = fit
            .predict(&cells)
            .iter()
            .zip(&labels)
            .map(|(found, label)| found - label)
            .collect();
        assert!(errors.iter().sum::<f64>().abs() < 1e-10);
        for column in 0..width {
            let along: f64 = cells
                .chunks(width)
                .zip(&errors)
                .map(|(row, error)| row[column] * error)
                .sum();
            assert!((along + 1.5 * fit.coefficients()[column]).abs() < 1e-10);
        }
    }

    #[test]
    fn a_constant_column_has_no_weight_and_bad_input_is_refused() {
        let fit = RidgeFit::fit(&[1.0, 5.0, 2.0, 5.0, 4.0, 5.0], 2, &[0.0, 1.0, 2.0], 1.0).unwrap();
        assert!(fit.coefficients()[1].abs() < 1e-15);
        assert_eq!(RidgeFit::fit(&[], 1, &[], 1.0), Err(LearnError::NoRows));
        assert!(RidgeFit::fit(&[1.0], 0, &[1.0], 1.0).is_err());
        assert!(RidgeFit::fit(&[1.0, 2.0], 1, &[1.0], 1.0).is_err());
        assert!(RidgeFit::fit(&[f64::NAN], 1, &[1.0], 1.0).is_err());
        assert!(RidgeFit::fit(&[1.0], 1, &[1.0], -1.0).is_err());
        let same = RidgeFit::fit(&[1.0, 1.0], 1, &[1.0, 2.0], 0.0);
        assert_eq!(same, Err(LearnError::Singular { column: 0 }));
    }
}
