//! The one-switch benchmark and the audit of signals: files, runs over threads, reports.

mod audit;
mod audit_panel;
mod bars;
mod benchmark;
mod check;
mod config;
mod grid;
mod instant_text;
mod manifest;
mod manifest_file;
mod manifest_text;
mod noise_bands;
mod program_columns;
mod replay_audit;
mod report;
mod run_file;
mod sanity;
mod signals;

pub use audit::{AuditDifference, AuditOptions, AuditedColumn, audit_manifest, audit_program};
pub use audit_panel::AuditPanel;
pub use bars::{MarketBars, market_bars};
pub use benchmark::{count_runs, run_grid};
pub use check::{CheckFinding, ExpectedGain, check_manifest, read_source_hints};
pub use config::{LeakConfig, LeakUniverse, read_leak_config};
pub use grid::{LeakGrid, LeakSource};
pub use ktd_leakage::{FillRule, KnownAt, SessionInstant, SignalVerdict, SourceHint};
pub use manifest::{ColumnSource, DEFAULT_TIMEOUT_SECONDS, LeakManifest, ManifestColumn, ManifestCommand};
pub use manifest_text::manifest_text;
pub use program_columns::ProgramRunner;
pub use replay_audit::ColumnOutcome;
pub use report::{CostRow, GainRow, LeakReport, YearRow, read_report};
pub use sanity::{SanityRow, sanity};
pub use signals::{AuditedSignal, SignalsFile, audit_signals, read_signals};

#[cfg(test)]
mod audit_tests;
