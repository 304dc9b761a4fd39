//! Runs that cannot be made, or that Qlib itself would have broken off.

use super::config::ConfigError;
use super::window::WindowError;
use chrono::NaiveDate;
use thiserror::Error;

/// A run that cannot be made, or that Qlib itself would have broken off.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum SimulationError {
    /// A setting is impossible.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The window cannot be traded.
    #[error(transparent)]
    Window(#[from] WindowError),
    /// The panel has no close of the benchmark.
    #[error("the benchmark {symbol} has no `close`")]
    Benchmark {
        /// The benchmark asked for.
        symbol: String,
    },
    /// The strategy and the instructions do not belong together.
    #[error("the strategy `{strategy}` needs {needs}")]
    Instructions {
        /// Strategy of the config.
        strategy: &'static str,
        /// What it needs.
        needs: &'static str,
    },
    /// Qlib's `ZeroDivisionError`.
    #[error(
        "{date}: a buy short of cash divides by a cost rate of zero, where Qlib raises ZeroDivisionError"
    )]
    ZeroDivision {
        /// Day of the order.
        date: NaiveDate,
    },
    /// Qlib's `KeyError`.
    #[error("{date} {symbol}: {sold} sold of a position that does not exist, where Qlib raises KeyError")]
    NotHeld {
        /// Day of the order.
        date: NaiveDate,
        /// Instrument.
        symbol: String,
        /// Adjusted amount dealt.
        sold: f64,
    },
    /// Qlib's `ValueError`.
    #[error("{date} {symbol}: {sold} sold but only {held} held, where Qlib raises ValueError")]
    SoldMoreThanHeld {
        /// Day of the order.
        date: NaiveDate,
        /// Instrument.
        symbol: String,
        /// Adjusted amount held.
        held: f64,
        /// Adjusted amount dealt.
        sold: f64,
    },
}

impl SimulationError {
    /// How to fix it.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Config(error) => error.hint(),
            Self::Window(error) => error.hint(),
            Self::Benchmark { .. } => "name an instrument with features/SYMBOL/close.day.bin",
            Self::Instructions { .. } => "give `--orders` to `scripted` and `--signal` to `topk_dropout`",
            Self::ZeroDivision { .. } => "give `open_cost` a value above zero, however small",
            Self::NotHeld { .. } | Self::SoldMoreThanHeld { .. } => {
                "lot rounding adds up to 0.1 share: ask for all of the position or for less than a lot below it"
            }
        }
    }
}
