//! Windows before whose first day a panel has too few.

use ktd_experiment::cells::Cell;
use std::collections::BTreeSet;

/// Days before a window that the 12-1 momentum of a stock needs.
const MOMENTUM_DAYS: usize = 253;

/// What a reader must know of windows before whose first day the panel has too few.
pub(crate) fn early_windows(cells: &[Cell]) -> Option<String> {
    let is_early = |cell: &&Cell| {
        cell.window
            .days
            .first()
            .is_some_and(|day| day.index() < MOMENTUM_DAYS)
    };
    let early: BTreeSet<&str> = cells
        .iter()
        .filter(is_early)
        .map(|cell| cell.window.id.as_str())
        .collect();
    let named: Vec<&str> = early.into_iter().collect();
    (!named.is_empty()).then(|| {
        format!(
            "the panel has fewer than {MOMENTUM_DAYS} days before window {}: no 12-month momentum is known there, lists by it have \
             no order, and an agent that goes by the order of a list differs between masks without any memory",
            named.join(", ")
        )
    })
}
