//! Gathers the rows of one or several sources into a [`MarketBuilder`].

use super::columns::SourceRow;
use crate::DataFileError;
use ktd_env::{DateSpan, MarketBuilder, PanelOptions, Ticker, TradeDate};
use std::collections::BTreeMap;

/// Rows on their way into a panel.
#[derive(Debug)]
pub(super) struct Collector {
    pub(super) builder: MarketBuilder,
    keep: DateSpan,
    pub(super) rows_read: u64,
    pub(super) rows_outside: u64,
    /// The last bar of every name, rows outside the kept span included.
    last_bars: BTreeMap<Ticker, TradeDate>,
    st_flags: BTreeMap<Ticker, Vec<(TradeDate, bool)>>,
    latest: Option<Ticker>,
}

impl Collector {
    pub(super) fn new(options: PanelOptions, keep: DateSpan) -> Self {
        Self {
            builder: MarketBuilder::new(options),
            keep,
            rows_read: 0,
            rows_outside: 0,
            last_bars: BTreeMap::new(),
            st_flags: BTreeMap::new(),
            latest: None,
        }
    }

    pub(super) fn add(&mut self, row: &SourceRow<'_>) -> Result<(), DataFileError> {
        self.rows_read += 1;
        if row.bar.close.is_some() {
            let last = self.last_bars.entry(row.ticker).or_insert(row.date);
            *last = row.date.max(*last);
        }
        if let Some(listed) = row.listed {
            self.builder.set_listed(row.ticker, listed);
        }
        // Sectors repeat on every row; the first of a run of rows speaks for them.
        if self.latest != Some(row.ticker) {
            self.latest = Some(row.ticker);
            if let Some(sector) = row.sector {
                self.builder.set_sector(row.ticker, sector);
            }
        }
        if let Some(flag) = row.st {
            self.st_flags
                .entry(row.ticker)
                .or_default()
                .push((row.date, flag));
        }
        if !self.keep.contains(row.date) {
            self.rows_outside += 1;
            return Ok(());
        }
        self.builder
            .add_row(row.file, row.row, row.ticker, row.date, &row.bar)?;
        Ok(())
    }

    /// Hands over what only the whole source can tell.
    pub(super) fn finish(mut self) -> MarketBuilder {
        for (ticker, date) in self.last_bars {
            self.builder.declare_last_row(ticker, date);
        }
        for (ticker, flags) in self.st_flags {
            for span in flagged_spans(flags) {
                self.builder.add_st(ticker, span);
            }
        }
        self.builder
    }
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
