//! Ridge regression in closed form.

use nalgebra::{Cholesky, SMatrix, SVector};

/// Columns: the factors.
pub(crate) const COLUMNS: usize = 9;

/// Values of a row's columns.
pub(crate) type Values = SVector<f64, COLUMNS>;

/// Sums of products over rows, from which every ridge follows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ridge {
    products: SMatrix<f64, COLUMNS, COLUMNS>,
    targets: Values,
    rows: f64,
}

impl Ridge {
    pub(crate) fn new() -> Self {
        Self {
            products: SMatrix::zeros(),
            targets: Values::zeros(),
            rows: 0.0,
        }
    }

    pub(crate) fn add(&mut self, values: &Values, target: f64) {
        self.products += values * values.transpose();
        self.targets += values * target;
        self.rows += 1.0;
    }

    /// The coefficients that minimise the mean squared error plus `penalty` times their squared length.
    pub(crate) fn coefficients(&self, penalty: f64) -> Option<Values> {
        let rows = self.rows.max(1.0);
        let damped = self.products / rows + SMatrix::identity() * penalty;
        Some(Cholesky::new(damped)?.solve(&(self.targets / rows)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coefficients_are_recovered_and_shrink_with_the_penalty() {
        let mut ridge = Ridge::new();
        for row in 0..200_u32 {
            let values =
                Values::from_fn(|column, _| f64::from(row * 7 % (11 + u32::try_from(column).unwrap())) - 5.0);
            ridge.add(&values, 0.5 * values[0] - 2.0 * values[3]);
        }
        let exact = ridge.coefficients(1e-12).unwrap();
        assert!(
            (exact[0] - 0.5).abs() < 1e-6 && (exact[3] + 2.0).abs() < 1e-6,
            "{exact}"
        );
        let shrunk = ridge.coefficients(100.0).unwrap();
        assert!(shrunk.norm() < 0.5 * exact.norm());
    }
}
