//! Which column of a long file is what.

use crate::DataFileError;
use ktd_env::{Decimal, RawBar, Ticker, TickerError, TradeDate};
use std::collections::BTreeMap;

/// What a column of a long file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Column {
    Date,
    Symbol,
    Open,
    High,
    Low,
    Close,
    Volume,
    Amount,
    Factor,
    Suspended,
    St,
    Listed,
    Sector,
    ChangePercent,
    /// Close / previous close - 1, Qlib's habit.
    ChangeRatio,
    Dividend,
    Bonus,
}

impl Column {
    const fn of_name(name: &str) -> Option<Self> {
        // Matching bytes keeps this a table.
        Some(match name.as_bytes() {
            b"date" | b"trade_date" | b"datetime" => Self::Date,
            b"symbol" | b"code" | b"instrument" | b"ts_code" => Self::Symbol,
            b"open" => Self::Open,
            b"high" => Self::High,
            b"low" => Self::Low,
            b"close" => Self::Close,
            b"volume" => Self::Volume,
            b"amount" => Self::Amount,
            b"factor" => Self::Factor,
            b"suspended" => Self::Suspended,
            b"st" | b"is_st" => Self::St,
            b"listed" | b"list_date" => Self::Listed,
            b"sector" | b"sw_l1" | b"industry" => Self::Sector,
            b"pct_chg" => Self::ChangePercent,
            b"change" => Self::ChangeRatio,
            b"dividend" => Self::Dividend,
            b"bonus" => Self::Bonus,
            _ => return None,
        })
    }

    /// The name used in messages.
    pub(super) const fn label(self) -> &'static str {
        match self {
            Self::Date => "date",
            Self::Symbol => "symbol",
            Self::Open => "open",
            Self::High => "high",
            Self::Low => "low",
            Self::Close => "close",
            Self::Volume => "volume",
            Self::Amount => "amount",
            Self::Factor => "factor",
            Self::Suspended => "suspended",
            Self::St => "st",
            Self::Listed => "listed",
            Self::Sector => "sector",
            Self::ChangePercent => "pct_chg",
            Self::ChangeRatio => "change",
            Self::Dividend => "dividend",
            Self::Bonus => "bonus",
        }
    }
}

const REQUIRED: [Column; 7] = [
    Column::Date,
    Column::Symbol,
    Column::Open,
    Column::High,
    Column::Low,
    Column::Close,
    Column::Volume,
];

/// The columns a file has.
#[derive(Debug, Clone, Default)]
pub(super) struct Layout {
    places: BTreeMap<Column, usize>,
    /// Columns that are read by nothing.
    pub(super) unknown: Vec<String>,
}

impl Layout {
    /// The layout of a header line.
    pub(super) fn of<'h>(
        file: &str,
        header: impl IntoIterator<Item = &'h str>,
    ) -> Result<Self, DataFileError> {
        let mut layout = Self::default();
        for (place, name) in header.into_iter().enumerate() {
            let Some(column) = Column::of_name(&name.to_ascii_lowercase()) else {
                layout.unknown.push(name.to_owned());
                continue;
            };
            if layout.places.insert(column, place).is_some() {
                return Err(DataFileError::input(
                    format_args!("{file}: two columns are a {}", column.label()),
                    "remove one of them or give it another name",
                ));
            }
        }
        let missing: Vec<&str> = REQUIRED
            .iter()
            .filter(|column| !layout.has(**column))
            .map(|column| column.label())
            .collect();
        if missing.is_empty() {
            Ok(layout)
        } else {
            Err(DataFileError::invalid(format_args!(
                "{file}: the columns {} are missing",
                missing.join(", ")
            ))
            .with_hint("a long file has the columns date, symbol, open, high, low, close, volume"))
        }
    }

    /// Whether the file has this column.
    pub(super) fn has(&self, column: Column) -> bool {
        self.places.contains_key(&column)
    }

    /// How many columns the header names, the unknown ones included.
    pub(super) fn width(&self) -> usize {
        self.places.len() + self.unknown.len()
    }

    /// The 0-based place of a column.
    pub(super) fn place(&self, column: Column) -> Option<usize> {
        self.places.get(&column).copied()
    }
}

/// One row of a source.
#[derive(Debug)]
pub(super) struct SourceRow<'r> {
    /// The file as messages name it.
    pub(super) file: &'r str,
    /// 1-based row of its file.
    pub(super) row: u64,
    pub(super) ticker: Ticker,
    pub(super) date: TradeDate,
    pub(super) bar: RawBar,
    /// ST flag, where the file has them.
    pub(super) st: Option<bool>,
    pub(super) listed: Option<TradeDate>,
    pub(super) sector: Option<&'r str>,
    /// Cash dividend of the row's day, CNY a share before tax.
    pub(super) dividend: Option<Decimal>,
}

/// Takes the rows of a source one by one.
pub(super) type RowSink<'s> = dyn FnMut(&SourceRow<'_>) -> Result<(), DataFileError> + 's;

/// Reads a code in the spellings data vendors use: `SH600519`, `sh600519`, `600519.SH`.
pub(super) fn read_ticker(text: &str) -> Result<Ticker, TickerError> {
    Ticker::parse(text).or_else(|error| {
        let upper = text.to_ascii_uppercase();
        let turned = match upper.split_once('.') {
            Some((digits, exchange)) => format!("{exchange}{digits}"),
            None => upper,
        };
        Ticker::parse(&turned).map_err(|_| error)
    })
}

/// Reads a date, with or without a time of midnight behind it.
pub(super) fn read_date(text: &str) -> Result<TradeDate, ktd_env::DateError> {
    let day = text
        .strip_suffix(" 00:00:00")
        .or_else(|| text.strip_suffix("T00:00:00"))
        .unwrap_or(text);
    TradeDate::parse(day)
}

/// Reads a flag; blank is no.
pub(super) fn read_flag(text: &str) -> Option<bool> {
    const NO: [&str; 8] = ["", "0", "0.0", "false", "f", "no", "n", "off"];
    const YES: [&str; 7] = ["1", "1.0", "true", "t", "yes", "y", "on"];
    let is_one_of = |words: &[&str]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    match (is_one_of(&NO), is_one_of(&YES)) {
        (true, _) => Some(false),
        (false, true) => Some(true),
        (false, false) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vendors_spellings_of_codes() {
        for text in ["SH600519", "sh600519", "600519.SH", "600519.sh"] {
            assert_eq!(read_ticker(text), Ticker::parse("SH600519"), "{text}");
        }
        for text in ["600519", "AAPL", "SH510300", "510300.SH", ""] {
            assert!(read_ticker(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_layout_names_what_it_misses_and_what_it_ignores() {
        let missing = Layout::of("f.csv", ["date", "symbol", "open", "close"]).unwrap_err();
        assert!(missing.to_string().contains("high, low, volume"), "{missing}");
        let layout = Layout::of(
            "f.csv",
            ["Date", "symbol", "open", "high", "low", "close", "volume", "mood"],
        )
        .unwrap();
        assert_eq!(layout.unknown, ["mood"]);
        assert_eq!(layout.place(Column::Close), Some(5));
        let twice = Layout::of("f.csv", ["date", "trade_date"]).unwrap_err();
        assert!(twice.to_string().contains("two columns"), "{twice}");
    }
}
