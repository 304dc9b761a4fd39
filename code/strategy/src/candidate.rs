//! Logs of a candidate: two tables that foreign code wrote, read cell by cell and never believed.

use crate::bars::BarTime;
use crate::indicators::count;
use crate::logs::{AuditRow, StrategyLogs, TradeRow};
use std::collections::{BTreeMap, BTreeSet};

/// Rows that a log may have at most.
pub const LOG_ROWS_MAX: usize = 2_000_000;

/// Cell of a candidate's log.
#[derive(Debug, Clone, PartialEq)]
pub enum LogCell {
    /// Nothing: null, not a number, or an empty text.
    Missing,
    /// A number; infinities are numbers here, and equal nothing.
    Number(f64),
    /// A text; a time in ISO form.
    Text(String),
}

impl LogCell {
    /// The number, if it is one.
    #[must_use]
    pub const fn number(&self) -> Option<f64> {
        match self {
            Self::Number(value) => Some(*value),
            Self::Missing | Self::Text(_) => None,
        }
    }

    /// The text, if it is one.
    #[must_use]
    pub const fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text.as_str()),
            Self::Missing | Self::Number(_) => None,
        }
    }

    /// Whether it holds nothing.
    #[must_use]
    pub const fn is_missing(&self) -> bool {
        matches!(self, Self::Missing)
    }
}

/// Table of a candidate: columns by name, each of the same number of cells.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CandidateTable {
    rows: usize,
    columns: BTreeMap<String, Vec<LogCell>>,
}

/// Both logs of a candidate.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CandidateLogs {
    /// One row a closed holding.
    pub trades: CandidateTable,
    /// One row a bar.
    pub bars: CandidateTable,
}

/// Columns that hold times.
const TIME_COLUMNS: [&str; 3] = ["datetime", "entry_datetime", "exit_datetime"];

/// Names that candidates use for a column, and the document's.
const OTHER_NAMES: [(&str, &str); 7] = [
    ("entry_time", "entry_datetime"),
    ("exit_time", "exit_datetime"),
    ("entry_reason", "reason_entry"),
    ("exit_reason", "reason_exit"),
    ("qty", "quantity"),
    ("position", "position_state"),
    ("timestamp", "datetime"),
];

impl CandidateTable {
    /// A table of these columns; other accepted names become the document's. A `FLAT` signal is `NONE`.
    ///
    /// # Errors
    /// A sentence for a column twice, for columns of different lengths, and beyond [`LOG_ROWS_MAX`] rows.
    pub fn new(columns: Vec<(String, Vec<LogCell>)>) -> Result<Self, String> {
        let rows = columns.first().map_or(0, |(_, cells)| cells.len());
        if rows > LOG_ROWS_MAX {
            return Err(format!("a log has {rows} rows; it may have {LOG_ROWS_MAX}"));
        }
        let mut named = BTreeMap::new();
        for (name, mut cells) in columns {
            if cells.len() != rows {
                return Err(format!(
                    "column {name:?} has {} cells, the first one {rows}",
                    cells.len()
                ));
            }
            let known = OTHER_NAMES.iter().find(|(other, _)| *other == name);
            let name = known.map_or(name, |(_, own)| (*own).to_owned());
            if name == "signal" {
                for cell in cells.iter_mut().filter(|cell| is_no_signal(cell)) {
                    *cell = LogCell::Text("NONE".to_owned());
                }
            }
            if named.insert(name.clone(), cells).is_some() {
                return Err(format!("column {name:?} is there twice"));
            }
        }
        Ok(Self { rows, columns: named })
    }

    /// A table as a program gave it: as [`Self::new`], with times in the one form of bars.
    ///
    /// # Errors
    /// As [`Self::new`], and for a time that is none, or that has a zone.
    pub fn of_program(columns: Vec<(String, Vec<LogCell>)>) -> Result<Self, String> {
        let mut table = Self::new(columns)?;
        for name in TIME_COLUMNS {
            for (row, cell) in table.columns.get_mut(name).into_iter().flatten().enumerate() {
                if cell.is_missing() {
                    continue;
                }
                let time = cell.text().and_then(BarTime::read);
                let time =
                    time.ok_or_else(|| format!("dtype: row {row} of {name:?} holds no time without a zone"))?;
                *cell = LogCell::Text(time.as_str().to_owned());
            }
        }
        Ok(table)
    }

    /// The rows of some tables below each other; what a table has no column for is missing there.
    #[must_use]
    pub fn joined(parts: &[Self]) -> Self {
        let names: BTreeSet<&str> = parts.iter().flat_map(Self::names).collect();
        let columns = names.into_iter().map(|name| {
            let cells = parts
                .iter()
                .flat_map(|part| (0..part.rows).map(move |row| part.cell(name, row)));
            (name.to_owned(), cells.cloned().collect())
        });
        Self {
            columns: columns.collect(),
            rows: parts.iter().map(Self::len).sum(),
        }
    }

    /// Number of rows.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.rows
    }

    /// Whether it has no row.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Cells of a column; `None` where it is missing.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&[LogCell]> {
        self.columns.get(name).map(Vec::as_slice)
    }

    /// Names of its columns, in the order of their letters.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.keys().map(String::as_str)
    }

    /// A cell; `Missing` outside the table.
    #[must_use]
    pub fn cell(&self, name: &str, row: usize) -> &LogCell {
        self.column(name)
            .and_then(|cells| cells.get(row))
            .unwrap_or(&LogCell::Missing)
    }

    /// Text of a cell.
    #[must_use]
    pub fn text(&self, name: &str, row: usize) -> Option<&str> {
        self.cell(name, row).text()
    }

    /// Number of a cell.
    #[must_use]
    pub fn number(&self, name: &str, row: usize) -> Option<f64> {
        self.cell(name, row).number()
    }
}

impl CandidateLogs {
    /// The logs of a reference strategy in the form of a candidate's, with the document's columns.
    #[must_use]
    pub fn of_reference(logs: &StrategyLogs, columns: &[String]) -> Self {
        Self {
            trades: reference_trades(&logs.trades),
            bars: reference_bars(&logs.bars, columns),
        }
    }
}

fn text_cell(text: &str) -> LogCell {
    LogCell::Text(text.to_owned())
}

/// A table of our own: its columns are of one length, and each is there once.
fn own_table(rows: usize, columns: Vec<(&str, Vec<LogCell>)>) -> CandidateTable {
    CandidateTable {
        rows,
        columns: columns
            .into_iter()
            .map(|(name, cells)| (name.to_owned(), cells))
            .collect(),
    }
}

fn reference_trades(trades: &[TradeRow]) -> CandidateTable {
    let texts = |of: fn(&TradeRow) -> &str| trades.iter().map(|trade| text_cell(of(trade))).collect();
    let numbers = |of: fn(&TradeRow) -> f64| trades.iter().map(|trade| LogCell::Number(of(trade))).collect();
    let columns = vec![
        (
            "trade_id",
            (1..=trades.len()).map(|id| LogCell::Number(count(id))).collect(),
        ),
        ("symbol", texts(|trade| &trade.symbol)),
        ("side", texts(|trade| trade.side.label())),
        ("entry_datetime", texts(|trade| trade.entry_time.as_str())),
        ("exit_datetime", texts(|trade| trade.exit_time.as_str())),
        ("entry_price", numbers(|trade| trade.entry_price)),
        ("exit_price", numbers(|trade| trade.exit_price)),
        ("quantity", numbers(|trade| trade.quantity)),
        ("pnl", numbers(|trade| trade.pnl)),
        ("reason_entry", texts(|trade| &trade.entry_rule)),
        ("reason_exit", texts(|trade| &trade.exit_rule)),
    ];
    own_table(trades.len(), columns)
}

fn reference_bars(bars: &[AuditRow], columns: &[String]) -> CandidateTable {
    let texts = |of: fn(&AuditRow) -> &str| bars.iter().map(|bar| text_cell(of(bar))).collect();
    let numbers = |of: fn(&AuditRow) -> f64| bars.iter().map(|bar| LogCell::Number(of(bar))).collect();
    let check = |bar: &AuditRow| {
        if bar.is_within_leverage {
            "OK"
        } else {
            "BREACH:leverage"
        }
    };
    let mut all = vec![
        ("datetime", texts(|bar| bar.time.as_str())),
        ("close", numbers(|bar| bar.close)),
        ("signal", texts(|bar| bar.signal.label())),
        ("position_state", texts(|bar| bar.state.label())),
        ("exposure", numbers(|bar| bar.exposure)),
        ("equity", numbers(|bar| bar.equity)),
        ("constraint_check", texts(check)),
    ];
    for (place, name) in columns.iter().enumerate() {
        let own = |bar: &AuditRow| match (&bar.holding, bar.indicators.get(place)) {
            (Some(holding), _) => text_cell(holding),
            (None, Some(Some(value))) => LogCell::Number(*value),
            (None, Some(None) | None) => LogCell::Missing,
        };
        all.push((name.as_str(), bars.iter().map(own).collect()));
    }
    own_table(bars.len(), all)
}

fn is_no_signal(cell: &LogCell) -> bool {
    cell.is_missing() || cell.text() == Some("FLAT")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(cells: &[&str]) -> Result<CandidateTable, String> {
        let cells = cells.iter().map(|text| text_cell(text)).collect();
        CandidateTable::of_program(vec![("timestamp".to_owned(), cells)])
    }

    #[test]
    fn times_have_one_form_and_no_zone() {
        let table = times(&["2021-01-04", "2021-01-05 09:45"]).unwrap();
        assert_eq!(table.text("datetime", 0), Some("2021-01-04T00:00:00"));
        assert_eq!(table.text("datetime", 1), Some("2021-01-05T09:45:00"));
        let zone = times(&["2021-01-04", "2021-01-05T00:00:00+08:00"]).unwrap_err();
        assert!(zone.starts_with("dtype: row 1 of \"datetime\""), "{zone}");
    }

    #[test]
    fn tables_are_joined_row_by_row() {
        let table = |name: &str, value| {
            let columns = vec![(name.to_owned(), vec![LogCell::Number(value)])];
            CandidateTable::new(columns).unwrap()
        };
        let joined = CandidateTable::joined(&[table("a", 1.0), table("b", 2.0), table("a", 3.0)]);
        let of = |name| {
            (0..joined.len())
                .map(|row| joined.number(name, row))
                .collect::<Vec<_>>()
        };
        assert_eq!(of("a"), [Some(1.0), None, Some(3.0)]);
        assert_eq!(of("b"), [None, Some(2.0), None]);
    }

    #[test]
    fn a_column_is_there_once() {
        let columns = |names: [&str; 2]| {
            let columns = names.map(|name| (name.to_owned(), vec![LogCell::Number(1.0)]));
            CandidateTable::of_program(columns.to_vec())
        };
        assert!(columns(["qty", "pnl"]).is_ok());
        assert!(columns(["qty", "quantity"]).unwrap_err().contains("twice"));
    }
}
