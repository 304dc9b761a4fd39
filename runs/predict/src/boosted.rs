//! Boosted trees that predict the next return from the z-scores of nine factors.

use crate::PredictError;
use crate::correlation::{mean, mean_correlation};
use crate::parts::TrainingParts;
use crate::predicted_return::PredictedReturn;
use crate::ridge::COLUMNS;
use crate::spans::TrainingSpans;
use ktd_data::training_rows::{TrainingRow, training_rows};
use ktd_env::{DateSpan, KeyedStream, Market};
use ktd_learners::{BoostedTrees, BoostingSettings, Chance, LearnError};

/// The settings that Qlib publishes for `LightGBM` on the CSI300 (examples/benchmarks, Alpha158), which name no fewest rows of a
/// leaf: the library's default. A share of rows without a frequency samples none.
const SETTINGS: BoostingSettings = BoostingSettings {
    trees: 1000,
    leaves: 210,
    max_depth: Some(8),
    learning_rate: 0.2,
    column_share: 0.8879,
    l1: 205.6999,
    l2: 580.9768,
    min_rows: 20,
};

/// Trees without a smaller error of validation after which the rest is not grown.
const PATIENCE: usize = 50;

/// Trees that are grown before validation looks again.
const BATCH: usize = 2 * PATIENCE;

/// A trained predictor and what it says of the days after its validation.
#[derive(Debug, Clone, PartialEq)]
pub struct BoostedPredictor {
    /// Trees that validation kept, at least one.
    pub trees: usize,
    /// Mean daily correlation of prediction and return over the days of validation.
    pub validation_ic: f64,
    /// Rows it was trained on.
    pub rows_trained: usize,
    /// Days it was validated on.
    pub days_validated: usize,
    /// Predicted returns above the members' mean.
    pub scores: Vec<PredictedReturn>,
}

/// Trains on a panel, on labels that have mean 0 and deviation 1 over the stocks of a day; a prediction is turned back into a
/// return by the mean deviation of the days trained on. The same panel, spans and seed give the same bytes.
///
/// # Errors
/// [`PredictError::Input`] when a span holds no row, and when nothing is learnt: no number of trees predicts validation better than
/// its mean, so that every score would be the same.
pub fn boosted(market: &Market, spans: TrainingSpans, seed: u64) -> Result<BoostedPredictor, PredictError> {
    trained_with(SETTINGS, market, spans, seed)
}

fn trained_with(
    settings: BoostingSettings,
    market: &Market,
    spans: TrainingSpans,
    seed: u64,
) -> Result<BoostedPredictor, PredictError> {
    let rows = training_rows(market, &DateSpan::ALWAYS)?;
    let parts = TrainingParts::of(market, spans, &rows)?;
    let trained = LabelledRows::of(&parts.trained);
    let validated = LabelledRows::of(&parts.validated);
    let trees = fit(settings, &trained, &validated, seed).map_err(|error| {
        PredictError::input(
            format_args!("the factors of the span cannot be learnt: {error}"),
            "train on more days",
        )
    })?;
    if trees.count() == 0 {
        return Err(PredictError::input(
            format_args!(
                "nothing was learnt from {} rows: no number of trees predicts the {} days of validation better than \
                 their mean, so that every score would be the same",
                trained.labels.len(),
                parts.validated.len(),
            ),
            "choose other days with `--train-until` and `--validate-until`, or train another predictor (docs/baselines.md)",
        ));
    }
    let found = trees.predict(&validated.values);
    let pairs: Vec<(f64, f64)> = found.into_iter().zip(validated.labels.iter().copied()).collect();
    let days = validated.days.iter().scan(0, |start, count| {
        let first = *start;
        *start += count;
        Some(pairs.get(first..*start).unwrap_or_default().to_vec())
    });
    let values: Vec<f64> = parts.scored.iter().flat_map(|row| values(row)).collect();
    let scores = trees.predict(&values).into_iter().zip(&parts.scored);
    Ok(BoostedPredictor {
        trees: trees.count(),
        validation_ic: mean_correlation(days),
        rows_trained: trained.labels.len(),
        days_validated: parts.validated.len(),
        scores: scores
            .map(|(score, row)| PredictedReturn {
                day: row.day,
                name: row.name,
                score: score * trained.deviation,
            })
            .collect(),
    })
}

/// Grows trees until validation has had enough of them: those of a longer fit begin as those of a shorter one.
fn fit(
    wanted: BoostingSettings,
    trained: &LabelledRows,
    validated: &LabelledRows,
    seed: u64,
) -> Result<BoostedTrees, LearnError> {
    let mut grown = BATCH;
    loop {
        let settings = BoostingSettings {
            trees: grown.min(wanted.trees),
            ..wanted
        };
        let mut stream = KeyedStream::for_purpose(seed, "boosted trees");
        let mut next = || stream.next_u64();
        let fit = BoostedTrees::fit(
            &trained.values,
            COLUMNS,
            &trained.labels,
            &settings,
            &mut Chance::new(&mut next),
        )?;
        let kept = fit.stopped_early(&validated.values, &validated.labels, PATIENCE)?;
        if kept.count() + PATIENCE <= settings.trees || settings.trees == wanted.trees {
            return Ok(kept);
        }
        grown *= 2;
    }
}

/// Values and labels of the rows that have a return, day after day.
struct LabelledRows {
    values: Vec<f64>,
    labels: Vec<f64>,
    /// Rows of each day.
    days: Vec<usize>,
    /// Mean over days of the standard deviation of returns.
    deviation: f64,
}

impl LabelledRows {
    fn of(days: &[&[TrainingRow]]) -> Self {
        let mut rows = Self {
            values: Vec::new(),
            labels: Vec::new(),
            days: Vec::new(),
            deviation: 0.0,
        };
        let mut deviations = Vec::new();
        for day in days {
            let known: Vec<(&TrainingRow, f64)> = day
                .iter()
                .filter_map(|row| Some((row, row.future_return?)))
                .collect();
            let centre = mean(known.iter().map(|(_, target)| *target));
            let deviation = mean(
                known
                    .iter()
                    .map(|(_, target)| (target - centre) * (target - centre)),
            )
            .sqrt();
            if deviation <= 0.0 {
                continue;
            }
            deviations.push(deviation);
            rows.days.push(known.len());
            for (row, target) in known {
                rows.values.extend(values(row));
                rows.labels.push((target - centre) / deviation);
            }
        }
        rows.deviation = mean(deviations.into_iter());
        rows
    }
}

/// The z-scores of a row; one that is missing is the mean, 0.
fn values(row: &TrainingRow) -> [f64; COLUMNS] {
    row.z_scores.map(Option::unwrap_or_default)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_env::TradeDate;
    use ktd_env::synth::{SynthConfig, generate};

    /// Penalties for few rows: those of the benchmark leave nothing of so small a market.
    const FEW_ROWS: BoostingSettings = BoostingSettings {
        trees: 300,
        leaves: 8,
        l1: 1.0,
        l2: 1.0,
        ..SETTINGS
    };

    #[test]
    fn what_follows_validation_moves_no_tree_and_no_earlier_score() {
        let spans = |market: &Market| {
            let date = |place: usize| -> TradeDate { market.calendar()[place] };
            TrainingSpans {
                train_until: date(300),
                validate_until: date(340),
            }
        };
        let trained = |market: &Market| trained_with(FEW_ROWS, market, spans(market), 1);
        // Of markets without a planted factor, the first whose validation keeps a tree.
        let markets = (1..20).map(|seed| {
            let config = SynthConfig {
                seed,
                names: 60,
                days: 420,
            };
            generate(&config).unwrap()
        });
        let mut found = markets.filter_map(|market| Some((trained(&market).ok()?, market)));
        let (whole, market) = found.next().unwrap();
        let cut = trained(&market.cut_after(market.day_at(380).unwrap())).unwrap();
        let early = |predictor: &BoostedPredictor| {
            let scores = predictor.scores.iter().copied();
            scores
                .filter(|found| found.day.index() <= 380)
                .collect::<Vec<_>>()
        };
        assert_eq!((cut.trees, cut.validation_ic), (whole.trees, whole.validation_ic));
        assert_eq!(early(&cut).len(), early(&whole).len());
        assert!(early(&cut) == early(&whole), "an earlier score moved");
        assert!(cut.scores != whole.scores, "the cut changed nothing");
        assert_eq!(whole.scores[0].day.index(), 340);
    }

    #[test]
    fn a_return_that_follows_a_factor_is_learnt() {
        let count = 300;
        let mut stream = KeyedStream::for_purpose(7, "planted returns");
        let mut uniform = || f64::from(u32::try_from(stream.next_u64() >> 32).unwrap()) / f64::from(u32::MAX);
        let mut day = |of: usize| -> Vec<([f64; COLUMNS], f64)> {
            let row = |uniform: &mut dyn FnMut() -> f64| {
                let z: [f64; COLUMNS] = std::array::from_fn(|_| 4.0 * uniform() - 2.0);
                // A step and an interaction, which no line follows.
                let follows = if z[2] * z[5] < 0.0 { -1.0 } else { 1.0 };
                (z, follows + 0.5 * uniform())
            };
            (0..of).map(|_| row(&mut uniform)).collect()
        };
        let mut rows = |days: usize| {
            let mut all = LabelledRows {
                values: Vec::new(),
                labels: Vec::new(),
                days: Vec::new(),
                deviation: 1.0,
            };
            for _ in 0..days {
                let day = day(count);
                all.days.push(count);
                all.values.extend(day.iter().flat_map(|(z, _)| *z));
                all.labels.extend(day.iter().map(|(_, label)| *label));
            }
            all
        };
        let (trained, validated) = (rows(60), rows(5));
        let trees = fit(FEW_ROWS, &trained, &validated, 1).unwrap();
        let found = trees.predict(&validated.values);
        let pairs = found.into_iter().zip(validated.labels.iter().copied()).collect();
        let ic = mean_correlation(std::iter::once(pairs));
        assert!(0.5 < ic && 0 < trees.count(), "{ic}, {} trees", trees.count());
    }
}
