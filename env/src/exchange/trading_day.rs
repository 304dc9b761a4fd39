//! One trading day of the market, as the exchange sees it.

use super::fees::ChargedTrade;
use super::grid::cut_quantity;
use super::limit_open::LimitOpen;
use super::limits::{PriceLimits, reference_price};
use super::order::Side;
use super::rules::Rules;
use crate::as_of::AsOf;
use crate::day::TradeDate;
use crate::market::{Bar, CashDividend, DayIndex, Market, NameId};
use crate::money::{AmountTooLarge, Price, Shares};
use crate::ticker::Board;

/// The quotes of one trading day and all that went before: what the exchange itself may see.
#[derive(Debug, Clone, Copy)]
pub struct TradingDay<'m> {
    market: &'m Market,
    day: DayIndex,
    date: TradeDate,
    before: DayIndex,
}

impl<'m> TradingDay<'m> {
    /// The trading day `day`, or `None` for the panel's first day, which has no as-of day before it.
    #[must_use]
    pub fn new(market: &'m Market, day: DayIndex) -> Option<Self> {
        Some(Self {
            market,
            day,
            date: market.date(day)?,
            before: day.before()?,
        })
    }

    /// The as-of view of the decision: it ends on the day before.
    #[must_use]
    pub const fn as_of(&self) -> AsOf<'m> {
        self.market.as_of(self.before)
    }

    /// The trading day itself.
    #[must_use]
    pub const fn day(&self) -> DayIndex {
        self.day
    }

    pub(super) const fn date(&self) -> TradeDate {
        self.date
    }

    /// Whether sales of this market pay tax on dividends.
    pub(super) fn taxes_dividends(&self, rules: &Rules) -> bool {
        rules.tax_dividends(self.market)
    }

    /// Dividends of a name whose ex-day is the day, or lies between it and the trading day before, each with its record day.
    pub(super) fn dividends(
        &self,
        name: NameId,
    ) -> impl Iterator<Item = (TradeDate, CashDividend)> + use<'m> {
        let all = self.market.name(name).map_or(&[][..], |info| &info.dividends);
        let recorded = self.market.date(self.before).unwrap_or(self.date);
        let first = all.partition_point(|dividend| dividend.ex_day <= recorded);
        let date = self.date;
        let later = all.get(first..).unwrap_or_default().iter();
        later
            .take_while(move |dividend| dividend.ex_day <= date)
            .map(move |dividend| (recorded, *dividend))
    }

    pub(super) fn charged(
        &self,
        name: NameId,
        side: Side,
        shares: Shares,
        price: Price,
    ) -> Result<ChargedTrade, AmountTooLarge> {
        Ok(ChargedTrade {
            side,
            shares,
            value: price.times(shares)?,
            venue: self.market.venue(name),
            date: self.date,
        })
    }

    /// A count that was decided on the as-of day, carried through the day's corporate action and cut down to the grid.
    pub(super) fn carried(&self, name: NameId, side: Side, decided: Shares, held: Shares) -> Shares {
        let moved = self
            .previous_bar(name)
            .zip(self.bar(name))
            .filter(|(before, bar)| before.factor != bar.factor);
        let scaled = moved.and_then(|(before, bar)| bar.factor.scale_count(decided.0, before.factor));
        scaled.map_or(decided, |(whole, ..)| {
            Shares(cut_quantity(self.board(name), side, whole, held.0))
        })
    }

    pub(super) fn board(&self, name: NameId) -> Board {
        self.market.board(name)
    }

    /// Shares of a name that the day traded.
    pub(super) fn volume(&self, name: NameId) -> u64 {
        self.bar(name).map_or(0, |bar| bar.volume)
    }

    pub(super) fn bar(&self, name: NameId) -> Option<Bar> {
        self.market.bar(name, self.day)
    }

    /// The last bar before the day, however long ago.
    pub(super) fn previous_bar(&self, name: NameId) -> Option<Bar> {
        self.market
            .bar(name, self.market.last_bar_day(name, self.before)?)
    }

    /// The last bar on or before the day.
    pub(super) fn last_bar(&self, name: NameId) -> Option<Bar> {
        self.market.bar(name, self.market.last_bar_day(name, self.day)?)
    }

    pub(super) fn tradable_open(&self, name: NameId) -> Option<Price> {
        self.bar(name)
            .filter(Bar::trades_at_open)
            .and_then(|bar| bar.open)
    }

    /// The open at the limit of an order's side that it meets.
    pub(super) fn limit_open(&self, rules: &Rules, name: NameId, side: Side) -> Option<LimitOpen> {
        let bar = self.bar(name).filter(Bar::trades_at_open)?;
        self.limits(rules, name)?.met(side, &bar)
    }

    pub(super) fn limits(&self, rules: &Rules, name: NameId) -> Option<PriceLimits> {
        PriceLimits::of(rules, self.market, name, self.day, self.reference(name)?)
    }

    /// The highest price that a buy may name before the open: the exchange's upper limit, and on a day without one the widest
    /// span of the board above the reference price.
    pub(super) fn highest_bid(&self, rules: &Rules, name: NameId) -> Option<Price> {
        let limits = self.limits(rules, name);
        let widest = || {
            Some(PriceLimits::widest(
                rules,
                self.board(name),
                self.reference(name)?,
            ))
        };
        Some(limits.or_else(widest)?.exact_up())
    }

    fn reference(&self, name: NameId) -> Option<Price> {
        let (previous, bar) = (self.previous_bar(name)?, self.bar(name)?);
        Some(reference_price(previous.close, previous.factor, bar.factor))
    }

    /// Whether the name's rows ended exactly so many trading days ago, or longer.
    pub(super) fn is_delisted(&self, name: NameId, after_days: u32) -> bool {
        let Some(info) = self.market.name(name) else {
            return false;
        };
        let missed = self.day.index().saturating_sub(info.last_row.index());
        missed > 0 && missed >= usize::try_from(after_days).unwrap_or(usize::MAX)
    }

    /// The last close on or before the day, and how many trading days ago it was.
    pub(super) fn last_close(&self, name: NameId) -> Option<(Price, u32)> {
        let last = self.market.last_bar_day(name, self.day)?;
        let missed = self.day.index().saturating_sub(last.index());
        Some((
            self.market.bar(name, last)?.close,
            u32::try_from(missed).unwrap_or(u32::MAX),
        ))
    }
}
