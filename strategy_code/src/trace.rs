//! Traces: a run as one token a bar, and how far two of them are apart.

use crate::edit_distance::edit_distance;
use crate::hash::sha256_hex;
use crate::logs::{AuditRow, StrategyLogs};

/// Token of a bar: `bar|signal|position|exposure to one decimal, half up`.
fn token(bar: usize, row: &AuditRow) -> String {
    let exposure = if row.exposure.is_finite() {
        format!("{:.1}", (row.exposure.abs() * 10.0 + 0.5).floor() / 10.0)
    } else {
        "?".to_owned()
    };
    format!("{bar}|{}|{}|{exposure}", row.signal.label(), row.state.label())
}

/// The tokens of a run, one a bar.
#[must_use]
pub fn trace_tokens(logs: &StrategyLogs) -> Vec<String> {
    logs.bars
        .iter()
        .enumerate()
        .map(|(bar, row)| token(bar, row))
        .collect()
}

/// SHA-256 over tokens joined by line feeds, in hexadecimal.
#[must_use]
pub fn tokens_hash(tokens: &[String]) -> String {
    sha256_hex(tokens.join("\n").as_bytes())
}

/// Share of a trace that has to be edited to give the other: Levenshtein distance over the longer length, from 0 to 1.
#[must_use]
pub fn trace_distance<T: PartialEq>(first: &[T], second: &[T]) -> f64 {
    let longer = first.len().max(second.len());
    if longer == 0 {
        return 0.0;
    }
    crate::indicators::count(edit_distance(first, second)) / crate::indicators::count(longer)
}
