//! The two columns that say from when to when a row of a side file holds.

use super::columns::read_date;
use ktd_env::{DateSpan, TradeDate};

/// The columns of a first day and of a last one, or of the day after it.
#[derive(Debug, Clone, Copy)]
pub(super) struct SpanColumns {
    start: usize,
    end: usize,
    end_is_excluded: bool,
}

impl SpanColumns {
    /// The columns that a header names: `start` and `end` (both included), or `from` and `until_excl`.
    pub(super) fn of(header: &csv::StringRecord) -> Option<Self> {
        let place = |names: &[&str]| header.iter().position(|head| names.contains(&head));
        let start = place(&["start", "from", "start_date"])?;
        let inclusive = place(&["end", "until", "end_date"]);
        let excluded = place(&["until_excl", "end_excl"]);
        let (end, end_is_excluded) = match (inclusive, excluded) {
            (Some(end), None) => (end, false),
            (None, Some(end)) => (end, true),
            _ => return None,
        };
        Some(Self {
            start,
            end,
            end_is_excluded,
        })
    }

    /// The days of a row; an empty end stays open.
    ///
    /// # Errors
    /// What is wrong with the row, in words.
    pub(super) fn read(&self, record: &csv::StringRecord) -> Result<DateSpan, String> {
        let cell = |place: usize| record.get(place).unwrap_or_default();
        let date = |text: &str| read_date(text).map_err(|error| error.to_string());
        let start = date(cell(self.start))?;
        let end = match (cell(self.end), self.end_is_excluded) {
            ("", _) => TradeDate::LATEST,
            (text, true) => date(text)?.day_before(),
            (text, false) => date(text)?,
        };
        if end < start {
            return Err("the span ends before it starts".to_owned());
        }
        Ok(DateSpan { start, end })
    }
}
