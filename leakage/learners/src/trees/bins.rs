//! A column's values as small whole numbers.

use crate::real::count;

/// The most bins of a column: a bin is a byte.
pub(super) const BINS_MAX: usize = 255;

/// The bins of one column: ascending upper bounds, without that of the last bin. A value belongs to the first bin whose
/// bound it does not exceed.
#[derive(Debug, Clone)]
pub(super) struct ColumnBins {
    bounds: Vec<f64>,
}

impl ColumnBins {
    /// One bin for each value where there are at most [`BINS_MAX`]; else bins of about as many rows, as `LightGBM` finds
    /// them: a value that fills a bin has it for itself, and what rows are left is shared anew after each bin.
    pub(super) fn of(mut values: Vec<f64>) -> Self {
        values.sort_unstable_by(f64::total_cmp);
        let distinct: Vec<(f64, usize)> = values
            .chunk_by(|left, right| right <= left)
            .filter_map(|equal| Some((*equal.first()?, equal.len())))
            .collect();
        let bounds = if distinct.len() <= BINS_MAX {
            distinct
                .iter()
                .zip(distinct.iter().skip(1))
                .map(|(below, above)| between(below.0, above.0))
                .collect()
        } else {
            shared_bounds(&distinct, values.len())
        };
        Self { bounds }
    }

    /// How many bins there are.
    pub(super) const fn len(&self) -> usize {
        self.bounds.len() + 1
    }

    /// The bin of a value.
    pub(super) fn bin(&self, value: f64) -> u8 {
        u8::try_from(self.bounds.partition_point(|bound| *bound < value)).unwrap_or(u8::MAX)
    }

    /// The largest value of a bin that is not the last.
    pub(super) fn bound(&self, bin: u8) -> Option<f64> {
        self.bounds.get(usize::from(bin)).copied()
    }
}

/// A bound that separates two values: their middle, or the lower where they are neighbours.
fn between(below: f64, above: f64) -> f64 {
    let middle = below.midpoint(above);
    if middle < above { middle } else { below }
}

fn shared_bounds(distinct: &[(f64, usize)], rows: usize) -> Vec<f64> {
    let full = count(rows) / count(BINS_MAX);
    let is_full = |rows: usize| full <= count(rows);
    let filled = distinct.iter().filter(|(_, rows)| is_full(*rows)).count();
    let in_filled: usize = distinct
        .iter()
        .map(|(_, rows)| rows)
        .filter(|rows| is_full(**rows))
        .sum();
    let mut bins_left = BINS_MAX - filled;
    let mut rows_left = rows - in_filled;
    let mut goal = count(rows_left) / count(bins_left);
    let mut bounds = Vec::with_capacity(BINS_MAX);
    let mut in_bin = 0;
    for ((value, rows), (next, next_rows)) in distinct.iter().zip(distinct.iter().skip(1)) {
        let alone = is_full(*rows);
        if !alone {
            rows_left -= rows;
        }
        in_bin += rows;
        let before_filled = is_full(*next_rows) && f64::max(1.0, goal / 2.0) <= count(in_bin);
        if !(alone || goal <= count(in_bin) || before_filled) {
            continue;
        }
        bounds.push(between(*value, *next));
        if bounds.len() + 1 == BINS_MAX {
            break;
        }
        in_bin = 0;
        if !alone {
            bins_left -= 1;
            goal = count(rows_left) / count(bins_left);
        }
    }
    bounds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_values_have_a_bin_each() {
        let bins = ColumnBins::of(vec![3.0, 1.0, 1.0, 2.0]);
        assert_eq!(
            (bins.len(), bins.bin(1.4), bins.bin(1.6), bins.bin(9.0)),
            (3, 0, 1, 2)
        );
        assert!((bins.bound(0).unwrap() - 1.5).abs() < 1e-15 && bins.bound(2).is_none());
        let next = f64::from_bits(1.0_f64.to_bits() + 1);
        let near = ColumnBins::of(vec![1.0, next]);
        assert_eq!((near.bin(1.0), near.bin(next)), (0, 1));
    }

    #[test]
    fn many_values_fill_bins_alike_and_a_frequent_one_has_its_own() {
        let mut values: Vec<f64> = (0..10_000).map(f64::from).collect();
        values.extend([77.5; 1000]);
        let bins = ColumnBins::of(values.clone());
        assert!(200 < bins.len() && bins.len() <= BINS_MAX);
        let mut rows = vec![0_usize; bins.len()];
        for value in &values {
            rows[usize::from(bins.bin(*value))] += 1;
        }
        let own = usize::from(bins.bin(77.5));
        assert_eq!(rows[own], 1000);
        assert!(
            rows.iter()
                .enumerate()
                .all(|(bin, rows)| bin == own || *rows < 90)
        );
    }

    #[test]
    fn a_constant_has_one_bin() {
        let bins = ColumnBins::of(vec![4.0; 9]);
        assert_eq!((bins.len(), bins.bin(4.0), bins.bin(5.0)), (1, 0, 0));
    }
}
