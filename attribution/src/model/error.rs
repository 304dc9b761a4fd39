//! Why a factor model cannot be fitted.

use super::wls::WlsError;
use ktd_env::factors::{CrossSectionError, FactorError};

/// A request that no fit can answer. A day with too few names is no error: it is a thin day.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// A model without style factors.
    #[error("the model has no style factors")]
    NoStyles,
    /// A style factor named twice.
    #[error("the style factor `{style}` stands twice in the model")]
    RepeatedStyle {
        /// Its name.
        style: &'static str,
    },
    /// A number of the configuration that is out of its range.
    #[error("`{key}` was {value}, but it must be {rule}")]
    Setting {
        /// The field.
        key: &'static str,
        /// Its value.
        value: f64,
        /// What it must be.
        rule: &'static str,
    },
    /// The factor windows cannot be filled.
    #[error(transparent)]
    Factor(#[from] FactorError),
    /// The cross-section does not fit, or its winsor limits cannot be drawn.
    #[error(transparent)]
    CrossSection(#[from] CrossSectionError),
    /// Return days that the panel does not hold, each with the day before.
    #[error("return days {start}..{end} were asked of a panel that can answer {first}..{last}")]
    Days {
        /// First return day asked for.
        start: usize,
        /// Day after the last one asked for.
        end: usize,
        /// First return day of the panel.
        first: usize,
        /// Day after its last one.
        last: usize,
    },
    /// A panel that was cut too short: factors would be missing that the data behind it could give.
    #[error("the panel begins on day {first_day}, but the fit reads from day {needed_day} on")]
    ShortHistory {
        /// First day of the panel.
        first_day: usize,
        /// First day that the fit reads.
        needed_day: usize,
    },
    /// No day with a fit to calibrate on.
    #[error("none of the {days} days has enough names for a fit")]
    AllThin {
        /// Days asked for.
        days: usize,
    },
    /// A day's regression failed.
    #[error("day {day}: {error}")]
    Regression {
        /// The return day.
        day: usize,
        /// Why.
        error: WlsError,
    },
}

impl ModelError {
    /// How to fix it.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::NoStyles => "name at least one style factor",
            Self::RepeatedStyle { .. } => "name each style factor once",
            Self::Setting { .. } => "take a value within the range, or the default of the benchmark",
            Self::Factor(error) => error.hint(),
            Self::CrossSection(error) => error.hint(),
            Self::Days { .. } => "ask for days of the panel from its second on",
            Self::ShortHistory { .. } => {
                "cut the panel from `ModelConfig::first_needed_day`, or leave its beginning whole"
            }
            Self::AllThin { .. } => "take days with more members, or lower `min_names`",
            Self::Regression { error, .. } => error.hint(),
        }
    }
}
