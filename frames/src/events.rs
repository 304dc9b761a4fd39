//! The days of a bundle as a frame.

use polars::prelude::{DataFrame, PolarsError, df};
use serde_json::Value;
use std::fmt;

/// Why a text is no log of events.
#[derive(Debug)]
#[non_exhaustive]
pub enum EventsError {
    /// A line that is not JSON, or a day without one of its numbers.
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
                "give the events.jsonl of a bundle; `ktd verify BUNDLE` tells whether it is whole"
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
const BILLION: f64 = 1.0e9;

/// The marks of a log, column by column.
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
    fn push(&mut self, line: usize, mark: &Value) -> Result<(), EventsError> {
        let number = |key: &str| {
            mark.get(key)
                .and_then(Value::as_f64)
                .ok_or_else(|| absent(line, key))
        };
        let count = |key: &str| {
            let value = mark
                .get(key)
                .and_then(Value::as_u64)
                .and_then(|value| u32::try_from(value).ok());
            value.ok_or_else(|| absent(line, key))
        };
        self.step.push(count("step")?);
        self.nav.push(number("nav_fen")? / FEN_PER_YUAN);
        self.cash.push(number("cash_fen")? / FEN_PER_YUAN);
        self.fees.push(number("fees_fen")? / FEN_PER_YUAN);
        self.traded.push(number("traded_value_fen")? / FEN_PER_YUAN);
        self.hhi.push(number("hhi_billionths")? / BILLION);
        self.positions.push(count("positions")?);
        self.filled.push(count("filled")?);
        self.rejected.push(count("rejected")?);
        Ok(())
    }
}

fn absent(line: usize, key: &str) -> EventsError {
    EventsError::Line {
        line,
        what: format!("the day's mark has no number {key:?}"),
    }
}

/// One row a step, from the text of a bundle's `events.jsonl`.
///
/// Columns: `step` (1-based), `nav`, `cash`, `fees`, `traded` (CNY at and until the close), `hhi` (of weights over
/// net asset value), `positions`, `filled`, `rejected`. A torn last line, left by a kill, is passed over.
///
/// # Errors
/// [`EventsError::Line`] for a line that is no event or a mark that lacks a number.
pub fn step_frame(events: &str) -> Result<DataFrame, EventsError> {
    let mut steps = Steps::default();
    for (place, text) in events.split_inclusive('\n').enumerate() {
        if !text.ends_with('\n') {
            break;
        }
        let line = place + 1;
        let event: Value = serde_json::from_str(text).map_err(|error| EventsError::Line {
            line,
            what: error.to_string(),
        })?;
        let body = event.get("body");
        let part = |key: &str| body.and_then(|body| body.get(key));
        if part("kind").and_then(Value::as_str) == Some("step_end") {
            steps.push(line, part("mark").unwrap_or(&Value::Null))?;
        }
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

    const MARK: &str = r#"{"step":1,"nav_fen":100000050,"cash_fen":25000000,"fees_fen":1250,"traded_value_fen":75000000,"hhi_billionths":56250000,"positions":10,"filled":10,"rejected":1}"#;

    fn log(mark: &str, end: &str) -> String {
        let begin =
            r#"{"seq":0,"prev":"0","body":{"kind":"step_begin","step":1,"day":"day_+0","as_of":"day_-1"}}"#;
        let close =
            format!(r#"{{"seq":1,"prev":"1","body":{{"kind":"step_end","mark":{mark},"holdings":[]}}}}"#);
        format!("{begin}\n{close}\n{end}")
    }

    #[test]
    fn one_row_a_step_and_a_torn_line_is_passed_over() {
        let frame = step_frame(&log(MARK, r#"{"seq":2,"pre"#)).unwrap();
        assert_eq!(frame.shape(), (1, 9));
        let number = |column: &str| frame.column(column).unwrap().f64().unwrap().get(0).unwrap();
        assert!((number("nav") - 1_000_000.5).abs() < 1e-9);
        assert!((number("hhi") - 0.05625).abs() < 1e-12);
    }

    #[test]
    fn what_is_missing_is_named_with_its_line() {
        let error = step_frame(&log(r#"{"step":1}"#, "")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "line 2: the day's mark has no number \"nav_fen\""
        );
        assert!(step_frame("{\n").unwrap_err().to_string().starts_with("line 1: "));
    }
}
