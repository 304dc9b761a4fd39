//! What can be wrong with market data, where, and how to fix it.

use crate::decimal::DecimalError;
use crate::ticker::TickerError;
use std::fmt;

/// A place in a source: file and 1-based row (or byte position for binary sources).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceLocation {
    /// The file's name as the user gave it.
    pub file: String,
    /// 1-based row, the header being row 1.
    pub row: u64,
}

impl fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, row {}", self.file, self.row)
    }
}

/// Why a panel cannot be built from its rows.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// A code that is no A-share.
    #[error("{place}: {source}")]
    Ticker {
        /// Where.
        place: SourceLocation,
        /// What is wrong with the code.
        source: TickerError,
    },
    /// A number that is none.
    #[error("{place}: {column}: {source}")]
    Number {
        /// Where.
        place: SourceLocation,
        /// Which column.
        column: &'static str,
        /// What is wrong with the number.
        source: DecimalError,
    },
    /// A price that is zero or below, or not a number.
    #[error("{place}: {column} is {value}, but a price must be a number above 0")]
    Price {
        /// Where.
        place: SourceLocation,
        /// Which column.
        column: &'static str,
        /// The value as written.
        value: String,
    },
    /// A price too large to hold (above 21 million yuan).
    #[error("{place}: {column} is larger than the panel can hold (21,474,836.47 yuan)")]
    PriceTooLarge {
        /// Where.
        place: SourceLocation,
        /// Which column.
        column: &'static str,
    },
    /// An adjusted price that is not a whole number of fen after dividing by the factor.
    #[error("{place}: {column} / factor = {value} fen, more than 0.1 fen from a whole fen")]
    OffGrid {
        /// Where.
        place: SourceLocation,
        /// Which column.
        column: &'static str,
        /// The real price in fen, rounded.
        value: String,
    },
    /// A row with a close and no usable factor in a panel that has factors.
    #[error("{place}: the factor is missing or 0")]
    Factor {
        /// Where.
        place: SourceLocation,
    },
    /// A volume or amount that is negative or not a number.
    #[error("{place}: {column} is {value}, but it must be a number of 0 or more")]
    Quantity {
        /// Where.
        place: SourceLocation,
        /// Which column.
        column: &'static str,
        /// The value as written.
        value: String,
    },
    /// Two rows for one name and day.
    #[error("{place}: a second row for the same name and day as {first}")]
    Duplicate {
        /// Where.
        place: SourceLocation,
        /// The earlier row.
        first: SourceLocation,
    },
    /// A row on a day that the declared calendar does not have.
    #[error("{place}: its date is not in the declared calendar")]
    NotATradingDay {
        /// Where.
        place: SourceLocation,
    },
    /// No rows at all.
    #[error("the source has no rows with a close")]
    Empty,
}

impl DataError {
    /// How to fix it.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Ticker { source, .. } => match source {
                TickerError::Number { .. } => {
                    "write the codes as text of six digits, 000001 for 1: in Excel as a column of text, in pandas with \
                     .astype(int).astype(str).str.zfill(6); leave out stocks of other markets"
                }
                TickerError::NoBoard { .. } => {
                    "leave out indices, funds and B shares, of a folder their files: no panel trades them; --index reads the levels of an index"
                }
                TickerError::Malformed { .. } => "write codes as SH600519, SZ000001 or BJ430047",
            },
            Self::Number { .. } => {
                "write plain decimals such as 12.34; leave the cell empty where there is no value"
            }
            Self::Price { .. } => {
                "leave all prices of the row empty if the name did not trade; a suspended day carries its last close with volume 0"
            }
            Self::PriceTooLarge { .. } => "check the unit: prices are yuan a share",
            Self::OffGrid { .. } => {
                "check --basis: with `adjusted`, price / factor must give the real price on the 0.01 yuan grid; use `raw` if prices are unadjusted"
            }
            Self::Factor { .. } => {
                "give every row with a close its cumulative factor, or remove the factor column"
            }
            Self::Quantity { .. } => "write volumes in shares and amounts in CNY, 0 on days without trading",
            Self::Duplicate { .. } => "keep one row for each name and day",
            Self::NotATradingDay { .. } => "add the day to the calendar file or drop the row",
            Self::Empty => "check that the file has the columns date, symbol, open, high, low, close, volume",
        }
    }
}
