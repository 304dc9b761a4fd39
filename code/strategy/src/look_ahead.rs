//! The gate on look-ahead: what a strategy logs up to a bar must not depend on the bars after it.

use crate::candidate::{CandidateLogs, CandidateTable, LogCell};
use std::collections::BTreeSet;
use std::fmt;

/// How far numbers may lie apart, times max(|first|, |second|, 1).
const TOLERANCE: f64 = 1e-9;
/// The first place where two runs differ in what was known at a bar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogDifference {
    /// Different numbers of rows of bars.
    Bars {
        /// Of the whole run.
        whole: usize,
        /// Of the other.
        part: usize,
    },
    /// A cell of the log of bars.
    BarCell {
        /// The column.
        column: String,
        /// The row, from 0.
        row: usize,
    },
    /// Different numbers of closed holdings.
    Trades {
        /// Of the whole run.
        whole: usize,
        /// Of the other.
        part: usize,
    },
    /// A cell of the log of trades.
    TradeCell {
        /// The column.
        column: String,
        /// The row among those closed by then, from 0.
        row: usize,
    },
}

impl fmt::Display for LogDifference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bars { whole, part } => write!(formatter, "{whole} and {part} rows in the log of bars"),
            Self::BarCell { column, row } => write!(formatter, "{column} in row {row} of the log of bars"),
            Self::Trades { whole, part } => write!(formatter, "{whole} and {part} closed trades"),
            Self::TradeCell { column, row } => {
                write!(formatter, "{column} in row {row} of the log of trades")
            }
        }
    }
}

/// The first difference between a whole run and one on a cut or replaced future, in rows of bars up to `time` and trades
/// closed by then. `time` is the last common bar, in ISO form.
#[must_use]
pub fn known_difference(whole: &CandidateLogs, part: &CandidateLogs, time: &str) -> Option<LogDifference> {
    let bars = [&whole.bars, &part.bars].map(|log| rows_until(log, "datetime", time));
    let [whole_bars, part_bars] = &bars;
    if whole_bars.len() != part_bars.len() {
        return Some(LogDifference::Bars {
            whole: whole_bars.len(),
            part: part_bars.len(),
        });
    }
    if let Some((column, row)) = cell_difference((&whole.bars, whole_bars), (&part.bars, part_bars)) {
        return Some(LogDifference::BarCell { column, row });
    }
    let trades = [&whole.trades, &part.trades].map(|log| rows_until(log, "exit_datetime", time));
    let [whole_trades, part_trades] = &trades;
    if whole_trades.len() != part_trades.len() {
        return Some(LogDifference::Trades {
            whole: whole_trades.len(),
            part: part_trades.len(),
        });
    }
    cell_difference((&whole.trades, whole_trades), (&part.trades, part_trades))
        .map(|(column, row)| LogDifference::TradeCell { column, row })
}

/// Rows whose time is not after `time`. ISO stamps are ordered as text.
fn rows_until(log: &CandidateTable, column: &str, time: &str) -> Vec<usize> {
    (0..log.len())
        .filter(|row| log.text(column, *row).is_some_and(|own| own <= time))
        .collect()
}

/// The first column, and the row in it, that differs; a column that one of them lacks differs at once.
fn cell_difference(
    (whole, whole_rows): (&CandidateTable, &[usize]),
    (part, part_rows): (&CandidateTable, &[usize]),
) -> Option<(String, usize)> {
    if whole_rows.is_empty() {
        return None;
    }
    let names: BTreeSet<&str> = whole.names().chain(part.names()).collect();
    names.into_iter().find_map(|name| {
        let differs = |(one, other): (&usize, &usize)| {
            whole.column(name).is_none()
                || part.column(name).is_none()
                || !same_cell(whole.cell(name, *one), part.cell(name, *other))
        };
        let row = whole_rows.iter().zip(part_rows).position(differs)?;
        Some((name.to_owned(), row))
    })
}

/// Whether two cells hold the same, numbers within the tolerance.
fn same_cell(first: &LogCell, second: &LogCell) -> bool {
    match (first, second) {
        (LogCell::Number(first), LogCell::Number(second)) => {
            first.to_bits() == second.to_bits()
                || (first - second).abs() <= TOLERANCE * first.abs().max(second.abs()).max(1.0)
        }
        (first, second) => first == second,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(columns: &[(&str, &[&str])]) -> CandidateTable {
        let cell = |text: &&str| {
            text.parse()
                .map_or_else(|_| LogCell::Text((*text).to_owned()), LogCell::Number)
        };
        let columns = columns
            .iter()
            .map(|(name, cells)| ((*name).to_owned(), cells.iter().map(cell).collect()));
        CandidateTable::new(columns.collect()).unwrap()
    }

    fn logs(equity: [&str; 3], exits: &[&str]) -> CandidateLogs {
        CandidateLogs {
            bars: table(&[
                ("datetime", &["2021-01-04", "2021-01-05", "2021-01-06"]),
                ("equity", &equity),
            ]),
            trades: table(&[("exit_datetime", exits)]),
        }
    }

    #[test]
    fn only_what_was_known_is_compared() {
        let whole = logs(["1", "2", "3"], &["2021-01-05", "2021-01-06"]);
        let later = logs(["1", "2", "9"], &["2021-01-05"]);
        assert_eq!(known_difference(&whole, &later, "2021-01-05"), None);
        let at_the_end = known_difference(&whole, &later, "2021-01-06");
        let column = "equity".to_owned();
        assert_eq!(at_the_end, Some(LogDifference::BarCell { column, row: 2 }));
        let early = logs(["1", "2", "3"], &["2021-01-04", "2021-01-05"]);
        let difference = known_difference(&whole, &early, "2021-01-05");
        assert_eq!(difference, Some(LogDifference::Trades { whole: 1, part: 2 }));
    }
}
