//! What a name's price limit hangs on beside its board and the date.

use crate::day::TradeDate;
use crate::market::{DayIndex, Market, NameId};

/// How a name stands with its exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// As others of its board; in its delisting period too.
    Plain,
    /// Under ST or *ST.
    SpecialTreatment,
    /// An S share, whose share reform was not done.
    Unreformed,
}

impl Standing {
    /// The standing of a name on a date.
    #[must_use]
    pub fn of(market: &Market, name: NameId, date: TradeDate) -> Self {
        if market.is_unreformed(name, date) {
            Self::Unreformed
        } else if market.is_st(name, date) {
            Self::SpecialTreatment
        } else {
            Self::Plain
        }
    }
}

/// First day on which a delisting period opens without a limit; before, its first day had the board's.
const FIRST_DAY_FREE_FROM: TradeDate = TradeDate::of(2020, 12, 31);

/// Whether a day is the first one of a delisting period, which has no limit.
pub(super) fn opens_delisting_period(market: &Market, name: NameId, day: DayIndex) -> bool {
    let date = market.date(day).filter(|date| FIRST_DAY_FREE_FROM <= *date);
    let period = date.and_then(|date| market.delisting_period(name, date));
    period.is_some_and(|period| {
        let first = market.calendar().partition_point(|date| *date < period.start);
        first == day.index()
    })
}
