//! What an exchange marks a name with for some time, beside ST: both decide its price limit.

use super::{Market, NameId};
use crate::day::{DateSpan, TradeDate};

/// A mark of the exchange that moves a name's price limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TradingStatus {
    /// Its share reform was not done (an S share).
    Unreformed,
    /// It trades in the delisting period, which ends every other mark.
    DelistingPeriod,
}

/// A mark that a name carries on some dates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct DatedStatus {
    /// The dates, inclusive.
    pub span: DateSpan,
    /// The mark.
    pub status: TradingStatus,
}

impl Market {
    /// Whether the name's share reform is not done on a date. A delisting period ends that too.
    #[must_use]
    pub fn is_unreformed(&self, name: NameId, date: TradeDate) -> bool {
        self.status_span(name, TradingStatus::Unreformed, date).is_some()
            && self.delisting_period(name, date).is_none()
    }

    /// The delisting period of a name that a date lies in.
    #[must_use]
    pub fn delisting_period(&self, name: NameId, date: TradeDate) -> Option<DateSpan> {
        self.status_span(name, TradingStatus::DelistingPeriod, date)
    }

    fn status_span(&self, name: NameId, status: TradingStatus, date: TradeDate) -> Option<DateSpan> {
        let mut statuses = self.name(name)?.statuses.iter();
        let found = statuses.find(|dated| dated.status == status && dated.span.contains(date));
        found.map(|dated| dated.span)
    }
}
