//! Gathers the rows of one or several sources into a [`MarketBuilder`].

use super::code_changes::{CodeChanges, CodeJoins, JoinedCode};
use super::columns::SourceRow;
use crate::DataFileError;
use crate::error::at_row;
use ktd_env::{CashDividend, DateSpan, Decimal, MarketBuilder, PanelOptions, RawBar, Ticker, TradeDate};
use std::collections::BTreeMap;

/// Rows on their way into a panel.
#[derive(Debug)]
pub(super) struct Collector {
    pub(super) builder: MarketBuilder,
    keep: DateSpan,
    joins: CodeJoins,
    pub(super) rows_read: u64,
    pub(super) rows_outside: u64,
    /// The last bar of every name, rows outside the kept span included.
    last_bars: BTreeMap<Ticker, TradeDate>,
    /// The first row of every name, rows outside the kept span included.
    first_rows: BTreeMap<Ticker, TradeDate>,
    st_flags: BTreeMap<Ticker, Vec<(TradeDate, bool)>>,
    /// Sectors row by row, as places in `sector_labels`.
    sectors: BTreeMap<Ticker, Vec<(TradeDate, u32)>>,
    sector_labels: BTreeMap<String, u32>,
    files_of_factors: Option<FactorFiles>,
    /// The factor of the row before, of names with adjusted closes.
    quotients: BTreeMap<Ticker, Decimal>,
}

/// Factors of files of their own, by name and day.
#[derive(Debug, Default)]
struct FactorFiles {
    days: BTreeMap<Ticker, BTreeMap<TradeDate, Decimal>>,
    /// Whether a factor begins on its day, so that before the first it is 1.
    are_by_ex_day: bool,
}

impl Collector {
    pub(super) fn new(options: PanelOptions, keep: DateSpan, codes: CodeChanges) -> Self {
        Self {
            builder: MarketBuilder::new(options),
            keep,
            joins: CodeJoins::new(codes),
            rows_read: 0,
            rows_outside: 0,
            last_bars: BTreeMap::new(),
            first_rows: BTreeMap::new(),
            st_flags: BTreeMap::new(),
            sectors: BTreeMap::new(),
            sector_labels: BTreeMap::new(),
            files_of_factors: None,
            quotients: BTreeMap::new(),
        }
    }

    /// Takes a row of a file of factors, which are all read before the rows of prices.
    pub(super) fn add_factor(&mut self, row: &SourceRow<'_>, is_by_ex_day: bool) {
        let files = self.files_of_factors.get_or_insert_default();
        files.are_by_ex_day |= is_by_ex_day;
        if let Some(factor) = row.bar.factor {
            files.days.entry(row.ticker).or_default().insert(row.date, factor);
        }
    }

    /// The factor of a row of prices: its own, the last one of the files of factors, or its adjusted close's share of its close.
    fn factor(&mut self, row: &SourceRow<'_>, close: Decimal) -> Result<Option<Decimal>, DataFileError> {
        /// Vendors round adjusted closes to seven digits; a dividend moves the factor by more than this.
        const LEAST_MOVE: f64 = 2e-5;
        if let Some(files) = &self.files_of_factors {
            let days = files.days.get(&row.ticker);
            let last = days.and_then(|days| days.range(..=row.date).next_back());
            let last = last.map(|(_, factor)| *factor);
            let factor = last.or_else(|| files.are_by_ex_day.then_some(Decimal::ONE));
            let (code, day) = (row.ticker.reveal(), row.date.reveal());
            return factor.map(Some).ok_or_else(|| {
                at_row(
                    row.file,
                    row.row,
                    format_args!("no file of factors has one of {code} on or before {day}"),
                )
                .with_hint("add the factors of that name, or leave out all files of factors")
            });
        }
        let Some(adjusted) = row.adjusted_close else {
            return Ok(row.bar.factor);
        };
        let quotient = adjusted.to_f64() / close.to_f64();
        let before = self.quotients.get(&row.ticker).copied();
        let kept = before.filter(|before| (quotient / before.to_f64() - 1.0).abs() < LEAST_MOVE);
        let factor = kept.or_else(|| Decimal::from_f64(quotient));
        if let Some(factor) = factor {
            self.quotients.insert(row.ticker, factor);
        }
        Ok(factor)
    }

    pub(super) fn add(&mut self, row: &SourceRow<'_>) -> Result<(), DataFileError> {
        self.rows_read += 1;
        let codes = self.joins.changes();
        let ticker = codes.newest(row.ticker);
        if let Some((_, listed)) = row.listed.and_then(|listed| codes.listing(row.ticker, listed)) {
            self.builder.set_listed(ticker, listed);
        }
        if row.bar.close.is_some() {
            let last = self.last_bars.entry(ticker).or_insert(row.date);
            *last = row.date.max(*last);
        }
        if let Some(sector) = row.sector {
            let label = self.sector_label(sector);
            let sectors = self.sectors.entry(ticker).or_default();
            sectors.push((row.date, label));
        }
        let first = self.first_rows.entry(ticker).or_insert(row.date);
        *first = row.date.min(*first);
        if let Some(flag) = row.st {
            self.st_flags.entry(ticker).or_default().push((row.date, flag));
        }
        if !self.keep.contains(row.date) {
            self.rows_outside += 1;
            return Ok(());
        }
        let mut bar: RawBar = row.bar;
        if let Some(close) = bar.close {
            bar.factor = self.factor(row, close)?;
            let place = (row.file, row.row);
            self.joins.add((row.ticker, row.date), place, bar.factor)?;
        }
        if let Some(yuan_per_share) = row.dividend {
            let ex_day = row.date;
            let dividend = CashDividend {
                ex_day,
                yuan_per_share,
            };
            self.builder.set_dividend(ticker, dividend);
        }
        self.builder.add_row(row.file, row.row, ticker, row.date, &bar)?;
        Ok(())
    }

    fn sector_label(&mut self, sector: &str) -> u32 {
        if let Some(label) = self.sector_labels.get(sector) {
            return *label;
        }
        let label = u32::try_from(self.sector_labels.len()).unwrap_or(u32::MAX);
        self.sector_labels.insert(sector.to_owned(), label);
        label
    }

    /// Hands over what only the whole source can tell, and what was joined.
    ///
    /// # Errors
    /// [`DataFileError`] where two codes of one name do not fit together.
    pub(super) fn finish(mut self) -> Result<(MarketBuilder, Vec<JoinedCode>), DataFileError> {
        for (ticker, date) in self.last_bars {
            self.builder.declare_last_row(ticker, date);
        }
        for (ticker, flags) in self.st_flags {
            for span in flagged_spans(flags) {
                self.builder.add_st(ticker, span);
            }
        }
        let labels: BTreeMap<u32, &String> = self
            .sector_labels
            .iter()
            .map(|(label, place)| (*place, label))
            .collect();
        for (ticker, sectors) in self.sectors {
            let changes = changes(sectors);
            let from_the_first_row = self.first_rows.get(&ticker).copied();
            match changes.as_slice() {
                // A sector that never changes needs no dates.
                [(date, place)] if Some(*date) == from_the_first_row => {
                    if let Some(label) = labels.get(place) {
                        self.builder.set_sector(ticker, label);
                    }
                }
                _ => {
                    for (start, place) in changes {
                        let end = TradeDate::LATEST;
                        if let Some(label) = labels.get(&place) {
                            let span = DateSpan { start, end };
                            self.builder.add_dated_sector(ticker, span, label);
                        }
                    }
                }
            }
        }
        Ok((self.builder, self.joins.finish()?))
    }
}

/// The first days of runs of the same sector. Between its rows a name keeps the sector of the last one.
fn changes(mut sectors: Vec<(TradeDate, u32)>) -> Vec<(TradeDate, u32)> {
    sectors.sort_unstable();
    sectors.dedup_by_key(|(_, sector)| *sector);
    sectors
}

/// Runs of flagged days, from the first flagged day to the last.
fn flagged_spans(mut flags: Vec<(TradeDate, bool)>) -> Vec<DateSpan> {
    flags.sort_unstable();
    flags
        .chunk_by(|left, right| left.1 == right.1)
        .filter_map(|run| {
            let (first, last) = (run.first()?, run.last()?);
            first.1.then_some(DateSpan {
                start: first.0,
                end: last.0,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flagged_days_become_spans() {
        let date = |text| TradeDate::parse(text).unwrap();
        let flags = vec![
            (date("2024-01-05"), true),
            (date("2024-01-02"), false),
            (date("2024-01-03"), true),
            (date("2024-01-04"), true),
            (date("2024-01-08"), false),
            (date("2024-01-09"), true),
        ];
        let spans: Vec<(String, String)> = flagged_spans(flags)
            .iter()
            .map(|span| (span.start.reveal(), span.end.reveal()))
            .collect();
        let text = |start: &str, end: &str| (start.to_owned(), end.to_owned());
        assert_eq!(
            spans,
            [text("2024-01-03", "2024-01-05"), text("2024-01-09", "2024-01-09")]
        );
    }
}
