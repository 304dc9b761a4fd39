//! Rows of fits, standardised.

use crate::panel::cell;
use crate::switch::Switch;
use ktd_stats::moments::count;

/// Rows that stay in the nearest cache while their columns are read one after another.
const BLOCK: usize = 64;

/// Mean and deviation of each column over the rows of a fit.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Scaler {
    means: Vec<f64>,
    deviations: Vec<f64>,
}

impl Scaler {
    /// Over some rows (`None`: all). A deviation below 1e-12 becomes 1.
    pub(crate) fn of(columns: &[&[f64]], rows: Option<&[usize]>) -> Self {
        let (means, deviations) = columns.iter().map(|column| moments(column, rows)).unzip();
        Self { means, deviations }
    }

    /// Over the rows of a fit, or over all rows where the protocol looks at all.
    pub(crate) fn of_fit(columns: &[&[f64]], switch: Switch, fit_rows: &[usize]) -> Self {
        let of_all = switch == Switch::NormGlobal;
        Self::of(columns, (!of_all).then_some(fit_rows))
    }

    /// The mean of each column.
    pub(crate) fn means(&self) -> &[f64] {
        &self.means
    }

    /// The deviation of each column.
    pub(crate) fn deviations(&self) -> &[f64] {
        &self.deviations
    }

    /// Standardised row-major rows.
    pub(crate) fn gather(&self, columns: &[&[f64]], rows: impl Iterator<Item = usize> + Clone) -> Vec<f64> {
        let width = columns.len();
        let mut gathered = vec![0.0; rows.clone().count() * width];
        let scales = self.means.iter().zip(&self.deviations);
        let mut rows = rows;
        let mut block = Vec::with_capacity(BLOCK);
        for cells in gathered.chunks_mut(BLOCK * width.max(1)) {
            block.clear();
            block.extend(rows.by_ref().take(BLOCK));
            for (place, (column, (mean, deviation))) in columns.iter().zip(scales.clone()).enumerate() {
                let cells = cells.iter_mut().skip(place).step_by(width);
                for (standard, row) in cells.zip(&block) {
                    *standard = (cell(column, *row) - mean) / deviation;
                }
            }
        }
        gathered
    }

    /// One row, standardised.
    pub(crate) fn row(&self, values: &[f64]) -> Vec<f64> {
        let scales = self.means.iter().zip(&self.deviations);
        let standard = |(value, (mean, deviation)): (&f64, (&f64, &f64))| (value - mean) / deviation;
        values.iter().zip(scales).map(standard).collect()
    }
}

/// Rows whose mean stands for that of all, so that one pass over the others loses no digits.
const PILOT: usize = 1024;
/// Sums that run next to each other.
const LANES: usize = 8;

fn moments(column: &[f64], rows: Option<&[usize]>) -> (f64, f64) {
    const LEAST: f64 = 1e-12;
    let (number, (mean, squares)) = if let Some(rows) = rows {
        (rows.len(), one_pass(rows.iter().map(|row| cell(column, *row))))
    } else {
        (column.len(), one_pass(column.iter().copied()))
    };
    let deviation = (squares.max(0.0) / count(number)).sqrt();
    (mean, if deviation < LEAST { 1.0 } else { deviation })
}

/// The mean, and the squares of what differs from it.
fn one_pass(values: impl ExactSizeIterator<Item = f64> + Clone) -> (f64, f64) {
    let number = count(values.len());
    let pilot = values.clone().take(PILOT).sum::<f64>() / count(values.len().min(PILOT));
    let (mut sums, mut squares) = ([0.0; LANES], [0.0; LANES]);
    let mut values = values;
    loop {
        let mut is_last = false;
        for (sum, square) in sums.iter_mut().zip(&mut squares) {
            let Some(value) = values.next() else {
                is_last = true;
                break;
            };
            let apart = value - pilot;
            *sum += apart;
            *square += apart * apart;
        }
        if is_last {
            break;
        }
    }
    let sum: f64 = sums.iter().sum();
    (
        pilot + sum / number,
        squares.iter().sum::<f64>() - sum * sum / number,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_mean_0_and_deviation_1_and_constants_stay_finite() {
        let (one, two) = ([1.0, 2.0, 3.0, 100.0], [5.0; 4]);
        let columns = [&one[..], &two[..]];
        let rows = [0, 1, 2];
        let scaler = Scaler::of(&columns, Some(&rows));
        let deviation = (2.0_f64 / 3.0).sqrt();
        assert!(
            (scaler.deviations()[0] - deviation).abs() < 1e-15 && (scaler.means()[0] - 2.0).abs() < 1e-15
        );
        let gathered = scaler.gather(&columns, rows.iter().copied());
        assert!((gathered[0] + 1.0 / deviation).abs() < 1e-15 && gathered.len() == 6);
        assert!(
            gathered
                .iter()
                .skip(1)
                .step_by(2)
                .all(|value| value.abs() < 1e-15)
        );
        assert_eq!(scaler.row(&[3.0, 5.0]), gathered[4..]);
        assert!((Scaler::of(&columns, None).means()[0] - 26.5).abs() < 1e-15);
    }
}
