//! What an attacker reads of one stock in one step.

use crate::step_text::MOST_DAYS;
use crate::table::{Row, Table};
use ktd_env::Board;
use ktd_env::factors::{Factor, Technical};
use serde_json::{Map, Value};

/// Parsed snapshot of a stock.
#[derive(Debug, Clone, Default)]
pub(crate) struct ParsedStock {
    pub(crate) board: Option<Board>,
    pub(crate) flags: Vec<String>,
    pub(crate) previous_close: Option<f64>,
    pub(crate) limit_up: Option<f64>,
    /// Oldest first.
    pub(crate) bars: Vec<ParsedBar>,
    pub(crate) factors: Vec<(Form, Factor, f64)>,
    pub(crate) technicals: Vec<(Form, Technical, f64)>,
    /// Numbers of its step under keys that no tool has, but those that stand beside another stock.
    pub(crate) strangers: Vec<f64>,
}

/// How a factor or a technical is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Raw,
    Score,
    Percentile,
    Band,
}

impl Form {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        match text {
            "raw" => Some(Self::Raw),
            "z" => Some(Self::Score),
            "pct" => Some(Self::Percentile),
            "band" => Some(Self::Band),
            _ => None,
        }
    }
}

/// Parsed daily bar.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ParsedBar {
    pub(crate) days_ago: i64,
    pub(crate) open: Option<f64>,
    pub(crate) high: Option<f64>,
    pub(crate) low: Option<f64>,
    pub(crate) close: Option<f64>,
    pub(crate) volume: Option<f64>,
}

impl ParsedStock {
    pub(crate) fn read(content: &Value) -> Self {
        let number = |key: &str| content.get(key).and_then(Value::as_f64);
        let flags = content.get("flags").and_then(Value::as_array);
        let limits = content.get("next_open_limits");
        Self {
            board: board(content.get("board")),
            flags: flags
                .into_iter()
                .flatten()
                .filter_map(|flag| flag.as_str().map(str::to_owned))
                .collect(),
            previous_close: number("previous_close"),
            limit_up: limits.and_then(|limits| limits.get("up")?.as_f64()),
            bars: content
                .get("bars")
                .and_then(Table::read)
                .map(|table| bars(&table))
                .unwrap_or_default(),
            factors: content
                .get("factors")
                .and_then(Table::read)
                .map(|table| factors(&table))
                .unwrap_or_default(),
            technicals: content
                .get("technicals")
                .and_then(Value::as_object)
                .map(technicals)
                .unwrap_or_default(),
            strangers: Vec::new(),
        }
    }
}

fn bars(table: &Table<'_>) -> Vec<ParsedBar> {
    let count = i64::try_from(table.len()).unwrap_or(i64::MAX);
    let bar = |(place, row): (i64, Row<'_>)| {
        let number = |key: &str| row.get(key).and_then(Value::as_f64);
        ParsedBar {
            days_ago: row
                .get("days_ago")
                .and_then(Value::as_i64)
                .filter(|days| (0..=MOST_DAYS).contains(days))
                .unwrap_or(count - place),
            open: number("open"),
            high: number("high"),
            low: number("low"),
            close: number("close"),
            volume: number("volume"),
        }
    };
    (1..).zip(table.rows()).map(bar).collect()
}

fn factors(table: &Table<'_>) -> Vec<(Form, Factor, f64)> {
    let mut read = Vec::new();
    for row in table.rows() {
        let Some(form) = row.get("value").and_then(Value::as_str).and_then(Form::parse) else {
            continue;
        };
        let cell = |factor: Factor| Some((form, factor, row.get(factor.name())?.as_f64()?));
        read.extend(Factor::ALL.into_iter().filter_map(cell));
    }
    read
}

fn technicals(members: &Map<String, Value>) -> Vec<(Form, Technical, f64)> {
    let read = |(key, value): (&String, &Value)| {
        let (form, name) = key
            .strip_suffix("_pct")
            .map_or((Form::Raw, key.as_str()), |name| (Form::Percentile, name));
        Some((form, Technical::from_name(name)?, value.as_f64()?))
    };
    members.iter().filter_map(read).collect()
}

pub(crate) fn board(value: Option<&Value>) -> Option<Board> {
    let label = value?.as_str()?;
    Board::ALL.into_iter().find(|board| board.label() == label)
}
