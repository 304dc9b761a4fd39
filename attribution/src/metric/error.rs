//! Why there is no number: a reason that belongs into the table, or an input that is wrong.

use std::fmt;

/// Why a metric has no value for an episode that is in order. Shown in the table as "n/a (reason)".
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Undefined {
    /// Fewer daily returns than the metric needs.
    TooFewDays {
        /// Daily returns there are.
        days: usize,
        /// Daily returns needed.
        need_days: usize,
    },
    /// The returns do not vary: their deviation is at most 1e-12 of the larger of 1 and their mean.
    ZeroVariance,
    /// The returns less the benchmark's do not vary, as when both are the same.
    EqualsBenchmark,
    /// No day ended with a holding.
    NeverInvested,
    /// No step reached a decision.
    NoSteps,
    /// The model emitted nothing, valid or not.
    NoEmissions,
    /// No order came with a confidence and an outcome.
    NoForecasts,
    /// No tool was called.
    NoToolCalls,
    /// Fewer items than the statistic needs.
    TooFew {
        /// What they are, in the plural.
        items: &'static str,
        /// How many there are.
        count: usize,
        /// How many are needed.
        need: usize,
    },
    /// A strategy does not vary within one half of a split, so that it has no Sharpe ratio there.
    ConstantStrategy {
        /// 0-based column of the strategy.
        column: usize,
    },
    /// Replicates of a bootstrap in which the statistic has no value.
    DegenerateReplicates {
        /// How many have none.
        degenerate: usize,
        /// How many were drawn.
        replicates: usize,
    },
    /// All values are equal, so that they have no order.
    AllTied,
    /// The value is too large or too small for a float.
    OutOfRange,
}

impl Undefined {
    /// A stable word for files and programs.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::TooFewDays { .. } => "too_few_days",
            Self::ZeroVariance => "zero_variance",
            Self::EqualsBenchmark => "equals_benchmark",
            Self::NeverInvested => "never_invested",
            Self::NoSteps => "no_steps",
            Self::NoEmissions => "no_emissions",
            Self::NoForecasts => "no_forecasts",
            Self::NoToolCalls => "no_tool_calls",
            Self::TooFew { .. } => "too_few",
            Self::ConstantStrategy { .. } => "constant_strategy",
            Self::DegenerateReplicates { .. } => "degenerate_replicates",
            Self::AllTied => "all_tied",
            Self::OutOfRange => "out_of_range",
        }
    }

    /// `value`, or [`Undefined::OutOfRange`] where arithmetic overflowed.
    ///
    /// # Errors
    /// [`Undefined::OutOfRange`] when `value` is NaN or infinite.
    pub(crate) const fn unless_finite(value: f64) -> Result<f64, Self> {
        if value.is_finite() {
            Ok(value)
        } else {
            Err(Self::OutOfRange)
        }
    }
}

impl fmt::Display for Undefined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFewDays { days, need_days } => {
                write!(f, "{days} daily returns, but at least {need_days} are needed")
            }
            Self::ZeroVariance => f.write_str("the daily returns do not vary"),
            Self::EqualsBenchmark => f.write_str("the daily returns less the benchmark's do not vary"),
            Self::NeverInvested => f.write_str("no day ended with a holding"),
            Self::NoSteps => f.write_str("no step reached a decision"),
            Self::NoEmissions => f.write_str("the model emitted nothing"),
            Self::NoForecasts => f.write_str("no order came with a confidence and an outcome"),
            Self::NoToolCalls => f.write_str("no tool was called"),
            Self::TooFew { items, count, need } => {
                write!(f, "{count} {items}, but at least {need} are needed")
            }
            Self::ConstantStrategy { column } => {
                write!(f, "strategy {column} does not vary within one half of a split")
            }
            Self::DegenerateReplicates {
                degenerate,
                replicates,
            } => write!(f, "{degenerate} of {replicates} replicates have no value"),
            Self::AllTied => f.write_str("all values are equal"),
            Self::OutOfRange => f.write_str("the value exceeds the range of floats"),
        }
    }
}

impl std::error::Error for Undefined {}

/// An input from which nothing may be computed.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum InputError {
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

impl InputError {
    /// How to mend it.
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

impl fmt::Display for InputError {
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

impl std::error::Error for InputError {}
