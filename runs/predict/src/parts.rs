//! Rows of a panel by what they are used for.

use crate::PredictError;
use crate::spans::{Part, TrainingSpans};
use ktd_data::training_rows::TrainingRow;
use ktd_env::Market;

/// Days to train on and to validate on, and rows to score, in the order of days.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct TrainingParts<'r> {
    pub(crate) trained: Vec<&'r [TrainingRow]>,
    pub(crate) validated: Vec<&'r [TrainingRow]>,
    pub(crate) scored: Vec<&'r TrainingRow>,
}

impl<'r> TrainingParts<'r> {
    /// # Errors
    /// [`PredictError::Input`] when a part holds no row.
    pub(crate) fn of(
        market: &Market,
        spans: TrainingSpans,
        rows: &'r [TrainingRow],
    ) -> Result<Self, PredictError> {
        let mut parts = Self::default();
        for day in rows.chunk_by(|a, b| a.day == b.day) {
            match day.first().and_then(|row| spans.part(market, row)) {
                Some(Part::Train) => parts.trained.push(day),
                Some(Part::Validate) => parts.validated.push(day),
                Some(Part::Score) => parts.scored.extend(day),
                None => {}
            }
        }
        let labelled = |days: &[&[TrainingRow]]| {
            let rows = days.iter().flat_map(|day| day.iter());
            rows.filter(|row| row.future_return.is_some()).count()
        };
        let rows_trained = labelled(&parts.trained);
        if rows_trained == 0 || labelled(&parts.validated) == 0 || parts.scored.is_empty() {
            return Err(PredictError::input(
                format_args!(
                    "the spans hold {rows_trained} rows to train on, {} days to validate on and {} rows to score",
                    parts.validated.len(),
                    parts.scored.len()
                ),
                "choose `--train-until` and `--validate-until` inside the panel, with days before, between and after them",
            ));
        }
        Ok(parts)
    }
}
