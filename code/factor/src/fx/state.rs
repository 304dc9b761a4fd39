//! What remembers an event. A missing condition is false.

use super::operator::State;
use crate::casts::{equal, finite, float};

/// An operator of state, by its series; `second` stands for the first where it takes one alone.
pub(super) fn state(kind: State, first: &[f64], second: &[f64]) -> Vec<f64> {
    match kind {
        State::DaysSince => days_since(first),
        State::Last => last(first, second),
        State::SumSince => sum_since(first, second),
        State::Run => run(first),
        State::RunSum => run_sum(first, second),
        State::Latch => latch(first, second),
    }
}

fn holds(cell: f64) -> bool {
    !cell.is_nan() && !equal(cell, 0.0)
}

fn days_since(condition: &[f64]) -> Vec<f64> {
    let mut since: Option<usize> = None;
    let cells = condition.iter().map(|cell| {
        since = if holds(*cell) {
            Some(0)
        } else {
            since.map(|days| days + 1)
        };
        since.map_or(f64::NAN, float)
    });
    cells.collect()
}

fn last(condition: &[f64], series: &[f64]) -> Vec<f64> {
    let mut kept = f64::NAN;
    let cells = condition.iter().zip(series).map(|(condition, cell)| {
        if holds(*condition) {
            kept = *cell;
        }
        kept
    });
    cells.collect()
}

fn sum_since(condition: &[f64], series: &[f64]) -> Vec<f64> {
    let mut sum: Option<f64> = None;
    let cells = condition.iter().zip(series).map(|(condition, cell)| {
        let before = if holds(*condition) { Some(0.0) } else { sum };
        sum = before.map(|before| before + cell);
        sum.map_or(f64::NAN, finite)
    });
    cells.collect()
}

fn run(condition: &[f64]) -> Vec<f64> {
    let mut length = 0_usize;
    let cells = condition.iter().map(|cell| {
        length = if holds(*cell) { length + 1 } else { 0 };
        float(length)
    });
    cells.collect()
}

fn run_sum(series: &[f64], keys: &[f64]) -> Vec<f64> {
    let mut of_run: Option<(f64, f64)> = None;
    let cells = series.iter().zip(keys).map(|(cell, key)| {
        if key.is_nan() {
            of_run = None;
            return f64::NAN;
        }
        let sum = match of_run {
            Some((known, sum)) if equal(known, *key) => sum + cell,
            _ => *cell,
        };
        of_run = Some((*key, sum));
        finite(sum)
    });
    cells.collect()
}

fn latch(on: &[f64], off: &[f64]) -> Vec<f64> {
    let mut state = 0.0;
    let cells = on.iter().zip(off).map(|(on, off)| {
        if holds(*on) {
            state = 1.0;
        }
        if holds(*off) {
            state = 0.0;
        }
        state
    });
    cells.collect()
}
