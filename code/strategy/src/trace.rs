//! Traces: a run as one token a bar, and how far two of them are apart.

use crate::candidate::CandidateTable;
use crate::edit_distance::edit_distance;
use crate::hash::sha256_hex;
use crate::logs::StrategyLogs;
use std::collections::BTreeSet;

/// Token of a bar: `bar|signal|position|exposure to one decimal, half up`.
fn token(bar: usize, (signal, state): (&str, &str), exposure: f64) -> String {
    let exposure = if exposure.is_finite() {
        format!("{:.1}", (exposure.abs() * 10.0 + 0.5).floor() / 10.0)
    } else {
        "?".to_owned()
    };
    format!("{bar}|{signal}|{state}|{exposure}")
}

/// The tokens of a run, one a bar.
#[must_use]
pub fn trace_tokens(logs: &StrategyLogs) -> Vec<String> {
    logs.bars
        .iter()
        .enumerate()
        .map(|(bar, row)| token(bar, (row.signal.label(), row.state.label()), row.exposure))
        .collect()
}

/// The tokens of a candidate's log of bars, one a row; what a cell does not say is `?`.
#[must_use]
pub fn candidate_tokens(bars: &CandidateTable) -> Vec<String> {
    (0..bars.len())
        .map(|row| {
            let text = |name| bars.text(name, row).unwrap_or("?");
            let exposure = bars.number("exposure", row).unwrap_or(f64::NAN);
            token(row, (text("signal"), text("position_state")), exposure)
        })
        .collect()
}

/// Bars on which the run of these tokens acts: those with a signal.
#[must_use]
pub fn acting_tokens(tokens: &[String]) -> BTreeSet<usize> {
    let acts = |token: &String| token.split('|').nth(1).is_some_and(|signal| signal != "NONE");
    let acting = tokens.iter().enumerate().filter(|(_, token)| acts(token));
    acting.map(|(bar, _)| bar).collect()
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
