//! The metrics of a run: one file each, pure, over validated inputs.
//!
//! Inputs are parsed once into [`NavPath`], [`Daily`], [`Benchmark`] and [`WeightPath`]; a NAV that is zero, negative
//! or not a number is an [`MetricError`] there. A metric then is a number, or [`Undefined`] with the reason: never
//! NaN, never infinite, and never a 0 that stands for "unknown". Sums run in the order of the days and, within a
//! day, of the keys, so that equal inputs have equal bits.
//!
//! The calibration of stated confidence ([`ece`], [`Brier`]) reads [`Forecasts`]: an order's confidence beside what came
//! of it. [`ece_interval`] resamples the steps.
//!
//! Source of every formula and edge rule: docs/spec/statistics.md#metrics.

mod abstention;
mod brier;
mod cash_ratio;
mod ece;
mod ece_interval;
mod error;
mod forecast;
mod hhi;
mod information_ratio;
mod max_drawdown;
mod nav_path;
mod parse_failure;
mod reliability;
mod sharpe_ratio;
mod tool_validity;
mod total_return;
mod turnover;
mod weight_path;

pub use abstention::{Abstention, StepKind};
pub use brier::Brier;
pub use cash_ratio::cash_ratio;
pub use ece::ece;
pub use ece_interval::ece_interval;
pub use error::MetricError;
pub use forecast::{Forecast, Forecasts};
pub use hhi::{hhi, hhi_invested};
pub use information_ratio::information_ratio;
pub use max_drawdown::max_drawdown;
pub use nav_path::{Benchmark, Daily, NavPath};
pub use parse_failure::ParseFailure;
pub use reliability::{Bin, RELIABILITY_BINS, Reliability};
pub use sharpe_ratio::sharpe_ratio;
pub use tool_validity::ToolValidity;
pub use total_return::{excess_return, total_return};
pub use turnover::{turnover, weight_change};
pub use weight_path::WeightPath;

pub use ktd_stats::{TRADING_DAYS_PER_YEAR, Undefined};
