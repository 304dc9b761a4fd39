//! A linear predictor: ridge regression of the next return on the z-scores of nine factors.

use crate::PredictError;
use crate::ridge::{COLUMNS, Ridge, Values};
use crate::spans::{Part, TrainingSpans};
use ktd_data::training_rows::{TrainingRow, training_rows};
use ktd_env::{DateSpan, DayIndex, Market, NameId};
use std::fmt::Write as _;

/// Penalties of which validation chooses; columns have about unit variance.
const PENALTIES: [f64; 6] = [1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0];

/// A trained predictor and what it says of the days after its validation.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearPredictor {
    /// Coefficients of the z-scores, in the order of [`ktd_env::factors::Factor::ALL`]: return of a day per standard deviation.
    pub coefficients: [f64; COLUMNS],
    /// The penalty that validation chose.
    pub penalty: f64,
    /// Mean daily correlation of prediction and return over the days of validation.
    pub validation_ic: f64,
    /// Rows it was trained on.
    pub rows_trained: usize,
    /// Days it was validated on.
    pub days_validated: usize,
    /// Predicted returns above the members' mean, by day and stock.
    pub scores: Vec<(DayIndex, NameId, f64)>,
}

/// Trains on a panel. The same panel and spans give the same bytes.
///
/// # Errors
/// [`PredictError::Input`] when a span holds no row.
pub fn linear(market: &Market, spans: TrainingSpans) -> Result<LinearPredictor, PredictError> {
    let rows = training_rows(market, &DateSpan::ALWAYS)?;
    let mut ridge = Ridge::new();
    let (mut validated, mut scored) = (Vec::new(), Vec::new());
    let mut rows_trained = 0;
    for day in rows.chunk_by(|a, b| a.day == b.day) {
        let part = day.first().and_then(|row| spans.part(market, row));
        match part {
            Some(Part::Train) => {
                let labelled = labelled(day);
                rows_trained += labelled.len();
                for (values, target) in &labelled {
                    ridge.add(values, *target);
                }
            }
            Some(Part::Validate) => validated.push(labelled(day)),
            Some(Part::Score) => scored.extend(day),
            None => {}
        }
    }
    if rows_trained == 0 || validated.is_empty() || scored.is_empty() {
        return Err(PredictError::input(
            format_args!(
                "the spans hold {rows_trained} rows to train on, {} days to validate on and {} rows to score",
                validated.len(),
                scored.len()
            ),
            "choose `--train-until` and `--validate-until` inside the panel, with days before, between and after them",
        ));
    }
    let (penalty, coefficients, validation_ic) = chosen(&ridge, &validated)
        .ok_or_else(|| PredictError::input("the factors of the span have no fit", "train on more days"))?;
    Ok(LinearPredictor {
        coefficients: coefficients.into(),
        penalty,
        validation_ic,
        rows_trained,
        days_validated: validated.len(),
        scores: scored
            .into_iter()
            .map(|row| (row.day, row.name, values(row).dot(&coefficients)))
            .collect(),
    })
}

impl LinearPredictor {
    /// The scores as a file that an agent of scores trades: `date,code,score`.
    #[must_use]
    pub fn score_file(&self, market: &Market) -> String {
        let mut text = "date,code,score\n".to_owned();
        for (day, name, score) in &self.scores {
            if let (Some(date), Some(info)) = (market.date(*day), market.name(*name)) {
                // Writing to a string cannot fail.
                writeln!(text, "{},{},{score}", date.reveal(), info.ticker.reveal()).ok();
            }
        }
        text
    }
}

/// The z-scores of a row; one that is missing is the mean, 0.
fn values(row: &TrainingRow) -> Values {
    Values::from(row.z_scores.map(Option::unwrap_or_default))
}

/// Values and returns above the day's mean, of the rows that have a return.
fn labelled(day: &[TrainingRow]) -> Vec<(Values, f64)> {
    let known: Vec<(Values, f64)> = day
        .iter()
        .filter_map(|row| Some((values(row), row.future_return?)))
        .collect();
    let mean = mean(known.iter().map(|(_, target)| *target));
    known
        .into_iter()
        .map(|(values, target)| (values, target - mean))
        .collect()
}

fn mean(numbers: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = numbers.fold((0.0, 0.0), |(sum, count), number| (sum + number, count + 1.0));
    if 0.0 < count { sum / count } else { 0.0 }
}

/// The penalty whose predictions are nearest to the returns of the days of validation, the smallest of equals; with its
/// coefficients and the mean daily correlation.
fn chosen(ridge: &Ridge, validated: &[Vec<(Values, f64)>]) -> Option<(f64, Values, f64)> {
    let mut best: Option<(f64, f64, Values)> = None;
    for penalty in PENALTIES {
        let Some(coefficients) = ridge.coefficients(penalty) else {
            continue;
        };
        let errors = validated.iter().flatten().map(|(values, target)| {
            let error = values.dot(&coefficients) - target;
            error * error
        });
        let error = mean(errors);
        if best.as_ref().is_none_or(|(known, ..)| error < *known) {
            best = Some((error, penalty, coefficients));
        }
    }
    let (_, penalty, coefficients) = best?;
    let ic = mean(validated.iter().filter_map(|day| correlation(day, &coefficients)));
    Some((penalty, coefficients, ic))
}

/// The correlation of predictions and returns of a day; none where either does not vary.
fn correlation(day: &[(Values, f64)], coefficients: &Values) -> Option<f64> {
    let predicted: Vec<f64> = day.iter().map(|(values, _)| values.dot(coefficients)).collect();
    let centre = mean(predicted.iter().copied());
    let (mut both, mut left, mut right) = (0.0, 0.0, 0.0);
    for (predicted, (_, target)) in predicted.iter().zip(day) {
        let apart = predicted - centre;
        both += apart * target;
        left += apart * apart;
        right += target * target;
    }
    let scale = (left * right).sqrt();
    (0.0 < scale).then(|| both / scale)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_env::TradeDate;
    use ktd_env::synth::{SynthConfig, generate};

    #[test]
    fn what_follows_validation_moves_no_coefficient_and_no_earlier_score() {
        let market = generate(&SynthConfig {
            seed: 3,
            names: 40,
            days: 420,
        })
        .unwrap();
        let date = |place: usize| -> TradeDate { market.calendar()[place] };
        let spans = TrainingSpans {
            train_until: date(250),
            validate_until: date(320),
        };
        let whole = linear(&market, spans).unwrap();
        let cut = linear(&market.cut_after(market.day_at(360).unwrap()), spans).unwrap();
        assert_eq!(
            whole.coefficients.map(f64::to_bits),
            cut.coefficients.map(f64::to_bits)
        );
        let early = |predictor: &LinearPredictor| {
            let scores = predictor.scores.iter().copied();
            scores.filter(|(day, ..)| day.index() <= 360).collect::<Vec<_>>()
        };
        assert_eq!(early(&cut), early(&whole));
        assert!(40 <= early(&whole).len());
        assert_ne!(cut.scores, whole.scores, "the cut changed nothing");
        // The first score is of the last close of the validation: it is traded on the day after.
        assert_eq!(whole.scores[0].0.index(), 320);
        assert_eq!(whole.days_validated, 320 - 2 - 250);
        let none = TrainingSpans {
            train_until: date(10),
            ..spans
        };
        assert!(
            linear(&market, none)
                .unwrap_err()
                .to_string()
                .contains("0 rows to train on")
        );
    }
}
