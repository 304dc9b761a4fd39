//! A linear predictor: ridge regression of the next return on the z-scores of nine factors.

use crate::PredictError;
use crate::correlation::{mean, mean_correlation};
use crate::parts::TrainingParts;
use crate::predicted_return::PredictedReturn;
use crate::ridge::{COLUMNS, Ridge, Values};
use crate::spans::TrainingSpans;
use ktd_data::training_rows::{TrainingRow, training_rows};
use ktd_env::{DateSpan, Market};

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
    /// The share of the squared returns of validation, above the day's mean, that is explained: 0 or less where the members'
    /// mean is as near, so that nothing was learnt that held there.
    pub validation_r2: f64,
    /// Whether the penalty is the largest that was tried: a larger one might be nearer still.
    pub largest_penalty: bool,
    /// Rows it was trained on.
    pub rows_trained: usize,
    /// Days it was validated on.
    pub days_validated: usize,
    /// Predicted returns above the members' mean.
    pub scores: Vec<PredictedReturn>,
}

/// Trains on a panel. The same panel and spans give the same bytes.
///
/// # Errors
/// [`PredictError::Input`] when a span holds no row.
pub fn linear(market: &Market, spans: TrainingSpans) -> Result<LinearPredictor, PredictError> {
    let rows = training_rows(market, &DateSpan::ALWAYS)?;
    let parts = TrainingParts::of(market, spans, &rows)?;
    let mut ridge = Ridge::new();
    let mut rows_trained = 0;
    for day in &parts.trained {
        let labelled = labelled(day);
        rows_trained += labelled.len();
        for (values, target) in &labelled {
            ridge.add(values, *target);
        }
    }
    let validated: Vec<_> = parts.validated.iter().map(|day| labelled(day)).collect();
    let Choice {
        penalty,
        coefficients,
        error,
    } = chosen(&ridge, &validated)
        .ok_or_else(|| PredictError::input("the factors of the span have no fit", "train on more days"))?;
    let squares = mean(validated.iter().flatten().map(|(_, target)| target * target));
    Ok(LinearPredictor {
        coefficients: coefficients.into(),
        penalty,
        validation_ic: mean_correlation(validated.iter().map(|day| pairs(day, &coefficients))),
        validation_r2: if 0.0 < squares { 1.0 - error / squares } else { 0.0 },
        largest_penalty: PENALTIES.iter().all(|tried| *tried <= penalty),
        rows_trained,
        days_validated: validated.len(),
        scores: parts
            .scored
            .iter()
            .map(|row| PredictedReturn {
                day: row.day,
                name: row.name,
                score: values(row).dot(&coefficients),
            })
            .collect(),
    })
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

/// What validation chose.
struct Choice {
    penalty: f64,
    coefficients: Values,
    /// Mean squared error over the days of validation.
    error: f64,
}

/// The penalty whose predictions are nearest to the returns of the days of validation, the smallest of equals.
fn chosen(ridge: &Ridge, validated: &[Vec<(Values, f64)>]) -> Option<Choice> {
    let mut best: Option<Choice> = None;
    for penalty in PENALTIES {
        let Some(coefficients) = ridge.coefficients(penalty) else {
            continue;
        };
        let errors = validated.iter().flatten().map(|(values, target)| {
            let error = values.dot(&coefficients) - target;
            error * error
        });
        let error = mean(errors);
        if best.as_ref().is_none_or(|known| error < known.error) {
            best = Some(Choice {
                penalty,
                coefficients,
                error,
            });
        }
    }
    best
}

/// Predictions of a day's rows and what followed.
fn pairs(day: &[(Values, f64)], coefficients: &Values) -> Vec<(f64, f64)> {
    let day = day.iter();
    day.map(|(values, target)| (values.dot(coefficients), *target))
        .collect()
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
            scores
                .filter(|found| found.day.index() <= 360)
                .collect::<Vec<_>>()
        };
        assert_eq!(early(&cut), early(&whole));
        assert!(40 <= early(&whole).len());
        assert_ne!(cut.scores, whole.scores, "the cut changed nothing");
        // The first score is of the last close of the validation: it is traded on the day after.
        assert_eq!(whole.scores[0].day.index(), 320);
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
