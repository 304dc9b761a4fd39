//! Prices, volumes and membership as plain columns: all that a fit reads.

use ktd_env::factors::Series;
use ktd_env::{History, Market};
use std::ops::Range;

/// The columns of a panel before they are checked: `names` x `days` cells each, a name's days next to each other.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PanelColumns {
    /// Number of names.
    pub names: usize,
    /// Number of exchange days.
    pub days: usize,
    /// Place of the first day in the calendar that counts the days; 0 where the panel begins with its data.
    pub first_day: usize,
    /// Opening prices, adjusted to one base; NaN where missing.
    pub open: Vec<f64>,
    /// Highest prices, adjusted.
    pub high: Vec<f64>,
    /// Lowest prices, adjusted.
    pub low: Vec<f64>,
    /// Closing prices, adjusted; NaN on a day without a bar. The last one is the mark until the next.
    pub close: Vec<f64>,
    /// Shares traded, adjusted for splits.
    pub volume: Vec<f64>,
    /// Amount traded in CNY, never adjusted.
    pub amount: Vec<f64>,
    /// Whether the name traded.
    pub traded: Vec<bool>,
    /// Whether the name was an index member on the day's date.
    pub member: Vec<bool>,
    /// The name's sector on the day's date, as a number; no cell where the panel has no sectors.
    pub sector: Vec<Option<u16>>,
}

/// A checked panel. Bad prices are no error: what is not finite and positive is missing.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel(PanelColumns);

/// Why columns are no panel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PanelError {
    /// There is nothing to fit.
    #[error("the panel has {names} names and {days} days, but it needs at least one of each")]
    Empty {
        /// Names declared.
        names: usize,
        /// Days declared.
        days: usize,
    },
    /// A column has another number of cells.
    #[error("column `{column}` holds {cells} cells, but {names} names x {days} days were told")]
    Length {
        /// The column at fault.
        column: &'static str,
        /// Its cells.
        cells: usize,
        /// Names declared.
        names: usize,
        /// Days declared.
        days: usize,
    },
}

impl PanelError {
    /// How to fix it.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Empty { .. } => "give at least one name and one day",
            Self::Length { .. } => {
                "give every column one cell per name and day, name after name; missing prices as NaN"
            }
        }
    }
}

impl Panel {
    /// The panel of these columns.
    ///
    /// # Errors
    /// [`PanelError`] when there is no cell, or a column does not hold `names` x `days` of them.
    pub fn new(columns: PanelColumns) -> Result<Self, PanelError> {
        let (names, days) = (columns.names, columns.days);
        let expected = names.checked_mul(days).filter(|cells| 0 < *cells);
        let Some(expected) = expected else {
            return Err(PanelError::Empty { names, days });
        };
        let lengths = [
            ("open", columns.open.len()),
            ("high", columns.high.len()),
            ("low", columns.low.len()),
            ("close", columns.close.len()),
            ("volume", columns.volume.len()),
            ("amount", columns.amount.len()),
            ("traded", columns.traded.len()),
            ("member", columns.member.len()),
        ];
        for (column, cells) in lengths {
            if cells != expected {
                return Err(PanelError::Length {
                    column,
                    cells,
                    names,
                    days,
                });
            }
        }
        if !columns.sector.is_empty() && columns.sector.len() != expected {
            return Err(PanelError::Length {
                column: "sector",
                cells: columns.sector.len(),
                names,
                days,
            });
        }
        Ok(Self(columns))
    }

    /// All names of a market over `days` of its calendar, rows in the order of [`Market::names`].
    ///
    /// A name that has no bar on the first of `days` carries its last mark into it. Membership is the market's own: a
    /// market without any has no members, hence no fits (import declares everyone a member where no list is given).
    ///
    /// # Errors
    /// [`PanelError::Empty`] when no day of the calendar is within `days`, or the market has no names.
    pub fn from_market(market: &Market, days: Range<usize>) -> Result<Self, PanelError> {
        let days = days.start..days.end.min(market.calendar().len());
        let mut columns = PanelColumns {
            names: market.names().len(),
            days: days.len(),
            first_day: days.start,
            ..PanelColumns::default()
        };
        columns.reserve();
        let has_sectors = !market.sectors().is_empty();
        for (name, info) in market.names() {
            let history = History::new(market, name, days.clone());
            columns.open.extend(history.open);
            columns.high.extend(history.high);
            columns.low.extend(history.low);
            columns.close.extend(history.close);
            columns.volume.extend(history.volume);
            columns.amount.extend(history.amount);
            columns.traded.extend(history.traded);
            let dates = market.calendar().iter().take(days.end).skip(days.start);
            columns
                .member
                .extend(dates.clone().map(|date| market.is_member(name, *date)));
            if has_sectors {
                columns.sector.extend(dates.map(|date| info.sector_on(*date)));
            }
        }
        Self::new(columns)
    }

    /// Number of names.
    #[must_use]
    pub const fn names(&self) -> usize {
        self.0.names
    }

    /// The days held, as places of the calendar.
    #[must_use]
    pub const fn days(&self) -> Range<usize> {
        self.0.first_day..self.0.first_day + self.0.days
    }

    /// Index membership of a name over all days held, or nothing for a name that is not there.
    #[must_use]
    pub fn membership(&self, name: usize) -> &[bool] {
        self.0.member.get(self.cells(name)).unwrap_or(&[])
    }

    /// The sectors of a name over all days held, or nothing where the panel has none or for a name that is not there.
    #[must_use]
    pub fn sectors(&self, name: usize) -> &[Option<u16>] {
        self.0.sector.get(self.cells(name)).unwrap_or(&[])
    }

    /// One name's history over all days held; empty for a name that is not there.
    #[must_use]
    pub fn series(&self, name: usize) -> Series<'_> {
        let cells = self.cells(name);

        Series {
            open: slice(&self.0.open, &cells),
            high: slice(&self.0.high, &cells),
            low: slice(&self.0.low, &cells),
            close: slice(&self.0.close, &cells),
            volume: slice(&self.0.volume, &cells),
            amount: slice(&self.0.amount, &cells),
            traded: self.0.traded.get(cells.clone()).unwrap_or(&[]),
        }
    }

    fn cells(&self, name: usize) -> Range<usize> {
        name * self.0.days..(name + 1) * self.0.days
    }
}

fn slice<'a>(values: &'a [f64], cells: &Range<usize>) -> &'a [f64] {
    values.get(cells.clone()).unwrap_or(&[])
}

impl PanelColumns {
    fn reserve(&mut self) {
        let cells = self.names * self.days;
        for column in [
            &mut self.open,
            &mut self.high,
            &mut self.low,
            &mut self.close,
            &mut self.volume,
            &mut self.amount,
        ] {
            column.reserve_exact(cells);
        }
        self.traded.reserve_exact(cells);
        self.member.reserve_exact(cells);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_env::synth::{SynthConfig, generate};

    fn two_by_three() -> PanelColumns {
        let column: Vec<f64> = (1..=6).map(f64::from).collect();
        PanelColumns {
            names: 2,
            days: 3,
            first_day: 10,
            open: column.clone(),
            high: column.clone(),
            low: column.clone(),
            close: column.clone(),
            volume: column.clone(),
            amount: column,
            traded: vec![true; 6],
            member: vec![true, true, true, false, false, false],
            sector: Vec::new(),
        }
    }

    #[test]
    fn a_name_is_a_run_of_days() {
        let panel = Panel::new(two_by_three()).unwrap();
        assert_eq!((panel.names(), panel.days()), (2, 10..13));
        assert_eq!(panel.series(1).close, [4.0, 5.0, 6.0]);
        assert_eq!(panel.membership(0), [true; 3]);
        assert_eq!(panel.membership(1), [false; 3]);
        assert_eq!(panel.series(2).days(), 0);
        assert_eq!(panel.membership(2), [false; 0]);
    }

    #[test]
    fn columns_that_do_not_fit_are_refused() {
        let mut columns = two_by_three();
        columns.amount.pop();
        let length = PanelError::Length {
            column: "amount",
            cells: 5,
            names: 2,
            days: 3,
        };
        assert_eq!(Panel::new(columns), Err(length));
        let empty = PanelColumns {
            days: 0,
            ..two_by_three()
        };
        assert_eq!(Panel::new(empty), Err(PanelError::Empty { names: 2, days: 0 }));
        assert!(!length.hint().is_empty());
    }

    #[test]
    fn a_market_keeps_its_order_and_its_calendar() {
        let config = SynthConfig {
            names: 12,
            ..SynthConfig::default()
        };
        let market = generate(&config).unwrap();
        let panel = Panel::from_market(&market, 300..400).unwrap();
        assert_eq!((panel.names(), panel.days()), (market.names().len(), 300..400));
        let day = market.day_at(350).unwrap();
        let date = market.date(day).unwrap();
        for (row, (name, _)) in market.names().enumerate() {
            let bar = market.bar(name, day);
            let close = panel.series(row).close[50];
            assert_eq!(
                bar.map(|bar| bar.adjusted_close()),
                (!close.is_nan()).then_some(close)
            );
            assert_eq!(panel.membership(row)[50], market.is_member(name, date));
        }
        assert_eq!(
            Panel::from_market(&market, 900..950),
            Err(PanelError::Empty { names: 12, days: 0 })
        );
    }
}
