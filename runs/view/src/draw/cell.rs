//! A cell of a table.

use super::number::{change, decimals, grouped, p_value, percent};
use super::safe::csv_text;

/// A cell: its exact content, and how people want to see it.
#[derive(Debug, Clone, PartialEq)]
pub enum TableCell {
    /// Text as it is.
    Text(String),
    /// A formula of ours that was parsed: programs read it as it is, as nothing in it is anything to run.
    Formula(String),
    /// A share, shown in percent.
    Percent(f64),
    /// A signed difference of shares, shown in percent with its sign.
    Change(f64),
    /// A number with two decimals.
    Ratio(f64),
    /// A number with three decimals.
    Fine(f64),
    /// A p-value.
    P(f64),
    /// A count.
    Count(usize),
    /// A signed count.
    Signed(i64),
    /// US dollars.
    Dollars(f64),
    /// A number, and how people see it, such as with a mark or its interval.
    Worded(f64, String),
    /// Nothing, and why.
    Missing(String),
    /// Nothing, and no reason is needed.
    Empty,
}

impl TableCell {
    /// A number that may be absent.
    #[must_use]
    pub fn optional(value: Option<f64>, form: fn(f64) -> Self) -> Self {
        value.map_or(Self::Empty, form)
    }

    /// The cell in a terminal; a missing number refers to its reason in `reasons`.
    pub(super) fn in_terminal<'c>(&'c self, reasons: &mut Vec<&'c str>) -> String {
        match self {
            Self::Text(text) | Self::Formula(text) | Self::Worded(_, text) => text.clone(),
            Self::Percent(value) => format!("{:.2} %", value * 100.0),
            Self::Change(value) => format!("{:+.2} %", value * 100.0),
            Self::Ratio(value) => format!("{value:.2}"),
            Self::P(value) if *value < 0.001 => format!("{value:.1e}"),
            Self::Fine(value) | Self::P(value) => format!("{value:.3}"),
            Self::Count(count) => count.to_string(),
            Self::Signed(count) => format!("{count:+}"),
            Self::Dollars(value) => format!("$ {value:.2}"),
            Self::Missing(reason) => format!("n/a{}", footnote(reason, reasons)),
            Self::Empty => String::new(),
        }
    }

    /// The cell on a page, without the reason of a missing number.
    #[must_use]
    pub fn on_page(&self) -> String {
        match self {
            Self::Text(text) | Self::Formula(text) | Self::Worded(_, text) => text.clone(),
            Self::Percent(value) => percent(*value),
            Self::Change(value) => change(*value),
            Self::Ratio(value) => decimals(*value, 2),
            Self::Fine(value) => decimals(*value, 3),
            Self::P(value) => p_value(*value),
            Self::Count(count) => grouped(*count),
            Self::Signed(count) if *count < 0 => format!("\u{2212}{}", count.unsigned_abs()),
            Self::Signed(count) if 0 < *count => format!("+{count}"),
            Self::Signed(_) => "0".to_owned(),
            Self::Dollars(value) => format!("$ {}", decimals(*value, 2)),
            Self::Missing(_) => "n/a".to_owned(),
            Self::Empty => String::new(),
        }
    }

    /// The cell for programs: numbers unrounded, and text that no spreadsheet runs.
    #[must_use]
    pub fn raw(&self) -> String {
        match self {
            Self::Text(text) => csv_text(text).into_owned(),
            Self::Formula(text) => text.clone(),
            Self::Percent(value)
            | Self::Change(value)
            | Self::Ratio(value)
            | Self::Fine(value)
            | Self::P(value)
            | Self::Dollars(value)
            | Self::Worded(value, _) => value.to_string(),
            Self::Count(count) => count.to_string(),
            Self::Signed(count) => count.to_string(),
            Self::Missing(_) | Self::Empty => String::new(),
        }
    }
}

/// The number of a reason below a table, from 1; equal reasons share one.
pub(super) fn footnote<'c>(reason: &'c str, reasons: &mut Vec<&'c str>) -> usize {
    let known = reasons.iter().position(|known| *known == reason);
    known.map_or_else(
        || {
            reasons.push(reason);
            reasons.len()
        },
        |place| place + 1,
    )
}
