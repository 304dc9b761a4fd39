//! Trees on what the trees before them left.

use super::bins::ColumnBins;
use super::grower::Grower;
use super::histogram::{Gradients, ROWS_LIMIT};
use super::settings::BoostingSettings;
use super::tree::Tree;
use crate::chance::Chance;
use crate::error::{LearnError, check_rows};
use crate::real::count;

/// Gradient-boosted regression trees of the squared error, grown by histograms with the best leaf first.
///
/// Where a column has more than 255 values they are put into bins; the sums of gradients are of whole numbers (17 to 30
/// bits, the fewer the more rows), so that no order of additions changes a bit.
#[derive(Debug, Clone, PartialEq)]
pub struct BoostedTrees {
    start: f64,
    width: usize,
    trees: Vec<Tree>,
}

impl BoostedTrees {
    /// Fits row-major rows. `chance` draws the columns of each tree.
    ///
    /// # Errors
    /// [`LearnError`] without a row, for values that are no such rows or not finite, for an invalid setting, and for 2^24
    /// rows or more.
    pub fn fit(
        rows: &[f64],
        width: usize,
        labels: &[f64],
        settings: &BoostingSettings,
        chance: &mut Chance<'_>,
    ) -> Result<Self, LearnError> {
        settings.check()?;
        if labels.is_empty() {
            return Err(LearnError::NoRows);
        }
        check_rows("rows", rows, labels.len(), width)?;
        check_rows("labels", labels, labels.len(), 1)?;
        if ROWS_LIMIT <= labels.len() {
            let (name, rule) = ("rows", "fewer than 16777216");
            return Err(LearnError::Setting { name, rule });
        }
        let column = |column: usize| rows.iter().skip(column).step_by(width).copied();
        let bins: Vec<ColumnBins> = (0..width)
            .map(|place| ColumnBins::of(column(place).collect()))
            .collect();
        let bins_of_rows = bins.iter().enumerate();
        let binned: Vec<Vec<u8>> = bins_of_rows
            .map(|(place, bins)| column(place).map(|value| bins.bin(value)).collect())
            .collect();
        let start = labels.iter().sum::<f64>() / count(labels.len());
        let mut forecasts = vec![start; labels.len()];
        let mut gradients = Gradients::default();
        let mut grower = Grower::new(settings, &bins, &binned);
        let sampled = columns_of_share(width, settings.column_share);
        let mut trees = Vec::with_capacity(settings.trees);
        for _ in 0..settings.trees {
            gradients.set(
                forecasts
                    .iter()
                    .zip(labels)
                    .map(|(forecast, label)| forecast - label),
            );
            let columns = if sampled < width {
                chance.sample(width, sampled)
            } else {
                (0..width).collect()
            };
            trees.push(grower.grow(&gradients, &columns, &mut forecasts));
        }
        Ok(Self { start, width, trees })
    }

    /// How many trees there are.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.trees.len()
    }

    /// The first trees up to the one behind which the squared error of other rows is smallest, of equals the fewest. What
    /// comes after `patience` trees without a smaller error is not looked at, as where a fit stops there.
    ///
    /// # Errors
    /// [`LearnError`] for values that are no such rows or not finite.
    pub fn stopped_early(
        mut self,
        rows: &[f64],
        labels: &[f64],
        patience: usize,
    ) -> Result<Self, LearnError> {
        check_rows("rows", rows, labels.len(), self.width)?;
        check_rows("labels", labels, labels.len(), 1)?;
        let mut forecasts = vec![self.start; labels.len()];
        let error = |forecasts: &[f64]| -> f64 {
            let errors = forecasts.iter().zip(labels);
            errors
                .map(|(forecast, label)| (forecast - label) * (forecast - label))
                .sum()
        };
        let (mut best, mut least) = (0, error(&forecasts));
        for (place, tree) in self.trees.iter().enumerate() {
            for (forecast, row) in forecasts.iter_mut().zip(rows.chunks_exact(self.width)) {
                *forecast += tree.predict(row);
            }
            let error = error(&forecasts);
            if error < least {
                (best, least) = (place + 1, error);
            } else if best + patience <= place + 1 {
                break;
            }
        }
        self.trees.truncate(best);
        Ok(self)
    }

    /// The forecast of each row.
    #[must_use]
    pub fn predict(&self, rows: &[f64]) -> Vec<f64> {
        let rows = rows.chunks_exact(self.width);
        let mut forecasts: Vec<f64> = rows.clone().map(|_| self.start).collect();
        // Tree by tree: its nodes stay in the nearest cache.
        for tree in &self.trees {
            for (forecast, row) in forecasts.iter_mut().zip(rows.clone()) {
                *forecast += tree.predict(row);
            }
        }
        forecasts
    }
}

/// The nearest whole number of columns, at least one.
fn columns_of_share(width: usize, share: f64) -> usize {
    let wanted = count(width) * share;
    (1..=width)
        .take_while(|columns| count(*columns) <= wanted + 0.5)
        .last()
        .unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::tests::stream;

    fn data(rows: usize, width: usize) -> (Vec<f64>, Vec<f64>) {
        let mut next = stream(8);
        let mut chance = Chance::new(&mut next);
        let cells: Vec<f64> = (0..rows * width).map(|_| chance.uniform()).collect();
        let labels = cells
            .chunks(width)
            .map(|row| if row[0] < 0.4 { 1.0 } else { row[1] })
            .collect();
        (cells, labels)
    }

    fn fit(rows: &[f64], width: usize, labels: &[f64], seed: u64) -> BoostedTrees {
        let mut next = stream(seed);
        let settings = BoostingSettings {
            trees: 60,
            ..BoostingSettings::BENCHMARK
        };
        BoostedTrees::fit(rows, width, labels, &settings, &mut Chance::new(&mut next)).unwrap()
    }

    #[test]
    fn trees_that_learnt_noise_are_left_out_by_other_rows() {
        let (rows, labels) = data(3000, 3);
        let trees = fit(&rows, 3, &labels, 1);
        let error = |trees: &BoostedTrees, rows: &[f64], labels: &[f64]| -> f64 {
            let found = trees.predict(rows);
            found.iter().zip(labels).map(|(f, l)| (f - l) * (f - l)).sum()
        };
        // The same rows: every tree helps. Labels that have nothing to do with rows: hardly one does.
        let same = trees.clone().stopped_early(&rows, &labels, 10).unwrap();
        assert_eq!(same.count(), 60);
        let mut shuffled = labels.clone();
        shuffled.rotate_left(1500);
        let stopped = trees.clone().stopped_early(&rows, &shuffled, 10).unwrap();
        assert!(stopped.count() < 5, "{}", stopped.count());
        assert!(error(&stopped, &rows, &shuffled) <= error(&trees, &rows, &shuffled));
        assert!(trees.stopped_early(&rows, &shuffled[1..], 10).is_err());
    }

    #[test]
    fn a_step_is_learnt_and_chance_draws_columns_alone() {
        let (rows, labels) = data(2000, 3);
        let trees = fit(&rows, 3, &labels, 1);
        let errors = trees
            .predict(&rows)
            .iter()
            .zip(&labels)
            .map(|(found, label)| (found - label).abs())
            .sum::<f64>();
        assert!(errors / 2000.0 < 0.1, "{errors}");
        assert_eq!(trees, fit(&rows, 3, &labels, 1));
        assert_ne!(trees, fit(&rows, 3, &labels, 2));
    }

    #[test]
    fn the_order_of_rows_does_not_matter() {
        let (rows, labels) = data(500, 3);
        let turned: Vec<f64> = rows.chunks(3).rev().flatten().copied().collect();
        let turned_labels: Vec<f64> = labels.iter().rev().map(|label| label * 0.5).collect();
        let halved: Vec<f64> = labels.iter().map(|label| label * 0.5).collect();
        let (one, other) = (fit(&rows, 3, &halved, 1), fit(&turned, 3, &turned_labels, 1));
        let (one, other) = (one.predict(&rows), other.predict(&rows));
        assert!(
            one.iter()
                .zip(&other)
                .all(|(one, other)| (one - other).abs() < 1e-12)
        );
    }

    #[test]
    fn without_a_cut_the_forecast_is_the_mean() {
        let trees = fit(&[1.0; 100], 1, &[0.25; 100], 1);
        assert!((trees.predict(&[7.0])[0] - 0.25).abs() < 1e-12);
        let few = fit(&[1.0, 2.0, 3.0], 1, &[1.0, 2.0, 6.0], 1);
        assert!((few.predict(&[2.0])[0] - 3.0).abs() < 1e-9);
    }

    #[test]
    fn bad_input_is_refused() {
        let mut next = stream(1);
        let mut chance = Chance::new(&mut next);
        let settings = BoostingSettings::BENCHMARK;
        let mut fit = |rows: &[f64], labels: &[f64], settings| {
            BoostedTrees::fit(rows, 1, labels, settings, &mut chance)
        };
        assert_eq!(fit(&[], &[], &settings), Err(LearnError::NoRows));
        assert!(fit(&[f64::INFINITY], &[1.0], &settings).is_err());
        let wrong = BoostingSettings {
            leaves: 0,
            ..settings
        };
        assert!(fit(&[1.0], &[1.0], &wrong).is_err());
        let wrong = BoostingSettings {
            column_share: f64::NAN,
            ..settings
        };
        assert!(fit(&[1.0], &[1.0], &wrong).is_err());
    }

    #[test]
    fn shares_of_columns() {
        assert_eq!(
            [(25, 0.8), (1, 0.1), (3, 1.0), (5, 0.5)].map(|(width, share)| columns_of_share(width, share)),
            [20, 1, 3, 3]
        );
    }
}
