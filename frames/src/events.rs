//! The days of a bundle as a frame.

use polars::prelude::{DataFrame, PolarsError, df};
use serde_json::Value;
use std::fmt;

/// Why a text is no ledger.
#[derive(Debug)]
#[non_exhaustive]
pub enum EventsError {
    /// A line that is not JSON, or a step without one of its numbers.
    Line {
        /// 1-based line.
        line: usize,
        /// What was missing or wrong.
        what: String,
    },
    /// Polars refused the columns.
    Frame(PolarsError),
}

impl EventsError {
    /// How to fix it.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Line { .. } => {
                "give the private/ledger.jsonl of a bundle; `ktd verify BUNDLE` tells whether it is whole"
            }
            Self::Frame(_) => "report it: the columns of a day have one length by construction",
        }
    }
}

impl fmt::Display for EventsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line { line, what } => write!(f, "line {line}: {what}"),
            Self::Frame(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for EventsError {}

const FEN_PER_YUAN: f64 = 100.0;

/// The closes of a ledger, column by column.
#[derive(Default)]
struct Steps {
    step: Vec<u32>,
    nav: Vec<f64>,
    cash: Vec<f64>,
    fees: Vec<f64>,
    traded: Vec<f64>,
    hhi: Vec<f64>,
    positions: Vec<u32>,
    filled: Vec<u32>,
    rejected: Vec<u32>,
}

impl Steps {
    fn push(&mut self, line: usize, body: &Value) -> Result<(), EventsError> {
        let number = |path: &str| {
            let value = body.pointer(path).and_then(Value::as_f64);
            value.ok_or_else(|| absent(line, path))
        };
        let list = |path: &str| {
            let value = body.pointer(path).and_then(Value::as_array);
            value.ok_or_else(|| absent(line, path))
        };
        let step = body.pointer("/step").and_then(Value::as_u64);
        let step = step.and_then(|step| u32::try_from(step).ok());
        let nav = number("/nav_fen")?;
        let (fills, positions) = (list("/fills")?, list("/positions")?);
        let values = fills
            .iter()
            .filter_map(|fill| fill.pointer("/execution/filled/value_fen"));
        let values: Vec<f64> = values.filter_map(Value::as_f64).collect();
        let weight = |position: &Value| {
            let part = |key: &str| position.get(key).and_then(Value::as_f64).unwrap_or_default();
            part("shares") * part("mark_fen") / nav
        };
        self.step.push(step.ok_or_else(|| absent(line, "/step"))?);
        self.nav.push(nav / FEN_PER_YUAN);
        self.cash.push(number("/cash_fen")? / FEN_PER_YUAN);
        self.fees.push(number("/identity_fen/fees")? / FEN_PER_YUAN);
        self.traded.push(values.iter().sum::<f64>() / FEN_PER_YUAN);
        let weights = positions.iter().map(weight);
        self.hhi.push(weights.map(|weight| weight * weight).sum());
        self.positions.push(count(positions.len()));
        self.filled.push(count(values.len()));
        self.rejected
            .push(count(fills.len().saturating_sub(values.len())));
        Ok(())
    }
}

fn count(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

fn absent(line: usize, path: &str) -> EventsError {
    EventsError::Line {
        line,
        what: format!("the step has no {path:?}"),
    }
}

/// One row a step, from the text of a bundle's `private/ledger.jsonl`: the public files of a masked bundle tell no totals.
///
/// Columns: `step` (1-based), `nav`, `cash`, `fees`, `traded` (CNY at and until the close), `hhi` (of weights over
/// net asset value), `positions`, `filled`, `rejected`. A torn last line, left by a kill, is passed over.
///
/// # Errors
/// [`EventsError::Line`] for a line that is no step of a ledger.
pub fn step_frame(ledger: &str) -> Result<DataFrame, EventsError> {
    let mut steps = Steps::default();
    for (place, text) in ledger.split_inclusive('\n').enumerate() {
        if !text.ends_with('\n') {
            break;
        }
        let line = place + 1;
        let read: Value = serde_json::from_str(text).map_err(|error| EventsError::Line {
            line,
            what: error.to_string(),
        })?;
        steps.push(line, read.get("body").unwrap_or(&Value::Null))?;
    }
    let frame = df![
        "step" => steps.step,
        "nav" => steps.nav,
        "cash" => steps.cash,
        "fees" => steps.fees,
        "traded" => steps.traded,
        "hhi" => steps.hhi,
        "positions" => steps.positions,
        "filled" => steps.filled,
        "rejected" => steps.rejected,
    ];
    frame.map_err(EventsError::Frame)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r#"{"seq":0,"prev":"0","body":{"step":1,"date":"2020-01-02","fills":[{"execution":{"filled":{"value_fen":75000000}}},{"execution":{"rejected":{"code":"x"}}}],"positions":[{"shares":100,"mark_fen":250000}],"cash_fen":75000000,"nav_fen":100000050,"identity_fen":{"fees":1250}}}"#;

    #[test]
    fn one_row_a_step_and_a_torn_line_is_passed_over() {
        let frame = step_frame(&format!("{LINE}\n{{\"seq\":1,\"pre")).unwrap();
        assert_eq!(frame.shape(), (1, 9));
        let number = |column: &str| frame.column(column).unwrap().f64().unwrap().get(0).unwrap();
        for (column, expected) in [
            ("nav", 1_000_000.5),
            ("cash", 750_000.0),
            ("fees", 12.5),
            ("traded", 750_000.0),
        ] {
            assert!((number(column) - expected).abs() < 1e-9, "{column}");
        }
        assert!((number("hhi") - 0.0625).abs() < 1e-6);
        let whole = |column: &str| frame.column(column).unwrap().u32().unwrap().get(0).unwrap();
        assert_eq!(["positions", "filled", "rejected"].map(whole), [1, 1, 1]);
    }

    #[test]
    fn what_is_missing_is_named_with_its_line() {
        let error = step_frame("{\"body\":{\"step\":1}}\n").unwrap_err();
        assert_eq!(error.to_string(), "line 1: the step has no \"/nav_fen\"");
        assert!(step_frame("{\n").unwrap_err().to_string().starts_with("line 1: "));
    }
}
