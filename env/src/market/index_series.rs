//! Index levels by day.

use crate::day::TradeDate;
use std::collections::BTreeMap;

/// Opening and closing level of an index by date, index points; NaN where missing.
pub type IndexLevels = BTreeMap<TradeDate, (f64, f64)>;

/// A daily index series over the panel's calendar, in index points.
#[derive(Debug, Clone)]
pub struct IndexSeries {
    /// The index's real code, such as `SH000300`.
    pub code: String,
    /// Opening levels; NaN where missing.
    pub open: Vec<f64>,
    /// Closing levels; NaN where missing.
    pub close: Vec<f64>,
}

/// An index series day by day; NaN where it has no level.
pub(super) fn on_calendar((code, levels): (String, IndexLevels), calendar: &[TradeDate]) -> IndexSeries {
    let level = |date| levels.get(date).copied().unwrap_or((f64::NAN, f64::NAN));
    IndexSeries {
        code,
        open: calendar.iter().map(|date| level(date).0).collect(),
        close: calendar.iter().map(|date| level(date).1).collect(),
    }
}
