//! The hash that is shown for the trades of a run. It is for display: decisions compare rows within a tolerance.

use crate::hash::sha256_hex;
use crate::logs::TradeRow;
use crate::python_number::six_places;

/// SHA-256 over sorted lines `entry,exit,side,profit`, the profit at six places, in hexadecimal.
#[must_use]
pub fn trade_hash(trades: &[TradeRow]) -> String {
    let mut lines: Vec<String> = trades
        .iter()
        .map(|trade| {
            let profit = six_places(trade.pnl);
            format!(
                "{},{},{},{profit}",
                trade.entry_time,
                trade.exit_time,
                trade.side.label()
            )
        })
        .collect();
    lines.sort_unstable();
    sha256_hex(lines.join("\n").as_bytes())
}

/// Whether two figures of repeated runs count as one: within 1e-6 of max(|first|, |second|, 1).
#[must_use]
pub fn is_close(first: f64, second: f64) -> bool {
    (first - second).abs() < 1e-6 * first.abs().max(second.abs()).max(1.0)
}
