//! Why an account cannot be split.

use std::fmt;

/// An invalid account, or a panel that does not fit it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum AccountError {
    /// A net asset value that is not a number above 0.
    Nav {
        /// Place of the day in the panel's calendar.
        day: usize,
        /// The value, CNY.
        nav_cny: f64,
    },
    /// A value that is not a number.
    NotFinite {
        /// Place of the day in the panel's calendar.
        day: usize,
        /// The value.
        value: f64,
    },
    /// A day that the factor model was not fitted for.
    NoFit {
        /// Place of the day in the panel's calendar.
        day: usize,
    },
    /// A name that the panel does not have.
    UnknownRow {
        /// Place of the day in the panel's calendar.
        day: usize,
        /// The row asked for.
        row: usize,
        /// Rows of the panel.
        rows: usize,
    },
    /// A day that does not begin where the day before ended.
    Gap {
        /// Place of the day in the panel's calendar.
        day: usize,
        /// Net asset value at its beginning, CNY.
        nav_before_cny: f64,
        /// Net asset value at the end of the day before, CNY.
        nav_after_cny: f64,
    },
    /// A benchmark that is not as long as the account, or a return of it that is missing or at most -1.
    Benchmark {
        /// 0-based place of the first fault.
        place: usize,
    },
}

impl AccountError {
    /// How to fix it.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Nav { .. } => "an account without value has no returns: attribute the days before",
            Self::NotFinite { .. } => "give every price, share and fee as a number",
            Self::NoFit { .. } => "fit the factor model over all days of the account",
            Self::UnknownRow { .. } => "use the panel that the account was traded on",
            Self::Gap { .. } => "give every trading day once, in order",
            Self::Benchmark { .. } => "give the benchmark's return for every day of the account",
        }
    }
}

impl fmt::Display for AccountError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nav { day, nav_cny } => {
                write!(
                    f,
                    "day {day}: the net asset value was {nav_cny}, but it must be above 0"
                )
            }
            Self::NotFinite { day, value } => write!(f, "day {day}: an amount was {value}, no number"),
            Self::NoFit { day } => write!(f, "day {day}: the factor model has no fit"),
            Self::UnknownRow { day, row, rows } => {
                write!(f, "day {day}: name {row} is held, but the panel has {rows} names")
            }
            Self::Gap {
                day,
                nav_before_cny,
                nav_after_cny,
            } => write!(
                f,
                "day {day} begins with a net asset value of {nav_before_cny}, but the day before ended with \
                 {nav_after_cny}"
            ),
            Self::Benchmark { place } => {
                write!(
                    f,
                    "the benchmark's return at place {place} is missing or at most -1"
                )
            }
        }
    }
}

impl std::error::Error for AccountError {}
