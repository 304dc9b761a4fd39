//! What an alpha is compared with: returns of later days.

use crate::day_table::DayTable;

/// When a return begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LabelKind {
    /// At the open of the day after the signal's: a fill that can be had.
    NextOpen,
    /// At the signal's own close: published studies' label, and a fill nobody gets.
    Close,
}

/// Returns over `horizon` days by signal day, from adjusted prices (opens or closes by the kind); missing unless both
/// bars traded.
#[must_use]
pub fn label_returns(kind: LabelKind, prices: &DayTable, volumes: &DayTable, horizon: usize) -> DayTable {
    let (days, names) = (prices.days(), prices.names());
    let delay = usize::from(kind == LabelKind::NextOpen);
    let price = |day: usize, name: usize| {
        let traded = 0.0 < volumes.at(day, name);
        if traded { prices.at(day, name) } else { f64::NAN }
    };
    let cells = (0..days).flat_map(|day| (0..names).map(move |name| (day, name)));
    let returns = cells.map(|(day, name)| {
        let (from, to) = (
            day.saturating_add(delay),
            day.saturating_add(delay).saturating_add(horizon),
        );
        price(to, name) / price(from, name) - 1.0
    });
    DayTable::from_days(names, returns.collect())
}
