//! What prices and volumes say about a name: the nine style factors, plain technicals, and the cross-section
//! that makes factors comparable between names.
//!
//! Tools and attribution must speak of the same number, so it is made here once. A value at the close of day
//! `s` reads nothing after `s`, and neither what follows `s` nor the range of days asked for moves one of its
//! bits: every window is summed afresh, in two passes, in a fixed order.
//!
//! Knows: slices of numbers. Never knows: the panel, names, dates, the exchange, files.
//!
//! Source: docs/spec/factor-model.md#factors. KTD-Fin names the nine factors; most windows, minimum counts and edge
//! rules are ours.

mod columns;
mod config;
mod cross_section;
mod daily;
mod error;
mod factor;
mod factor_values;
mod logarithm;
mod marks;
mod median;
mod moments;
mod packed;
#[cfg(test)]
mod property_tests;
mod series;
mod technical;
mod technical_values;
mod windows;

pub use columns::{FactorColumns, TechnicalColumns};
pub use config::{FactorConfig, RollingWindow};
pub use cross_section::{
    Center, CrossSection, CrossSectionConfig, CrossSectionError, Limits, Scale, Spread, Winsor,
    missing_per_row, standardise, winsorise,
};
pub use error::FactorError;
pub use factor::Factor;
pub use factor_values::{compute, mean_amount};
pub use series::Series;
pub use technical::Technical;
pub use technical_values::compute_technicals;
