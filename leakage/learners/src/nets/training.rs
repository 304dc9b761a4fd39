//! How a network is fitted.

use super::net::NeuralNet;
use super::shape::NetShape;
use crate::chance::Chance;
use crate::error::{LearnError, check_rows};
use crate::real::{Real, count};

/// Examples as the last rows of stretches of one table: rows of a name stand behind each other by day.
#[derive(Debug, Clone, Copy)]
pub struct NetData<'a, T> {
    table: &'a [T],
    width: usize,
    lookback: usize,
}

impl<'a, T: Real> NetData<'a, T> {
    /// A row-major table, whose rows have the width that the shape asks for.
    #[must_use]
    pub const fn new(table: &'a [T], shape: &NetShape) -> Self {
        Self {
            table,
            width: shape.width(),
            lookback: shape.lookback(),
        }
    }

    /// The example that ends with a row.
    fn example(&self, row: usize) -> Result<&'a [T], LearnError> {
        let short = LearnError::ShortSequence {
            row,
            lookback: self.lookback,
        };
        let to = (row + 1) * self.width;
        let from = to.checked_sub(self.lookback * self.width).ok_or(short)?;
        self.table.get(from..to).ok_or(short)
    }

    /// The examples that end with rows.
    ///
    /// # Errors
    /// [`LearnError::ShortSequence`] for a row with too few before it or outside the table.
    pub fn examples(&self, rows: &[usize]) -> Result<Vec<&'a [T]>, LearnError> {
        rows.iter().map(|row| self.example(*row)).collect()
    }
}

/// Chance of a fit, one source for each purpose, so that fits that differ in one thing share the rest.
#[derive(Debug)]
pub struct NetChances<'a> {
    /// Draws the first weights.
    pub weights: Chance<'a>,
    /// Draws samples of rows, and their order.
    pub rows: Chance<'a>,
    /// Draws what is dropped.
    pub dropout: Chance<'a>,
}

/// How long and on how much a network is trained: one pass, no early stop, since nothing is chosen by the validation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Training {
    /// Examples of a step.
    pub batch_rows: usize,
    /// Passes over the training rows.
    pub epochs: usize,
    /// Adam's step.
    pub learning_rate: f64,
    /// The most rows to train on, drawn from those given; `None`: all.
    pub train_rows: Option<usize>,
    /// The most rows to validate on; `None`: all.
    pub validation_rows: Option<usize>,
}

impl Training {
    /// The benchmark's for perceptrons.
    pub const PERCEPTRONS: Self = Self {
        batch_rows: 1024,
        epochs: 1,
        learning_rate: 1e-3,
        train_rows: None,
        validation_rows: None,
    };
    /// The benchmark's for sequences.
    pub const SEQUENCES: Self = Self {
        batch_rows: 512,
        epochs: 1,
        learning_rate: 1e-3,
        train_rows: Some(12_000),
        validation_rows: Some(3_000),
    };
}

/// A trained network with the scale of its labels.
#[derive(Debug, Clone, PartialEq)]
pub struct FittedNet<T> {
    net: NeuralNet<T>,
    mean: f64,
    deviation: f64,
    training_loss: f64,
    validation_loss: Option<f64>,
}

impl<T: Real> FittedNet<T> {
    /// Trains a network on rows of a table and their labels. Labels are standardised over training and validation rows
    /// together; the loss is the mean squared error.
    ///
    /// # Errors
    /// [`LearnError`] without a training row, for rows that are no examples, for as many labels as there are not rows, for
    /// labels that are not finite, and for an invalid shape or setting.
    pub fn fit(
        shape: NetShape,
        training: &Training,
        data: &NetData<'_, T>,
        (rows, labels): (&[usize], &[f64]),
        (validation_rows, validation_labels): (&[usize], &[f64]),
        chances: &mut NetChances<'_>,
    ) -> Result<Self, LearnError> {
        if rows.is_empty() {
            return Err(LearnError::NoRows);
        }
        if training.batch_rows == 0 {
            let (name, rule) = ("batch_rows", "at least 1");
            return Err(LearnError::Setting { name, rule });
        }
        check_rows("labels", labels, rows.len(), 1)?;
        check_rows("validation labels", validation_labels, validation_rows.len(), 1)?;
        let (mean, deviation) = scale(labels.iter().chain(validation_labels));
        let standard = |label: f64| T::of((label - mean) / deviation);
        let train = Chosen::draw(rows, labels, training.train_rows, &mut chances.rows);
        let validate = Chosen::draw(
            validation_rows,
            validation_labels,
            training.validation_rows,
            &mut chances.rows,
        );
        let mut net = NeuralNet::draw(shape, &mut chances.weights)?;
        let mut adam = net.adam(training.learning_rate);
        let (mut gradients, mut training_loss) = (Vec::new(), 0.0);
        for _ in 0..training.epochs {
            let mut order = train.0.clone();
            chances.rows.shuffle(&mut order);
            let mut sum = 0.0;
            for batch in order.chunks(training.batch_rows) {
                let rows: Vec<usize> = batch.iter().map(|(row, _)| *row).collect();
                let targets: Vec<T> = batch.iter().map(|(_, label)| standard(*label)).collect();
                let examples = data.examples(&rows)?;
                let dropout = Some(&mut chances.dropout);
                sum +=
                    count(batch.len()) * net.train(&mut adam, (&examples, &targets), dropout, &mut gradients);
            }
            training_loss = sum / count(order.len());
        }
        let validation_loss = if validate.0.is_empty() {
            None
        } else {
            let rows: Vec<usize> = validate.0.iter().map(|(row, _)| *row).collect();
            let targets: Vec<T> = validate.0.iter().map(|(_, label)| standard(*label)).collect();
            Some(net.loss(&data.examples(&rows)?, &targets))
        };
        Ok(Self {
            net,
            mean,
            deviation,
            training_loss,
            validation_loss,
        })
    }

    /// The forecast of the label of each row.
    ///
    /// # Errors
    /// [`LearnError::ShortSequence`] as [`NetData::examples`].
    pub fn predict(&self, data: &NetData<'_, T>, rows: &[usize]) -> Result<Vec<f64>, LearnError> {
        let mut forecasts = Vec::with_capacity(rows.len());
        for part in rows.chunks(1024) {
            let outputs = self.net.outputs(&data.examples(part)?);
            forecasts.extend(
                outputs
                    .into_iter()
                    .map(|output| self.mean + self.deviation * output.wide()),
            );
        }
        Ok(forecasts)
    }

    /// Mean loss of the last pass, each batch before its step; of labels with deviation 1.
    #[must_use]
    pub const fn training_loss(&self) -> f64 {
        self.training_loss
    }

    /// Loss on the validation rows; `None` without one. Nothing is chosen by it.
    #[must_use]
    pub const fn validation_loss(&self) -> Option<f64> {
        self.validation_loss
    }

    /// The network.
    #[must_use]
    pub const fn net(&self) -> &NeuralNet<T> {
        &self.net
    }
}

/// Rows with their labels.
struct Chosen(Vec<(usize, f64)>);

impl Chosen {
    fn draw(rows: &[usize], labels: &[f64], most: Option<usize>, chance: &mut Chance<'_>) -> Self {
        let all = rows.iter().copied().zip(labels.iter().copied());
        let Some(most) = most.filter(|most| *most < rows.len()) else {
            return Self(all.collect());
        };
        let all: Vec<(usize, f64)> = all.collect();
        let places = chance.sample(all.len(), most);
        Self(
            places
                .iter()
                .filter_map(|place| all.get(*place).copied())
                .collect(),
        )
    }
}

/// Mean and deviation; 1 in place of a deviation of 0.
fn scale<'a>(labels: impl Iterator<Item = &'a f64> + Clone) -> (f64, f64) {
    const LEAST: f64 = 1e-12;
    let number = count(labels.clone().count());
    let mean = labels.clone().sum::<f64>() / number;
    let squares: f64 = labels.map(|label| (label - mean) * (label - mean)).sum();
    let deviation = (squares / number).sqrt();
    (mean, if deviation < LEAST { 1.0 } else { deviation })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::tests::stream;

    const SHAPES: [NetShape; 3] = [
        NetShape::GraphMlp {
            base: 2,
            peers: 1,
            hidden: 8,
            head: 4,
        },
        NetShape::Lstm {
            features: 3,
            lookback: 5,
            hidden: 8,
        },
        NetShape::Transformer {
            features: 3,
            lookback: 5,
            embed: 8,
            heads: 2,
            wide: 16,
            dropout: 0.1,
        },
    ];

    fn table(rows: usize) -> Vec<f32> {
        let mut next = stream(4);
        let mut chance = Chance::new(&mut next);
        (0..rows * 3)
            .map(|_| f32::of(2.0 * chance.uniform() - 1.0))
            .collect()
    }

    fn fit(
        shape: NetShape,
        table: &[f32],
        rows: &[usize],
        labels: &[f64],
        seed: u64,
    ) -> Result<FittedNet<f32>, LearnError> {
        let training = Training {
            batch_rows: 32,
            epochs: 20,
            learning_rate: 1e-2,
            train_rows: Some(800),
            validation_rows: Some(50),
        };
        let (mut a, mut b, mut c) = (stream(seed), stream(seed + 100), stream(seed + 200));
        let mut chances = NetChances {
            weights: Chance::new(&mut a),
            rows: Chance::new(&mut b),
            dropout: Chance::new(&mut c),
        };
        let at = rows.len() - rows.len() / 10;
        let data = NetData::new(table, &shape);
        FittedNet::fit(
            shape,
            &training,
            &data,
            (&rows[..at], &labels[..at]),
            (&rows[at..], &labels[at..]),
            &mut chances,
        )
    }

    #[test]
    fn every_kind_learns_a_sum_of_the_last_row_and_seeds_decide_the_bits() {
        let table = table(1200);
        let rows: Vec<usize> = (10..1200).collect();
        let labels: Vec<f64> = rows
            .iter()
            .map(|row| 3.0 + f64::from(table[row * 3]) - f64::from(table[row * 3 + 1]))
            .collect();
        for shape in SHAPES {
            let net = fit(shape, &table, &rows, &labels, 1).unwrap();
            let loss = net.validation_loss().unwrap();
            assert!(loss < 0.3, "{shape:?}: {loss}");
            assert_eq!(net, fit(shape, &table, &rows, &labels, 1).unwrap());
            assert_ne!(net, fit(shape, &table, &rows, &labels, 2).unwrap());
            let data = NetData::new(&table, &shape);
            let forecasts = net.predict(&data, &rows[..40]).unwrap();
            let apart: Vec<f64> = rows[..40]
                .iter()
                .map(|row| net.predict(&data, &[*row]).unwrap()[0])
                .collect();
            assert_eq!(
                forecasts, apart,
                "an example's forecast does not depend on its neighbours"
            );
        }
    }

    #[test]
    fn what_is_no_example_is_refused() {
        let table = table(30);
        let lstm = SHAPES[1];
        let short = fit(lstm, &table, &[3; 20], &[1.0; 20], 1);
        assert_eq!(
            short.unwrap_err(),
            LearnError::ShortSequence { row: 3, lookback: 5 }
        );
        assert!(fit(lstm, &table, &[30; 20], &[1.0; 20], 1).is_err());
        assert!(fit(lstm, &table, &[9; 20], &[f64::NAN; 20], 1).is_err());
        assert!(
            fit(
                NetShape::Lstm {
                    features: 3,
                    lookback: 0,
                    hidden: 2
                },
                &table,
                &[9; 20],
                &[1.0; 20],
                1
            )
            .is_err()
        );
        let equal = fit(lstm, &table, &[9; 20], &[1.0; 20], 1).unwrap();
        assert!(equal.validation_loss().unwrap().is_finite());
    }
}
