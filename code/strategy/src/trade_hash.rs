//! The hash that is shown for the trades of a run. It is for display: decisions compare rows within a tolerance.

use crate::candidate::CandidateTable;
use crate::hash::sha256_hex;
use crate::logs::TradeRow;
use crate::python_number::six_places;

/// SHA-256 over sorted lines `entry,exit,side,profit`, the profit at six places, in hexadecimal.
#[must_use]
pub fn trade_hash(trades: &[TradeRow]) -> String {
    let lines = trades.iter().map(|trade| {
        let profit = six_places(trade.pnl);
        let (entry, exit) = (&trade.entry_time, &trade.exit_time);
        format!("{entry},{exit},{},{profit}", trade.side.label())
    });
    hash_of(lines.collect())
}

/// The same over a candidate's log of trades; a cell that holds nothing is `null`.
#[must_use]
pub(crate) fn candidate_trade_hash(trades: &CandidateTable) -> String {
    let lines = (0..trades.len()).map(|row| {
        let text = |name| trades.text(name, row).unwrap_or("null");
        let profit = trades.number("pnl", row).filter(|profit| profit.is_finite());
        let profit = profit.map_or_else(|| "null".to_owned(), six_places);
        let (entry, exit) = (text("entry_datetime"), text("exit_datetime"));
        format!("{entry},{exit},{},{profit}", text("side"))
    });
    hash_of(lines.collect())
}

fn hash_of(mut lines: Vec<String>) -> String {
    lines.sort_unstable();
    sha256_hex(lines.join("\n").as_bytes())
}

/// Whether two figures of repeated runs count as one: within 1e-6 of max(|first|, |second|, 1).
#[must_use]
pub fn is_close(first: f64, second: f64) -> bool {
    (first - second).abs() < 1e-6 * first.abs().max(second.abs()).max(1.0)
}
