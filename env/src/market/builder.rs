//! From rows to a panel: sorting, checking and packing.

use super::basis::{PriceBasis, VolumeBasis};
use super::dated_sector::{in_order, place_of};
use super::error::{DataError, SourceLocation};
use super::index_series::{IndexLevels, on_calendar};
use super::{
    AbsentMember, CashDividend, Columns, DatedStatus, DayIndex, Market, NO_CHANGE, NameInfo, PriceGrid, codec,
};
use crate::day::{DateSpan, TradeDate};
use crate::decimal::{Decimal, DecimalError};
use crate::ticker::Ticker;
use std::cell::Cell;
use std::collections::BTreeMap;

/// What a source declares about all of its rows.
#[derive(Debug, Clone)]
pub struct PanelOptions {
    /// Basis of the prices.
    pub basis: PriceBasis,
    /// Basis of the volumes.
    pub volume: VolumeBasis,
    /// Whether rows carry factors; without them every factor is 1.
    pub has_factors: bool,
    /// Whether rows carry turnover; without it, it is volume x (high + low + close) / 3.
    pub has_amounts: bool,
    /// The trading days, ascending; `None` takes the union of the rows' dates.
    pub calendar: Option<Vec<TradeDate>>,
}

/// One row as the source has it; `None` is an empty cell.
#[derive(Debug, Clone, Copy, Default)]
pub struct RawBar {
    /// First price, yuan.
    pub open: Option<Decimal>,
    /// Highest price, yuan.
    pub high: Option<Decimal>,
    /// Lowest price, yuan.
    pub low: Option<Decimal>,
    /// Last price, yuan. A row without one is no bar.
    pub close: Option<Decimal>,
    /// Shares.
    pub volume: Option<Decimal>,
    /// CNY.
    pub amount_cny: Option<f64>,
    /// Cumulative adjustment factor.
    pub factor: Option<Decimal>,
    /// The source's own % change.
    pub change_percent: Option<f64>,
    /// The source's own flag: no trading that day.
    pub suspended: bool,
}

/// What building found that is worth telling.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BuildReport {
    /// Bars in the panel.
    pub bars: usize,
    /// Rows without a close, which are no bars.
    pub rows_without_close: usize,
    /// Members that have no rows: they cannot be traded.
    pub members_without_rows: Vec<Ticker>,
}

#[derive(Debug, Clone, Copy)]
struct PackedRow {
    ticker: Ticker,
    date: TradeDate,
    open: i32,
    high: i32,
    low: i32,
    close: i32,
    volume: u64,
    amount: f64,
    factor: Decimal,
    change: i32,
    file: u32,
    row: u64,
}

/// Collects rows and declarations, then builds a [`Market`].
#[derive(Debug)]
pub struct MarketBuilder {
    options: PanelOptions,
    files: Vec<String>,
    rows: Vec<PackedRow>,
    rows_without_close: usize,
    last_rows: BTreeMap<Ticker, TradeDate>,
    company_names: BTreeMap<Ticker, Vec<String>>,
    sectors: BTreeMap<Ticker, String>,
    dated_sectors: BTreeMap<Ticker, Vec<(DateSpan, String)>>,
    listed: BTreeMap<Ticker, TradeDate>,
    st: BTreeMap<Ticker, Vec<DateSpan>>,
    statuses: BTreeMap<Ticker, Vec<DatedStatus>>,
    dividends: BTreeMap<Ticker, BTreeMap<TradeDate, Decimal>>,
    members: BTreeMap<Ticker, Vec<DateSpan>>,
    indices: Vec<(String, IndexLevels)>,
    total_return_index: Option<(String, IndexLevels)>,
    everyone_is_member: bool,
    price_grid: PriceGrid,
    notes: Vec<String>,
}

impl MarketBuilder {
    /// A builder for rows of these options.
    #[must_use]
    pub const fn new(options: PanelOptions) -> Self {
        Self {
            options,
            files: Vec::new(),
            rows: Vec::new(),
            rows_without_close: 0,
            last_rows: BTreeMap::new(),
            company_names: BTreeMap::new(),
            sectors: BTreeMap::new(),
            dated_sectors: BTreeMap::new(),
            listed: BTreeMap::new(),
            st: BTreeMap::new(),
            statuses: BTreeMap::new(),
            dividends: BTreeMap::new(),
            members: BTreeMap::new(),
            indices: Vec::new(),
            total_return_index: None,
            everyone_is_member: false,
            price_grid: PriceGrid {
                prices: 0,
                off_grid: 0,
            },
            notes: Vec::new(),
        }
    }

    /// Adds a row. Its price is checked and put on the fen grid at once, so that an error can name the row.
    ///
    /// # Errors
    /// [`DataError`] naming file and row for a price, factor, volume or amount that cannot be.
    pub fn add_row(
        &mut self,
        file: &str,
        row: u64,
        ticker: Ticker,
        date: TradeDate,
        raw: &RawBar,
    ) -> Result<(), DataError> {
        let Some(close) = raw.close else {
            self.rows_without_close += 1;
            return Ok(());
        };
        let place = || SourceLocation {
            file: file.to_owned(),
            row,
        };
        let factor = self
            .factor(raw)
            .ok_or_else(|| DataError::Factor { place: place() })?;
        let counted = Cell::new(self.price_grid);
        let grid = |price: Decimal, column| {
            let (fen, off_grid) = self.price_fen(price, factor, column, &place)?;
            let PriceGrid {
                prices,
                off_grid: off,
            } = counted.get();
            counted.set(PriceGrid {
                prices: prices + 1,
                off_grid: off + u64::from(off_grid),
            });
            Ok::<i32, DataError>(fen)
        };
        let close = grid(close, "close")?;
        if close == 0 {
            return Err(DataError::Price {
                place: place(),
                column: "close",
                value: "0".to_owned(),
            });
        }
        let open = raw.open.map_or(Ok(0), |open| grid(open, "open"))?;
        let high = raw.high.map_or(Ok(close), |high| grid(high, "high"))?;
        let low = raw.low.map_or(Ok(close), |low| grid(low, "low"))?;
        let volume = self.volume(raw, factor).ok_or_else(|| DataError::Quantity {
            place: place(),
            column: "volume",
            value: raw.volume.map(|volume| volume.to_string()).unwrap_or_default(),
        })?;
        let amount = match raw.amount_cny.filter(|_| self.options.has_amounts) {
            Some(amount) if !(amount.is_finite() && amount >= 0.0) => {
                return Err(DataError::Quantity {
                    place: place(),
                    column: "amount",
                    value: amount.to_string(),
                });
            }
            Some(amount) => amount,
            None => approximate_amount(volume, high, low, close),
        };
        self.price_grid = counted.get();
        let file = self.file_id(file);
        let change = raw.change_percent.map_or(NO_CHANGE, change_units);
        self.rows.push(PackedRow {
            ticker,
            date,
            open,
            high,
            low,
            close,
            volume,
            amount,
            factor,
            change,
            file,
            row,
        });
        Ok(())
    }

    fn factor(&self, raw: &RawBar) -> Option<Decimal> {
        if !self.options.has_factors {
            return Some(Decimal::ONE);
        }
        raw.factor.filter(|factor| !factor.is_zero())
    }

    /// The price in fen, and whether it lay off the grid.
    fn price_fen(
        &self,
        price: Decimal,
        factor: Decimal,
        column: &'static str,
        place: &impl Fn() -> SourceLocation,
    ) -> Result<(i32, bool), DataError> {
        let divisor = match self.options.basis {
            PriceBasis::Raw => Decimal::ONE,
            PriceBasis::Adjusted => factor,
        };
        let too_large = || DataError::PriceTooLarge {
            place: place(),
            column,
        };
        let grid = price.divide_to_grid(divisor, 2).ok_or_else(too_large)?;
        if self.options.basis == PriceBasis::Adjusted && self.options.has_factors && grid.off_grid {
            let value = grid.steps.to_string();
            return Err(DataError::OffGrid {
                place: place(),
                column,
                value,
            });
        }
        i32::try_from(grid.steps)
            .map(|fen| (fen, grid.off_grid))
            .map_err(|_| too_large())
    }

    /// Whole shares; a positive volume never becomes 0, because 0 means that nothing traded.
    fn volume(&self, raw: &RawBar, factor: Decimal) -> Option<u64> {
        let Some(volume) = raw.volume.filter(|_| !raw.suspended) else {
            return Some(0);
        };
        if volume.is_zero() {
            return Some(0);
        }
        let shares = match self.options.volume {
            VolumeBasis::Real => volume.divide_to_grid(Decimal::ONE, 0)?.steps,
            VolumeBasis::Adjusted => {
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "volumes stay far below 2^63 shares"
                )]
                let shares = (volume.to_f64() * factor.to_f64()).round() as i64;
                shares
            }
        };
        u64::try_from(shares.max(1)).ok()
    }

    fn file_id(&mut self, file: &str) -> u32 {
        let known = self.files.last().is_some_and(|last| last == file);
        let position = if known {
            self.files.len() - 1
        } else {
            self.files
                .iter()
                .position(|known| known == file)
                .unwrap_or_else(|| {
                    self.files.push(file.to_owned());
                    self.files.len() - 1
                })
        };
        u32::try_from(position).unwrap_or(u32::MAX)
    }

    /// Declares the last date on which the source has a row for a name (default: its last bar).
    pub fn declare_last_row(&mut self, ticker: Ticker, date: TradeDate) {
        self.last_rows.insert(ticker, date);
    }

    /// Adds a company name, for the guard.
    pub fn add_company_name(&mut self, ticker: Ticker, name: &str) {
        let names = self.company_names.entry(ticker).or_default();
        if !name.is_empty() && !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }

    /// Sets a name's sector on all days, where the source does not date it.
    pub fn set_sector(&mut self, ticker: Ticker, sector: &str) {
        self.sectors.insert(ticker, sector.to_owned());
    }

    /// Adds a sector that a name has on some dates. The spans of one name do not overlap; of two that do, the later one
    /// counts from its first day.
    pub fn add_dated_sector(&mut self, ticker: Ticker, span: DateSpan, sector: &str) {
        self.dated_sectors
            .entry(ticker)
            .or_default()
            .push((span, sector.to_owned()));
    }

    /// Sets a name's first trading day.
    pub fn set_listed(&mut self, ticker: Ticker, date: TradeDate) {
        self.listed.insert(ticker, date);
    }

    /// Adds dates of ST status.
    pub fn add_st(&mut self, ticker: Ticker, span: DateSpan) {
        self.st.entry(ticker).or_default().push(span);
    }

    /// Adds dates of another mark that moves the price limit.
    pub fn add_status(&mut self, ticker: Ticker, dated: DatedStatus) {
        self.statuses.entry(ticker).or_default().push(dated);
    }

    /// Sets the dividend of a name and ex-day; a dividend of nothing is none.
    pub fn set_dividend(&mut self, ticker: Ticker, dividend: CashDividend) {
        if !dividend.yuan_per_share.is_zero() {
            let of_name = self.dividends.entry(ticker).or_default();
            of_name.insert(dividend.ex_day, dividend.yuan_per_share);
        }
    }

    /// Adds dates of index membership.
    pub fn add_member(&mut self, ticker: Ticker, span: DateSpan) {
        self.members.entry(ticker).or_default().push(span);
    }

    /// Declares every name a member on every date, for panels without membership.
    pub fn declare_all_members(&mut self) {
        self.everyone_is_member = true;
    }

    /// Adds a price index: opening and closing level by date; the first added is that of the universe.
    pub fn add_index(&mut self, code: &str, levels: IndexLevels) {
        self.indices.push((code.to_owned(), levels));
    }

    /// Sets the total-return index of the universe.
    pub fn set_total_return_index(&mut self, code: &str, levels: IndexLevels) {
        self.total_return_index = Some((code.to_owned(), levels));
    }

    /// Adds a line that every report of this panel shows.
    pub fn add_note(&mut self, note: String) {
        self.notes.push(note);
    }

    /// Sorts, checks and packs.
    ///
    /// # Errors
    /// [`DataError`] for two rows of one name and day, a row off the declared calendar, or no rows at all.
    pub fn build(mut self) -> Result<(Market, BuildReport), DataError> {
        if self.rows.is_empty() {
            return Err(DataError::Empty);
        }
        self.rows
            .sort_by_key(|row| (row.ticker, row.date, row.file, row.row));
        self.check_duplicates()?;
        let calendar = self.calendar();
        let mut market = self.empty_market(calendar);
        let mut factor_places: BTreeMap<(u64, u8), u32> = BTreeMap::new();
        let rows = std::mem::take(&mut self.rows);
        for of_name in rows.chunk_by(|left, right| left.ticker == right.ticker) {
            self.pack_name(&mut market, of_name, &mut factor_places)?;
        }
        market.factors_f64 = market.factors.iter().map(|factor| factor.to_f64()).collect();
        market.absent_members = self.absent_members(&market);
        let report = BuildReport {
            bars: rows.len(),
            rows_without_close: self.rows_without_close,
            members_without_rows: market.absent_members.iter().map(|absent| absent.ticker).collect(),
        };
        if !report.members_without_rows.is_empty() {
            market.notes.push(format!(
                "{} index members have no rows and cannot be traded",
                report.members_without_rows.len()
            ));
        }
        market.content_hash = codec::content_hash(&market);
        Ok((market, report))
    }

    fn check_duplicates(&self) -> Result<(), DataError> {
        let place = |row: &PackedRow| SourceLocation {
            file: usize::try_from(row.file)
                .ok()
                .and_then(|file| self.files.get(file))
                .cloned()
                .unwrap_or_default(),
            row: row.row,
        };
        for pair in self.rows.windows(2) {
            let [first, second] = pair else { continue };
            if (first.ticker, first.date) == (second.ticker, second.date) {
                return Err(DataError::Duplicate {
                    place: place(second),
                    first: place(first),
                });
            }
        }
        Ok(())
    }

    fn calendar(&self) -> Vec<TradeDate> {
        let mut calendar = self
            .options
            .calendar
            .clone()
            .unwrap_or_else(|| self.rows.iter().map(|row| row.date).collect());
        calendar.sort_unstable();
        calendar.dedup();
        calendar
    }

    fn empty_market(&mut self, calendar: Vec<TradeDate>) -> Market {
        let dated = self.dated_sectors.values().flatten().map(|(_, sector)| sector);
        let mut sectors: Vec<String> = self.sectors.values().chain(dated).cloned().collect();
        sectors.sort_unstable();
        sectors.dedup();
        let indices = std::mem::take(&mut self.indices);
        let indices = indices
            .into_iter()
            .map(|index| on_calendar(index, &calendar))
            .collect();
        let total_return_index = self.total_return_index.take();
        let total_return_index = total_return_index.map(|index| on_calendar(index, &calendar));
        let has_changes = self.rows.iter().any(|row| row.change != NO_CHANGE);
        Market {
            basis: self.options.basis,
            amount_declared: self.options.has_amounts,
            calendar_declared: self.options.calendar.is_some(),
            calendar,
            names: Vec::new(),
            sectors,
            indices,
            total_return_index,
            factors: Vec::new(),
            factors_f64: Vec::new(),
            columns: Columns {
                change: has_changes.then(Vec::new),
                ..Columns::default()
            },
            notes: std::mem::take(&mut self.notes),
            price_grid: self.price_grid,
            absent_members: Vec::new(),
            content_hash: [0; 32],
        }
    }

    fn pack_name(
        &self,
        market: &mut Market,
        rows: &[PackedRow],
        factor_places: &mut BTreeMap<(u64, u8), u32>,
    ) -> Result<(), DataError> {
        let (Some(first_row), Some(last_row)) = (rows.first(), rows.last()) else {
            return Ok(());
        };
        let not_a_day = |row: &PackedRow| DataError::NotATradingDay {
            place: SourceLocation {
                file: usize::try_from(row.file)
                    .ok()
                    .and_then(|file| self.files.get(file))
                    .cloned()
                    .unwrap_or_default(),
                row: row.row,
            },
        };
        let first = market.day(first_row.date).ok_or_else(|| not_a_day(first_row))?;
        let last = market.day(last_row.date).ok_or_else(|| not_a_day(last_row))?;
        let offset = market.columns.close.len();
        let len = last.index() + 1 - first.index();
        market.columns.extend_empty(len);
        for row in rows {
            let day = market.day(row.date).ok_or_else(|| not_a_day(row))?;
            let place = *factor_places.entry(row.factor.stored()).or_insert_with(|| {
                market.factors.push(row.factor);
                u32::try_from(market.factors.len() - 1).unwrap_or(u32::MAX)
            });
            market
                .columns
                .set(offset + day.index() - first.index(), row, place);
        }
        let ticker = first_row.ticker;
        let dated = self.dated_sectors.get(&ticker).map_or(&[][..], Vec::as_slice);
        let dated_sectors = in_order(dated, &market.sectors);
        let undated = self.sectors.get(&ticker);
        market.names.push(NameInfo {
            ticker,
            company_names: self.company_names.get(&ticker).cloned().unwrap_or_default(),
            sector: match dated_sectors.last() {
                Some(latest) => Some(latest.sector),
                None => undated.and_then(|sector| place_of(sector, &market.sectors)),
            },
            dated_sectors,
            listed: self.listed.get(&ticker).copied(),
            st: sorted(self.st.get(&ticker)),
            statuses: sorted(self.statuses.get(&ticker)),
            dividends: self.dividends_of(ticker),
            member: if self.everyone_is_member {
                vec![DateSpan::ALWAYS]
            } else {
                sorted(self.members.get(&ticker))
            },
            last_row: self.declared_last_row(market, ticker).unwrap_or(last),
            first,
            offset,
            len,
        });
        Ok(())
    }

    fn dividends_of(&self, ticker: Ticker) -> Vec<CashDividend> {
        let dividends = self.dividends.get(&ticker).into_iter().flatten();
        dividends
            .map(|(ex_day, yuan)| CashDividend {
                ex_day: *ex_day,
                yuan_per_share: *yuan,
            })
            .collect()
    }

    /// The declared last row as a day of the calendar: the last trading day on or before it.
    fn declared_last_row(&self, market: &Market, ticker: Ticker) -> Option<DayIndex> {
        let date = self.last_rows.get(&ticker)?;
        let after = market.calendar.partition_point(|day| day <= date);
        after.checked_sub(1).map(DayIndex::from_slot)
    }

    /// Members on some day of the calendar that have no rows.
    fn absent_members(&self, market: &Market) -> Vec<AbsentMember> {
        let (Some(first), Some(last)) = (market.calendar.first(), market.calendar.last()) else {
            return Vec::new();
        };
        self.members
            .iter()
            .filter(|(ticker, spans)| {
                market.find(**ticker).is_none()
                    && spans.iter().any(|span| *first <= span.end && span.start <= *last)
            })
            .map(|(ticker, spans)| AbsentMember {
                ticker: *ticker,
                member: sorted(Some(spans)),
            })
            .collect()
    }
}

impl Columns {
    fn extend_empty(&mut self, len: usize) {
        let end = self.close.len() + len;
        for prices in [&mut self.open, &mut self.high, &mut self.low, &mut self.close] {
            prices.resize(end, 0);
        }
        self.volume.resize(end, 0);
        self.amount.resize(end, 0.0);
        self.factor.resize(end, 0);
        if let Some(change) = &mut self.change {
            change.resize(end, NO_CHANGE);
        }
    }

    fn set(&mut self, cell: usize, row: &PackedRow, factor: u32) {
        fn put<T>(column: &mut [T], cell: usize, value: T) {
            if let Some(place) = column.get_mut(cell) {
                *place = value;
            }
        }
        put(&mut self.open, cell, row.open);
        put(&mut self.high, cell, row.high);
        put(&mut self.low, cell, row.low);
        put(&mut self.close, cell, row.close);
        put(&mut self.volume, cell, row.volume);
        put(&mut self.amount, cell, row.amount);
        put(&mut self.factor, cell, factor);
        if let Some(change) = &mut self.change {
            put(change, cell, row.change);
        }
    }
}

fn sorted<T: Clone + Ord>(dated: Option<&Vec<T>>) -> Vec<T> {
    let mut dated = dated.cloned().unwrap_or_default();
    dated.sort_unstable();
    dated
}

/// Turnover where the source has none: volume x (high + low + close) / 3 (issue and data report).
#[expect(clippy::cast_precision_loss, reason = "volumes stay far below 2^53 shares")]
fn approximate_amount(volume: u64, high: i32, low: i32, close: i32) -> f64 {
    const FEN_PER_YUAN: f64 = 100.0;
    let typical = (f64::from(high) + f64::from(low) + f64::from(close)) / 3.0 / FEN_PER_YUAN;
    volume as f64 * typical
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "clamped to the range of i32 before the cast"
)]
fn change_units(percent: f64) -> i32 {
    const UNITS_PER_PERCENT: f64 = 10_000.0;
    if !percent.is_finite() {
        return NO_CHANGE;
    }
    (percent * UNITS_PER_PERCENT).round().clamp(-2.0e9, 2.0e9) as i32
}

impl RawBar {
    /// Parses a cell: empty or blank is missing.
    ///
    /// # Errors
    /// [`DecimalError`] when it is neither blank nor a non-negative decimal.
    pub fn cell(text: &str) -> Result<Option<Decimal>, DecimalError> {
        let text = text.trim();
        if text.is_empty() {
            Ok(None)
        } else {
            Decimal::parse(text).map(Some)
        }
    }
}
