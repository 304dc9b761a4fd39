//! Why factors could not be computed.

use thiserror::Error;

/// A request that no factor value can answer. Bad prices are never an error: they are missing values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum FactorError {
    /// The columns of a series tell different numbers of days.
    #[error("column `{column}` holds {days} days, `close` holds {expected_days}")]
    Length {
        /// The column that disagrees with `close`.
        column: &'static str,
        /// Its length.
        days: usize,
        /// The length of `close`.
        expected_days: usize,
    },
    /// The days asked for are not days of the series.
    #[error("days {start}..{end} asked of a series of {days} days")]
    Days {
        /// First day asked for.
        start: usize,
        /// Day after the last one asked for.
        end: usize,
        /// Days in the series.
        days: usize,
    },
    /// A window that no number of valid days can fill.
    #[error(
        "window `{window}` of {days} days with a minimum of {min_days} valid days, at least {least_days} needed"
    )]
    Window {
        /// The window's name in the configuration.
        window: &'static str,
        /// Its length in exchange days.
        days: usize,
        /// Valid days it asks for.
        min_days: usize,
        /// Fewest valid days its formula needs.
        least_days: usize,
    },
    /// Momentum skips as much as it looks back, or more.
    #[error("momentum looks back {long_days} days and skips {skip_days}")]
    Momentum {
        /// Days looked back.
        long_days: usize,
        /// Latest days left out.
        skip_days: usize,
    },
    /// The scale of illiquidity is not a positive finite amount.
    #[error("illiquidity is scaled by an amount that is not positive and finite")]
    IlliquidityScale,
}

impl FactorError {
    /// How to fix it.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Length { .. } => "give every column one entry per exchange day of the panel",
            Self::Days { .. } => "ask for a range whose start is not after its end, within the series",
            Self::Window { .. } => "set the minimum between what the formula needs and the window's length",
            Self::Momentum { .. } => "make `momentum_long_days` greater than `momentum_skip_days`",
            Self::IlliquidityScale => "set `illiquidity_scale_cny` to an amount such as 1e8",
        }
    }
}
