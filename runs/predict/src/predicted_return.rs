//! What a predictor expects of a stock after a close.

use ktd_env::{DayIndex, Market, NameId};
use std::fmt::Write as _;

/// Predicted return of a stock above the mean of the index's members, from the next open to the open after it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PredictedReturn {
    /// The day whose close was the last that was known.
    pub day: DayIndex,
    /// The stock.
    pub name: NameId,
    /// The return, a share.
    pub score: f64,
}

/// Scores as a file that an agent of scores trades: `date,code,score`.
#[must_use]
pub fn score_file(market: &Market, scores: &[PredictedReturn]) -> String {
    let mut text = "date,code,score\n".to_owned();
    for PredictedReturn { day, name, score } in scores {
        if let (Some(date), Some(info)) = (market.date(*day), market.name(*name)) {
            // Writing to a string cannot fail.
            writeln!(text, "{},{},{score}", date.reveal(), info.ticker.reveal()).ok();
        }
    }
    text
}
