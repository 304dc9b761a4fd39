//! What a name was worth before, at and after the open of a day, in that day's own shares.

use ktd_env::{Bar, DayIndex, Market, NameId};

/// Prices of one name on one day, CNY a share of that day.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct DayPrices {
    /// The mark of the day before; on an ex-day scaled by the move of the adjustment factor, unrounded, as total
    /// returns have it. `None` before the first bar.
    pub reference: Option<f64>,
    /// The open, where the name trades at it.
    pub open: Option<f64>,
    /// The mark at the close: the day's close, or the last one.
    pub mark: Option<f64>,
    /// Shares of today for one share of the day before.
    pub split: f64,
}

impl DayPrices {
    /// The prices of a name on `day`.
    pub(super) fn of(market: &Market, name: NameId, day: DayIndex) -> Self {
        let today = market.bar(name, day);
        let before = day
            .before()
            .and_then(|before| market.last_bar_day(name, before))
            .and_then(|last| market.bar(name, last));
        let split = match (&before, &today) {
            (Some(before), Some(today)) if before.factor != today.factor => {
                today.factor_value / before.factor_value
            }
            _ => 1.0,
        };
        let reference = before.as_ref().map(|before| before.close.to_yuan() / split);
        let open = today
            .as_ref()
            .filter(|bar| bar.trades_at_open())
            .and_then(|bar| bar.open);
        Self {
            reference,
            open: open.map(ktd_env::Price::to_yuan),
            mark: today.as_ref().map(|bar| bar.close.to_yuan()).or(reference),
            split,
        }
    }
}

/// The return from the open of `day` to the first later open at which the name trades: the first legal exit of what was
/// bought there (T+1). `None` when the name does not trade at one of the two.
pub(super) fn return_to_first_exit(market: &Market, name: NameId, day: DayIndex) -> Option<f64> {
    let open = |day: DayIndex| -> Option<f64> {
        let bar: Bar = market.bar(name, day).filter(Bar::trades_at_open)?;
        Some(bar.adjusted(bar.open?))
    };
    let bought = open(day)?;
    let later = (day.index() + 1..market.calendar().len()).filter_map(|place| market.day_at(place));
    let sold = later.into_iter().find_map(open)?;
    Some(sold / bought - 1.0)
}
