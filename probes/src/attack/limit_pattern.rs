//! Knows on which days every stock stood at its price limit or did not trade.

use super::senses::ParsedSnapshot;
use super::{DatabaseAttacker, Reading};
use crate::clue::{Bounds, Clue, Clues};
use crate::column::Column;
use crate::database::{LIMIT_DOWN, LIMIT_UP, SUSPENDED};
use ktd_env::Board;

pub(crate) struct LimitPattern;

impl DatabaseAttacker for LimitPattern {
    fn name(&self) -> &'static str {
        "limit-pattern"
    }

    fn clues(&self, reading: &Reading<'_>) -> Clues {
        reading.both(|shown| {
            let mut days: Vec<(i64, f64)> = Vec::new();
            for (at, state) in shown.iter().rev().flat_map(states) {
                if !days.iter().any(|(day, _)| *day == at) {
                    days.push((at, state));
                }
            }
            days.into_iter().map(|(at, state)| day(at, state)).collect()
        })
    }
}

fn day(at: i64, state: f64) -> Clue {
    Clue {
        column: Column::State,
        at,
        minus: None,
        bounds: Bounds::around(state, 0.4),
    }
}

/// What flags say of the as-of day, and what bars say of the days before: a close a whole limit away from the one
/// before it, at the day's high or low, and days without a bar. Ordinary days tell too little to be laid against.
fn states(snapshot: &ParsedSnapshot<'_>) -> Vec<(i64, f64)> {
    let stock = snapshot.stock;
    let flag = |flag: &str| stock.flags.iter().any(|shown| shown == flag);
    let flags = [
        ("at_limit_up", LIMIT_UP),
        ("at_limit_down", LIMIT_DOWN),
        ("suspended", SUSPENDED),
    ];
    let mut states: Vec<(i64, f64)> = flags
        .into_iter()
        .filter(|(name, _)| flag(name))
        .map(|(_, state)| (snapshot.offset, state))
        .collect();
    let limit = match stock.board {
        Some(Board::ChiNext | Board::Star) => 0.2,
        Some(Board::Bse) => 0.3,
        Some(Board::Main) | None => 0.1,
    };
    for (before, bar) in stock.bars.iter().zip(stock.bars.iter().skip(1)) {
        let at = snapshot.offset - bar.days_ago;
        let missed = before.days_ago - bar.days_ago - 1;
        states.extend((1..=missed).map(|back| (at - back, SUSPENDED)));
        let (Some(earlier), Some(close)) = (before.close, bar.close) else {
            continue;
        };
        let change = close / earlier - 1.0;
        if limit - NEAR < change && bar.high.is_some_and(|high| high <= close) {
            states.push((at, LIMIT_UP));
        } else if change < NEAR - limit && bar.low.is_some_and(|low| close <= low) {
            states.push((at, LIMIT_DOWN));
        }
    }
    states
}

/// How near to its limit a rounded return still counts as one.
const NEAR: f64 = 0.004;
