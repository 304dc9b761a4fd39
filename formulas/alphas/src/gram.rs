//! Products of all alphas of a pool with each other, added up part after part.

use std::ops::Range;

/// Partial sums of a product: one order of addition that processors do several at a time.
const LANES: usize = 8;

/// Rows that are multiplied with each other before the next ones, so that they stay in a processor's cache.
pub const GRAM_BLOCK: usize = 32;

/// The products of all pairs of some columns: the lower triangle, row by row.
#[derive(Debug, Clone, PartialEq)]
pub struct GramMatrix {
    rows: Vec<Vec<f64>>,
}

impl GramMatrix {
    /// Zeros for so many columns.
    #[must_use]
    pub fn new(columns: usize) -> Self {
        Self {
            rows: (0..columns).map(|row| vec![0.0; row + 1]).collect(),
        }
    }

    /// Blocks of rows: what threads divide among each other.
    #[must_use]
    pub fn blocks(&self) -> Vec<Range<usize>> {
        let size = self.rows.len();
        let starts = (0..size).step_by(GRAM_BLOCK);
        starts
            .map(|start| start..start.saturating_add(GRAM_BLOCK).min(size))
            .collect()
    }

    /// Adds the products of some rows, as [`products_of_rows`] gives them.
    pub fn add(&mut self, rows: &Range<usize>, products: &[Vec<f64>]) {
        let own = self.rows.get_mut(rows.clone()).into_iter().flatten();
        for (own, products) in own.zip(products) {
            for (cell, product) in own.iter_mut().zip(products) {
                *cell += product;
            }
        }
    }

    /// Adds another matrix of the same size.
    pub fn add_all(&mut self, other: &Self) {
        self.add(&(0..self.rows.len()), &other.rows);
    }

    /// Rows of the lower triangle, one cell more each.
    #[must_use]
    pub fn into_rows(self) -> Vec<Vec<f64>> {
        self.rows
    }
}

/// The products of some of the columns with all up to their own.
#[must_use]
pub fn products_of_rows(columns: &[Vec<f64>], rows: &Range<usize>) -> Vec<Vec<f64>> {
    let own = columns.get(rows.clone()).unwrap_or_default();
    let mut products: Vec<Vec<f64>> = (rows.start..rows.end)
        .map(|row| Vec::with_capacity(row + 1))
        .collect();
    for block in columns.chunks(GRAM_BLOCK) {
        for ((row, left), products) in rows.clone().zip(own).zip(&mut products) {
            let wanted = (row + 1).saturating_sub(products.len());
            products.extend(block.iter().take(wanted).map(|right| product(left, right)));
        }
    }
    products
}

fn product(left: &[f64], right: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    let (left, right) = (left.chunks_exact(LANES), right.chunks_exact(LANES));
    let rest: f64 = left
        .remainder()
        .iter()
        .zip(right.remainder())
        .map(|(left, right)| left * right)
        .sum();
    for (left, right) in left.zip(right) {
        for (sum, (left, right)) in sums.iter_mut().zip(left.iter().zip(right)) {
            *sum += left * right;
        }
    }
    sums.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::{GramMatrix, products_of_rows};
    use ktd_env::KeyedStream;

    #[test]
    fn blocks_give_every_pair_once() {
        let mut stream = KeyedStream::for_purpose(1, "columns");
        let columns: Vec<Vec<f64>> = (0..70)
            .map(|_| (0..29).map(|_| (4.0 * stream.normal()).round()).collect())
            .collect();
        let mut gram = GramMatrix::new(columns.len());
        for block in gram.blocks() {
            gram.add(&block, &products_of_rows(&columns, &block));
        }
        gram.add_all(&gram.clone());
        for (row, cells) in gram.into_rows().into_iter().enumerate() {
            assert_eq!(cells.len(), row + 1);
            for (left, cell) in columns.iter().zip(cells) {
                let pairs = left.iter().zip(&columns[row]);
                let wanted = 2.0 * pairs.map(|(left, right)| left * right).sum::<f64>();
                assert_eq!(wanted.to_bits(), cell.to_bits());
            }
        }
    }
}
