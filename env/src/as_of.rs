//! The view of a market that ends on the as-of day.

use crate::day::TradeDate;
use crate::factor_table::FactorTable;
use crate::factors::{Factor, Technical};
use crate::market::{Bar, DayIndex, Market, NameId};
use crate::ticker::Board;

/// How many trading days before the as-of day; 0 is the as-of day itself. There is no way to say "later".
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct DaysBack(pub u32);

/// A day that an [`AsOf`] view has shown: the as-of day or an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PastDay {
    index: DayIndex,
    date: TradeDate,
}

impl PastDay {
    /// Its place in the calendar.
    #[must_use]
    pub const fn index(self) -> DayIndex {
        self.index
    }

    /// Its real date, redacted until a mask shows it.
    #[must_use]
    pub const fn date(self) -> TradeDate {
        self.date
    }
}

impl Market {
    /// The view that ends on `day`: all that a decision after that day's close may know.
    #[must_use]
    pub const fn as_of(&self, day: DayIndex) -> AsOf<'_> {
        AsOf::new(self, day)
    }
}

/// All that may be known after the close of the as-of day, and nothing later.
#[derive(Debug, Clone, Copy)]
pub struct AsOf<'m> {
    market: &'m Market,
    day: DayIndex,
    factors: Option<&'m FactorTable>,
}

impl<'m> AsOf<'m> {
    const fn new(market: &'m Market, day: DayIndex) -> Self {
        Self {
            market,
            day,
            factors: None,
        }
    }

    /// The same view with factor values, which are computed once for a panel and shared.
    #[must_use]
    pub const fn with_factors(mut self, factors: &'m FactorTable) -> Self {
        self.factors = Some(factors);
        self
    }

    /// The panel behind the view, for the exchange's own rules alone.
    pub(crate) const fn market(&self) -> &'m Market {
        self.market
    }

    /// The as-of day.
    #[must_use]
    pub const fn day(&self) -> DayIndex {
        self.day
    }

    /// The day so many trading days back, or `None` before the panel's first.
    #[must_use]
    pub fn past_day(&self, back: DaysBack) -> Option<PastDay> {
        let index = self.day.back(back.0)?;
        Some(PastDay {
            index,
            date: self.market.date(index)?,
        })
    }

    /// The view so many trading days earlier, with the same factor values; `None` before the panel's first day.
    #[must_use]
    pub fn past(&self, back: DaysBack) -> Option<Self> {
        let day = self.day.back(back.0)?;
        Some(Self { day, ..*self })
    }

    /// The names that may be known: those with a bar on or before the as-of day, in the order of the codes.
    pub fn names(&self) -> impl Iterator<Item = NameId> + use<'m> {
        let (market, day) = (self.market, self.day);
        market
            .names()
            .map(|(name, _)| name)
            .filter(move |&name| market.first_bar_day(name).is_some_and(|first| first <= day))
    }

    /// Whether the name has a bar on or before the as-of day.
    #[must_use]
    pub fn is_known(&self, name: NameId) -> bool {
        self.market
            .first_bar_day(name)
            .is_some_and(|first| first <= self.day)
    }

    /// The index members of the as-of day, in the order of the codes.
    pub fn members(&self) -> impl Iterator<Item = NameId> + use<'m> {
        let view = *self;
        self.names().filter(move |&name| view.is_member(name))
    }

    /// Whether the name is an index member on the as-of day.
    #[must_use]
    pub fn is_member(&self, name: NameId) -> bool {
        self.market
            .date(self.day)
            .is_some_and(|date| self.market.is_member(name, date))
    }

    /// Whether the name carries ST status on the as-of day.
    #[must_use]
    pub fn is_st(&self, name: NameId) -> bool {
        self.market
            .date(self.day)
            .is_some_and(|date| self.market.is_st(name, date))
    }

    /// The board of a name.
    #[must_use]
    pub fn board(&self, name: NameId) -> Board {
        self.market.board(name)
    }

    /// The sector of a name on the as-of day, as a place in the panel's list of sectors.
    #[must_use]
    pub fn sector(&self, name: NameId) -> Option<u16> {
        let date = self.market.date(self.day)?;
        self.market.name(name)?.sector_on(date)
    }

    /// The bar of a name so many days back.
    #[must_use]
    pub fn bar(&self, name: NameId, back: DaysBack) -> Option<Bar> {
        self.market.bar(name, self.past_day(back)?.index)
    }

    /// The last bar on or before the as-of day, however old, with its day.
    #[must_use]
    pub fn last_bar(&self, name: NameId) -> Option<(PastDay, Bar)> {
        let index = self.market.last_bar_day(name, self.day)?;
        let day = PastDay {
            index,
            date: self.market.date(index)?,
        };
        Some((day, self.market.bar(name, index)?))
    }

    /// The bar before the last one: the base of the last day's change.
    #[must_use]
    pub fn bar_before_last(&self, name: NameId) -> Option<Bar> {
        let last = self.market.last_bar_day(name, self.day)?;
        let before = self.market.last_bar_day(name, last.before()?)?;
        self.market.bar(name, before)
    }

    /// The last bar on or before an earlier day of this view.
    #[must_use]
    pub fn last_bar_by(&self, name: NameId, day: PastDay) -> Option<Bar> {
        let by = day.index.min(self.day);
        self.market.bar(name, self.market.last_bar_day(name, by)?)
    }

    /// The first bar of a name, if it is not later than the as-of day.
    #[must_use]
    pub fn first_bar(&self, name: NameId) -> Option<Bar> {
        let first = self
            .market
            .first_bar_day(name)
            .filter(|first| *first <= self.day)?;
        self.market.bar(name, first)
    }

    /// The days on which the name has a bar, newest last, at most `count`, with their bars.
    #[must_use]
    pub fn bars(&self, name: NameId, count: usize) -> Vec<(PastDay, Bar)> {
        let mut bars = Vec::with_capacity(count);
        let mut next = Some(self.day);
        while let Some(day) = next.filter(|_| bars.len() < count) {
            let Some(index) = self.market.last_bar_day(name, day) else {
                break;
            };
            let Some(bar) = self.market.bar(name, index) else {
                break;
            };
            let Some(date) = self.market.date(index) else {
                break;
            };
            bars.push((PastDay { index, date }, bar));
            next = index.before();
        }
        bars.reverse();
        bars
    }

    /// The benchmark's closing level so many days back, in index points.
    #[must_use]
    pub fn index_close(&self, back: DaysBack) -> Option<f64> {
        let day = self.past_day(back)?;
        let levels = &self.market.indices().first()?.close;
        levels
            .get(day.index.index())
            .copied()
            .filter(|level| level.is_finite())
    }

    /// A factor's value on the as-of day; `None` where it is missing.
    #[must_use]
    pub fn factor(&self, name: NameId, factor: Factor) -> Option<f64> {
        self.factors?.factor(name, self.day, factor)
    }

    /// A factor's cross-sectional z-score on the as-of day.
    #[must_use]
    pub fn factor_z(&self, name: NameId, factor: Factor) -> Option<f64> {
        self.factors?.factor_z(name, self.day, factor)
    }

    /// A technical's value on the as-of day; `None` where it is missing.
    #[must_use]
    pub fn technical(&self, name: NameId, technical: Technical) -> Option<f64> {
        self.factors?.technical(name, self.day, technical)
    }

    /// How many sectors the panel has; 0 without sectors.
    #[must_use]
    pub fn sector_count(&self) -> usize {
        self.market.sectors().len()
    }
}
