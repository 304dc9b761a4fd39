//! Why a figure has no value.

use std::fmt;

/// Why a statistic or a metric has no value for inputs that are in order. Shown in tables as "n/a (reason)".
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
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
    /// All values are equal, so that they have no order.
    AllTied,
    /// The value is too large or too small for a float.
    OutOfRange,
}

impl Undefined {
    /// A stable word for files and programs.
    #[must_use]
    pub fn code(self) -> &'static str {
        self.into()
    }

    /// `value`, or [`Undefined::OutOfRange`] where arithmetic overflowed.
    ///
    /// # Errors
    /// [`Undefined::OutOfRange`] when `value` is NaN or infinite.
    pub const fn unless_finite(value: f64) -> Result<f64, Self> {
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
            Self::AllTied => f.write_str("all values are equal"),
            Self::OutOfRange => f.write_str("the value exceeds the range of floats"),
        }
    }
}

impl std::error::Error for Undefined {}
