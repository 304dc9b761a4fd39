//! The market panel: what happened, name by name and day by day.
//!
//! A [`Market`] is complete and immutable. Whatever decides on behalf of a model sees it through an [`AsOf`] view
//! that ends on the as-of day; only the exchange and the edge see a [`Market`] itself.

mod bar;
mod basis;
mod builder;
mod cash_dividend;
mod codec;
mod dated_sector;
mod dated_status;
mod error;
mod fewest_members;
mod index_series;
mod panel_bytes;
mod panel_format;
mod replaced;

pub use bar::Bar;
pub use basis::{PriceBasis, VolumeBasis};
pub use builder::{BuildReport, MarketBuilder, PanelOptions, RawBar};
pub use cash_dividend::CashDividend;
pub use dated_sector::DatedSector;
pub use dated_status::{DatedStatus, TradingStatus};
pub use error::{DataError, SourceLocation};
pub use index_series::{IndexLevels, IndexSeries};
pub use panel_format::PanelFormatError;

use crate::day::{DateSpan, TradeDate};
use crate::decimal::Decimal;
use crate::money::Price;
use crate::ticker::{Board, Ticker, Venue};

/// A name of one panel. Opaque on purpose: its position is the order of the codes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct NameId(u32);

impl NameId {
    /// The position in the panel, in the order of the codes. Only the mask and the edge may call this.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    pub(crate) const fn slot(self) -> usize {
        self.0 as usize
    }

    pub(crate) fn from_slot(slot: usize) -> Self {
        Self(u32::try_from(slot).unwrap_or(u32::MAX))
    }
}

impl std::fmt::Debug for NameId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("NameId(redacted)")
    }
}

/// A trading day of one panel: its place in the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct DayIndex(u32);

impl DayIndex {
    /// The 0-based place in the panel's calendar.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    pub(crate) fn from_slot(slot: usize) -> Self {
        Self(u32::try_from(slot).unwrap_or(u32::MAX))
    }

    /// The trading day so many days before, if the panel has one.
    pub(crate) fn back(self, days: u32) -> Option<Self> {
        self.0.checked_sub(days).map(Self)
    }

    /// The trading day before, if the panel has one.
    #[must_use]
    pub fn before(self) -> Option<Self> {
        self.0.checked_sub(1).map(Self)
    }
}

/// What a panel says of one name apart from its prices.
#[derive(Debug, Clone)]
pub struct NameInfo {
    /// The real code.
    pub ticker: Ticker,
    /// Company names, for the guard that keeps them from leaving; may be empty.
    pub company_names: Vec<String>,
    /// Place in [`Market::sectors`] of the latest sector that the source names, where the panel has sectors. What is shown
    /// of a day is [`NameInfo::sector_on`].
    pub sector: Option<u16>,
    /// Sectors by dates, ascending; empty where the source does not date them.
    pub dated_sectors: Vec<DatedSector>,
    /// First trading day after the offering, where the panel has listing dates.
    pub listed: Option<TradeDate>,
    /// Dates of ST or *ST status, inclusive.
    pub st: Vec<DateSpan>,
    /// Other marks that move its price limit, ascending.
    pub statuses: Vec<DatedStatus>,
    /// Dividends in cash, ascending, one a day.
    pub dividends: Vec<CashDividend>,
    /// Dates of index membership, inclusive, ascending.
    pub member: Vec<DateSpan>,
    /// The last day on which the source has a row: declared at import, so that cutting a panel short does not
    /// turn a name into a delisted one.
    pub last_row: DayIndex,
    first: DayIndex,
    offset: usize,
    len: usize,
}

impl NameInfo {
    /// The sector on a date, as a place in [`Market::sectors`]. Where the source dates no sector, its only one stands on
    /// every day.
    #[must_use]
    pub fn sector_on(&self, date: TradeDate) -> Option<u16> {
        if self.dated_sectors.is_empty() {
            return self.sector;
        }
        self.dated_sectors
            .iter()
            .find(|dated| dated.span.contains(date))
            .map(|dated| dated.sector)
    }
}

/// Prices of one panel, column by column; a name's days lie next to each other.
#[derive(Debug, Clone, Default)]
struct Columns {
    open: Vec<i32>,
    high: Vec<i32>,
    low: Vec<i32>,
    /// 0 marks a day without a bar.
    close: Vec<i32>,
    volume: Vec<u64>,
    amount: Vec<f64>,
    /// Place in `Market::factors`.
    factor: Vec<u32>,
    /// The source's own % change in units of 0.0001 %, where it has one.
    change: Option<Vec<i32>>,
}

/// How many of a source's prices lay on the grid of 0.01 yuan.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PriceGrid {
    /// Prices read: opens, highs, lows and closes.
    pub prices: u64,
    /// Those that were rounded by more than 0.1 fen.
    pub off_grid: u64,
}

/// An index member without rows: it cannot be traded, and coverage counts it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AbsentMember {
    /// The real code.
    pub ticker: Ticker,
    /// Dates of membership, inclusive, ascending.
    pub member: Vec<DateSpan>,
}

/// A whole panel. See the module's documentation for who may hold one.
#[derive(Debug, Clone)]
pub struct Market {
    basis: PriceBasis,
    amount_declared: bool,
    calendar_declared: bool,
    calendar: Vec<TradeDate>,
    names: Vec<NameInfo>,
    sectors: Vec<String>,
    indices: Vec<IndexSeries>,
    total_return_index: Option<IndexSeries>,
    factors: Vec<Decimal>,
    factors_f64: Vec<f64>,
    columns: Columns,
    notes: Vec<String>,
    price_grid: PriceGrid,
    absent_members: Vec<AbsentMember>,
    content_hash: [u8; 32],
}

/// The change column's unit for a missing value.
const NO_CHANGE: i32 = i32::MIN;

impl Market {
    /// The trading days, ascending.
    #[must_use]
    pub fn calendar(&self) -> &[TradeDate] {
        &self.calendar
    }

    /// The names with their facts, in the order of the codes.
    #[must_use]
    pub fn names(&self) -> impl ExactSizeIterator<Item = (NameId, &NameInfo)> {
        self.names
            .iter()
            .enumerate()
            .map(|(slot, info)| (NameId::from_slot(slot), info))
    }

    /// Facts about one name.
    #[must_use]
    pub fn name(&self, name: NameId) -> Option<&NameInfo> {
        self.names.get(name.slot())
    }

    /// The name with this code.
    #[must_use]
    pub fn find(&self, ticker: Ticker) -> Option<NameId> {
        self.names
            .binary_search_by(|info| info.ticker.cmp(&ticker))
            .ok()
            .map(NameId::from_slot)
    }

    /// The board of a name.
    #[must_use]
    pub fn board(&self, name: NameId) -> Board {
        self.name(name).map_or(Board::Main, |info| info.ticker.board())
    }

    /// The exchange that a name is listed on.
    #[must_use]
    pub fn venue(&self, name: NameId) -> Venue {
        self.name(name)
            .map_or(Venue::Shenzhen, |info| info.ticker.venue())
    }

    /// Sector names, in the order [`NameInfo::sector`] refers to.
    #[must_use]
    pub fn sectors(&self) -> &[String] {
        &self.sectors
    }

    /// The price indices; the first is that of the universe.
    #[must_use]
    pub fn indices(&self) -> &[IndexSeries] {
        &self.indices
    }

    /// The total-return index of the universe, where the user imported one.
    #[must_use]
    pub const fn total_return_index(&self) -> Option<&IndexSeries> {
        self.total_return_index.as_ref()
    }

    /// The basis its source's prices were on.
    #[must_use]
    pub const fn basis(&self) -> PriceBasis {
        self.basis
    }

    /// Whether turnover is the source's own; else it is volume x (high + low + close) / 3.
    #[must_use]
    pub const fn amount_declared(&self) -> bool {
        self.amount_declared
    }

    /// Whether the calendar was declared; else it is the union of the rows' dates.
    #[must_use]
    pub const fn calendar_declared(&self) -> bool {
        self.calendar_declared
    }

    /// What import wants every report to say (names without rows, approximations).
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// How many of the source's prices lay on the grid.
    #[must_use]
    pub const fn price_grid(&self) -> PriceGrid {
        self.price_grid
    }

    /// Members within the panel's days that have no rows, in the order of the codes.
    #[must_use]
    pub fn absent_members(&self) -> &[AbsentMember] {
        &self.absent_members
    }

    /// BLAKE3 of the panel's bytes: the data hash of every bundle.
    #[must_use]
    pub const fn content_hash(&self) -> [u8; 32] {
        self.content_hash
    }

    /// Whether any name carries a listing date; without them the rule of the first days is off.
    #[must_use]
    pub fn has_listing_dates(&self) -> bool {
        self.names.iter().any(|info| info.listed.is_some())
    }

    /// Whether any name carries ST dates; without them the ST limit is off.
    #[must_use]
    pub fn has_st_dates(&self) -> bool {
        self.names.iter().any(|info| !info.st.is_empty())
    }

    /// The day with this date.
    #[must_use]
    pub fn day(&self, date: TradeDate) -> Option<DayIndex> {
        self.calendar.binary_search(&date).ok().map(DayIndex::from_slot)
    }

    /// The day at a 0-based place of the calendar.
    #[must_use]
    pub fn day_at(&self, index: usize) -> Option<DayIndex> {
        (index < self.calendar.len()).then(|| DayIndex::from_slot(index))
    }

    /// The date of a day.
    #[must_use]
    pub fn date(&self, day: DayIndex) -> Option<TradeDate> {
        self.calendar.get(day.index()).copied()
    }

    /// The trading days within inclusive dates.
    #[must_use]
    pub fn days_within(&self, span: DateSpan) -> Vec<DayIndex> {
        self.calendar
            .iter()
            .enumerate()
            .filter(|(_, date)| span.contains(**date))
            .map(|(slot, _)| DayIndex::from_slot(slot))
            .collect()
    }

    /// The bar of a name on a day.
    #[must_use]
    #[inline]
    pub fn bar(&self, name: NameId, day: DayIndex) -> Option<Bar> {
        let info = self.names.get(name.slot())?;
        let within = day
            .index()
            .checked_sub(info.first.index())
            .filter(|&within| within < info.len)?;
        self.bar_at(info.offset.checked_add(within)?)
    }

    // Inlined, so that a caller that wants the close alone reads no other column.
    #[inline]
    fn bar_at(&self, cell: usize) -> Option<Bar> {
        let columns = &self.columns;
        let price = |column: &[i32]| column.get(cell).map(|&fen| Price(i64::from(fen)));
        let close = price(&columns.close).filter(|close| close.0 > 0)?;
        let factor = usize::try_from(*columns.factor.get(cell)?).ok()?;
        Some(Bar {
            open: price(&columns.open).filter(|open| open.0 > 0),
            high: price(&columns.high)?,
            low: price(&columns.low)?,
            close,
            volume: *columns.volume.get(cell)?,
            amount_cny: *columns.amount.get(cell)?,
            factor: *self.factors.get(factor)?,
            factor_value: *self.factors_f64.get(factor)?,
        })
    }

    /// The bars of a name, oldest first.
    pub fn bars_of(&self, name: NameId) -> impl Iterator<Item = (DayIndex, Bar)> {
        let (first, offset, len) = self
            .names
            .get(name.slot())
            .map_or((0, 0, 0), |info| (info.first.index(), info.offset, info.len));
        (0..len).filter_map(move |within| {
            Some((DayIndex::from_slot(first + within), self.bar_at(offset + within)?))
        })
    }

    /// The last day on or before `day` on which the name has a bar.
    #[must_use]
    #[inline]
    pub fn last_bar_day(&self, name: NameId, day: DayIndex) -> Option<DayIndex> {
        let info = self.names.get(name.slot())?;
        let end = info.first.index().checked_add(info.len)?;
        let latest = day.index().min(end.checked_sub(1)?);
        let within = latest.checked_sub(info.first.index())?;
        let cells = self
            .columns
            .close
            .get(info.offset..=info.offset.checked_add(within)?)?;
        let found = cells.iter().rposition(|&close| close != 0)?;
        Some(DayIndex::from_slot(info.first.index().checked_add(found)?))
    }

    /// The first day on which the name has a bar.
    #[must_use]
    pub fn first_bar_day(&self, name: NameId) -> Option<DayIndex> {
        self.names.get(name.slot()).map(|info| info.first)
    }

    /// Whether the name is an index member on a date.
    #[must_use]
    pub fn is_member(&self, name: NameId, date: TradeDate) -> bool {
        self.name(name)
            .is_some_and(|info| info.member.iter().any(|span| span.contains(date)))
    }

    /// Whether the name is ST on a date. A delisting period ends it.
    #[must_use]
    pub fn is_st(&self, name: NameId, date: TradeDate) -> bool {
        self.name(name)
            .is_some_and(|info| info.st.iter().any(|span| span.contains(date)))
            && self.delisting_period(name, date).is_none()
    }

    /// Whether any factor is other than 1; without one a total return is that of the prices.
    #[must_use]
    pub fn has_factors(&self) -> bool {
        self.factors.iter().any(|factor| *factor != Decimal::ONE)
    }

    /// Whether any name carries dividends; without them none are taxed.
    #[must_use]
    pub fn has_dividends(&self) -> bool {
        self.names.iter().any(|info| !info.dividends.is_empty())
    }

    /// Whether the panel has the source's own changes of the day.
    #[must_use]
    pub const fn has_declared_changes(&self) -> bool {
        self.columns.change.is_some()
    }

    /// The source's own change of the day in percent, where the panel has one.
    #[must_use]
    pub fn declared_change_percent(&self, name: NameId, day: DayIndex) -> Option<f64> {
        const UNITS_PER_PERCENT: f64 = 10_000.0;
        let info = self.names.get(name.slot())?;
        let within = day
            .index()
            .checked_sub(info.first.index())
            .filter(|&within| within < info.len)?;
        let units = *self
            .columns
            .change
            .as_ref()?
            .get(info.offset.checked_add(within)?)?;
        (units != NO_CHANGE).then(|| f64::from(units) / UNITS_PER_PERCENT)
    }
}

#[cfg(test)]
mod tests;
