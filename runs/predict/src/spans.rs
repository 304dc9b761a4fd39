//! Spans of training, validation and use, which never touch each other.

use ktd_data::training_rows::TrainingRow;
use ktd_env::{DayIndex, Market, TradeDate};

/// The last days of training and validation; what follows is scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrainingSpans {
    /// The last day whose prices are trained on, labels included.
    pub train_until: TradeDate,
    /// The last day whose prices are validated on, labels included.
    pub validate_until: TradeDate,
}

/// Trading days that a label looks ahead: it ends at the open of the second day after its row.
const LABEL_DAYS: usize = 2;

/// What a row is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Train,
    Validate,
    Score,
}

impl TrainingSpans {
    /// The part of a row; none where its label reaches into the next part, so that nothing of that part is learnt.
    pub(crate) fn part(self, market: &Market, row: &TrainingRow) -> Option<Part> {
        let date_after = |days: usize| market.date(market.day_at(row.day.index() + days)?);
        let label_ends = date_after(LABEL_DAYS);
        if label_ends.is_some_and(|end| end <= self.train_until) {
            return Some(Part::Train);
        }
        let date = date_after(0)?;
        if self.train_until < date && label_ends.is_some_and(|end| end <= self.validate_until) {
            return Some(Part::Validate);
        }
        self.is_scored(market, row.day).then_some(Part::Score)
    }

    /// Whether scores of a close are traded after the validation: at the open of the next trading day.
    fn is_scored(self, market: &Market, day: DayIndex) -> bool {
        let next = market.day_at(day.index() + 1).and_then(|next| market.date(next));
        next.map_or_else(
            || market.date(day).is_some_and(|date| self.validate_until <= date),
            |next| self.validate_until < next,
        )
    }
}
