//! What the cheater remembers: the real future.

use ktd_baselines::Foresight;
use ktd_env::{DayIndex, Market, NameId, Ticker, TradeDate};
use std::sync::Arc;

/// The real future, for the agent that must profit from it under `bright` and be helpless under `blinded`.
pub(super) struct Future {
    pub(super) market: Arc<Market>,
}

impl Foresight for Future {
    /// From the open of the day to the open of the next: what an order filled today earns until it can be sold.
    fn next_return(&self, code: &str, date: &str) -> Option<f64> {
        let name = self.market.find(Ticker::parse(code).ok()?)?;
        let day = self.market.day(TradeDate::parse(date).ok()?)?;
        let next = self.market.day_at(day.index() + 1)?;
        Some(self.open(name, next)? / self.open(name, day)? - 1.0)
    }

    fn day_before(&self, date: &str) -> Option<String> {
        let day = self.market.day(TradeDate::parse(date).ok()?)?;
        self.market.date(day.before()?).map(TradeDate::reveal)
    }
}

impl Future {
    fn open(&self, name: NameId, day: DayIndex) -> Option<f64> {
        let bar = self.market.bar(name, day).filter(ktd_env::Bar::trades_at_open)?;
        Some(bar.adjusted(bar.open?))
    }
}
