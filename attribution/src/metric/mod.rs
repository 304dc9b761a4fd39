//! The metrics of a run: one file each, pure, over validated inputs.
//!
//! Inputs are parsed once into [`NavPath`], [`Daily`], [`Benchmark`] and [`WeightPath`]; a NAV that is zero, negative
//! or not a number is an [`InputError`] there. A metric then is a number, or [`Undefined`] with the reason: never
//! NaN, never infinite, and never a 0 that stands for "unknown". Sums run in the order of the days and, within a
//! day, of the keys, so that equal inputs have equal bits.
//!
//! The calibration of stated confidence (ECE, Brier) and the validity of tool calls get their own files here when
//! the forecasts that they need are recorded.
//!
//! Source of every formula and edge rule: Ten metrics and Edge-case table of the attribution notes.

mod abstention;
mod cash_ratio;
mod error;
mod hhi;
mod information_ratio;
mod max_drawdown;
mod moments;
mod nav_path;
mod parse_failure;
mod sharpe_ratio;
mod total_return;
mod turnover;
mod weight_path;

pub use abstention::{Abstention, StepOutcome};
pub use cash_ratio::cash_ratio;
pub use error::{InputError, Undefined};
pub use hhi::{effective_names, hhi, hhi_invested};
pub use information_ratio::information_ratio;
pub use max_drawdown::max_drawdown;
pub use nav_path::{Benchmark, Daily, NavPath};
pub use parse_failure::ParseFailure;
pub use sharpe_ratio::sharpe_ratio;
pub use total_return::{excess_return, total_return};
pub use turnover::{turnover, weight_change};
pub use weight_path::WeightPath;

/// Trading days in a year, by which daily figures are annualised (paper; Qlib's own default is 238).
pub const TRADING_DAYS_PER_YEAR: f64 = 252.0;
