//! The benchmark index beside a window.

use ktd_env::{DayIndex, Market, TradeDate};

/// The panel's benchmark index.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchmarkIndex {
    code: String,
    /// Closing levels by day; NaN where missing.
    closes: Vec<f64>,
    dates: Vec<String>,
}

impl BenchmarkIndex {
    /// The first index of a panel; one without levels where it has none.
    #[must_use]
    pub fn of(market: &Market) -> Self {
        let index = market.indices().first();
        Self {
            code: index.map_or_else(|| "the index".to_owned(), |index| index.code.clone()),
            closes: index.map_or_else(Vec::new, |index| index.close.clone()),
            dates: market.calendar().iter().copied().map(TradeDate::reveal).collect(),
        }
    }

    /// The index's real code.
    #[must_use]
    pub fn code(&self) -> &str {
        &self.code
    }

    /// Daily returns over the days of a window, from the close before its first.
    ///
    /// # Errors
    /// The first day without a level, in words: a window with a gap has no benchmark return.
    pub fn over(&self, days: &[DayIndex]) -> Result<Vec<f64>, String> {
        let level = |place: Option<usize>| {
            let place = place.ok_or_else(|| "the panel has no day before the window".to_owned())?;
            let level = self
                .closes
                .get(place)
                .copied()
                .filter(|level| level.is_finite() && 0.0 < *level);
            level.ok_or_else(|| {
                let date = self.dates.get(place).map_or("", String::as_str);
                if self.closes.is_empty() {
                    "the panel has no index".to_owned()
                } else {
                    format!("{} has no level on {date}", self.code)
                }
            })
        };
        days.iter()
            .map(|day| Ok(level(Some(day.index()))? / level(day.index().checked_sub(1))? - 1.0))
            .collect()
    }
}
