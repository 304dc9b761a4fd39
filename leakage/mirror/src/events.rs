//! What happens on the day after an as-of day, which nothing before it may tell.

use ktd_env::{DayIndex, Market, NameId, TradeDate};

/// An event of a name on the next trading day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NextDayEvent {
    /// Special treatment begins or ends.
    SpecialTreatment,
    /// Membership of the index begins or ends.
    Membership,
    /// The first bar.
    Listing,
    /// The first day after the last row.
    End,
    /// The adjustment factor moves.
    ExDay,
    /// A day without a bar or without volume.
    Halt,
}

impl NextDayEvent {
    /// All events.
    pub(crate) const ALL: [Self; 6] = [
        Self::SpecialTreatment,
        Self::Membership,
        Self::Listing,
        Self::End,
        Self::ExDay,
        Self::Halt,
    ];

    /// Those that evenly spread days would miss.
    pub(crate) const RARE: [Self; 4] = [Self::SpecialTreatment, Self::Membership, Self::Listing, Self::End];

    /// The names that it happens to on the trading day after a day.
    pub(crate) fn names(self, market: &Market, day: DayIndex) -> Vec<NameId> {
        let Some(next) = market.day_at(day.index() + 1) else {
            return Vec::new();
        };
        let dates = market.date(day).zip(market.date(next));
        let Some(dates) = dates else {
            return Vec::new();
        };
        let names = market.names().map(|(name, _)| name);
        names
            .filter(|name| self.happens(market, *name, (day, next), dates))
            .collect()
    }

    fn happens(
        self,
        market: &Market,
        name: NameId,
        (day, next): (DayIndex, DayIndex),
        (today, tomorrow): (TradeDate, TradeDate),
    ) -> bool {
        let is_known = market.first_bar_day(name).is_some_and(|first| first <= day);
        let bars = || market.bar(name, day).zip(market.bar(name, next));
        match self {
            Self::SpecialTreatment => is_known && market.is_st(name, today) != market.is_st(name, tomorrow),
            Self::Membership => is_known && market.is_member(name, today) != market.is_member(name, tomorrow),
            Self::Listing => market.first_bar_day(name) == Some(next),
            Self::End => market.name(name).is_some_and(|info| info.last_row == day),
            Self::ExDay => bars().is_some_and(|(bar, later)| bar.factor != later.factor),
            Self::Halt => {
                market.bar(name, day).is_some_and(|bar| 0 < bar.volume)
                    && market.bar(name, next).is_none_or(|bar| bar.volume == 0)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::small_market::small_market;

    #[test]
    fn each_event_happens_somewhere_and_is_one_of_the_next_day() {
        let market = small_market();
        for event in NextDayEvent::ALL {
            let days = (0..market.calendar().len() - 1).filter_map(|place| market.day_at(place));
            let names: usize = days.map(|day| event.names(&market, day).len()).sum();
            assert!(0 < names, "{event:?}");
        }
        let listed = market
            .names()
            .find(|(name, _)| 0 < market.first_bar_day(*name).unwrap().index());
        let (name, _) = listed.unwrap();
        let eve = market.first_bar_day(name).unwrap().before().unwrap();
        assert!(NextDayEvent::Listing.names(&market, eve).contains(&name));
        assert!(!NextDayEvent::Membership.names(&market, eve).contains(&name));
    }
}
