//! The weighted products of all columns: the hot loop of a fit.

use super::lanes::{LANES, Rows};
use pulp::{Arch, NullaryFnOnce};

/// Columns whose products with others are summed in one pass.
const PAIR: usize = 2;

/// Buffers of the loop, kept from fit to fit.
#[derive(Debug, Clone, Default)]
pub(super) struct Products {
    /// The last rows of each column, those that fill no lane.
    tails: Vec<Rows>,
    /// A pair of columns times the weights.
    left: [Vec<Rows>; PAIR],
    /// Partial sums of the products of a pair with a pair.
    sums: Vec<[[Rows; PAIR]; PAIR]>,
}

impl Products {
    /// Products under `weights`, all finite, of the first `rows` of `columns` with all of them: row `i` of `table`,
    /// whose rows are `width` wide, gets those from column `i` on. Cells before it hold no sense.
    pub(super) fn multiply(
        &mut self,
        columns: &[&[f64]],
        weights: &[f64],
        rows: usize,
        table: &mut [f64],
        width: usize,
    ) {
        let pairs = columns.len().div_ceil(PAIR);
        let row_pairs = rows.div_ceil(PAIR);
        let height = weights.len().div_ceil(LANES);
        self.tails.clear();
        self.tails.extend(
            columns
                .iter()
                .map(|column| Rows::padded(column.as_chunks::<LANES>().1)),
        );
        for left in &mut self.left {
            left.clear();
            left.resize(height, Rows::ZERO);
        }
        let sums = (0..row_pairs).map(|pair| pairs - pair).sum();
        self.sums.resize(sums, [[Rows::ZERO; PAIR]; PAIR]);
        let arch = Arch::new();
        arch.dispatch(Multiply {
            columns,
            weights,
            row_pairs,
            buffers: self,
        });
        arch.dispatch(Join {
            sums: &self.sums,
            table,
            width: width.max(1),
            pairs,
        });
    }
}

/// Joins the lanes into the table.
struct Join<'a> {
    sums: &'a [[[Rows; PAIR]; PAIR]],
    table: &'a mut [f64],
    width: usize,
    pairs: usize,
}

impl NullaryFnOnce for Join<'_> {
    type Output = ();

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
    fn call(self) {
        let mut sums = self.sums.iter();
        for (pair, rows) in self.table.chunks_mut(PAIR * self.width).enumerate() {
            for (place, sums) in (pair..self.pairs).zip(&mut sums) {
                for (row, sums) in rows.chunks_exact_mut(self.width).zip(sums) {
                    let cells = row.iter_mut().skip(PAIR * place);
                    for (cell, sums) in cells.zip(sums) {
                        *cell = sums.join();
                    }
                }
            }
        }
    }
}

struct Multiply<'a> {
    columns: &'a [&'a [f64]],
    weights: &'a [f64],
    row_pairs: usize,
    buffers: &'a mut Products,
}

impl NullaryFnOnce for Multiply<'_> {
    type Output = ();

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
    fn call(self) {
        let Products { tails, left, sums } = self.buffers;
        let [first, second] = left;
        let mut sums = sums.iter_mut();
        let pairs = self.columns.chunks(PAIR).zip(tails.chunks(PAIR));
        for (place, (pair, tails_of_pair)) in pairs.clone().take(self.row_pairs).enumerate() {
            let (columns, tails) = both(pair, tails_of_pair);
            weigh(columns[0], tails[0], self.weights, first);
            weigh(columns[1], tails[1], self.weights, second);
            for ((pair, tails), sums) in pairs.clone().skip(place).zip(&mut sums) {
                let (columns, tails) = both(pair, tails);
                *sums = pair_products([first, second], columns, tails);
            }
        }
    }
}

/// A pair of columns with their tails; a column without a partner stands twice.
#[inline(always)]
#[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
fn both<'a>(columns: &[&'a [f64]], tails: &'a [Rows]) -> ([&'a [f64]; PAIR], [&'a Rows; PAIR]) {
    match (columns, tails) {
        ([first, second, ..], [tail, other, ..]) => ([first, second], [tail, other]),
        ([only], [tail, ..]) => ([only, only], [tail, tail]),
        _ => ([&[], &[]], [&Rows::ZERO, &Rows::ZERO]),
    }
}

/// A column times the weights.
#[inline(always)]
#[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
fn weigh(column: &[f64], tail: &Rows, weights: &[f64], left: &mut [Rows]) {
    let (chunks, _) = column.as_chunks::<LANES>();
    let (weights, weight_rest) = weights.as_chunks::<LANES>();
    for ((rows, values), weights) in left.iter_mut().zip(chunks).zip(weights) {
        for ((row, value), weight) in rows.0.iter_mut().zip(values).zip(weights) {
            *row = value * weight;
        }
    }
    // What lies beyond the last row stays 0.
    if let (false, Some(rows)) = (weight_rest.is_empty(), left.last_mut()) {
        for ((row, value), weight) in rows.0.iter_mut().zip(tail.0).zip(weight_rest) {
            *row = value * weight;
        }
    }
}

/// The lanes' sums of the products of two weighted columns with two others.
#[inline(always)]
#[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
fn pair_products(left: [&[Rows]; PAIR], right: [&[f64]; PAIR], tails: [&Rows; PAIR]) -> [[Rows; PAIR]; PAIR] {
    let ([first, second], [third, fourth]) = (left, right);
    let ((third, rest), (fourth, _)) = (third.as_chunks::<LANES>(), fourth.as_chunks::<LANES>());
    let [mut a, mut b, mut c, mut d] = [Rows::ZERO; PAIR * PAIR];
    for (((first, second), third), fourth) in first.iter().zip(second).zip(third).zip(fourth) {
        a.add_products(&first.0, third);
        b.add_products(&first.0, fourth);
        c.add_products(&second.0, third);
        d.add_products(&second.0, fourth);
    }
    if let (false, Some(first), Some(second)) = (rest.is_empty(), first.last(), second.last()) {
        a.add_products(&first.0, &tails[0].0);
        b.add_products(&first.0, &tails[1].0);
        c.add_products(&second.0, &tails[0].0);
        d.add_products(&second.0, &tails[1].0);
    }
    [[a, b], [c, d]]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values from -0.5 to 0.5 with full mantissas.
    fn column(seed: u32, rows: u32) -> Vec<f64> {
        (0..rows)
            .map(|row| f64::from((row * 7919 + seed * 104_729) % 1009) / 1009.0 - 0.5)
            .collect()
    }

    #[test]
    fn the_table_holds_weighted_products_whatever_the_shape() {
        for (count, rows) in [(1, 5), (2, 8), (5, 16), (11, 77), (12, 300)] {
            let columns: Vec<Vec<f64>> = (0..count).map(|seed| column(seed, rows)).collect();
            let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
            let weights = column(99, rows);
            let width = columns.len() + 3;
            let mut table = vec![0.0; columns.len() * width];
            Products::default().multiply(&columns, &weights, columns.len(), &mut table, width);
            for (place, row) in table.chunks(width).enumerate() {
                for other in place..columns.len() {
                    let pairs = columns[place].iter().zip(columns[other]).zip(&weights);
                    let expected: f64 = pairs.map(|((left, right), weight)| left * weight * right).sum();
                    assert!(
                        (row[other] - expected).abs() < 1e-13,
                        "{count} {rows} {place} {other}"
                    );
                }
            }
        }
    }

    #[test]
    fn wider_vectors_move_no_bits() {
        let columns: Vec<Vec<f64>> = (0..11).map(|seed| column(seed, 77)).collect();
        let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
        let weights = column(99, 77);
        let mut buffers = Products::default();
        buffers.multiply(&columns, &weights, 10, &mut [0.0; 120], 12);
        let wide = buffers.sums.clone();
        Multiply {
            columns: &columns,
            weights: &weights,
            row_pairs: 5,
            buffers: &mut buffers,
        }
        .call();
        assert_eq!(buffers.sums, wide);
    }
}
