//! Inputs of the metrics that are wrong.

use std::fmt;

/// An input from which nothing may be computed.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum MetricError {
    /// A net asset value that is not a number above 0.
    Nav {
        /// 1-based day; 0 is the initial cash.
        day: usize,
        /// The value as given.
        value: f64,
    },
    /// A daily series that is not as long as the NAV path.
    Length {
        /// Which series.
        series: &'static str,
        /// Days it has.
        days: usize,
        /// Days the NAV path has.
        need_days: usize,
    },
    /// A value of a daily series that is not a number of 0 or more.
    Negative {
        /// Which series.
        series: &'static str,
        /// 1-based day.
        day: usize,
        /// The value as given.
        value: f64,
    },
    /// A stated confidence that is no probability.
    Confidence {
        /// 0-based place of the forecast.
        forecast: usize,
        /// The value as given.
        value: f64,
    },
    /// A benchmark return that is missing or at most -1.
    BenchmarkReturn {
        /// 1-based day.
        day: usize,
        /// The value as given.
        value: f64,
    },
}

impl MetricError {
    /// How to fix it.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Nav { .. } => {
                "an account without value ends its episode: compute metrics up to the day before"
            }
            Self::Length { .. } => "give one value for each day of the NAV path, the initial cash apart",
            Self::Negative { .. } => {
                "amounts and weights are magnitudes: no short positions, no missing values"
            }
            Self::Confidence { .. } => {
                "the schema of an action takes confidences from 0 to 1: leave out what it refused"
            }
            Self::BenchmarkReturn { .. } => {
                "import the index with a close for every day of the window and for the day before it"
            }
        }
    }
}

impl fmt::Display for MetricError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nav { day, value } => {
                write!(
                    f,
                    "day {day}: the net asset value was {value}, but it must be a number above 0"
                )
            }
            Self::Length {
                series,
                days,
                need_days,
            } => write!(f, "{series}: {days} days, but the NAV path has {need_days}"),
            Self::Negative { series, day, value } => {
                write!(
                    f,
                    "day {day}: {series} was {value}, but it must be a number of 0 or more"
                )
            }
            Self::Confidence { forecast, value } => {
                write!(
                    f,
                    "forecast {forecast}: the confidence was {value}, but it must be a number from 0 to 1"
                )
            }
            Self::BenchmarkReturn { day, value } => {
                write!(
                    f,
                    "day {day}: the benchmark's return was {value}, but it must be a number above -1"
                )
            }
        }
    }
}

impl std::error::Error for MetricError {}
