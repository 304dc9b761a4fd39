//! The one-switch benchmark and the audit of signals: files, runs over threads, reports.

mod bars;
mod config;
mod grid;
mod report;
mod run_file;
mod sanity;
mod signals;

pub use bars::{MarketBars, market_bars};
pub use config::{LeakConfig, LeakUniverse, read_leak_config};
pub use grid::{LeakGrid, LeakSource, run_grid};
pub use ktd_leakage::{FillRule, KnownAt, SignalVerdict};
pub use report::{CostRow, GainRow, LeakReport, YearRow, read_report};
pub use sanity::{SanityRow, sanity};
pub use signals::{AuditedSignal, SignalsFile, audit_signals, read_signals};
