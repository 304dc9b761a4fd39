//! The gate on determinism: what a repeated run must say again.

use crate::candidate::{CandidateLogs, CandidateTable};
use crate::look_ahead::LogDifference;
use crate::trade_hash::is_close;

/// Seeds of the three runs: of Python's and numpy's random numbers, and of the hashes of texts.
pub const REPETITION_SEEDS: [(u32, u32); 3] = [(42, 0), (123, 1), (7, 2)];

/// The first difference between two runs on the same bars: times and sides of trades, signals and states of bars exactly;
/// profit, prices and equity within the tolerance of [`is_close`].
#[must_use]
pub fn repetition_difference(first: &CandidateLogs, other: &CandidateLogs) -> Option<LogDifference> {
    if first.trades.len() != other.trades.len() {
        return Some(LogDifference::Trades {
            whole: first.trades.len(),
            part: other.trades.len(),
        });
    }
    if first.bars.len() != other.bars.len() {
        return Some(LogDifference::Bars {
            whole: first.bars.len(),
            part: other.bars.len(),
        });
    }
    let of_trades = difference(
        (&first.trades, &other.trades),
        &["entry_datetime", "exit_datetime", "side"],
        &["pnl", "entry_price", "exit_price"],
    );
    let of_bars = || {
        difference(
            (&first.bars, &other.bars),
            &["signal", "position_state"],
            &["equity"],
        )
    };
    of_trades
        .map(|(column, row)| LogDifference::TradeCell { column, row })
        .or_else(|| of_bars().map(|(column, row)| LogDifference::BarCell { column, row }))
}

/// The first column and row in which two tables of one length differ.
fn difference(
    (first, other): (&CandidateTable, &CandidateTable),
    exact: &[&str],
    near: &[&str],
) -> Option<(String, usize)> {
    let rows = || 0..first.len();
    let text = |name: &&str| {
        let row = rows().find(|row| first.cell(name, *row) != other.cell(name, *row))?;
        Some(((*name).to_owned(), row))
    };
    let number = |name: &&str| {
        let is_same = |row: usize| match (first.number(name, row), other.number(name, row)) {
            (Some(first), Some(other)) => first.to_bits() == other.to_bits() || is_close(first, other),
            _ => first.cell(name, row) == other.cell(name, row),
        };
        let row = rows().find(|row| !is_same(*row))?;
        Some(((*name).to_owned(), row))
    };
    exact
        .iter()
        .find_map(text)
        .or_else(|| near.iter().find_map(number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidate::LogCell;

    fn logs(profit: f64, signal: &str) -> CandidateLogs {
        let table =
            |name: &str, cell: LogCell| CandidateTable::new(vec![(name.to_owned(), vec![cell])]).unwrap();
        CandidateLogs {
            trades: table("pnl", LogCell::Number(profit)),
            bars: table("signal", LogCell::Text(signal.to_owned())),
        }
    }

    #[test]
    fn numbers_may_differ_by_rounding_and_signals_not_at_all() {
        let first = logs(10.0, "LONG");
        assert_eq!(repetition_difference(&first, &logs(10.000_001, "LONG")), None);
        let column = "pnl".to_owned();
        assert_eq!(
            repetition_difference(&first, &logs(10.01, "LONG")),
            Some(LogDifference::TradeCell { column, row: 0 })
        );
        let column = "signal".to_owned();
        assert_eq!(
            repetition_difference(&first, &logs(10.0, "SHORT")),
            Some(LogDifference::BarCell { column, row: 0 })
        );
        let none = CandidateLogs {
            trades: CandidateTable::default(),
            ..first.clone()
        };
        assert_eq!(
            repetition_difference(&first, &none),
            Some(LogDifference::Trades { whole: 1, part: 0 })
        );
    }
}
