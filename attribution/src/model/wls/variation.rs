//! What a regression leaves: residuals, and how much of a leg they are.

use super::lanes::{LANES, Rows};
use pulp::{Arch, NullaryFnOnce};

/// Takes weights, 0 for what is not finite and above 0.
pub(super) fn take_weights(weights: &[f64], into: &mut Vec<f64>) {
    into.clear();
    into.resize(weights.len(), 0.0);
    Arch::new().dispatch(TakeWeights { weights, into });
}

struct TakeWeights<'a> {
    weights: &'a [f64],
    into: &'a mut [f64],
}

impl NullaryFnOnce for TakeWeights<'_> {
    type Output = ();

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
    fn call(self) {
        for (taken, weight) in self.into.iter_mut().zip(self.weights) {
            let sound = 0.0 < *weight && *weight <= f64::MAX;
            *taken = if sound { *weight } else { 0.0 };
        }
    }
}

/// `leg - columns * coefficients`, row by row, into `left`.
pub(super) fn residual(leg: &[f64], columns: &[&[f64]], coefficients: &[f64], left: &mut Vec<f64>) {
    left.resize(leg.len(), 0.0);
    Arch::new().dispatch(Residual {
        leg,
        columns,
        coefficients,
        left,
    });
}

/// Columns taken off in one pass: half of the benchmark's ten.
const PASS: usize = 5;

struct Residual<'a> {
    leg: &'a [f64],
    columns: &'a [&'a [f64]],
    coefficients: &'a [f64],
    left: &'a mut [f64],
}

impl NullaryFnOnce for Residual<'_> {
    type Output = ();

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
    fn call(self) {
        let (columns, single) = self.columns.as_chunks::<PASS>();
        let (factors, single_factors) = self.coefficients.as_chunks::<PASS>();
        let mut passes = columns.iter().zip(factors);
        if let Some((columns, factors)) = passes.next() {
            for ((left, value), fitted) in self.left.iter_mut().zip(self.leg).zip(fitted(columns, factors)) {
                *left = value - fitted;
            }
        } else {
            self.left.copy_from_slice(self.leg);
        }
        for (columns, factors) in passes {
            for (left, fitted) in self.left.iter_mut().zip(fitted(columns, factors)) {
                *left -= fitted;
            }
        }
        for (column, factor) in single.iter().zip(single_factors) {
            for (left, value) in self.left.iter_mut().zip(*column) {
                *left -= value * factor;
            }
        }
    }
}

/// Sums of some columns times their coefficients, row by row.
#[inline(always)]
#[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
fn fitted<'a>(columns: &'a [&'a [f64]; PASS], factors: &'a [f64; PASS]) -> impl Iterator<Item = f64> + 'a {
    let [first, second, third, fourth, fifth] = columns;
    let rows = first.iter().zip(*second).zip(*third).zip(*fourth).zip(*fifth);
    rows.map(|((((first, second), third), fourth), fifth)| {
        let [one, two, three, four, five] = factors;
        ((first * one + second * two) + (third * three + fourth * four)) + fifth * five
    })
}

/// How much of a leg there is, and how much of it is left.
#[derive(Debug, Clone, Copy)]
pub(super) struct Variation {
    /// Sum of `weight * value^2`.
    pub(super) squares: f64,
    /// Sum of `weight * (value - mean)^2`, the mean a weighted one.
    pub(super) total: f64,
    /// Sum of `weight * residual^2`.
    pub(super) unexplained: f64,
}

impl Variation {
    /// All values and weights are finite.
    pub(super) fn new(leg: &[f64], residuals: &[f64], weights: &[f64]) -> Self {
        let [weight, sum, squares, unexplained] = weighted_sums(leg, residuals, weights, 0.0);
        let [_, _, total, _] = weighted_sums(leg, residuals, weights, sum / weight);
        Self {
            squares,
            total,
            unexplained,
        }
    }
}

/// Sums of weights, of weighted values less `center`, of their squares, and of the residuals' squares.
fn weighted_sums(leg: &[f64], residuals: &[f64], weights: &[f64], center: f64) -> [f64; 4] {
    let lanes = Arch::new().dispatch(Sums {
        leg,
        residuals,
        weights,
        center,
    });
    let mut sums = lanes.map(Rows::join);
    let rest = |column: &'_ [f64]| Rows::padded(column.as_chunks::<LANES>().1).0;
    let rows = rest(weights).into_iter().zip(rest(leg)).zip(rest(residuals));
    for ((weight, value), residual) in rows {
        let value = value - center;
        let terms = [
            weight,
            weight * value,
            weight * value * value,
            weight * residual * residual,
        ];
        for (sum, term) in sums.iter_mut().zip(terms) {
            *sum += term;
        }
    }
    sums
}

/// The sums over whole lanes.
struct Sums<'a> {
    leg: &'a [f64],
    residuals: &'a [f64],
    weights: &'a [f64],
    center: f64,
}

impl NullaryFnOnce for Sums<'_> {
    type Output = [Rows; 4];

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
    fn call(self) -> [Rows; 4] {
        let (weights, _) = self.weights.as_chunks::<LANES>();
        let (leg, _) = self.leg.as_chunks::<LANES>();
        let (residuals, _) = self.residuals.as_chunks::<LANES>();
        let [mut weight, mut sum, mut squares, mut errors] = [Rows::ZERO; 4];
        for ((weights, values), residuals) in weights.iter().zip(leg).zip(residuals) {
            let mut values = *values;
            for value in &mut values {
                *value -= self.center;
            }
            let (mut weighted, mut left) = (values, *residuals);
            for ((weighted, left), weight) in weighted.iter_mut().zip(&mut left).zip(weights) {
                *weighted *= weight;
                *left *= weight;
            }
            for (total, one) in weight.0.iter_mut().zip(weights) {
                *total += one;
            }
            for (total, one) in sum.0.iter_mut().zip(&weighted) {
                *total += one;
            }
            squares.add_products(&weighted, &values);
            errors.add_products(&left, residuals);
        }
        [weight, sum, squares, errors]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(seed: u32) -> Vec<f64> {
        (0..77)
            .map(|row| f64::from((row * 7919 + seed * 104_729) % 1009) / 997.0 - 0.4)
            .collect()
    }

    #[test]
    fn wider_vectors_move_no_bits() {
        let columns: Vec<Vec<f64>> = (1..8).map(column).collect();
        let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
        let (leg, weights) = (column(20), column(21));
        let of = |wide: bool| {
            let mut left = vec![0.0; leg.len()];
            let residual = Residual {
                leg: &leg,
                columns: &columns,
                coefficients: &[0.3, -0.1, 0.7, 0.2, 0.11, 0.013, -1.3],
                left: &mut left,
            };
            let sums = Sums {
                leg: &leg,
                residuals: &weights,
                weights: &weights,
                center: 0.01,
            };
            let sums = if wide {
                Arch::new().dispatch(residual);
                Arch::new().dispatch(sums)
            } else {
                residual.call();
                sums.call()
            };
            let cells = left.into_iter().chain(sums.into_iter().flat_map(|rows| rows.0));
            cells.map(f64::to_bits).collect::<Vec<_>>()
        };
        assert_eq!(of(true), of(false));
    }
}
